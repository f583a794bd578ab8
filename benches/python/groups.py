"""Categories of many levels under PCART: what groups in order lose against all groups, and what families cost.

    python benches/python/groups.py loss     # every family of the bundled tables where both searches can be run
    python benches/python/groups.py levels   # the same over levels, on made tables
    python benches/python/groups.py curve    # cost over levels, for one, two and three such parents
    python benches/python/groups.py whole    # cost of whole tables over levels, rows and columns; up to a million rows
    python benches/python/groups.py          # all; Markdown tables for docs/design/pcart.md

Seconds are processor seconds of one thread. Losses are in nats.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import arbornet as an
from arbornet._core import ArbornetError
from arbornet.scores.prepare import prepared

DATA = Path(__file__).resolve().parents[1] / "data"
#: Families of up to so many parents, and most of these a table and size (a seeded sample).
PARENTS, FAMILIES = 3, 30
#: Categories of more levels are left out of the comparison: the exact search of a family takes minutes.
MOST_LEVELS = {1: 14, 2: 9, 3: 6}
ROWS = 2000
#: Made tables for each number of levels.
MADE = 20
MOST_MADE = {1: 16, 2: 10, 3: 6}


def bundled() -> Iterator[tuple[str, an.Table]]:
    """The UCI tables of up to 2,000 complete rows, types as `types.json` has them."""
    for name, kinds in json.loads((DATA / "types.json").read_text()).items():
        path = DATA / "uci" / f"{name}.csv.gz"
        kinds.pop("target", None)
        if path.is_file() and "categorical" in kinds.values():
            table = read(path, kinds)
            if table.n_rows <= ROWS:
                yield name, table


def read(path: Path, kinds: dict[str, Any]) -> an.Table:
    """A table of these kinds of columns."""
    frame = pl.read_csv(path, infer_schema=False, null_values=[""])
    frame = frame.select([column for column in kinds if column in frame.columns]).drop_nulls()
    frame = frame.with_columns(pl.col(c).cast(pl.Float64) for c in frame.columns if kinds[c] == "continuous")
    declared: dict[str, Any] = {}
    for column in frame.columns:
        if frame[column].n_unique() > 1:
            kind = kinds[column]
            levels = kind["ordinal"] if isinstance(kind, dict) else []
            known = {"continuous": an.Continuous(), "categorical": an.Categorical()}
            declared[column] = an.Ordinal(tuple(levels)) if levels else known[kind]
    frame = frame.select(list(declared))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return an.Table(frame, schema=an.infer_schema(frame).with_types(**declared))


def losses(table: an.Table) -> list[tuple[float, float, float]]:
    """The loss and both searches' seconds of families with a category of three levels or more among the parents."""
    names = table.names
    levels = {c.name: len(c.levels) for c in table.schema.used if c.levels is not None}
    nominal = {c.name for c in table.schema.used if c.word == "categorical" and levels[c.name] > 2}
    scores = [prepared(table, an.PCART(penalised=False, grouping=how)) for how in ("exact", "ordered")]
    random = np.random.default_rng(0)
    out = []
    for size in range(1, PARENTS + 1):
        families = [
            (child, parents)
            for child in range(len(names))
            for parents in itertools.combinations([p for p in range(len(names)) if p != child], size)
            if any(names[p] in nominal for p in parents)
            and all(levels[names[p]] <= MOST_LEVELS[size] for p in parents if names[p] in nominal)
        ]
        if len(families) > FAMILIES:
            families = [families[i] for i in sorted(random.choice(len(families), FAMILIES, replace=False))]
        for child, parents in families:
            found, seconds = [], []
            try:
                for score in scores:
                    began = time.process_time()
                    found.append(score.score(child, list(parents)))
                    seconds.append(time.process_time() - began)
            except (ArbornetError, MemoryError):
                continue
            out.append((found[0] - found[1], seconds[0], seconds[1]))
    return out


def loss() -> None:
    """The table of losses."""
    print("| table | families | lost anything | median | 95th percentile | most | exact s | in order s |")
    print("|---|---|---|---|---|---|---|---|")
    every: list[float] = []
    for name, table in bundled():
        found = losses(table)
        if not found:
            continue
        lost = np.array([each[0] for each in found])
        every += lost.tolist()
        exact, ordered = (sum(each[i] for each in found) for i in (1, 2))
        print(f"| {name} | {line(lost)} | {exact:.2f} | {ordered:.2f} |", flush=True)
    print(f"| all | {line(np.array(every))} | | |")


def line(lost: Any) -> str:
    """How much was lost, as cells."""
    lost = np.where(lost < 1e-8, 0.0, lost)
    at = np.quantile(lost, [0.5, 0.95, 1.0])
    return f"{len(lost):,} | {(lost > 0).mean():.1%} | " + " | ".join(f"{x:.3g}" for x in at)


#: Where the classes of a made child are parted.
CUTS = {"two classes": [0.0], "four classes": [-1.0, 0.0, 1.0]}


def made(levels: tuple[int, ...], child: str, number: bool, seed: int = 0) -> an.Table:
    """Rows of levels at random, and a child that depends on them."""
    random = np.random.default_rng([len(levels), seed] if seed else len(levels))
    columns: dict[str, Any] = {}
    effect = np.zeros(ROWS)
    for i, k in enumerate(levels):
        codes = random.integers(0, k, ROWS)
        columns[f"g{i}"] = [f"level {code}" for code in codes]
        effect += random.normal(size=k)[codes]
    if number:
        columns["x"] = random.normal(size=ROWS)
        effect += columns["x"]
    noisy = effect + random.normal(size=ROWS)
    columns["y"] = noisy if child == "number" else [f"class {i}" for i in np.digitize(noisy, CUTS[child])]
    return an.Table(
        columns, schema=an.infer_schema(columns).with_types(**{f"g{i}": an.Categorical() for i in range(len(levels))})
    )


