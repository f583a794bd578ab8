"""Where numbers are cut, by range or by rank: held-out log density and leaves, with normal and with linear leaves.

    python benches/python/cuts.py [seconds]    # a Markdown table for docs/design/pcart.md

Two folds of each bundled table with two numbers or more and at most fourteen columns: parent sets of up to two
parents, the exact search, the density of the rows left out in nats a row, and how many leaves the trees of a network
have together. Of larger tables 1,000 rows are drawn, with a seed. A table is left out where a score takes more
processor seconds than those given (default 6).
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import groups
import numpy as np
import polars as pl

import arbornet as an

FOLDS, PARENTS = 2, 2
MOST_COLUMNS, MOST_ROWS = 14, 1000
SCORES = {
    "normal, range": an.PCART(),
    "normal, ranks": an.PCART(cuts="quantile"),
    "linear, range": an.PCART(leaf="linear"),
    "linear, ranks": an.PCART(leaf="linear", cuts="quantile"),
}


def tables() -> Iterator[tuple[str, an.Table]]:
    """The bundled tables with numbers."""
    for name, kinds in json.loads((groups.DATA / "types.json").read_text()).items():
        kinds.pop("target", None)
        path = groups.DATA / "uci" / f"{name}.csv.gz"
        numbers = sum(kind == "continuous" for kind in kinds.values())
        if path.is_file() and len(kinds) <= MOST_COLUMNS and numbers > 1:
            yield name, groups.read(path, kinds)


def measured(table: an.Table, score: an.PCART, limit: float) -> tuple[float, float] | None:
    """The mean log density of rows left out, and the leaves of a network."""
    frame = table.to_polars()
    random = np.random.default_rng(1)
    frame = frame[random.permutation(len(frame))[:MOST_ROWS]]
    fold = np.arange(len(frame)) % FOLDS
    density = leaves = 0.0
    began = time.process_time()
    for each in range(FOLDS):
        train = an.Table(frame.filter(pl.Series(fold != each)), schema=table.schema)
        found = an.search.exact(an.score_parents(train, score, PARENTS))
        net = an.fit(train, found, score, arc_scores=False)
        left_out: Any = net.log_likelihood(frame.filter(pl.Series(fold == each)))
        density += float(np.sum(np.asarray(left_out)))
        leaves += sum(len(net[name].leaves) for name in table.names)
        if time.process_time() - began > limit:
            return None
    return density / len(frame), leaves / FOLDS


def main(limit: float) -> None:
    """Prints the table."""
    print("| table | rows | " + " | ".join(SCORES) + " | leaves |")
    print("|---|---|" + "---|" * (len(SCORES) + 1))
    densities, leaves = [], []
    for name, table in tables():
        found = []
        for score in SCORES.values():
            one = measured(table, score, limit)
            if one is None:
                break
            found.append(one)
        if len(found) < len(SCORES):
            continue
        densities.append([density for density, _ in found])
        leaves.append([n for _, n in found])
        best = max(densities[-1])
        cells = [f"**{x:.3f}**" if x == best else f"{x:.3f}" for x in densities[-1]]
        of_leaves = ", ".join(f"{n:.0f}" for n in leaves[-1])
        print(f"| {name} | {min(table.n_rows, MOST_ROWS):,} | {' | '.join(cells)} | {of_leaves} |", flush=True)
    gains = np.array(densities) - np.array(densities)[:, :1]
    share = np.array(leaves) / np.array(leaves)[:, :1]
    for told, line in (
        ("mean gain over normal, range", [f"{x:+.3f}" for x in gains.mean(0)]),
        ("median gain", [f"{x:+.3f}" for x in np.median(gains, axis=0)]),
        ("better on", [f"{n} of {len(gains)}" for n in (gains > 0).sum(0)]),
        ("most lost", [f"{x:+.3f}" for x in gains.min(0)]),
    ):
        print(f"| {told} | | {' | '.join(line)} | |")
    print(f"| leaves, geometric mean | | {' | '.join(f'{x:.2f}' for x in np.exp(np.log(share).mean(0)))} | |")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 6.0)
