"""The tables that are recorded, and the forms in which each is given to the package.

Costs are bounded by rule: dear methods see few columns and rows, chosen by their places alone, cheap ones see them all.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ARBORNET_DATA", ROOT / "benches" / "data"))
#: Columns and rows that dear methods see.
FEW_COLUMNS, FEW_ROWS = 8, 1000
#: Levels of a category that dear methods see; the rarest are merged.
FEW_LEVELS = 6
#: Rows and levels that cheap methods see, of all columns.
MANY_ROWS = 2000
MANY_LEVELS = 10
#: Bins of a number where levels are needed.
BINS = 3
#: A form with fewer complete rows is left out.
LEAST_ROWS = 10
#: Small tables of every kind: numbers, levels, both, dates, missing values.
QUICK = (
    "bundled/moments",
    "examples/bnlearn-lizards",
    "examples/bnlearn-marks",
    "examples/deal-rats",
    "examples/tips",
    "uci/zoo",
)
#: Of these folders' tables there are a hundred columns of numbers each, without a list of kinds.
MEASURED = ("dream4",)
#: No tables: lists of arcs, pairs of genes, a single row.
NO_TABLES = ("gold_standard", "dualknockouts", "wildtype")


@dataclass(frozen=True)
class Source:
    """A table as it lies on disk: its rows, and the kind of every column."""

    name: str
    frame: pl.DataFrame
    kinds: dict[str, Any]
    target: str


@dataclass
class Form:
    """A table as the methods get it, with what was made of it so far."""

    name: str
    source: Source
    frame: pl.DataFrame
    table: an.Table
    n_jobs: int
    candidates: dict[str, tuple[Any, an.Candidates]] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)
    networks: dict[str, an.BayesNet] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        return self.table.names

    def first(self, kind: str, but: str = "") -> str | None:
        """The first variable with levels ("levels") or without ("numbers"), the target before others."""
        order = sorted(self.names, key=lambda name: name != self.source.target)
        of_kind = [name for name in order if (self.table.schema[name].levels is None) == (kind == "numbers")]
        return next((name for name in of_kind if name != but), None)


def names() -> list[str]:
    """All tables, as `folder/name`."""
    listed = [f"{table['group']}/{table['name']}" for table in _manifest()]
    simulated = [f"simulated/{path.name.removesuffix('.csv.gz')}" for path in (DATA / "simulated").glob("*.csv.gz")]
    measured = [
        f"{folder}/{path.name.removesuffix('.csv.gz')}"
        for folder in MEASURED
        for path in (DATA / folder).glob("*.csv.gz")
        if not any(word in path.name for word in NO_TABLES)
    ]
    bundled = [f"bundled/{name}" for name in ("moments", "patients", "survey")]
    return sorted([*listed, *simulated, *measured, *bundled])


def source(name: str) -> Source:
    """A table by its name."""
    folder, of = name.split("/")
    if folder == "bundled":
        frame = moments() if of == "moments" else an.example(of)
        return Source(name, frame, {}, frame.columns[-1])
    if folder == "simulated":
        told = json.loads((DATA / folder / f"{of}.json").read_text(encoding="utf-8"))
        kinds = {column: "categorical" if n else "continuous" for column, n in told["levels"].items()}
        return _read(name, DATA / folder / f"{of}.csv.gz", kinds, None)
    if folder in MEASURED:
        return _read(name, DATA / folder / f"{of}.csv.gz", {}, None)
    kinds = json.loads((DATA / "types.json").read_text(encoding="utf-8"))[of]
    target = kinds.pop("target")
    file = next(table["file"] for table in _manifest() if table["name"] == of)
    return _read(name, DATA / file, kinds, target)


def forms(of: Source, n_jobs: int) -> Iterator[Form]:
    """A table as mixed columns, as levels alone, and with all its columns."""
    few = thinned(of.frame.select(spread(of.frame.columns, FEW_COLUMNS, of.target)).drop_nulls(), FEW_ROWS)
    if len(few) >= LEAST_ROWS:
        yield _form("mixed", of, few, FEW_LEVELS, n_jobs)
        yield _form("levels", of, few, FEW_LEVELS, n_jobs)
    if len(of.frame.columns) > FEW_COLUMNS:
        all_columns = thinned(of.frame.drop_nulls(), MANY_ROWS)
        if len(all_columns) >= LEAST_ROWS:
            yield _form("wide", of, all_columns, MANY_LEVELS, n_jobs)
            yield _form("wide levels", of, all_columns, MANY_LEVELS, n_jobs)


def spread(columns: list[str], most: int, target: str) -> list[str]:
    """So many columns, evenly spread, the target among them, in their order."""
    if len(columns) <= most:
        return columns
    others = [column for column in columns if column != target]
    chosen = {others[i * len(others) // (most - 1)] for i in range(most - 1)} | {target}
    return [column for column in columns if column in chosen]


def thinned(frame: pl.DataFrame, most: int) -> pl.DataFrame:
    """At most so many rows, evenly spread."""
    return frame.gather_every(max(1, -(-len(frame) // most)))


def moments() -> pl.DataFrame:
    """Dates, moments, times of day, spans of time and truth values, some of them missing, and what depends on them."""
    rows = range(240)
    days = [(37 * i * i + 11 * i) % 2500 for i in rows]
    seconds = [(7919 * i) % 86_400 for i in rows]
    late = [day > 1200 and second > 30_000 for day, second in zip(days, seconds, strict=True)]
    start = dt.datetime(2015, 3, 1, 6, 30)
    return pl.DataFrame(
        {
            "joined": [start.date() + dt.timedelta(days=day) for day in days],
            "seen": [start + dt.timedelta(days=day, seconds=s) for day, s in zip(days, seconds, strict=True)],
            "rose": [(start + dt.timedelta(seconds=s)).time() for s in seconds],
            "took": [dt.timedelta(minutes=(day % 97) + (600 if of else 0)) for day, of in zip(days, late, strict=True)],
            "birth day": [None if i % 23 == 0 else 1.5 * ((i * 13) % 31) for i in rows],
            "late": late,
            "stage": [["I", "II", "III"][(day // 900 + of) % 3] for day, of in zip(days, late, strict=True)],
        }
    )


@cache
def _manifest() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))["tables"]
    return listed


def _read(name: str, file: Path, kinds: dict[str, Any], target: str | None) -> Source:
    texts = pl.read_csv(file, infer_schema=False, null_values=["", "NA"] if not kinds else [""])
    kinds = kinds or dict.fromkeys(texts.columns, "continuous")
    numbers = [column for column in texts.columns if kinds[column] == "continuous"]
    frame = texts.with_columns(pl.col(numbers).cast(pl.Float64))
    return Source(name, frame, kinds, target if target in frame.columns else frame.columns[-1])


def _form(name: str, of: Source, frame: pl.DataFrame, most_levels: int, n_jobs: int) -> Form:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        schema = an.infer_schema(frame, max_levels=most_levels, n_jobs=n_jobs)
    declared: dict[str, Any] = {
        column: _kind(of.kinds[column], most_levels) for column in frame.columns if column in of.kinds
    }
    # What inference would leave out, such as a constant, is kept: it is a column like others here.
    declared |= {column: schema[column].kind for column in frame.columns if column not in declared}
    if name.endswith("levels"):
        numbers = [column for column, kind in declared.items() if isinstance(kind, an.Continuous)]
        declared |= {column: an.Binned(BINS) for column in numbers}
    return Form(name, of, frame, an.Table(frame, schema=schema.with_types(declared), n_jobs=n_jobs), n_jobs)


def _kind(told: Any, most_levels: int) -> Any:
    if isinstance(told, dict):
        return an.Ordinal([str(level) for level in told["ordinal"]])
    return an.Continuous() if told == "continuous" else an.Categorical(max_levels=most_levels)
