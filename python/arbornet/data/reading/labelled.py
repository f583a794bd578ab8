"""Columns of codes with labels, as files of SPSS and Stata keep them: labels for codes, numbers where they are numbers.

A column of which every value has a label holds levels. Only what the file declares ordinal, and what follows a known
scale of words or numbers in the order of its codes, has an order: both programs keep marital status and agreement in
the same way. A column with values that have no label holds numbers, whatever label single ones have (0 `none`, 10
`completely`); a label such as `Refused` says that there is no number. So it says in an ordered column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from arbornet.data.looks.grades import certain_order, likely_order

NO_VALUE = frozenset({
    "refused", "refusal", "refused to answer", "don't know", "dont know", "do not know", "dk", "na", "n/a", "nap",
    "not applicable", "inapplicable", "inap", "iap", "no answer", "no response", "not asked", "not ascertained",
    "not available", "not stated", "not reported", "not in universe", "missing", "unknown", "skipped", "no data",
    "prefer not to say", "prefer not to answer", "weiß nicht", "weiss nicht", "keine angabe", "k.a.", "verweigert",
    "ne sait pas", "refus", "sans réponse", "no sabe", "no contesta", "ns", "nc", "ns/nc",
})  # fmt: skip
"""Labels of codes that stand for no value, in lower case."""
WHOLE = 2.0**53
FEWEST_GRADES = 3


@dataclass(frozen=True)
class Labelled:
    """A column of a file with labels, as it is read."""

    column: pl.Series
    gone: tuple[str, ...] = ()
    """Labels whose codes are read as missing."""


def labelled(codes: pl.Series, labels: Mapping[float, str], measure: str = "unknown") -> Labelled:
    """The column that codes and their labels make.

    Args:
        codes: Its values as the file keeps them.
        labels: What codes stand for; those that are not among the values may be there.
        measure: What the file says of it: nominal, ordinal, scale or unknown.
    """
    if not codes.dtype.is_numeric():
        return Labelled(codes)
    known = {code: label.strip() for code, label in sorted(labels.items())}
    values = codes.drop_nulls().cast(pl.Float64).unique().to_list()
    without = [code for code, label in known.items() if says_no_value(label) and code in values]
    gone = tuple(known[code] for code in without)
    if not values or any(value not in known for value in values):
        return Labelled(_numbers(codes, without), gone)
    known = _apart(known)
    grades = [label for code, label in known.items() if not says_no_value(labels[code])]
    if len(grades) >= FEWEST_GRADES and (measure == "ordinal" or (measure != "nominal" and has_order(grades))):
        return Labelled(_texts(codes, known, without).cast(pl.Enum(grades)), gone)
    return Labelled(_texts(codes, known, []))


def says_no_value(label: str) -> bool:
    """Whether a label says that there is no value: `Refused`, `DK/NA`, `[Don’t know]`."""
    plain = re.sub(r"[\[\]().]", "", label.lower().replace("’", "'")).strip()
    return plain in NO_VALUE or all(part.strip() in NO_VALUE for part in re.split(r"[/,]|\bor\b", plain))


def has_order(grades: list[str]) -> bool:
    """Whether labels in the order of their codes are a known scale, up or down."""
    certain = certain_order(grades)
    order = likely_order(grades) if certain is None else certain[0]
    return order is not None and grades in (order, order[::-1])


def _apart(known: Mapping[float, str]) -> dict[float, str]:
    """Labels, with the code where two codes have the same one."""
    many = list(known.values())
    return {code: label if many.count(label) == 1 else f"{label} ({code:g})" for code, label in known.items()}


def _numbers(codes: pl.Series, without: list[float]) -> pl.Series:
    """Numbers, whole ones as such: SPSS has no other numbers than floats, nor have gaps in a pandas column."""
    numbers = codes if not without else codes.set(codes.is_in(without).fill_null(False), None)
    if not numbers.dtype.is_float():
        return numbers
    known = numbers.drop_nulls()
    is_whole = len(known) > 0 and bool(((known == known.round(0)) & (known.abs() < WHOLE)).all())
    return numbers.cast(pl.Int64) if is_whole else numbers


def _texts(codes: pl.Series, known: Mapping[float, str], without: list[float]) -> pl.Series:
    old = [code for code in known if code not in without]
    return codes.cast(pl.Float64).replace_strict(
        old, [known[code] for code in old], default=None, return_dtype=pl.String
    )
