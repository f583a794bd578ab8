"""Text files as other programs write them: separators, encodings, headers, codes, decimal commas, uneven lines."""

from __future__ import annotations

import logging
import string
import warnings
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbornet as an
from arbornet.data.files import NULLS, found_in
from arbornet.data.schema_text import identity
from places import DATA

TOWNS = ["Zürich", "Genève", "Köln", "Málaga"]
ROWS = [(20 + i % 50, f"{i % 7},{i % 9 + 1}", TOWNS[i % 4], f"{i % 60:05}") for i in range(120)]


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def spread(separator: str, header: str = "age,dose,town,zip") -> str:
    lines = [header.replace(",", separator)]
    return "\n".join(lines + [separator.join(map(str, row)) for row in ROWS]) + "\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("ending", [".csv", ".txt"])
def test_any_separator_and_encoding_gives_the_same_frame(tmp_path, separator, encoding, ending) -> None:
    path = written(tmp_path / f"f{ending}", spread(separator), encoding)
    with warnings.catch_warnings():
        warnings.simplefilter("error" if encoding != "cp1252" else "ignore")
        frame = an.read(path)
    assert frame.schema == {"age": pl.Int64, "dose": pl.Float64, "town": pl.String, "zip": pl.String}
    assert frame.rows() == [(age, float(dose.replace(",", ".")), town, code) for age, dose, town, code in ROWS]


def test_what_is_found_is_logged_and_what_is_guessed_is_a_warning(tmp_path, caplog) -> None:
    path = written(tmp_path / "f.csv", spread(";"), "cp1252")
    with caplog.at_level(logging.INFO, "arbornet"), pytest.warns(an.ArbornetWarning, match="encoded as Windows-1252"):
        an.read(path)
    assert "separated by semicolons; leading zeros kept in 'zip'; decimal commas in 1 column" in caplog.text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert an.read(path, encoding="cp1252")["town"][0] == "Zürich"


def test_letters_that_are_not_utf_8_are_found_behind_the_first_megabyte(tmp_path) -> None:
    text = "n,town\n" + "".join(f"{i},Koeln {'x' * 90}\n" for i in range(12_000)) + "7,Köln\n"
    path = written(tmp_path / "f.csv", text, "cp1252")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert an.read(path)["town"][-1] == "Köln"


def test_commas_in_quotes_do_not_hide_the_separator_nor_do_semicolons_in_text(tmp_path) -> None:
    path = written(tmp_path / "f.csv", 'a,b,c\n1,"x;y;z",2\n2,"u;v",3\n3,w,4\n')
    assert an.read(path).columns == ["a", "b", "c"]
    path = written(tmp_path / "g.csv", 'a;b\n1;"Meier, Hans"\n2;"Weber, Anna, Dr."\n')
    assert an.read(path)["b"].to_list() == ["Meier, Hans", "Weber, Anna, Dr."]


def test_digits_padded_with_zeros_are_codes_and_others_numbers(tmp_path) -> None:
    path = written(tmp_path / "f.csv", "zip,n,mixed\n02134,10,0\n10001,0,07\n00501,3,12\n")
    frame = an.read(path)
    assert frame.dtypes == [pl.String, pl.Int64, pl.Int64]
    assert frame["zip"].to_list() == ["02134", "10001", "00501"]
    assert an.read(path, schema_overrides={"zip": pl.Int64})["zip"].to_list() == [2134, 10001, 501]
    schema = an.infer_schema(pl.concat([frame] * 40))
    assert (schema["zip"].looks_like, schema["zip"].word) == ("code", "categorical")


@pytest.mark.parametrize("at", [20, 50])
def test_an_empty_line_costs_no_leading_zeros(tmp_path, at) -> None:
    lines = [f"{1000 + i:05d},{i % 7}\n" for i in range(50)]
    frame = an.read(written(tmp_path / "f.csv", "zip,x\n" + "".join([*lines[:at], "\n", *lines[at:]])))
    assert frame["zip"].to_list() == [f"{1000 + i:05d}" for i in range(50)]