def levels() -> None:
    """The table of what is lost over levels: the mean and the most of made tables."""
    counts = (3, 4, 6, 8, 10, 12, 14, 16)
    print("| parents | child | " + " | ".join(f"{k} levels" for k in counts) + " |")
    print("|---|---|" + "---|" * len(counts))
    for n in MOST_MADE:
        for child in ("number", "two classes", "four classes"):
            cells = []
            for k in counts:
                lost = []
                for seed in range(MADE if k <= MOST_MADE[n] else 0):
                    table = made((k,) * n, child, number=False, seed=seed)
                    y, parents = table.names.index("y"), list(range(n))
                    exact, ordered = (
                        prepared(table, an.PCART(penalised=False, grouping=how)).score(y, parents)
                        for how in ("exact", "ordered")
                    )
                    lost.append(max(0.0, exact - ordered))
                cells.append(f"{np.mean(lost):.2f} / {max(lost):.2f}" if lost else "")
            print(f"| {n} | {child} | " + " | ".join(cells) + " |", flush=True)


def curve() -> None:
    """The table of costs."""
    print("| parents | child | " + " | ".join(f"{k} levels" for k in (4, 8, 12, 16, 24, 64, 300, 1000)) + " |")
    print("|---|---|" + "---|" * 8)
    for n, number in ((1, False), (1, True), (2, False), (2, True), (3, False)):
        for child in ("number", "two classes"):
            cells = []
            for k in (4, 8, 12, 16, 24, 64, 300, 1000):
                table = made((k,) * n, child, number)
                score = prepared(table, an.PCART(penalised=False))
                y = table.names.index("y")
                parents = [v for v in range(len(table.names)) if v != y]
                began = time.process_time()
                score.score(y, parents)
                seconds = time.process_time() - began
                groups = score.in_order(y, parents)
                merged = "" if groups is None else "*" if all(levels == of for _, levels, of in groups) else "**"
                cells.append(f"{seconds:.3f}{merged}")
            print(f"| {n}{' and a number' if number else ''} | {child} | " + " | ".join(cells) + " |", flush=True)


#: Rows, columns and most levels of whole tables: each is varied by itself, and the last is as large as they come.
WHOLE = (
    *((10_000, 10, k) for k in (2, 3, 10, 30, 100, 300, 1000)),
    *((n, 10, 300) for n in (1_000, 100_000, 1_000_000)),
    *((10_000, columns, 300) for columns in (5, 20)),
    (1_000_000, 20, 300),
)


def mixed(rows: int, columns: int, most: int) -> pl.DataFrame:
    """Numbers and categories in turn, of 3 (or `most`) to `most` levels; each follows one or two before it."""
    random = np.random.default_rng([rows, columns, most])
    counts = iter(np.geomspace(min(3, most), most, columns // 2).round().astype(int).tolist())
    real: list[Any] = []
    out: dict[str, pl.Series] = {}
    for i in range(columns):
        before = random.choice(i, min(i, 2), replace=False).tolist()
        x = random.normal(size=rows) + sum(real[j] for j in before)
        x /= x.std()
        if i % 2 == 0:
            out[f"x{i}"] = pl.Series(x)
            real.append(x)
            continue
        # Levels of about as many rows each, in no order that their names would tell.
        k = next(counts)
        codes = random.permutation(k)[np.minimum((k * (0.5 + 0.5 * np.tanh(x))).astype(int), k - 1)]
        names = [f"level {j}" for j in range(k)]
        out[f"g{k}_{i}"] = pl.Series(names).gather(codes).cast(pl.Categorical)
        real.append(random.normal(size=k)[codes])
    return pl.DataFrame(out)


def learned(shape: tuple[int, int, int], leaf: Any) -> list[float]:
    """Seconds of reading, scoring, searching and fitting, megabytes at the peak, families, and those in order."""
    frame = mixed(*shape)
    seconds = [time.process_time()]
    table = an.Table(frame)
    seconds.append(time.process_time())
    candidates = an.score_parents(table, an.PCART(leaf=leaf), max_parents=2)
    seconds.append(time.process_time())
    found = an.search.exact(candidates)
    seconds.append(time.process_time())
    an.fit(table, found, an.PCART(leaf=leaf))
    seconds.append(time.process_time())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return [*np.diff(seconds).tolist(), peak, candidates.n_evaluated, candidates.n_in_order]


def whole() -> None:
    """The table of what whole tables cost, each in a process of its own."""
    print("| rows | columns | levels | leaves | read | score | search | fit | peak MB | families | in order |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for shape in WHOLE:
        for leaf in ("normal", "linear"):
            run = [sys.executable, __file__, "one", *map(str, shape), leaf]
            made = subprocess.run(run, capture_output=True, text=True, check=True)
            *seconds, peak, families, in_order = json.loads(made.stdout)
            cells = [f"{n:,}" for n in shape] + [leaf] + [f"{s:.2f}" for s in seconds]
            print(f"| {' | '.join(cells)} | {peak:,.0f} | {families:,.0f} | {in_order:,.0f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        rows_, columns_, most_ = map(int, sys.argv[2:5])
        print(json.dumps(learned((rows_, columns_, most_), sys.argv[5])))
        sys.exit()
    for what in sys.argv[1:] or ("loss", "levels", "curve", "whole"):
        {"loss": loss, "levels": levels, "curve": curve, "whole": whole}[what]()
