"""Writes the files of this version beside those of earlier ones, with what they answer.

    python tests/golden/files/make.py

A folder that is there is left as it is: what an old version wrote cannot be written again.
"""

from __future__ import annotations

import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kept

import arbornet as an
from arbornet.search.branch_and_bound import BranchAndBound
from arbornet.search.cuts import Cuts

HERE = Path(__file__).parent
#: Python 3.8's and later ones'.
PROTOCOL = 5


def pickled() -> Iterator[tuple[str, Any]]:
    """One of everything that pickles today."""
    table, levels = kept.table(), kept.levels()
    yield "table", table
    yield "table of levels", levels
    yield "schema", table.schema
    yield "kinds", [an.Continuous(), an.Categorical(["a", "b"]), an.Ordinal([1, 2]), an.Binned(cuts=[0.5, 1.5])]
    yield "constraints", kept.constraints()
    yield "rules", kept.constraints().resolve(table.names)
    candidates = an.score_parents(levels, an.BDeu(1), 2, kept.constraints())
    yield "candidates", candidates
    yield "found by exact", an.search.exact(candidates)
    yield "found by anytime", an.search.anytime(candidates, rounds=2)
    yield "found by fges", an.search.fges(levels, an.BIC())
    yield "found by pc", an.search.pc(levels, an.BIC())
    yield "found by decision graphs", an.search.decision_graphs(levels)
    yield "k best", an.search.k_best(candidates, 3)
    yield "strategy", BranchAndBound()
    yield "cuts", Cuts()
    yield "plan", an.plan(levels, an.BDeu(1), 2)
    yield "comparison", an.metrics.compare(kept.graph(), kept.graph())
    yield "tested", an.independence.test(levels, "age", "stage", score=an.BIC())
    yield from ((f"score {name}", score) for name, score in kept.scores().items())
    networks = kept.networks()
    yield from ((f"network {name}", networks[name]) for name in ("PCART", "MARS", "DecisionGraph"))
    yield from ((f"model {name}", net["stage"]) for name, net in networks.items())
    yield from ((f"estimator {name}", fitted) for name, fitted in kept.estimators().items())


def main() -> None:
    folder = HERE / an.__version__
    if folder.exists():
        sys.exit(f"{folder} is there: files of a version are made once. Delete it if that version was never published.")
    answers: dict[str, Any] = {}

    def place(name: str) -> Path:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    for name, made in pickled():
        path = place(f"pickles/{name.replace(' ', '-')}.pickle")
        path.write_bytes(pickle.dumps(made, PROTOCOL))
        answers[str(path.relative_to(folder))] = kept.answers(made)
    for name, net in kept.networks().items():
        net.save(place(f"networks/{name}.json"))
        answers[f"networks/{name}.json"] = kept.answers(net)
    prior = kept.scores()["BDe"].prior_network
    for ending, write in (("bif", prior.to_bif), ("net", prior.to_net), ("xml", prior.to_xmlbif)):
        write(place(f"networks/levels.{ending}"))
        answers[f"networks/levels.{ending}"] = kept.answers(an.read_network(folder / f"networks/levels.{ending}"))
    kept.table().schema.save(place("schema.json"))
    answers["schema.json"] = kept.answers(kept.table().schema)
    candidates = an.score_parents(kept.levels(), an.BDeu(1), 2)
    for ending in ("jkl", "jkl.gz", "jkl.xz", "parquet"):
        path = place(f"candidates.{ending}")
        candidates.save(path)
        answers[path.name] = kept.answers(an.Candidates.load(path))
    for name in ("BDeu", "PCART"):
        done = kept.checkpointed(kept.scores()[name], place(f"checkpoints/{name}"))
        answers[f"checkpoints/{name}"] = kept.answers(done)
    answers["journals/folds.jsonl"] = kept.validated(place("journals/folds.jsonl")).folds.rows()
    answers["journals/curves.jsonl"] = kept.curves(place("journals/curves.jsonl")).distances.rows()
    lines = (f"{json.dumps(name)}: {json.dumps(answer, ensure_ascii=False)}" for name, answer in answers.items())
    place("answers.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{len(answers)} files, {size:,} bytes")


if __name__ == "__main__":
    main()