def test_columns_of_nothing_beside_them_cost_no_leading_zeros(tmp_path) -> None:
    frame = an.read(written(tmp_path / "f.csv", "a,,zip\n" + "".join(f"{i},,{i:04}\n" for i in range(30))))
    assert frame.columns == ["a", "zip"] and frame["zip"][7] == "0007" and frame["a"].dtype == pl.Int64


def test_digits_with_and_without_leading_zeros_are_text_and_slips_are_numbers(tmp_path) -> None:
    codes = "zip,x\n" + "".join(f"{1000 + i:05d},{i % 7}\n" for i in range(50)) + "213,4\n"
    with pytest.warns(an.ArbornetWarning, match="leading zeros, such as '01000', and without, such as '213'; they are"):
        assert an.read(written(tmp_path / "f.csv", codes))["zip"][-1] == "213"
    ages = "age,x\n" + "".join(f"{i % 900},{i % 7}\n" for i in range(500)) + "007,4\n"
    with pytest.warns(an.ArbornetWarning, match="'age' holds numbers, with leading zeros in '007'; schema_overrides="):
        assert an.read(written(tmp_path / "g.csv", ages))["age"][-1] == 7


def german(path: Path, share: str) -> tuple[Path, list[int]]:
    """Populations with dots between thousands, beside a share with a decimal comma, if it has one."""
    numbers = [v + i for i, v in enumerate([950, 1093, 720, 5257] * 50)]
    dotted = [f"{number:,}".replace(",", ".") for number in numbers]
    rows = "".join(f"a{i};{each};{share.format(i % 30, i % 10)}\n" for i, each in enumerate(dotted))
    return written(path, "id;pop;a\n" + rows), numbers


def test_dots_are_of_thousands_where_other_numbers_have_decimal_commas(tmp_path, caplog) -> None:
    path, numbers = german(tmp_path / "f.csv", "{},{}")
    with caplog.at_level(logging.INFO, "arbornet"):
        assert an.read(path)["pop"].to_list() == numbers
    assert "dots between thousands in 'pop'; decimal commas in 1 column" in caplog.text
    table = an.Table(an.read(path, infer_schema=False).drop("id"))
    assert table.schema["pop"].form == "1.234,5" and table.schema["pop"].range_ == (min(numbers), max(numbers))


