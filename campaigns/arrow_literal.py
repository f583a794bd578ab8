"""A column read literally: pyarrow's (Polars's, pandas's, DuckDB's) own Python values, and what should become of them.

Slow and written from what the documentation promises, not from the code that is tried.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NUMERAL = re.compile(r"[ \t\r\n]*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?[ \t\r\n]*", re.ASCII)
TIMES = ("date", "datetime", "duration", "time")


@dataclass
class Told:
    """What a column says: its class, a value or None for every row, and its levels if it declares them."""

    class_: str
    values: list[Any]
    declared: list[Any] | None = None
    zone: str | None = None
    units: list[Any] | None = None
    """Of times, the whole numbers behind the values."""

    @property
    def present(self) -> list[Any]:
        return [value for value in self.values if value is not None]


REFUSED = "refused"


def temporal(kind: pa.DataType) -> tuple[str, float, str | None] | None:
    """The class of a type of times, how many of its units make one of ours, and its zone."""
    if pa.types.is_date32(kind):
        return "date", 1, None
    if pa.types.is_date64(kind):
        return "date", 86_400_000, None
    if pa.types.is_timestamp(kind):
        return "datetime", 86_400 * SECOND[kind.unit], kind.tz
    if pa.types.is_duration(kind):
        return "duration", SECOND[kind.unit], None
    return ("time", SECOND[kind.unit], None) if pa.types.is_time(kind) else None


def class_of(kind: pa.DataType) -> str:
    if isinstance(kind, pa.BaseExtensionType):
        return class_of(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return class_of(kind.value_type)
    known = temporal(kind)
    if known is not None:
        return known[0]
    if kind in (pa.string(), pa.large_string(), pa.string_view()):
        return "text"
    if pa.types.is_boolean(kind):
        return "truth"
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    return "nothing" if pa.types.is_null(kind) else REFUSED


def plain(array: pa.Array) -> list[Any]:
    """The values of one array."""
    if isinstance(array.type, pa.BaseExtensionType):
        return plain(array.storage)
    if pa.types.is_dictionary(array.type):
        values = plain(array.dictionary)
        return [None if key is None else values[key] for key in array.indices.to_pylist()]
    known = temporal(array.type)
    if known is not None:
        return [None if x is None else float(x) / known[1] for x in whole_units(array)]
    return [scalar(value) for value in array.to_pylist()]


def whole_units(array: pa.Array) -> list[Any]:
    """The whole numbers behind times."""
    if isinstance(array.type, pa.BaseExtensionType):
        return whole_units(array.storage)
    if pa.types.is_dictionary(array.type):
        values = whole_units(array.dictionary)
        return [None if key is None else values[key] for key in array.indices.to_pylist()]
    units: list[Any] = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64()).to_pylist()
    return units


def scalar(value: Any) -> Any:
    """A Python value as a truth, an integer, a number or a text; None for what is no value."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, decimal.Decimal):
        value = int(value) if value.as_tuple().exponent == 0 else float(value)
    return None if isinstance(value, float) and math.isnan(value) else value


def of_arrow(column: pa.ChunkedArray) -> Told:
    class_ = class_of(column.type)
    if class_ == REFUSED:
        return Told(REFUSED, [None] * len(column))
    values = [value for chunk in column.chunks for value in plain(chunk)]
    if class_ == "number":
        values = [None if value is None else float(value) for value in values]
    declared = None
    if pa.types.is_dictionary(column.type) and column.type.ordered:
        if class_ in TIMES:
            return Told(REFUSED, values)
        declared = [v for chunk in column.chunks if len(chunk) for v in plain(chunk.dictionary) if v is not None]
        declared = list(dict.fromkeys(declared))
        if class_ == "integer" and any(not -(2**63) <= level < 2**63 for level in declared):
            return Told(REFUSED, values)
        if any(isinstance(level, float) and math.isinf(level) for level in declared):
            return Told(REFUSED, values)
    known = temporal(getattr(column.type, "value_type", getattr(column.type, "storage_type", column.type)))
    units = None if known is None else [x for chunk in column.chunks for x in whole_units(chunk)]
    return Told(class_, values, declared, None if known is None else known[2], units)


EPOCH = dt.datetime(1970, 1, 1)


