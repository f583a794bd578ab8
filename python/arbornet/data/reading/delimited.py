"""Text files of tables (CSV and its relatives) to frames, whatever program wrote them.

Encoding, separator, header and lines before it are found from the first megabyte (`encodings`, `dialect`), unless they
are given. Polars reads the file; then its columns are repaired (`repaired`), and lines of a wrong number of fields are
an error that names them (`records`). What was found is said: facts in the log, guesses as a warning.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from arbornet._core import ArbornetError, ColumnError
from arbornet.data.reading import digits, quotes, repaired
from arbornet.data.reading.dialect import NAMES, Dialect, dialect_of
from arbornet.data.reading.encodings import GUESSED, UTF8, decoded, encoding_of
from arbornet.data.reading.records import Lines, lines_of
from arbornet.system.sources import bytes_of, is_pipe

HEAD = 1 << 20
LONGEST_NOTE = 60
OWN_LAYOUT = frozenset(
    {"skip_rows", "skip_lines", "comment_prefix", "quote_char", "eol_char", "skip_rows_after_header"}
)
"""Options of Polars that say where the table is: then lines before it are not looked for."""
OWN_ROWS = OWN_LAYOUT | {"truncate_ragged_lines", "ignore_errors", "n_rows", "schema", "columns", "row_index_name"}
"""Options with which lines are not counted."""
OWN_TYPES = frozenset({"infer_schema", "schema", "dtypes", "columns", "row_index_name", "n_rows", *OWN_LAYOUT})
"""Options with which leading zeros are not looked for."""


Kept = pl.Series | None
"""The rows of what Polars reads that are rows of the table; None if all are."""


@dataclass
class Read:
    """A frame, and what was found out about its file."""

    frame: pl.DataFrame
    facts: list[str] = field(default_factory=list)
    """What is certain."""
    guesses: list[str] = field(default_factory=list)
    """What may be wrong."""


def read_text(path: Path, usual: str, nulls: Sequence[str], options: dict[str, Any]) -> Read:
    """Reads a text file.

    Args:
        path: The file.
        usual: The separator that its ending promises.
        nulls: Fields that mean "missing".
        options: Options of `polars.read_csv`, which win over what is found.

    Raises:
        ArbornetError: If a line has another number of fields than the header.
        ColumnError: If two columns have the same name.
        PolarsError: If Polars cannot read it.
    """
    read = Read(pl.DataFrame())
    source, head, is_whole = _opened(path, options, read)
    found = dialect_of(head, is_whole, usual, options.get("separator"))
    may_stray = "quote_char" not in options
    seen = head if is_whole else head[: head.rfind("\n") + 1]  # the last line may be cut
    if may_stray and quotes.repaired(seen, found.separator).needed:
        source = _in_quotes(path, source, found.separator, read) or source
        found = dialect_of(quotes.repaired(seen, found.separator).text, is_whole, usual, found.separator)
    own = OWN_LAYOUT & set(options)
    if own or "has_header" in options:
        found = _as_told(found, bool(options.get("has_header", True)), bool(own))
    settings: dict[str, Any] = {
        "separator": found.separator,
        "infer_schema_length": None,
        "null_values": list(nulls),
        "glob": False,
    }
    settings |= {"has_header": found.has_header} | ({"skip_lines": found.skipped} if found.skipped else {})
    settings |= {"truncate_ragged_lines": True} if found.has_ends else {}
    settings |= {name: value for name, value in options.items() if name != "encoding"}
    if options.get("encoding") == "utf8-lossy":
        settings["encoding"] = "utf8-lossy"
    names = _names(found, settings)
    while True:  # what the first megabyte does not show makes Polars fail
        try:
            frame, kept = _frame(path, source, found, settings)
            break
        except _NotesBelowError as below:
            source = _without_notes(path, source, below.lines, read)
        except pl.exceptions.ComputeError as error:
            if "utf-8" in str(error) and isinstance(source, Path):
                source = _in_windows(path, read)
            elif may_stray and (made := _in_quotes(path, source, found.separator, read)) is not None:
                source = made
            else:
                _check_quotes(path, source, found, may_stray)
                raise
    if names is not None and frame.width == len(names) and "new_columns" not in options:
        frame.columns = [f"\0{i}" for i in range(frame.width)]
        frame.columns = names
    elif not settings["has_header"] and not {"has_header", "new_columns", "schema", "columns"} & set(options):
        frame.columns = numbered([""] * frame.width)  # Polars counts from 0, or from 1 before version 2
    elif settings["has_header"] and settings.get("quote_char", '"') == '"':
        # Polars undoubles the quotes within fields, but not those within names.
        frame = frame.rename(lambda name: name.replace('""', '"'))
    unended = _unended(frame, found, read) if not own else frame
    if not OWN_TYPES & set(options):
        frame = _as_written(frame, source, kept, found, settings, options, read)
    frame = frame.select(unended.columns)
    read.frame = _repaired(frame, found, nulls, options, read)
    _say(found, usual, options, own, read)
    return read


def _as_told(found: Dialect, has_header: bool, is_own: bool) -> Dialect:
    """The dialect where you say whether there is a header, or where the table is."""
    if is_own or (found.names is not None and not found.has_header):
        return Dialect(found.separator, has_header=has_header)
    return replace(found, has_header=has_header, names=found.names if has_header else None)


def _opened(path: Path, options: dict[str, Any], read: Read) -> tuple[Path | bytes, str, bool]:
    """What Polars reads (the file itself, or its bytes in UTF-8), the beginning as text, and whether that is all."""
    packed = path.suffix.lower()
    data = bytes_of(path) if is_pipe(path) else None
    head = data if data is not None else _head(path, packed)
    encoding = options.get("encoding") or encoding_of(head, len(head) < HEAD)
    if encoding in ("utf8", "utf8-lossy"):
        encoding = UTF8
    if encoding == UTF8 and b"\n" not in head and b"\r" in head:
        data = _whole(path, packed, data).replace(b"\r", b"\n")
        return data, decoded(data[:HEAD], UTF8), len(data) <= HEAD
    if encoding != UTF8:
        data, encoding = _in_utf8(path, packed, data, encoding, bool(options.get("encoding")))
        name = GUESSED.get(encoding, encoding.upper())
        (read.guesses if encoding in GUESSED and "encoding" not in options else read.facts).append(f"encoded as {name}")
        return data, decoded(data[:HEAD], UTF8), len(data) <= HEAD
    return data if data is not None else path, decoded(head, UTF8), len(head) < HEAD


def _head(path: Path, packed: str) -> bytes:
    """The first megabyte."""
    if packed == ".gz":
        with gzip.open(path) as file:
            return file.read(HEAD)
    if packed == ".zst":
        return _whole(path, packed, None)[:HEAD]
    with path.open("rb") as file:
        return file.read(min(HEAD, path.stat().st_size))


def _whole(path: Path, packed: str, data: bytes | None) -> bytes:
    if data is None and packed == ".gz":
        return gzip.decompress(path.read_bytes())
    if data is None and packed == ".zst":
        lines = pl.read_csv(
            path, has_header=False, separator="\x1f", quote_char=None, schema={"line": pl.String}, glob=False,
            truncate_ragged_lines=True, encoding="utf8-lossy",
        )  # fmt: skip
        return "\n".join(lines["line"].fill_null("")).encode()
    return bytes_of(path) if data is None else data


def _in_utf8(path: Path, packed: str, data: bytes | None, encoding: str, is_given: bool) -> tuple[bytes, str]:
    whole = _whole(path, packed, data)
    if encoding in GUESSED and not is_given:
        encoding = encoding_of(whole)
    try:
        return decoded(whole, encoding).encode(errors="replace"), encoding
    except LookupError:
        raise ArbornetError(
            f"{path}: encoding={encoding!r} is not known; Python lists its encodings as codecs"
        ) from None


def _in_windows(path: Path, read: Read) -> bytes:
    """The bytes, in UTF-8, of a file that is not."""
    data, encoding = _in_utf8(path, path.suffix.lower(), None, "cp1252", False)
    read.guesses.append(f"encoded as {GUESSED.get(encoding, encoding)}")
    return data


def _in_quotes(path: Path, source: Path | bytes, separator: str, read: Read) -> bytes | None:
    """The bytes of a file in which quotes that are no quotes are written as text; None if there are none."""
    data = source if isinstance(source, bytes) else _whole(path, path.suffix.lower(), None)
    if b'"' not in data:
        return None
    data = data if encoding_of(data) == UTF8 else _in_windows(path, read)
    made = quotes.repaired(decoded(data, UTF8), separator)
    if made.n_fields == 0:
        return None
    more = f" and {made.n_fields - 1:,} more fields" if made.n_fields > 1 else ""
    read.facts.append(f"quotes taken for text in {made.first!r}{more}")
    return made.text.encode()


def _check_quotes(path: Path, source: Path | bytes, found: Dialect, may_stray: bool) -> None:
    """Raises ArbornetError if a field opens with a quote and does not end with it: Polars names no line and no way."""
    data = source if isinstance(source, bytes) else _whole(path, path.suffix.lower(), None)
    at = quotes.unclear(decoded(data, UTF8), found.separator) if may_stray else None
    if at is not None:
        name = f" ({found.names[at[1] - 1]!r})" if found.names is not None and at[1] <= len(found.names) else ""
        raise ArbornetError(
            f"{path}: line {at[0]}, field {at[1]}{name} opens with a quote and does not end with it: {at[2]!r}; "
            "correct the line, or take quotes for text with an.read(path, quote_char=None)"
        )


def _names(found: Dialect, settings: dict[str, Any]) -> list[str] | None:
    """The names of the columns: blanks around them are cut, columns without a name are numbered.

    Raises:
        ColumnError: If two columns have the same name.
    """
    if "new_columns" in settings or "columns" in settings or (settings["has_header"] and found.names is None):
        return None
    if found.names is None or not (settings["has_header"] or found.names[:1] == ("",)):
        return None
    names = [name.strip().replace("\r\n", "\n") for name in found.names]
    twice = next((name for name, n in Counter(names).items() if n > 1 and name), None)
    if twice is not None:
        first, second = [str(i + 1) for i, name in enumerate(names) if name == twice][:2]
        raise ColumnError(
            f"column '{twice}' appears twice in the file, as columns {first} and {second}; "
            "rename one in its first line, or give all names with an.read(path, new_columns=[...])"
        )
    return numbered(names)


def numbered(names: Sequence[str]) -> list[str]:
    """Names in which columns without one are called by their place: `column_3`."""
    taken, out = set(names), []
    for i, name in enumerate(names):
        made = name or f"column_{i + 1}"
        while not name and made in taken:
            made += "_"
        taken.add(made)
        out.append(made)
    return out


def _frame(path: Path, source: Path | bytes, found: Dialect, settings: dict[str, Any]) -> tuple[pl.DataFrame, Kept]:
    """What Polars reads, if every line has as many fields as the header; and which of its rows are none.

    Raises:
        ArbornetError: If one has not.
    """
    counts = not OWN_ROWS & (set(settings) - {"skip_lines"} - ({"truncate_ragged_lines"} if found.has_ends else set()))
    error: pl.exceptions.ComputeError | None = None
    try:
        frame = pl.read_csv(_file(source), **settings)
    except pl.exceptions.ComputeError as failed:
        if not counts:
            raise
        error, frame = failed, pl.DataFrame()
    width = frame.width or len(found.names or ())
    if not counts or not width:
        if error is not None:
            raise error
        return frame, None
    is_short = error is None and width > 1 and frame.height > 0 and frame[:, -1].has_nulls()
    if error is None and not is_short and not found.has_ends:
        return frame, None
    widths = [width, width + 1] if found.has_ends else [width]
    try:
        lines = lines_of(source, found.separator, widths, found.skipped, bool(settings["has_header"]))
    except pl.exceptions.PolarsError:
        lines = Lines()
    if error is not None and lines.unclosed:
        raise ArbornetError(
            f"{path}: a quote opens in line {lines.unclosed} and is closed nowhere; correct the line, or take "
            "quotes for text with an.read(path, quote_char=None)"
        )
    if lines.note:
        raise _NotesBelowError(lines)
    if lines.n_wrong and width > 1:
        raise ArbornetError(_ragged(path, lines, width, found))
    if error is not None:
        raise error
    if lines.blank and len(lines.blank) < frame.height:
        empty = set(
            frame.with_row_index("\0at").filter(pl.all_horizontal(pl.exclude("\0at").is_null()))["\0at"].to_list()
        )
        keep = pl.Series([i for i in range(frame.height) if i not in empty.intersection(lines.blank)], dtype=pl.UInt32)
        return frame[keep], keep
    return frame, None


class _NotesBelowError(Exception):
    """Lines below the table are notes."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines


