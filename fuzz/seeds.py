"""Writes what the fuzzers start from into fuzz/corpus: a small file of everything the package can write."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import networkx as nx
import numpy as np

import arbornet as an

CORPUS = Path(__file__).parent / "corpus"
ROWS = 60


def frame() -> dict[str, object]:
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2, ROWS), rng.integers(0, 3, ROWS)
    return {
        "a": [("yes", "no")[i] for i in a],
        "b": [("I", "II", "III")[i] for i in b],
        "x": (a + rng.normal(size=ROWS)).round(2),
        "y": (b - rng.normal(size=ROWS)).round(2),
    }


def put(target: str, name: str, content: bytes | str) -> None:
    path = CORPUS / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def main() -> None:
    schema = an.infer_schema(frame()).with_types(b=an.Ordinal(["I", "II", "III"]))
    table = an.Table(frame(), schema=schema)
    levels = an.Table({name: column for name, column in frame().items() if name in "ab"})
    graph = nx.DiGraph([("a", "x"), ("b", "x"), ("a", "y"), ("x", "y"), ("a", "b")])
    towards = nx.DiGraph([("x", "a"), ("b", "a"), ("x", "y"), ("b", "y")])
    prior = an.fit(levels, nx.DiGraph([("a", "b")]), an.K2())
    scores = [
        an.PCART(), an.PCART(penalised=False, ess=2.0), an.FullTable(), an.ConditionalGaussian(),
        an.ConditionalGaussian(discretise=True), an.DegenerateGaussian(), an.BasisFunctions(), an.MixedPolynomial(),
        an.LogisticRegression(), an.Multinomial(), an.MARS(), an.DecisionGraph(), an.BDe(prior, 2.0), an.BDeu(4.0),
        an.BD(0.5), an.K2(), an.BIC(), an.AIC(), an.NML(), an.QNML(), an.MIT(), an.BIC(prior=an.priors.EBIC()),
    ]  # fmt: skip
    for i, score in enumerate(scores):
        put("spec", f"{i}.json", score.spec())
        for name, arcs in (("down", graph), ("up", towards)):
            for of in (table, levels):
                dag = nx.DiGraph()
                dag.add_nodes_from(of.names)
                dag.add_edges_from(arc for arc in arcs.edges if set(arc) <= set(of.names))
                try:
                    net = an.fit(of, dag, score)
                except an.ArbornetError:
                    continue
                put("network", f"{i}-{name}-{len(of.names)}.json", net.handle.to_json())
                put("json", f"{i}-{name}-{len(of.names)}.json", json.dumps(json.loads(_text(net))))
    put("bif", "prior.bif", prior.to_bif())
    put("bif", "odd.bif", BIF)
    put("xmlbif", "prior.xml", prior.to_xmlbif())
    put("net", "prior.net", prior.to_net())
    put("schema", "schema.json", json.dumps(table.schema.to_dict()))
    put(
        "schema",
        "binned.json",
        json.dumps(an.Table(frame(), schema=schema.with_types(x=an.Binned(3))).schema.to_dict()),
    )
    candidates = an.score_parents(levels, an.BIC(), 1, checkpoint=CORPUS / "checkpoint")
    candidates.save(CORPUS / "x.jkl")
    put("jkl", "small.jkl", (CORPUS / "x.jkl").read_bytes())
    put("jkl", "names.jkl", '# names: ["a b", "c"]\n2\n1 1\n-3 0\n0 2\n-1.5 1 1\n-2 0\n')
    put("parquet", "whole.parquet", packed(candidates))
    about = {"format": 1, "names": ["a", "b"], "n_sets": 4, "skipped": [["a", ["b"], "why"]], "seconds": 0.5}
    put("parquet", "about.json", json.dumps(about))
    put("journal", "results.jsonl", '{"n": 2, "of": "fuzz"}\n[0, 1.5]\n[1, {"a": null}]\n')
    put("csv", "small.csv", 'a,"b ""c""",d\n1,x,2021-03-04\n2.5,"y, z",2021-03-05\nNA,,\n')
    content = (CORPUS / "checkpoint" / "blocks-000001.bin").read_bytes()[32:]
    for i in range(3):
        (length,) = struct.unpack("<I", content[:4])
        put("record", f"{i}.bin", content[8 : 8 + length])
        content = content[8 + length :]
        if not content:
            break


def packed(candidates: an.Candidates) -> bytes:
    candidates.save(CORPUS / "x.parquet")
    return (CORPUS / "x.parquet").read_bytes()


def _text(net: an.BayesNet) -> str:
    from arbornet.io.json import to_text

    return to_text(net)


BIF = """network "garden" { property author nobody; }
variable "wet, \\"grass" { type discrete [ 2 ] { yes, "no way" }; property position = (1, 2); }
/* a comment */ variable rain { type discrete[2] { yes, no }; }
probability ( rain ) { table 0.2, 0.8; } // another
probability ( "wet, \\"grass" | rain ) { (yes) 0.9, 0.1; default 0.25 0.75; }
"""

if __name__ == "__main__":
    main()
