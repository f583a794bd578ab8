"""Files to frames, by their ending, through Polars."""

from __future__ import annotations

import logging
import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbornet._core import ArbornetError
from arbornet.system.parallel import left_behind
from arbornet.system.sources import is_pipe
from arbornet.text.notices import warn
from arbornet.text.visible import visible

if TYPE_CHECKING:
    import polars as pl

    from arbornet.data.reading.delimited import Read

log = logging.getLogger("arbornet")

NULLS = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")
"""Fields of a CSV file that are read as missing."""

PACKED = (".gz", ".zst")
_TEXT = (".csv", ".tsv", ".tab", ".txt")
_ARROW = (".arrow", ".feather", ".ipc")
_NDJSON = (".ndjson", ".jsonl")
_BOOKS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".dta", ".sav", ".xpt", ".sas7bdat")
ENDINGS = (*_TEXT, ".parquet", *_ARROW, *_NDJSON, *_BOOKS)
"""Endings of the files that are read."""


def read(path: str | Path, null_values: Sequence[str] = NULLS, **options: Any) -> pl.DataFrame:
    """Reads a CSV, TSV, Excel, Parquet, Arrow (Feather, IPC), NDJSON, Stata, SPSS or SAS file into a Polars frame.

    Of text files the separator (comma, semicolon, tab, bar), the encoding (UTF-8, UTF-16, otherwise Windows-1252),
    decimal commas, dots between thousands, quotes that are none (`5'7"`), lines before the table and a missing header
    are found. Numbers with leading zeros stay text. Of a workbook the first sheet that holds a table is read, without
    titles above it. Of Stata and SPSS, labels stand for codes where every value has one. Of SAS, transport files
    (`.xpt`) and data sets (`.sas7bdat`) are read; their labels are kept elsewhere.
    What was found goes to the log `arbornet`; where it is a guess, it is a warning.

    Args:
        path: The file; its ending gives the format. Text may be packed as `.gz` or `.zst`. The name is taken literally:
            `*`, `?` and `[1]` are not patterns, and a leading `~` is not the home folder.
        null_values: Fields of a text file or a workbook that mean "missing".
        options: Passed on to the Polars reader, as `separator=";"`, `encoding="latin-1"`, `has_header=False`,
            `sheet_name="patients"`. Without `try_parse_dates`, columns of a text file that hold nothing but dates or
            moments written 2021-03-04 or 2021-03-04 15:30 are read as such.

    Raises:
        ArbornetError: If the ending is not known, the file is not what its ending says, it is a device, or a line has
            too few or too many fields.
        ColumnError: If two columns have the same name.
        FileNotFoundError: If there is no such file.
        ImportError: If the package that reads the format is not installed.

    Example:
        >>> df = an.read("patients.csv")
    """
    found = found_in(path, null_values, **options)
    if found.facts:
        log.info("%s: %s", visible(str(path)), "; ".join(found.facts))
    if found.guesses:
        warn(f"{visible(str(path))}: {'; '.join(found.guesses)}")
    return found.frame


def found_in(path: str | Path, null_values: Sequence[str] = NULLS, **options: Any) -> Read:
    """As `read`, with what was found out about the file."""
    import polars as pl

    from arbornet.data.reading.books import read_book
    from arbornet.data.reading.delimited import Read, read_text, unquoted

    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {visible(str(path))}")
    is_pipe(path)  # refuses what may have no end
    place = path.absolute()  # which starts with no ~ and no scheme, as Polars would read them
    endings = [ending.lower() for ending in path.suffixes]
    packed = bool(endings) and endings[-1] in PACKED
    ending = endings[-2] if packed and len(endings) > 1 else (endings[-1] if endings else "")
    if not endings and (is_pipe(path) or path.is_relative_to("/dev")):  # nothing says the format of /dev/stdin
        ending = ".csv"
    read: Callable[[], pl.DataFrame | Read] | None = None
    if ending in _TEXT:
        # The whole file says what a column is: a column may be whole numbers for a million rows and then not.
        read = partial(read_text, place, "," if ending == ".csv" else "\t", null_values, options)
    elif ending == ".parquet" and not packed:
        read = partial(pl.read_parquet, place, **{"glob": False, **options})
    elif ending in _ARROW and not packed:
        read = partial(_read_opened, pl.read_ipc, place, options)
    elif ending in _NDJSON:
        settings = {"infer_schema_length": None, **options}
        function = _read_packed_ndjson if packed else partial(_read_opened, pl.read_ndjson)
        read = partial(function, place, settings)
    elif ending in _BOOKS and not packed:
        read = partial(read_book, place, ending, list(null_values), options)
    if read is not None:
        try:
            made = left_behind(read)  # Polars looks for Ctrl-C only once a file is read
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, EOFError, zlib.error) as error:
            raise ArbornetError(f"{path} cannot be read as {ending[1:]}: {unquoted(str(error))}") from error
        return made if isinstance(made, Read) else Read(made)
    known = ".csv, .tsv, .txt, .xlsx, .parquet, .arrow, .feather, .ipc, .ndjson, .jsonl, .dta, .sav, .xpt, .sas7bdat"
    raise ArbornetError(f"{path}: the ending '{path.suffix}' is not known; known are {known}, and .csv.gz")


def _read_opened(reader: Callable[..., pl.DataFrame], path: Path, settings: dict[str, Any]) -> pl.DataFrame:
    """What a reader that takes any name for a pattern reads of one file."""
    with path.open("rb") as file:
        return reader(file, **settings)


def _read_packed_ndjson(path: Path, settings: dict[str, Any]) -> pl.DataFrame:
    import gzip

    import polars as pl

    if path.suffix.lower() != ".gz":
        raise ArbornetError(f"{path}: NDJSON may be packed as .gz only")
    return pl.read_ndjson(gzip.decompress(path.read_bytes()), **settings)
