"""Workbooks as people write them: titles above the table, sheets without one, tables without names."""

from __future__ import annotations

import datetime as dt
import warnings
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main

Row = list[object]
NAMES: Row = ["age", "sex", "seen", "zip"]
ROWS: list[Row] = [[20 + i, "mf"[i % 2], dt.datetime(2020, 1, 1 + i), f"{i:03}"] for i in range(20)]
FRAME = pl.DataFrame(ROWS, schema=[str(name) for name in NAMES], orient="row").with_columns(
    pl.col("seen").cast(pl.Date)
)


def book(path: Path, **sheets: list[Row]) -> Path:
    from xlsxwriter import Workbook

    with Workbook(path) as made:
        days = made.add_format({"num_format": "yyyy-mm-dd"})
        for name, rows in sheets.items():
            sheet = made.add_worksheet(name)
            for i, row in enumerate(rows):
                for j, value in enumerate(row):
                    if isinstance(value, dt.datetime):
                        sheet.write_datetime(i, j, value, days)
                    elif value is not None:
                        sheet.write(i, j, value)
    return path


@pytest.mark.parametrize(
    ("before", "n"),
    [
        ([["Survey 2024"], []], 2),
        ([["Survey 2024"]], 1),
        ([[], ["Survey"], ["by the ward", "of 2020"], []], 3),
        ([["Survey"], ["asked", None, "seen"], ["", "", "", "all of them"]], 3),
    ],
)
def test_titles_above_the_table_of_a_workbook_are_skipped_and_said(tmp_path, before, n) -> None:
    path = book(tmp_path / "f.xlsx", one=[*before, NAMES, *ROWS])
    with pytest.warns(an.ArbornetWarning, match=f"{n} rows? before the table skipped"):
        assert an.read(path).equals(FRAME)


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_the_shell_reads_any_sheet_and_says_which_there_are(tmp_path, capsys) -> None:
    path = str(book(tmp_path / "f.xlsx", data=[NAMES, *ROWS], more=[["height"], *([1.5 + i / 9] for i in range(20))]))
    assert main(["schema", path]) == 0
    assert "sheet 'data'; there are 1 more: --sheet 'more'" in capsys.readouterr().err
    assert main(["schema", path, "--sheet", "more"]) == 0
    assert "height" in capsys.readouterr().out
    assert main(["learn", path, "--sheet", "none"]) == 1
    assert "there is no sheet 'none'; the sheets are 'data', 'more'" in capsys.readouterr().err
    (tmp_path / "f.csv").write_text("a,b\n1,2\n")
    assert main(["schema", str(tmp_path / "f.csv"), "--sheet", "more"]) == 1
    assert "f.csv is no workbook" in capsys.readouterr().err


@pytest.mark.parametrize(
    "rows",
    [
        [NAMES, *ROWS],
        [[None, "age"], *([f"r{i}", i] for i in range(20))],
        [["age"], *([i] for i in range(20))],
        [["age", "sex", "seen", "zip"], *([i] for i in range(20))],
        [["", "", "x", "y", "z"], *([f"r{i}", "u", i, i, i] for i in range(20))],
    ],
)
def test_a_first_row_of_names_is_no_title(tmp_path, rows) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        frame = an.read(book(tmp_path / "f.xlsx", one=rows))
    assert frame.height == 20 and [name for name in frame.columns if not name.startswith("column")] == [
        each for each in rows[0] if each
    ]


def test_the_first_sheet_that_holds_a_table_is_read_and_said(tmp_path) -> None:
    path = book(tmp_path / "f.xlsx", cover=[["Read me"]], empty=[], data=[NAMES, *ROWS], more=[NAMES])
    told = "sheet 'data', the first that holds a table; there are 3 more: sheet_name='more'"
    with pytest.warns(an.ArbornetWarning, match=told):
        assert an.read(path).equals(FRAME)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert an.read(path, sheet_name="data").equals(FRAME) and an.read(path, sheet_id=3).equals(FRAME)
        assert an.read(path, sheet_name="cover").columns == ["Read me"]


def test_values_in_the_first_row_are_no_names(tmp_path) -> None:
    path = book(tmp_path / "f.xlsx", one=[[i + 0.5, i * 3, "u"] for i in range(20)])
    with pytest.warns(an.ArbornetWarning, match="the first row holds values, no names: columns are named column_1 to"):
        frame = an.read(path)
    assert frame.shape == (20, 3) and frame["column_1"][0] == 0.5
    assert an.read(path, has_header=True).height == 19


def test_a_title_above_a_table_without_names_is_skipped_too(tmp_path) -> None:
    path = book(tmp_path / "f.xlsx", one=[["Survey"], [], *([i + 0.5, i * 3, "u"] for i in range(20))])
    with pytest.warns(an.ArbornetWarning, match="2 rows before the table skipped; the first row holds values"):
        assert an.read(path)["column_1"].to_list() == [i + 0.5 for i in range(20)]
