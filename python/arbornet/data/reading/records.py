"""Which lines of a text table have another number of fields than its header.

Polars fills lines that are too short with missing values, and names no line that is too long. Lines are counted here
only where one may be wrong. Without quotes that takes a pass of Polars; with them Python's own reader of CSV.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import polars as pl

from arbornet.data.reading.dialect import MOST_NOTES

SENTENCE = 20
"""Letters of a line that is a note though no empty line stands before it."""
_WORDS = re.compile(r"[^\W\d]{2}|[*†‡#(\[]|\d[.)]?\s+[^\W\d]{2}")
"""How a note begins: with a word or the mark of a footnote."""
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
    unclosed: int = 0
    """The line in which a quote opens that is closed nowhere; 0 if there is none."""
    note: str = ""
    """The first of the wrong lines, if all of them are notes below the table."""


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
    unclosed = 0
    if lines.str.contains('"', literal=True).any():
        records, unclosed = _parsed(lines.to_list(), separator)
    else:
        counts = lines.str.count_matches(separator, literal=True) + 1
        records = pl.DataFrame({"fields": pl.select(pl.when(lines == "").then(0).otherwise(counts)).to_series()})
        records = records.with_row_index("line", 1)
    if has_header:
        at = (records["fields"] > 0).arg_max() or 0
        records = records.slice(at + 1)
    blank = (records["fields"] == 0).arg_true()
    wrong = records.filter((pl.col("fields") != 0) & ~pl.col("fields").is_in(list(widths)))
    unclosed += skipped if unclosed else 0
    if wrong.height == 0:
        return Lines(blank=tuple(blank.to_list()), unclosed=unclosed)
    line, fields = wrong.select("line", "fields").row(0)
    note = "" if unclosed else _note(lines, records, wrong, max(widths))
    return Lines(wrong.height, line + skipped, fields, tuple(blank.to_list()), unclosed, note)


def _note(lines: pl.Series, records: pl.DataFrame, wrong: pl.DataFrame, width: int) -> str:
    """The first of the wrong lines if all are notes: last, shorter than a row, words that stand apart or a sentence."""
    last = records.filter((pl.col("fields") != 0) & ~pl.col("line").is_in(wrong["line"].implode()))["line"].max()
    if not isinstance(last, int) or width < 3 or wrong.height > MOST_NOTES or wrong["line"].min() < last:  # type: ignore[operator]
        return ""
    if wrong["fields"].max() >= width:  # type: ignore[operator]
        return ""
    first = int(wrong["line"][0])
    texts = [lines[int(line) - 1].strip().strip('"').strip() for line in wrong["line"]]
    is_apart = not lines[first - 2].strip()
    is_sentence = wrong["fields"][0] == 1 and len(texts[0]) >= SENTENCE and " " in texts[0]
    return texts[0] if (is_apart or is_sentence) and all(map(_WORDS.match, texts)) else ""


def _parsed(lines: Sequence[str], separator: str) -> tuple[pl.DataFrame, int]:
    """Records with their first line and their number of fields, none for an empty line; the line of an open quote."""
    reader = csv.reader((line + "\n" for line in lines), delimiter=separator)
    began, fields, last = [], [], 0
    try:
        for record in reader:
            began.append(last + 1)
            fields.append(len(record))
            last = reader.line_num
    except csv.Error:  # a field of more than a hundred thousand letters: a quote that is closed nowhere
        began.append(last + 1)
        fields.append(0)
    made = pl.DataFrame({"line": began, "fields": fields}, schema={"line": pl.Int64, "fields": pl.Int64})
    is_open = (
        len(began) > 0 and (fields[-1] == 0 or began[-1] < len(lines)) and _is_open(lines[began[-1] - 1 :], separator)
    )
    return made, began[-1] if is_open else 0


def _is_open(lines: Sequence[str], separator: str) -> bool:
    """Whether the last record ends within a quote."""
    try:
        list(csv.reader((line + "\n" for line in lines), delimiter=separator, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error) or "larger than" in str(error)
    return False
