"""Which lines of a text table have another number of fields than its header.

Polars fills lines that are too short with missing values, and names no line that is too long. Lines are counted here
only where one may be wrong. Without quotes that takes a pass of Polars; with them Python's own reader of CSV.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

_NONE = "\x1f"
"""A separator that no table has: lines are read whole."""


@dataclass(frozen=True)
class Lines:
    """Which lines are no rows of a table."""

    n_wrong: int = 0
    first: int = 0
    """The number of the first line with another number of fields."""
    n_fields: int = 0
    """How many it has."""
    blank: tuple[int, ...] = ()
    """Positions, among all records after the header, of lines that hold nothing."""


def lines_of(
    source: str | Path | bytes, separator: str, widths: Sequence[int], skipped: int, has_header: bool
) -> Lines:
    """Which lines hold nothing, and which are of another number of fields.

    Args:
        source: A file in UTF-8, or its bytes.
        separator: The mark between fields.
        widths: The numbers of fields that a line may have.
        skipped: Lines before the table.
        has_header: Whether the table has a header, which is of any width.

    Raises:
        PolarsError: If the file cannot be read.
    """
    lines = pl.read_csv(
        BytesIO(source) if isinstance(source, bytes) else source,
        has_header=False,
        separator=_NONE,
        quote_char=None,
        schema={"line": pl.String},
        truncate_ragged_lines=True,
        skip_lines=skipped,
        glob=False,
    )["line"].fill_null("").str.strip_suffix("\r")  # fmt: skip
    if lines.str.contains('"', literal=True).any():
        records = _parsed(lines.to_list(), separator)
    else:
        counts = lines.str.count_matches(separator, literal=True) + 1
        records = pl.DataFrame({"fields": pl.select(pl.when(lines == "").then(0).otherwise(counts)).to_series()})
        records = records.with_row_index("line", 1)
    if has_header:
        at = (records["fields"] > 0).arg_max() or 0
        records = records.slice(at + 1)
    blank = (records["fields"] == 0).arg_true()
    wrong = records.filter((pl.col("fields") != 0) & ~pl.col("fields").is_in(list(widths)))
    if wrong.height == 0:
        return Lines(blank=tuple(blank.to_list()))
    line, fields = wrong.select("line", "fields").row(0)
    return Lines(wrong.height, line + skipped, fields, tuple(blank.to_list()))


def _parsed(lines: Sequence[str], separator: str) -> pl.DataFrame:
    """Records with their first line and their number of fields, none for an empty line."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator)
    began, fields, last = [], [], 0
    try:
        for record in reader:
            began.append(last + 1)
            fields.append(len(record))
            last = reader.line_num
    except csv.Error:
        pass
    return pl.DataFrame({"line": began, "fields": fields}, schema={"line": pl.Int64, "fields": pl.Int64})
