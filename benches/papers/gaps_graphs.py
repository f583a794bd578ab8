"""Graphs from rows with missing values: how many of the true edges are found, with whole rows and with blanked ones.

    python benches/papers/gaps_graphs.py            # runs what is missing, writes docs/papers/gaps-graphs.md
    python benches/papers/gaps_graphs.py --quick    # one network, 500 rows, prints the figures
    python benches/papers/gaps_graphs.py --fewer    # what whole tables of fewer rows tell, prints the figures

Rows are drawn from published networks and blanked as Liu and Constantinou (2022) do: half of the variables; completely
at random (MCAR) at a rate from .1 to .6 each; at random (MAR) with .6 where another, complete variable has its most
frequent level and .1 elsewhere; not at random (MNAR) likewise, where half of those other variables have gaps
themselves.
"""

from __future__ import annotations

import json
import statistics
import warnings
import zlib
from pathlib import Path
from time import process_time
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
from common import DATA, arguments, markdown

import arbornet as an
from arbornet.graphs import cpdag

NETWORKS = ("child", "insurance", "alarm", "win95pts")
ROWS = (500, 1000, 5000)
MECHANISMS = ("MCAR", "MAR", "MNAR")
HOW: dict[str, Any] = {"score": an.BIC(), "search": "boss", "verbose": False, "n_jobs": 1}
#: Mean F1 of hill climbing with BIC on 16 networks of Liu and Constantinou's collection (their
#: program): whole rows, and the best of pairwise deletion, inverse and adaptive inverse probability weights.
THEIRS = {500: (0.353, 0.308, 0.327, 0.320), 1000: (0.505, 0.433, 0.403, 0.413), 5000: (0.664, 0.604, 0.593, 0.603)}
PAGE = """\
# Graphs from rows with missing values

How many of a network's edges are found if rows have gaps? Rows are drawn from {networks}; half of the
variables are blanked by three mechanisms, as by [Liu and Constantinou (2022)](https://doi.org/10.1007/s10994-022-06195-8):
completely at random (*MCAR*), by another variable's level (*MAR*), and by that of one that may be blank itself
(*MNAR*). Few rows are complete. `python benches/papers/gaps_graphs.py` repeats it: `search="boss"` with BIC, F1 of
the edges of the equivalence classes (an edge counts with its direction, if it has one).

{table}

*Whole*: the same rows before they were blanked. *Learn*: `missing="learn"`. *Share*: *learn* as a share of *whole*; .9
was the aim. *Times*: CPU time of *learn* over that of *whole*; at most 5 was the aim. *Theirs*: hill climbing with BIC
by the paper's program, on 16 networks of the paper's collection with one table each, whole rows and the best of its
three ways with gaps: other networks, so compare the loss and not the level. Those runs are not repeated by the script.

{words}

A draw keeps no dependence that has no arc, so the rounds draw from networks with more arcs than the one that is learned
([how](../design/gaps.md)). With draws from the learned network itself the shares were .65, .53, .54 (500 rows), .83,
.67, .57 (1,000) and .86, .82, .88 (5,000, without win95pts). More rounds, or five draws of a row instead of one,
gave no better graphs.

Networks with more arcs take longer to find, and rows are drawn and searched up to four times. One table each says
little of F1: over ten tables each of child, insurance and alarm the shares were .83 (500 rows) and .89 (1,000), over
four of win95pts .65 and .75, before arcs were judged by observed values.

How much can be had? Two columns are seen together in .68 of the rows in the mean (completely at random). Whole tables
of .68 of the rows keep .77 (of 500) and .94 (of 1,000) of the F1, those of half of the rows .66 and .87: `--fewer`, six
tables each of child, insurance and alarm. So at 500 rows .9 would be more than as many values without gaps give.
"""
#: Shares of the rows, and tables of each network.
FEWER, TABLES = (1.0, 0.8, 0.68, 0.5), 6


def run(name: str, n_rows: int) -> list[dict[str, Any]]:
    """All figures of a network and a number of rows."""
    network = an.read_network(DATA / "networks" / f"{name}.bif.gz")
    frame = network.sample(max(ROWS), seed=zlib.crc32(name.encode()) % 1000)
    out = []
    began = process_time()
    whole = an.learn(frame.head(n_rows), **HOW)
    told = {"network": name, "rows": n_rows, "whole": f1(network.graph, whole.graph), "seconds": process_time() - began}
    for mechanism in MECHANISMS:
        rng = np.random.default_rng([zlib.crc32(name.encode()), MECHANISMS.index(mechanism)])
        gaps = blanked(frame, mechanism, rng).head(n_rows)
        began = process_time()
        net = an.learn(gaps, missing="learn", **HOW)
        out.append(
            {
                **told,
                "mechanism": mechanism,
                "complete": len(gaps.drop_nulls()),
                "learn": f1(network.graph, net.graph),
                "learn seconds": process_time() - began,
                "rounds": net.origin.gaps["rounds"],
            }
        )
    return out