def test_dots_that_may_be_of_thousands_are_said(tmp_path) -> None:
    path, _ = german(tmp_path / "f.csv", "u")
    with pytest.warns(an.ArbornetWarning, match=r"the dots in 'pop', as in '1.094', are taken for decimal points"):
        assert an.read(path)["pop"][1] == 1.094
    texts = an.read(path, infer_schema=False).drop("id", "a")
    schema = an.infer_schema(texts)
    (one,) = (each for each in schema.findings if each.column)
    assert one.mend == "schema.with_forms(pop='1.234,5')" and "the dot is taken for a decimal point" in one.what
    assert an.Table(texts, schema.with_forms(pop="1.234,5")).schema["pop"].form == "1.234,5"
    path, _ = german(tmp_path / "g.csv", "{}.{}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert an.read(path)["pop"][1] == 1.094


def test_commas_that_may_part_thousands_are_left_to_the_whole_column(tmp_path) -> None:
    path = written(tmp_path / "f.csv", "a;b\n" + "".join(f"{i},500;u\n" for i in range(1, 40)))
    assert an.read(path)["a"].dtype == pl.String
    path = written(tmp_path / "f.csv", "a;b\n" + "".join(f"{i},500;{i},5\n" for i in range(1, 40)))
    assert an.read(path)["a"][0] == 1.5


@pytest.mark.parametrize(
    "before",
    ["# made by hand\n# in 2021, in a hurry\n", "Blood values\n\n", "Report of 2021,,\nSource: the ward,,\n", "\n"],
)
def test_lines_before_the_table_are_skipped_and_said(tmp_path, before) -> None:
    path = written(tmp_path / "f.csv", before + "age,sex,ward\n" + "".join(f"{i},f,A\n" for i in range(30)))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        frame = an.read(path)
    assert frame.columns == ["age", "sex", "ward"] and frame.height == 30
    assert before == "\n" or "before the table skipped" in str(told[0].message)


def test_a_header_that_begins_with_a_hash_is_a_header(tmp_path) -> None:
    assert an.read(written(tmp_path / "f.csv", "#,name,hp\n1,a,45\n2,b,60\n")).columns == ["#", "name", "hp"]


def test_a_first_line_of_values_is_a_row_and_years_are_names(tmp_path) -> None:
    text = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.2,2.8,virginica\n"
    with pytest.warns(an.ArbornetWarning, match="the first line holds values, no names: columns are named column_1 to"):
        frame = an.read(written(tmp_path / "f.csv", text))
    assert frame.shape == (3, 3) and frame.columns == ["column_1", "column_2", "column_3"]
    assert an.read(tmp_path / "f.csv", has_header=True).columns == ["5.1", "3.5", "setosa"]
    assert an.read(written(tmp_path / "g.csv", "2019,2020,2022\n1.5,2.5,3\n2.5,1.5,4\n")).height == 2
    assert an.read(written(tmp_path / "h.csv", "0,1,2\n1.5,2.5,3\n2.5,1.5,4\n")).height == 2


def test_two_columns_of_one_name_are_refused_with_the_way_out(tmp_path) -> None:
    path = written(tmp_path / "f.csv", "a,b,a\n1,2,3\n")
    with pytest.raises(an.ColumnError, match=r"'a' appears twice in the file, as columns 1 and 3; rename one"):
        an.read(path)
    assert an.read(path, new_columns=["a", "b", "c"]).columns == ["a", "b", "c"]


def test_columns_without_a_name_are_numbered_and_left_out_if_they_hold_nothing(tmp_path) -> None:
    frame = an.read(written(tmp_path / "f.csv", ",a, b ,\n1,2,3,\n2,4,5,\n"))
    assert frame.columns == ["column_1", "a", "b"]


def test_lines_that_all_end_with_a_separator_are_read(tmp_path) -> None:
    frame = an.read(written(tmp_path / "f.csv", "a,b\n1,2,\n3,4,\n"))
    assert frame.rows() == [(1, 2), (3, 4)]


def test_names_of_rows_as_r_writes_them_are_a_column(tmp_path) -> None:
    with pytest.warns(an.ArbornetWarning, match="the first column has no name"):
        frame = an.read(written(tmp_path / "f.csv", '"mpg","cyl"\n"Mazda",21,6\n"Datsun",22.8,4\n'))
    assert frame.columns == ["column_1", "mpg", "cyl"] and frame["mpg"].to_list() == [21, 22.8]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", r"line 3 has 2 fields, the header 3, separated by commas"),
        ("a,b,c\n1,2,3\n4,5,6\n6,7,8,9\n", r"line 4 has 4 fields, the header 3"),
        ('a;b\n1;"x\ny"\n2;z;u\n3;v\n', r"line 4 has 3 fields, the header 2, separated by semicolons"),
        (
            "# note\na,b\n1,2\n3\n4\n5,6\n7,8\n",
            r"line 4 has 1 field, the header 2, separated by commas \(2 such lines\)",
        ),
    ],
)
def test_a_line_of_too_few_or_too_many_fields_is_named(tmp_path, text, told) -> None:
    path = written(tmp_path / "f.csv", text)
    with warnings.catch_warnings(), pytest.raises(an.ArbornetError, match=told):
        warnings.simplefilter("ignore")
        an.read(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert an.read(path, truncate_ragged_lines=True).height >= 2


YEARLY = "country,year,gdp\nChile,1990,2.5\nGhana,1990,0.4\nItaly,1990,21\n"


@pytest.mark.parametrize(
    "below",
    [
        "\n\n\nData from database: World Development Indicators\nLast Updated: 10/26/2023\n",
        '\n"Data from database: World, Development"\n"Last Updated"',
        "Note: figures of 1990 are estimates\n",
        "\n* estimates\n(a) of the bank, too\n",
        "\r\n\r\nSource: our own\r\n",
    ],
)
def test_notes_below_a_table_are_left_out_and_said(tmp_path, below) -> None:
    for text in (YEARLY + below, "A title\n\n" + YEARLY.replace("Chile", '"Chi\nle"') + below):
        with pytest.warns(an.ArbornetWarning, match="below the table left out, from line") as told:
            frame = an.read(written(tmp_path / "f.csv", text))
        assert below.strip(' \n\r"')[:7] in str(told[0].message)
        assert frame.height == 3 and frame.dtypes == [pl.String, pl.Int64, pl.Float64]


@pytest.mark.parametrize("below", ["Gha", "\n17", "\nKenya,1991,2.5,7\n", "\nA note\nKenya,1991,2.5\n", "Kenya,1991\n"])
def test_a_row_that_is_cut_short_is_no_note(tmp_path, below) -> None:
    with pytest.raises(an.ArbornetError, match=r"fields?, the header 3"):
        an.read(written(tmp_path / "f.csv", YEARLY + below))


def test_a_first_line_in_which_excel_names_the_separator_is_obeyed(tmp_path) -> None:
    path = written(tmp_path / "f.csv", "sep=|\r\na|b;c\r\n1|2;3\r\n4|5;6\r\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert an.read(path).columns == ["a", "b;c"]


def test_line_breaks_in_quotes_and_missing_last_fields_are_no_uneven_lines(tmp_path) -> None:
    path = written(tmp_path / "f.csv", 'a,b\n1,"two\nlines"\n2,\n3,"say ""yes"""\n')
    assert an.read(path)["b"].to_list() == ["two\nlines", None, 'say "yes"']


def test_empty_lines_are_no_rows_but_rows_of_missing_values_are(tmp_path) -> None:
    frame = an.read(written(tmp_path / "f.csv", "a,b\n1,2\n\n,\n3,4\n\n\n"))
    assert frame.rows() == [(1, 2), (None, None), (3, 4)]


def test_blanks_and_words_for_missing_values_leave_numbers_numbers(tmp_path) -> None:
    frame = an.read(written(tmp_path / "f.csv", "a, b,c\n1, 2.5,x\n , NA,  \n3, 4,y \n"))
    assert frame.columns == ["a", "b", "c"]
    assert frame.rows() == [(1, 2.5, "x"), (None, None, None), (3, 4.0, "y ")]


def test_lines_that_end_with_a_carriage_return_alone_are_lines(tmp_path) -> None:
    assert an.read(written(tmp_path / "f.csv", "a,b\r1,x\r2,y\r")).rows() == [(1, "x"), (2, "y")]


def test_a_pipe_is_read_once(tmp_path) -> None:
    import os
    import threading

    path = tmp_path / "f.csv"
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_text("a;b\n1;02\n2;03\n"), daemon=True).start()
    assert an.read(path).rows() == [(1, "02"), (2, "03")]


def test_packed_files_are_looked_at_as_others_are(tmp_path) -> None:
    import gzip

    (tmp_path / "f.csv.gz").write_bytes(gzip.compress(spread(";").encode("cp1252")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert an.read(tmp_path / "f.csv.gz")["town"][0] == "Zürich"
    pl.LazyFrame({"a": ["x", "y"], "zip": ["01", "02"]}).sink_csv(
        tmp_path / "g.csv.zst", separator=";", compression="zstd"
    )
    assert an.read(tmp_path / "g.csv.zst").rows() == [("x", "01"), ("y", "02")]


def test_options_of_yours_win(tmp_path) -> None:
    path = written(tmp_path / "f.csv", "# x\na;b\n1;2\n")
    assert an.read(path, separator=",", skip_lines=1).columns == ["a;b"]
    assert found_in(path, comment_prefix="#").frame.columns == ["a", "b"]
    titled = written(tmp_path / "g.csv", "Wards\n\na,b\n1,2\n3,4\n")
    assert found_in(titled, has_header=True).frame.columns == ["a", "b"]
    assert found_in(titled, has_header=False).frame.rows()[0] == ("a", "b")


def test_the_shell_says_how_a_file_was_read(tmp_path, capsys, monkeypatch) -> None:
    from arbornet.cli import main

    monkeypatch.chdir(tmp_path)
    written(Path("f.csv"), "Wards of 2021\n" + spread(";"), "cp1252")
    assert main(["schema", "f.csv"]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert "f.csv: separated by semicolons; leading zeros kept in 'zip'; decimal commas in 1 column; " in told
    assert "encoded as Windows-1252; 1 line before the table skipped" in told and told.count("Windows-1252") == 1


@pytest.mark.parametrize("writer", [".xlsx", ".xlsx twice"])
def test_a_workbook_gives_the_frame_it_was_written_from(tmp_path, writer) -> None:
    from xlsxwriter import Workbook

    frame = pl.DataFrame(
        {"age": [30, 41, None], "dose": [0.5, 1.5, 2.5], "sex": ["f", None, "m"], "zip": ["01", "02", "03"]}
    )
    with Workbook(tmp_path / "f.xlsx") as book:
        frame.write_excel(book, worksheet="wards")
        if writer.endswith("twice"):
            frame.head(1).write_excel(book, worksheet="beds")
    if writer.endswith("twice"):
        with pytest.warns(an.ArbornetWarning, match=r"sheet 'wards'; there are 1 more: sheet_name='beds'"):
            assert an.read(tmp_path / "f.xlsx").equals(frame)
        assert an.read(tmp_path / "f.xlsx", sheet_name="beds").height == 1
    else:
        assert an.read(tmp_path / "f.xlsx").equals(frame)


def test_a_format_whose_reader_is_not_installed_says_what_to_install(tmp_path, monkeypatch) -> None:
    from arbornet.data.reading import books

    (tmp_path / "f.xlsx").write_bytes(b"")
    monkeypatch.setattr(books, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'reading .xlsx needs fastexcel: pip install "arbornet\[excel\]"'):
        an.read(tmp_path / "f.xlsx")


def test_a_file_of_stata_keeps_its_labels_in_order(tmp_path) -> None:
    import pandas as pd

    grades = pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True)
    pd.DataFrame({"grade": grades, "age": [30.5, 40.0, None]}).to_stata(tmp_path / "f.dta", write_index=False)
    frame = an.read(tmp_path / "f.dta")
    assert frame["grade"].dtype == pl.Enum(["low", "mid", "high"]) and frame["age"].to_list() == [30.5, 40.0, None]


def schemas_of(frame: pl.DataFrame, path: Path, **options) -> tuple[str, str]:
    frame.write_csv(path, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return identity(an.infer_schema(frame)), identity(an.infer_schema(an.read(path)))


@pytest.mark.parametrize("path", sorted((DATA / "uci").glob("[a-h]*.csv.gz")), ids=lambda path: path.name.split(".")[0])
def test_a_frame_and_its_file_have_the_same_schema(tmp_path, path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = an.read(path)
    for options in ({}, {"separator": ";", "decimal_comma": True}, {"quote_style": "non_numeric"}):
        ours, theirs = schemas_of(frame, tmp_path / "f.csv", **options)
        assert ours == theirs, options


READ_OTHERWISE = {word.lower() for word in NULLS} | {"true", "false", "inf"}
"""Words that a file cannot tell from a missing value, a truth value or a number."""
WORDS = st.text(string.ascii_letters + "äé ,;|\"'\n#%", min_size=1, max_size=6).filter(
    lambda text: text == text.strip() and text.lower() not in READ_OTHERWISE
)
COLUMNS = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-(10**9), 10**9)), min_size=24, max_size=24),
    st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda x: round(x, 3))), min_size=24, max_size=24),
    st.lists(WORDS, min_size=1, max_size=4).flatmap(
        lambda few: st.lists(st.sampled_from(few), min_size=24, max_size=24)
    ),
    st.lists(st.booleans(), min_size=24, max_size=24),
    st.lists(st.dates(), min_size=24, max_size=24),
)  # fmt: skip


@given(st.lists(COLUMNS, min_size=2, max_size=5), st.sampled_from(",;\t|"))
@settings(max_examples=60, deadline=None)
def test_any_frame_and_its_file_have_the_same_schema(tmp_path_factory, columns, separator) -> None:
    frame = pl.DataFrame({f"c{chr(97 + i)}": values for i, values in enumerate(columns)}, strict=False)
    path = tmp_path_factory.mktemp("t") / "f.csv"
    ours, theirs = schemas_of(frame, path, separator=separator)
    assert ours == theirs
