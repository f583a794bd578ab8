"""Workbooks of Excel and files of Stata and SPSS, through the packages that read them.

All are optional: `pip install "arbornet[excel]"` brings fastexcel; Stata needs pandas and pyarrow, SPSS pyreadstat too.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import polars as pl

from arbornet._core import ArbornetError
from arbornet.data.reading import repaired
from arbornet.data.reading.delimited import Read, numbered

EXCEL = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods")
STATISTICS = (".dta", ".sav")
ENDINGS = (*EXCEL, *STATISTICS)
_NEEDED = {
    **dict.fromkeys(EXCEL, ("fastexcel",)),
    ".dta": ("pandas", "pyarrow"),
    ".sav": ("pandas", "pyarrow", "pyreadstat"),
}


def read_book(path: Path, ending: str, nulls: list[str], options: dict[str, Any]) -> Read:
    """Reads the first sheet of a workbook, or the one named by `sheet_name`; or a file of Stata or SPSS.

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

    sheets = fastexcel.read_excel(path).sheet_names
    # Types are inferred from all rows, as of text files.
    settings: dict[str, Any] = {"sheet_name": sheets[0]} if not {"sheet_name", "sheet_id"} & set(options) else {}
    settings |= {"infer_schema_length": None, **options}
    frame = pl.read_excel(path, engine="calamine", **settings)
    if isinstance(frame, dict):
        raise ArbornetError(f"{path}: a table is one sheet; name it with sheet_name=, one of {', '.join(sheets)}")
    unnamed = [name.startswith("__UNNAMED__") for name in frame.columns]
    frame.columns = numbered(["" if none else name.strip() for name, none in zip(frame.columns, unnamed, strict=True)])
    columns = [repaired.dated(repaired.unblanked(_without(each, nulls), nulls)) for each in frame.get_columns()]
    others = [name for name in sheets if name != settings.get("sheet_name")]
    is_first = "sheet_name" not in options and "sheet_id" not in options
    told = f"sheet {sheets[0]!r}; there are {len(others)} more: sheet_name={others[0]!r}" if others and is_first else ""
    return Read(pl.DataFrame(columns), guesses=[told] if told else [])


def _without(column: pl.Series, nulls: list[str]) -> pl.Series:
    """Texts with the words for a missing value missing; numbers, if the others are that."""
    if column.dtype != pl.String or not column.is_in(nulls).any():
        return column
    known = column.set(column.is_in(nulls).fill_null(False), None)
    for pattern, dtype in ((r"^[-+]?\d{1,18}$", pl.Int64), (r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$", pl.Float64)):
        if known.null_count() < len(known) and known.str.contains(pattern).all():
            return known.str.strip_prefix("+").cast(dtype)
    return known


def _of_statistics(path: Path, ending: str, options: dict[str, Any]) -> Read:
    import pandas as pd

    frame = (pd.read_stata if ending == ".dta" else pd.read_spss)(path, **options)
    columns: dict[str, pl.Series] = {}
    for name in frame.columns:
        column = frame[name]
        if isinstance(column.dtype, pd.CategoricalDtype):
            levels = [str(level) for level in column.cat.categories]
            values = [levels[code] if code >= 0 else None for code in column.cat.codes]
            columns[str(name)] = pl.Series(values, dtype=pl.Enum(levels) if levels else pl.String)
        else:
            columns[str(name)] = pl.Series(pl.from_pandas(column))
    return Read(pl.DataFrame(columns))
