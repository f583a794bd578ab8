"""The prior by the cell beside the paper's prior: held-out log density.

    python benches/python/tree_prior.py [seconds]    # a Markdown table for docs/design/pcart.md

Three folds of each table: parent sets of up to two parents, the exact search, the density of the rows left out, in
nats a row. Tables whose folds take longer than the seconds given (default 60) with either prior are left out.
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

FOLDS, PARENTS, ROWS = 3, 2, 1200
SMALL = 14
"""Columns of a table, at most."""
SCORES = {
    "paper": an.PCART(),
    "cell": an.PCART(tree_prior="cell"),
    "cell, q = 0.8": an.PCART(tree_prior="cell", leaf_probability=0.8),
}


def made(n_levels: int) -> an.Table:
    """A category of many levels, three kinds of columns that depend on it or on one another."""
    random = np.random.default_rng(n_levels)
    zone = random.integers(0, n_levels, ROWS)
    kind = random.integers(0, 5, n_levels)
    shop = random.integers(0, 3, ROWS)
    price = kind[zone] + random.normal(size=ROWS) * (1 + shop)
    sold = (price + shop + random.normal(size=ROWS) > 3).astype(int)
    frame = {
        "zone": [f"zone {i}" for i in zone],
        "shop": [f"shop {i}" for i in shop],
        "price": price,
        "sold": [f"sold {i}" for i in sold],
        "size": random.normal(size=ROWS) + sold,
    }
    return an.Table(frame, schema=an.infer_schema(frame).with_types(zone=an.Categorical()))


def tables() -> Iterator[tuple[str, an.Table]]:
    """Bundled ones, then such with categories of 20 to 1,000 levels."""
    for name, kinds in json.loads((groups.DATA / "types.json").read_text()).items():
        kinds.pop("target", None)
        path = groups.DATA / "uci" / f"{name}.csv.gz"
        if path.is_file() and len(kinds) <= SMALL:
            yield name, groups.read(path, kinds)
    for n_levels in (20, 60, 200, 1000):
        yield f"made, {n_levels} levels", made(n_levels)


def density(table: an.Table, score: Any, limit: float) -> float | None:
    """The mean log density of rows left out."""
    began = time.perf_counter()
    frame = table.to_polars()
    fold = np.random.default_rng(1).permutation(len(frame)) % FOLDS
    total = 0.0
    for each in range(FOLDS):
        train = an.Table(frame.filter(pl.Series(fold != each)), schema=table.schema)
        found = an.search.exact(an.score_parents(train, score, PARENTS))
        net = an.fit(train, found, score, arc_scores=False)
        total += float(np.sum(np.asarray(net.log_likelihood(frame.filter(pl.Series(fold == each))))))
        if time.perf_counter() - began > limit:
            return None
    return total / len(frame)


def main(limit: float) -> None:
    """Prints the table."""
    print("| table | rows | " + " | ".join(SCORES) + " |")
    print("|---|---|" + "---|" * len(SCORES))
    better = dict.fromkeys(SCORES, 0)
    for name, table in tables():
        found = {which: density(table, score, limit) for which, score in SCORES.items()}
        if None in found.values():
            continue
        best = max(found, key=lambda which: found[which] or 0.0)
        better[best] += 1
        cells = [f"**{value:.4f}**" if which == best else f"{value:.4f}" for which, value in found.items()]
        print(f"| {name} | {table.n_rows:,} | {' | '.join(cells)} |", flush=True)
    print(f"| best of | | {' | '.join(map(str, better.values()))} |")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
