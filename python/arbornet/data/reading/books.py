"""Workbooks of Excel and files of Stata, SPSS and SAS, through the packages that read them.

All are optional: `pip install "arbornet[excel]"` brings fastexcel; Stata and SAS need pandas and
pyarrow, SPSS pyreadstat too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from arbornet._core import ArbornetError
from arbornet.data.reading import repaired
from arbornet.data.reading.delimited import Read, numbered
from arbornet.data.reading.labelled import labelled
from arbornet.data.reading.sheets import MOST_ROWS, Place, place_of, sheet_of
from arbornet.text.terminal import several

EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
SAS = (".xpt", ".sas7bdat")
STATISTICS = (".dta", ".sav", *SAS)
ENDINGS = (*EXCEL, *STATISTICS)
OWN_PLACE = frozenset({"read_options", "has_header", "table_name", "drop_empty_rows", "raise_if_empty"})
"""Options of Polars that say where the table is: then it is not looked for."""
SHOWN = 4
SMALLEST_OF_IBM = 1e-77
CARD = 80
"""Transport files are filled up to a multiple of so many bytes."""
_NEEDED = {
    **dict.fromkeys(EXCEL, ("fastexcel",)),
    ".dta": ("pandas", "pyarrow"),
    ".sav": ("pandas", "pyarrow", "pyreadstat"),
    **dict.fromkeys(SAS, ("pandas", "pyarrow")),
}


def read_book(path: Path, ending: str, nulls: list[str], options: dict[str, Any]) -> Read:
    """Reads the first sheet of a workbook that holds a table, or the one that you name; or of Stata, SPSS or SAS.

    Raises:
        ImportError: If the package that reads it is not installed.
        ArbornetError: If it is not such a file.
    """
    lacking = [name for name in _NEEDED[ending] if find_spec(name) is None]
    if lacking:
        way = '"arbornet[excel]"' if ending in EXCEL else " ".join(lacking)
        raise ImportError(f"{path}: reading {ending} needs {' and '.join(lacking)}: pip install {way}")
    try:
        return _of_excel(path, nulls, options) if ending in EXCEL else _of_statistics(path, ending, options)
    except (ArbornetError, OSError, MemoryError):
        raise
    except Exception as error:  # whatever their readers say of a file that is none
        raise ArbornetError(f"{path} cannot be read as {ending[1:]}: {error}") from error


def _of_excel(path: Path, nulls: list[str], options: dict[str, Any]) -> Read:
    import fastexcel

    book = fastexcel.read_excel(path)
    sheets: list[str] = book.sheet_names

    @cache
    def head(name: str) -> list[tuple[str | None, ...]]:
        """The first rows of a sheet as texts."""
        return book.load_sheet(name, header_row=None, skip_rows=0, n_rows=MOST_ROWS, dtypes="string").to_polars().rows()

    is_own = bool({"sheet_name", "sheet_id"} & set(options))
    sheet = sheet_of(sheets, head) if not is_own else _named(sheets, options)
    read = Read(pl.DataFrame())
    # Types are inferred from all rows, as of text files.
    settings: dict[str, Any] = ({} if is_own else {"sheet_name": sheet}) | {"infer_schema_length": None}
    place = Place()
    if sheet is not None and not OWN_PLACE & set(options):
        place = place_of(head(sheet))
        if place != Place():
            settings |= {"read_options": {"header_row": place.n_before}, "has_header": place.has_header}
        if not place.has_header:
            settings["read_options"] = {"header_row": None, "skip_rows": place.n_before}
    frame = pl.read_excel(path, engine="calamine", **{**settings, **options})
    if isinstance(frame, dict):
        raise ArbornetError(f"{path}: a table is one sheet; name it with sheet_name=, one of {', '.join(sheets)}")
    unnamed = [name.startswith("__UNNAMED__") or not place.has_header for name in frame.columns]
    frame.columns = numbered(["" if none else name.strip() for name, none in zip(frame.columns, unnamed, strict=True)])
    columns = [repaired.dated(repaired.unblanked(_without(each, nulls), nulls)) for each in frame.get_columns()]
    read.frame = pl.DataFrame(columns)
    if len(sheets) > 1 and not is_own and sheet is not None:
        at = sheets.index(sheet)
        others = [*sheets[at + 1 :], *sheets[:at]]
        which = "" if sheet == sheets[0] else ", the first that holds a table"
        read.guesses.append(f"sheet {sheet!r}{which}; there are {len(others)} more: sheet_name={others[0]!r}")
    if place.n_titles:
        read.guesses.append(f"{place.n_titles} row{'s' if place.n_titles != 1 else ''} before the table skipped")
    if not place.has_header:
        told = f"columns are named {frame.columns[0]} to {frame.columns[-1]}"
        read.guesses.append(f"the first row holds values, no names: {told}")
    return read


def _named(sheets: Sequence[str], options: dict[str, Any]) -> str | None:
    """The sheet that the options name; None if they name none by its number.

    Raises:
        ArbornetError: If there is no sheet of that name.
    """
    name, number = options.get("sheet_name"), options.get("sheet_id")
    if isinstance(name, str):
        if name not in sheets:
            raise ArbornetError(f"there is no sheet {name!r}; the sheets are {', '.join(map(repr, sheets))}")
        return name
    return sheets[number - 1] if isinstance(number, int) and 1 <= number <= len(sheets) else None


def _without(column: pl.Series, nulls: list[str]) -> pl.Series:
    """Texts with the words for a missing value missing; numbers, if the others are that."""
    if column.dtype != pl.String or not column.is_in(nulls).any():
        return column
    return repaired.as_numbers(column.set(column.is_in(nulls).fill_null(False), None))


def _of_statistics(path: Path, ending: str, options: dict[str, Any]) -> Read:
    """A file of Stata, SPSS or SAS, codes as the labels that they stand for unless `convert_categoricals` is False."""
    import pandas as pd

    has_labels = options.get("convert_categoricals", True)
    plain = {**options, "convert_categoricals": False}
    labels: dict[str, dict[float, str]] = {}
    measures: dict[str, str] = {}
    if ending in SAS:  # whose labels are in another file
        frame = _of_sas(path, ending, options)
    elif ending == ".dta":
        frame = pd.read_stata(path, **plain)
        labels = _labels_of_stata(path, frame, options) if has_labels else {}
    else:
        frame = pd.read_spss(path, **plain)
        labels, measures = _labels_of_spss(path) if has_labels else ({}, {})
    read = Read(pl.DataFrame())
    columns: dict[str, pl.Series] = {}
    gone: dict[str, tuple[str, ...]] = {}
    for name in map(str, frame.columns):
        one = labelled(_series(frame[name]), labels.get(name, {}), measures.get(name, "unknown"))
        columns[name] = one.column
        if one.gone:
            gone[name] = one.gone
    read.frame = pl.DataFrame(columns)
    ordered = [name for name, column in columns.items() if column.dtype == pl.Enum]
    if ordered:
        read.facts.append(f"levels in the order of their codes: {', '.join(ordered)}")
    if gone:
        shown = [f"{name}: {', '.join(map(repr, each))}" for name, each in list(gone.items())[:SHOWN]]
        more = f"; and {several(len(gone) - SHOWN, 'more column')}" if len(gone) > SHOWN else ""
        read.guesses.append(f"codes are read as missing by their labels ({'; '.join(shown)}{more})")
    return read


def _of_sas(path: Path, ending: str, options: dict[str, Any]) -> Any:
    """A file of SAS; a transport file (`.xpt`) does not say how its texts are written: as UTF-8, if that can be."""
    import pandas as pd

    if ending != ".xpt":
        return pd.read_sas(path, **{"encoding": "infer", **options})
    try:
        frame = _transported(path, {"encoding": "utf-8", **options})
    except UnicodeDecodeError:
        frame = _transported(path, {"encoding": "latin-1", **options})
    for name in frame.select_dtypes("float"):
        # So pandas reads a zero of IBM's floats, which can be no smaller than 1e-78.
        frame[name] = frame[name].mask(frame[name].abs() < SMALLEST_OF_IBM, 0.0)
    for name in frame.select_dtypes(["object", "string"]):
        frame[name] = frame[name].replace("", None)
    return frame


def _transported(path: Path, options: dict[str, Any]) -> Any:
    """All rows of a transport file: pandas takes blanks of the last texts for the blanks that fill up the file."""
    import pandas as pd

    with pd.read_sas(path, format="xport", iterator=True, **options) as reader:
        start, length = getattr(reader, "record_start", 0), getattr(reader, "record_length", 0)
        if length:
            data = path.read_bytes()[start:]
            n_rows = len(data) // length
            while n_rows > 0 and (n_rows - 1) * length > len(data) - CARD and not data[(n_rows - 1) * length :].strip():
                n_rows -= 1
            reader.nobs = n_rows
        return reader.read()


def _series(column: Any) -> pl.Series:
    import pandas as pd

    if isinstance(column.dtype, pd.CategoricalDtype):  # as `convert_categoricals` was not heeded
        column = column.astype(object)
    return pl.Series(pl.from_pandas(column))


def _labels_of_spss(path: Path) -> tuple[dict[str, dict[float, str]], dict[str, str]]:
    """Labels and measures by column."""
    import pyreadstat

    _, told = pyreadstat.read_sav(str(path), metadataonly=True)
    return (
        {name: _by_number(labels) for name, labels in told.variable_value_labels.items()},
        dict(told.variable_measure),
    )


def _labels_of_stata(path: Path, codes: Any, options: dict[str, Any]) -> dict[str, dict[float, str]]:
    """Labels by column, of the codes that occur: pandas tells which label set is whose only by using it."""
    import pandas as pd

    levels = pd.read_stata(path, **options)
    of_column: dict[str, dict[float, str]] = {}
    for name in levels.columns:
        if not isinstance(levels[name].dtype, pd.CategoricalDtype):
            continue
        pairs = pd.DataFrame({"code": codes[name], "label": levels[name].astype(object)}).dropna().drop_duplicates()
        pairs = pairs[[isinstance(label, str) for label in pairs["label"]]]
        of_column[str(name)] = _by_number(dict(zip(pairs["code"], pairs["label"], strict=True)))
    return of_column


def _by_number(labels: Mapping[Any, str]) -> dict[float, str]:
    """Labels by their codes; labels of texts are left out."""
    return {float(code): str(label) for code, label in labels.items() if isinstance(code, int | float | np.number)}