def _without_notes(path: Path, source: Path | bytes, lines: Lines, read: Read) -> bytes:
    """The bytes of a file up to the notes below its table."""
    data = source if isinstance(source, bytes) else _whole(path, path.suffix.lower(), None)
    shown = lines.note if len(lines.note) <= LONGEST_NOTE else lines.note[:LONGEST_NOTE] + "…"
    n = f"{lines.n_wrong} lines" if lines.n_wrong > 1 else "1 line"
    read.guesses.append(f"{n} below the table left out, from line {lines.first}: {shown!r}")
    return b"\n".join(data.split(b"\n")[: lines.first - 1]) + b"\n"


def _ragged(path: Path, lines: Lines, width: int, found: Dialect) -> str:
    more = f" ({lines.n_wrong:,} such lines)" if lines.n_wrong > 1 else ""
    by = NAMES.get(found.separator, repr(found.separator))
    return (
        f"{path}: line {lines.first} has {lines.n_fields} field{'s' if lines.n_fields != 1 else ''}, the header "
        f"{width}, separated by {by}{more}; correct the line, or read the file with "
        "an.read(path, truncate_ragged_lines=True): what is missing is missing, what is too much is cut off"
    )


def _file(source: Path | bytes) -> Path | BytesIO:
    return BytesIO(source) if isinstance(source, bytes) else source


