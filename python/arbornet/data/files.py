"""Files to frames, by their ending, through Polars."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbornet._core import ArbornetError
from arbornet.system.parallel import left_behind
from arbornet.system.sources import is_pipe
from arbornet.text.visible import visible

if TYPE_CHECKING:
    import polars as pl

NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
"""Fields of a CSV file that are read as missing."""

ISO_DATE = r"^\d{4}-\d\d-\d\d$"
ISO_MOMENT = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?$"
PACKED = (".gz", ".zst")
_TEXT = (".csv", ".tsv", ".tab", ".txt")
_ARROW = (".arrow", ".feather", ".ipc")
_NDJSON = (".ndjson", ".jsonl")
ENDINGS = (*_TEXT, ".parquet", *_ARROW, *_NDJSON)
"""Endings of the files that are read."""


def read(path: str | Path, null_values: Sequence[str] = NULLS, **options: Any) -> pl.DataFrame:
    """Reads a CSV, TSV, Parquet, Arrow (Feather, IPC) or NDJSON file into a Polars frame.

    Args:
        path: The file; its ending gives the format. Text may be packed as `.gz` or `.zst`. The name is taken literally:
            `*`, `?` and `[1]` are not patterns, and a leading `~` is not the home folder.
        null_values: Fields of a CSV or TSV file that mean "missing".
        options: Passed on to the Polars reader. Without `try_parse_dates`, columns of a CSV or TSV file that hold
            nothing but dates or moments written 2021-03-04 or 2021-03-04 15:30 are read as such.

    Raises:
        ArbornetError: If the ending is not known, the file is not what its ending says, or it is a device.
        FileNotFoundError: If there is no such file.

    Example:
        >>> df = an.read("patients.csv")
    """
    import polars as pl

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {visible(str(path))}")
    is_pipe(path)  # refuses what may have no end
    place = path.absolute()  # which starts with no ~ and no scheme, as Polars would read them
    endings = [ending.lower() for ending in path.suffixes]
    packed = bool(endings) and endings[-1] in PACKED
    ending = endings[-2] if packed and len(endings) > 1 else (endings[-1] if endings else "")
    read: Callable[[], pl.DataFrame] | None = None
    if ending in _TEXT:
        separator = "," if ending == ".csv" else "\t"
        # The whole file says what a column is: a column may be whole numbers for a million rows and then not.
        settings = {"separator": separator, "infer_schema_length": None, "null_values": list(null_values), **options}
        read = partial(_read_csv, place, {"glob": False, **settings})
    elif ending == ".parquet" and not packed:
        read = partial(pl.read_parquet, place, **{"glob": False, **options})
    elif ending in _ARROW and not packed:
        read = partial(_read_opened, pl.read_ipc, place, options)
    elif ending in _NDJSON:
        settings = {"infer_schema_length": None, **options}
        function = _read_packed_ndjson if packed else partial(_read_opened, pl.read_ndjson)
        read = partial(function, place, settings)
    if read is not None:
        try:
            return left_behind(read)  # Polars looks for Ctrl-C only once a file is read
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error) as error:
            raise ArbornetError(f"{path} cannot be read as {ending[1:]}: {error}") from error
    known = ".csv, .tsv, .parquet, .arrow, .feather, .ipc, .ndjson, .jsonl"
    raise ArbornetError(f"{path}: the ending '{path.suffix}' is not known; known are {known}, and .csv.gz")


def _read_csv(path: Path, settings: dict[str, Any]) -> pl.DataFrame:
    import polars as pl

    frame = pl.read_csv(path, **settings)
    if settings.get("has_header", True) and settings.get("quote_char", '"') == '"':
        # Polars undoubles the quotes within fields, but not those within names.
        frame = frame.rename(lambda name: name.replace('""', '"'))
    # Polars itself would also guess at 03/04/2021.
    return frame if "try_parse_dates" in settings else frame.with_columns(map(_dated, frame))


def _read_opened(reader: Callable[..., pl.DataFrame], path: Path, settings: dict[str, Any]) -> pl.DataFrame:
    """What a reader that takes any name for a pattern reads of one file."""
    with path.open("rb") as file:
        return reader(file, **settings)


def _dated(column: pl.Series) -> pl.Series:
    """Texts that are all dates, or moments, as ISO 8601 writes them, as such; other columns as they are."""
    import polars as pl

    if column.dtype != pl.String or column.null_count() == len(column):
        return column
    for pattern, dtype in ((ISO_DATE, pl.Date), (ISO_MOMENT, pl.Datetime("us"))):
        if column.str.contains(pattern).all():
            try:
                return column.str.strptime(dtype)
            except pl.exceptions.PolarsError:
                return column  # there is no 31 February
    return column


def _read_packed_ndjson(path: Path, settings: dict[str, Any]) -> pl.DataFrame:
    import gzip

    import polars as pl

    if path.suffix.lower() != ".gz":
        raise ArbornetError(f"{path}: NDJSON may be packed as .gz only")
    return pl.read_ndjson(gzip.decompress(path.read_bytes()), **settings)
