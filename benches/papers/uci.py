"""The 52 tables of Talvitie, Eggeling and Koivisto (2019), prepared as their section 5.1 says.

Rows with a missing value are dropped, numbers brought to mean 0 and standard deviation 1 over all rows, and of more
than five levels the rarest are merged into one. Grades count as numbers or as categories, whichever gives the paper's
counts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

import polars as pl
from common import DATA, manifest, texts, types

import arbornet as an

MOST_LEVELS = 5
#: On disk, but not in the paper's list.
NOT_IN_PAPER = ("image-segmentation-train",)


@dataclass(frozen=True)
class Prepared:
    """A table of the paper."""

    name: str
    frame: pl.DataFrame
    schema: an.Schema


def names() -> list[str]:
    """The tables' names, ascending."""
    tables = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))["tables"]
    return sorted(t["name"] for t in tables if t["group"] == "A_uci" and t["name"] not in NOT_IN_PAPER)


def prepared(name: str, ordinal: bool = False) -> Prepared:
    """A table ready to be learned from.

    Args:
        name: Its name.
        ordinal: Keep grades as grades, with all their levels, as the paper's appendix D does.
    """
    kinds = types(name)
    about = manifest(name)
    frame = texts(name).drop(about["paper_drop"], strict=False).drop_nulls()
    grades_count = not ordinal and _grades_are_numbers(name)
    columns, declared = [], {}
    for column in frame.columns:
        kind = kinds[column]
        values = frame[column]
        if kind == "continuous" or (isinstance(kind, dict) and grades_count):
            columns.append(_standardised(values.cast(pl.Float64)))
            declared[column] = an.Continuous()
        elif isinstance(kind, dict) and ordinal:
            columns.append(values)
            declared[column] = an.Ordinal([str(level) for level in kind["ordinal"]])
        else:
            merged = _merged(values)
            columns.append(merged)
            declared[column] = an.Categorical(sorted(merged.unique()))
    made = pl.DataFrame(columns)
    return Prepared(name, made, an.infer_schema(made).with_types(declared))


def _grades_are_numbers(name: str) -> bool:
    about = manifest(name)
    paper = about.get("paper") or {}
    return paper.get("continuous") == about["n_continuous"] + about["n_ordinal"]


def _standardised(values: pl.Series) -> pl.Series:
    deviation = values.std(ddof=0)
    return (values - values.mean()) / (deviation or 1.0)


def _merged(values: pl.Series) -> pl.Series:
    counts = values.value_counts().sort("count", values.name, descending=[True, False])
    kept = counts[values.name].to_list()
    if len(kept) <= MOST_LEVELS:
        return values
    kept = kept[: MOST_LEVELS - 1]
    return pl.Series(values.name, [value if value in kept else "other" for value in values])