def _unended(frame: pl.DataFrame, found: Dialect, read: Read) -> pl.DataFrame:
    """Without columns that have no name and no value, as spreadsheets write them."""
    names = found.names or ()
    empty = [i for i, name in enumerate(names) if not name.strip()] if len(names) == frame.width else []
    empty = [i for i in empty if frame[:, i].null_count() == frame.height and frame.height]
    if empty and len(empty) < frame.width:
        read.facts.append(f"{len(empty)} column{'s' if len(empty) != 1 else ''} without a name and a value left out")
        return frame.select(name for i, name in enumerate(frame.columns) if i not in empty)
    return frame


def _as_written(
    frame: pl.DataFrame,
    source: Path | bytes,
    kept: Kept,
    found: Dialect,
    settings: dict[str, Any],
    options: dict[str, Any],
    read: Read,
) -> pl.DataFrame:
    """The columns of numbers whose fields say more than their numbers: leading zeros, dots between thousands."""
    given = options.get("schema_overrides") or ()
    if frame.height == 0 or (given and not isinstance(given, dict)):
        return frame
    again = {k: v for k, v in settings.items() if k not in ("new_columns", "infer_schema_length", "schema_overrides")}

    def texts(names: Sequence[str]) -> pl.DataFrame:
        """The columns once more, as texts."""
        at = [frame.columns.index(name) for name in names]
        made = pl.read_csv(_file(source), columns=at, infer_schema=False, **again)
        made.columns = list(names)
        return made if kept is None else made[kept]

    own = [name for name in frame.columns if name not in given]
    frame = digits.with_zeros(frame, own, texts, read.facts, read.guesses)
    return digits.with_thousands(frame, own, texts, read.facts, read.guesses) if found.separator != "," else frame