def blanked(frame: pl.DataFrame, mechanism: str, rng: np.random.Generator) -> pl.DataFrame:
    """The frame with half of its columns blank in part."""
    names = rng.permutation(frame.columns).tolist()
    gappy, complete = names[: len(names) // 2], names[len(names) // 2 :]
    masks = {}
    for i, name in enumerate(gappy):
        if mechanism == "MCAR":
            masks[name] = rng.random(len(frame)) < rng.uniform(0.1, 0.6)
            continue
        causes = [other for other in gappy if other != name] if mechanism == "MNAR" and i % 2 else complete
        cause = frame[str(rng.choice(causes))]
        at_mode = (cause == cause.mode().sort()[0]).to_numpy()
        masks[name] = rng.random(len(frame)) < np.where(at_mode, 0.6, 0.1)
    return frame.with_columns(
        pl.when(pl.Series(mask)).then(None).otherwise(pl.col(name)).alias(name) for name, mask in masks.items()
    )


def f1(true: nx.DiGraph, learned: nx.DiGraph) -> float:
    """Of the edges of the equivalence classes: one with another direction is wrong, and missing."""
    is_, was = edges(true), edges(learned)
    return 2 * len(is_ & was) / (len(is_) + len(was)) if is_ or was else 1.0


def edges(graph: nx.DiGraph) -> set[tuple[str, str, bool]]:
    class_ = cpdag(graph)
    return {
        (min(a, b), max(a, b), False) if class_.has_edge(b, a) else (a, b, True) for a, b in class_.edges
    }  # fmt: skip


def of_fewer_rows(n_rows: int) -> list[float]:
    """Mean F1 of whole tables of so many rows, and of shares of them."""
    found: list[list[float]] = []
    for name in NETWORKS[:3]:
        network = an.read_network(DATA / "networks" / f"{name}.bif.gz")
        for seed in range(100, 100 + TABLES):
            frame = network.sample(n_rows, seed=seed)
            graphs = (an.learn(frame.head(int(share * n_rows)), **HOW).graph for share in FEWER)
            found.append([f1(network.graph, graph) for graph in graphs])
    return [statistics.mean(column) for column in zip(*found, strict=True)]


def page(results: list[dict[str, Any]]) -> str:
    """The page of all figures."""
    rows, reached = [], []
    for n_rows in ROWS:
        for i, mechanism in enumerate(MECHANISMS):
            own = [one for one in results if (one["rows"], one["mechanism"]) == (n_rows, mechanism)]
            if not own:
                continue
            whole, learn = (statistics.mean(one[way] for one in own) for way in ("whole", "learn"))
            times = sum(one["learn seconds"] for one in own) / sum(one["seconds"] for one in own)
            reached.append((learn / whole, times))
            theirs = THEIRS[n_rows]
            figures = [f"{whole:.3f}", f"{learn:.3f}", f"{learn / whole:.2f}", f"{times:.1f}"]
            rows.append([f"{n_rows:,}", mechanism, len(own), *figures, f"{theirs[0]:.3f}", f"{theirs[i + 1]:.3f}"])
    head = ["rows", "mechanism", "networks", "whole", "learn", "share", "times", "theirs, whole", "theirs, gaps"]
    n_share, n_times = sum(share >= 0.9 for share, _ in reached), sum(times <= 5 for _, times in reached)
    words = (
        f"The share is .9 or more in {n_share} of {len(reached)} lines, the time at most 5 times that of whole rows in"
        f" {n_times}."
    )
    done = [name for name in NETWORKS if any(one["network"] == name for one in results)]
    return PAGE.format(networks=", ".join(done), table=markdown(rows, head).strip(), words=words)


def main() -> None:
    options = arguments(__doc__ or "")
    options.add_argument("--fewer", action="store_true", help="whole tables of fewer rows")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    if asked.fewer:
        for n_rows in ROWS[:2]:
            means = of_fewer_rows(n_rows)
            print(n_rows, [f"{share:.2f}: {mean:.3f}" for share, mean in zip(FEWER, means, strict=True)])
        return
    file: Path = asked.results / "gaps_graphs.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not asked.quick else []
    done = {(one["network"], one["rows"]) for one in results}
    for n_rows in ROWS[:1] if asked.quick else ROWS:
        for name in NETWORKS[:1] if asked.quick else NETWORKS:
            if (name, n_rows) not in done:
                results += run(name, n_rows)
                print(f"{name} {n_rows}: {[round(one['learn'] / one['whole'], 2) for one in results[-3:]]}", flush=True)
                if not asked.quick:
                    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if asked.quick:
        print(json.dumps(results, indent=1))
    else:
        (asked.pages / "gaps-graphs.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