def of_objects(values: Sequence[Any], typed: bool = True) -> Told:
    """The Python values that Polars, pandas or DuckDB hand out; typed if they come from a column of one type."""
    if not typed:
        values = [float(value) if isinstance(value, decimal.Decimal) else value for value in values]
    first = next((value for value in values if not is_missing(value)), None)
    kinds = {bool: "truth", int: "integer", float: "number", str: "text", decimal.Decimal: "number", uuid.UUID: "text"}
    classes = {dt.datetime: "datetime", dt.date: "date", dt.timedelta: "duration", dt.time: "time", **kinds}
    if isinstance(first, np.generic):
        first = first.item()
    class_ = next((word for kind, word in classes.items() if isinstance(first, kind)), REFUSED)
    class_ = "nothing" if first is None else class_
    if class_ == REFUSED:
        return Told(REFUSED, [None] * len(values))
    plain_values = [time(scalar(None if is_missing(value) else value)) for value in values]
    if class_ == "integer" and any(isinstance(value, float) for value in plain_values):
        class_ = "number"
    if class_ == "number" and all(isinstance(value, int | None) for value in plain_values):
        class_ = "integer"
    return Told(class_, plain_values)


def is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and value != value)
    )


def time(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        value = value.astimezone(dt.UTC).replace(tzinfo=None) if value.tzinfo else value
        return (value - EPOCH) / dt.timedelta(days=1)
    if isinstance(value, dt.date):
        return float((value - EPOCH.date()).days)
    if isinstance(value, dt.timedelta):
        return value / dt.timedelta(seconds=1)
    if isinstance(value, dt.time):
        return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
    return value


def levels(told: Told) -> list[Any]:
    """The levels of a column in the order they are known in."""
    return list(told.declared) if told.declared is not None else sorted(set(told.present))


def as_whole(told: Told) -> Told:
    """Whole floats as integers, if they have gaps or two values; they do not number the rows."""
    if told.class_ != "number" or told.declared is not None or not told.present:
        return told
    if not all(abs(x) < 2**53 and float(x).is_integer() for x in told.present):
        return told
    n = len(told.present)
    if n == len(told.values) and (len(set(told.present)) != 2 or n < 8):
        return told
    return replace(told, class_="integer", values=[None if x is None else int(x) for x in told.values])


def inferred(told: Told) -> tuple[str, bool]:
    """The kind that is inferred, in a word, and whether the column is used."""
    values, n = told.present, len(told.present)
    distinct = set(values)
    numbers = told.class_ not in ("text", "truth")
    if n == 0:
        return "categorical", False
    if told.declared is not None:
        return "ordinal", len(distinct) > 1
    if len(distinct) == 1 and not merged(told):
        return "continuous" if numbers else "categorical", False
    if told.class_ == "text":
        return "categorical", not (len(distinct) == n and n >= 3)
    if told.class_ == "truth":
        return "categorical", True
    if told.class_ != "integer":
        return "continuous", not merged(told)
    if n == len(told.values) and n >= 3 and is_counter(values):
        return "continuous", False
    beyond = any(not -(2**63) <= x < 2**63 for x in distinct)
    if beyond or len(distinct) > 256 or n < 4 * len(distinct):
        return "continuous", not merged(told)
    gapless = max(distinct) - min(distinct) + 1 == len(distinct)
    if len(distinct) == 2 or (not gapless and len(distinct) <= 6):
        return "categorical", True
    graded = gapless and len(distinct) <= 10
    return "ordinal" if graded else "continuous", graded or not merged(told)


def merged(told: Told) -> bool:
    """Whether two values that differ are one float, in a column that reaches over fewer than 2^32 steps of floats."""
    wholes = told.units if told.units is not None else told.values if told.class_ == "integer" else []
    pairs = sorted((whole, float(x)) for whole, x in zip(wholes, told.values, strict=bool(wholes)) if whole is not None)
    alike = any(a[0] != b[0] and a[1] == b[1] for a, b in pairwise(pairs))
    most = max((abs(x) for _, x in pairs), default=0.0)
    return alike and pairs[-1][1] - pairs[0][1] < 2**32 * math.ulp(most)


def is_counter(values: list[int]) -> bool:
    low, n = min(values), len(values)
    if low not in (0, 1) or max(values) != low + n - 1:
        return False
    return values == list(range(low, low + n)) or (n >= 20 and len(set(values)) == n)


def as_numbers(told: Told) -> list[float | None] | None:
    """The values as a person means them who declares the column continuous; None if that is refused."""
    if told.class_ == "text":
        if any(not NUMERAL.fullmatch(text) or math.isinf(float(text)) for text in told.present):
            return None
        return [None if text is None else float(text) for text in told.values]
    values = [None if value is None else float(value) for value in told.values]
    return None if any(value is not None and math.isinf(value) for value in values) else values


def may_have_levels(told: Told) -> bool:
    if told.class_ == "integer" and told.present and told.declared is None:
        if len(set(told.present)) <= 256:
            return all(-(2**63) <= x < 2**63 for x in told.present)
        return float(min(told.present)) >= -(2.0**63) and float(max(told.present)) < 2.0**63
    return told.class_ not in TIMES and not any(isinstance(x, float) and math.isinf(x) for x in told.present)


def is_endless(told: Told) -> bool:
    """Whether a value is infinite."""
    return any(isinstance(x, float) and math.isinf(x) for x in told.present)