def _repaired(
    frame: pl.DataFrame, found: Dialect, nulls: Sequence[str], options: dict[str, Any], read: Read
) -> pl.DataFrame:
    given = options.get("schema_overrides") or ()
    own = set(OWN_TYPES - OWN_LAYOUT) & set(options) or (given and not isinstance(given, dict))
    if own:
        return frame
    columns, n_commas, may_be = [], 0, found.separator != ","
    is_certain = may_be and any(map(digits.has_decimal_commas, frame.select(pl.col(pl.String))))
    for column in frame.get_columns():
        if column.name in given:
            columns.append(column)
            continue
        column = repaired.unblanked(column, nulls)
        if may_be and (made := repaired.with_decimal_commas(column, is_certain)).dtype != column.dtype:
            column, n_commas = made, n_commas + 1
        # Polars itself would also guess at 03/04/2021.
        columns.append(column if "try_parse_dates" in options else repaired.dated(column))
    if n_commas:
        read.facts.append(f"decimal commas in {n_commas} column{'s' if n_commas != 1 else ''}")
    return pl.DataFrame(columns)


def _say(found: Dialect, usual: str, options: dict[str, Any], own: frozenset[str], read: Read) -> None:
    if found.separator != usual and "separator" not in options:
        read.facts.insert(0, f"separated by {NAMES[found.separator]}")
    if found.skipped and not own:
        read.guesses.append(f"{found.skipped} line{'s' if found.skipped != 1 else ''} before the table skipped")
    if not found.has_header and "has_header" not in options and not own:
        names = read.frame.columns
        told = f"columns are named {names[0]} to {names[-1]}" if len(names) > 1 else ""
        is_named = found.names is not None
        read.guesses.append(
            "the first column has no name" if is_named else f"the first line holds values, no names: {told}"
        )


def unquoted(text: str) -> str:
    """A message of Polars without its advice."""
    return re.split(r"\n\n(?:You might|Consider)", text)[0].strip()
