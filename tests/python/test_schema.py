"""Types: what is inferred and why, what a person corrects, what is remembered."""

import contextlib
import json
import math
import warnings

import polars as pl
import pytest

import arbornet as an


def infer(**columns) -> an.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        return an.infer_schema(columns)


def kind(values) -> str:
    return str(infer(a=values)["a"].kind)


@pytest.mark.parametrize(
    ("values", "expected", "words"),
    [
        (["a", "b", "a"], "categorical", "text"),
        ([True, False, True], "categorical", "booleans"),
        ([0.5, 1.0, 2.0], "continuous", "fraction"),
        ([1.0, 2.0] * 10, "categorical", "two whole numbers"),
        ([1.0, 2.0] * 3, "continuous", "stored as numbers with a fraction"),
        ([1.0, 2.0, 3.0] * 10, "continuous", "stored as numbers with a fraction"),
        ([1.0, 2.0, 3.0, None] * 10, "ordinal", "without a gap"),
        ([1.0, 2.0, 3.0, math.nan] * 10, "ordinal", "without a gap"),
        ([1.0, 2.5, 3.0, None] * 10, "continuous", "fraction"),
        ([0, 1] * 10, "categorical", "two whole numbers"),
        ([1, 2, 3] * 10, "ordinal", "without a gap"),
        ([1, 2, 5] * 10, "categorical", "not consecutive"),
        ([1, 2, 5], "continuous", "too few rows"),
        # At the limits themselves: four rows a level, ten grades, six labels.
        ([1, 2, 3] * 4, "ordinal", "without a gap"),
        ([1, 2, 3] * 4 + [4], "continuous", "too few rows"),
        ([*range(1, 11)] * 4, "ordinal", "1 to 10 without a gap"),
        ([*range(1, 12)] * 4, "continuous", "11 distinct whole numbers"),
        ([1, 2, 3, 4, 5, 7] * 4, "categorical", "not consecutive"),
        ([1, 2, 3, 4, 5, 6, 8] * 4, "continuous", "7 distinct whole numbers"),
        ([*range(40)] * 3, "continuous", "40 distinct whole numbers in 120 rows"),
        (pl.Series(["lo", "hi"] * 3, dtype=pl.Enum(["lo", "hi"])), "ordinal", "declares ordered levels"),
        (pl.Series(["2020-01-01", "2020-01-03"]).str.to_date(), "continuous", "days since 1970-01-01"),
    ],
)
def test_every_column_has_a_kind_and_a_reason(values, expected, words) -> None:
    column = infer(a=values)["a"]
    assert str(column.kind) == expected
    assert words in column.reason


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["a", "b", "c"], "differs in every row"),
        ([1, 2, 3, 4], "numbers the rows from 1"),
        ([0, 1, 2, 3], "numbers the rows from 0"),
        ([5, 5, 5], r"is constant \(5\)"),
        (["x", None, "x"], r"is constant \('x'\)"),
        ([None, None, None], "no value in any row"),
    ],
)
def test_columns_that_say_nothing_are_left_out_with_a_warning(values, words) -> None:
    frame = {"a": values, "b": [0.5] * (len(values) - 1) + [1.5]}
    with pytest.warns(an.LeftOutWarning, match=f"'a' .*{words}"):
        schema = an.infer_schema(frame)
    assert schema.names == ["b"]
    kept = schema.with_types(a="categorical") if values[0] is not None else schema.with_types(a=an.Categorical(["x"]))
    assert kept.names == ["a", "b"]


def test_a_shuffled_counter_is_an_identifier_too() -> None:
    shuffled = [(7 * i) % 23 for i in range(23)]
    assert not infer(a=shuffled)["a"].used


def test_a_constant_named_in_with_types_is_kept() -> None:
    frame = {"a": [2.0, 2.0, 2.0], "b": ["x", "x", "x"], "c": [1, 2, 4]}
    schema = infer(**frame).with_types(a="continuous", b="categorical")
    table = an.Table(frame, schema)
    assert table.names == ["a", "b", "c"]
    assert table.handle.reals(0).tolist() == [0.0, 0.0, 0.0]
    assert table.handle.scale(0) == (2.0, 1.0)


def test_a_schema_prints_as_a_table() -> None:
    text = str(infer(age=[30.5, None, 41.0], **{"smoker & <son>": ["y", "n", "y"]}))
    lines = text.splitlines()
    assert lines[0].split() == ["column", "kind", "levels", "or", "range", "missing", "why"]
    assert lines[2].split()[:6] == ["age", "continuous", "30.5", "to", "41", "1"]
    assert "n, y" in lines[3]
    assert lines[-1] == "3 rows; 1 continuous, 1 categorical"
    html = infer(**{"a<b": ["y", "n", "y"]})._repr_html_()
    assert "a&lt;b" in html and html.startswith("<table>")


def test_with_types_takes_words_kinds_keywords_and_a_dict() -> None:
    schema = infer(**{"a": [1, 2, 3] * 9, "p-50": ["x", "y", "z"] * 9, "b": [0.5, 1.5, 2.5] * 9})
    schema = schema.with_types({"p-50": an.Ordinal(["z", "y", "x"])}, a="continuous", b=an.Binned(2))
    assert [str(schema[name].kind).split()[0] for name in schema] == ["continuous", "ordinal", "ordinal"]
    assert schema["p-50"].levels == ("z", "y", "x")


@pytest.mark.parametrize("declared", [[1, 2, 3, 4], ["1", "2", "3", "4"], [1.0, 2.0, 3.0, 4.0], ["1.0", "2", "3", "4"]])
def test_declared_levels_are_matched_to_the_columns_own_values(declared) -> None:
    frame = {"a": [1, 2, 3, 3] * 9}
    table = an.Table(frame, infer(**frame).with_types(a=an.Ordinal(declared)))
    assert table.handle.levels(0) == [1, 2, 3, 4]
    assert all(type(level) is int for level in table.schema["a"].levels or ())
    text = {"a": ["1", "2", "3", "3"] * 9}
    assert an.Table(text, infer(**text).with_types(a=an.Ordinal([1, 2, 3, 4]))).handle.levels(0) == ["1", "2", "3", "4"]


def test_two_declared_levels_may_not_be_one_value() -> None:
    with pytest.raises(an.ColumnError, match="'a': the levels 1 and '1' are one value"):
        infer(a=[1, 2] * 9).with_types(a=an.Categorical([1, "1", 2]))
    with pytest.raises(an.ParameterError, match="'x' is given twice"):
        an.Categorical(["x", "x"])


def test_an_undeclared_value_is_an_error_with_its_count_and_first_row() -> None:
    frame = {"stage": ["I", "II", "IV", "IV", None]}
    schema = infer(**frame).with_types(stage=an.Ordinal(["I", "II", "III"]))
    with pytest.raises(an.ColumnError, match=r"'stage' holds 'IV' in 2 rows \(first in row 2\).*unseen='missing'"):
        an.Table(frame, schema)
    table = an.Table(frame, schema, unseen="missing")
    assert (table.n_rows, table.dropped.by_column) == (2, {"stage": 3})


def test_unobserved_levels_are_kept_in_their_order() -> None:
    frame = pl.DataFrame({"a": pl.Series(["lo", "hi", "lo"], dtype=pl.Enum(["lo", "mid", "hi"]))})
    table = an.Table(frame)
    assert (table.handle.levels(0), table.handle.kind(0)) == (["lo", "mid", "hi"], "ordinal")
    assert table.handle.codes(0).tolist() == [0, 2, 0]


def test_the_rarest_levels_are_merged_only_when_asked_and_ties_by_value() -> None:
    frame = {"a": ["d"] * 2 + ["c"] * 2 + ["b"] * 3 + ["a"] * 2}
    assert an.Table(frame).handle.levels(0) == ["a", "b", "c", "d"]
    schema = infer(**frame).with_types(a=an.Categorical(max_levels=3))
    table = an.Table(frame, schema)
    assert table.handle.levels(0) == ["a", "b", "other"]
    assert table.handle.codes(0).tolist() == [2, 2, 2, 2, 1, 1, 1, 0, 0]
    backwards = an.Table({"a": frame["a"][::-1]}, schema)
    assert backwards.handle.levels(0) == ["a", "b", "other"]
    assert table.schema.encode(frame).column(0).tolist() == table.handle.codes(0).tolist()
    assert an.infer_schema(frame, max_levels=2)["a"].kind == an.Categorical(max_levels=2)


def test_bins_are_ordered_levels_and_are_remembered() -> None:
    frame = {"x": [float(i) for i in range(1, 11)]}
    table = an.Table(frame, infer(**frame).with_types(x=an.Binned(2)))
    assert table.handle.kind(0) == "ordinal"
    assert table.handle.levels(0) == ["<= 5", "> 5"]
    assert table.handle.codes(0).tolist() == [0] * 5 + [1] * 5
    again = an.Table({"x": [5.0, 5.1, -9.0]}, table.schema)
    assert again.handle.codes(0).tolist() == [0, 1, 0]
    width = an.Table({"x": [0.0, 1.0, 10.0]}, infer(x=[0.0, 1.0, 10.0]).with_types(x=an.Binned(2, by="width")))
    assert width.handle.codes(0).tolist() == [0, 0, 1]


def test_a_schema_survives_json(tmp_path) -> None:
    frame = {"é ü": [0.5, 1.25, 3.0] * 9, "k": ["a", "b", None] * 9, "o": [1, 2, 3] * 9, "b": [0.1, 0.2, 0.7] * 9}
    table = an.Table(frame, infer(**frame).with_types(b=an.Binned(2)), missing="level")
    for schema in (infer(**frame), table.schema):
        schema.save(tmp_path / "s.json")
        assert an.Schema.load(tmp_path / "s.json") == schema
        assert an.Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "not JSON"),
        ("{}", "not an arbornet schema"),
        ('{"format": "arbornet schema", "version": 99}', "version 99"),
    ],
)
def test_a_file_that_is_no_schema_is_refused(tmp_path, text, words) -> None:
    (tmp_path / "s.json").write_text(text)
    with pytest.raises(an.FormatError, match=words):
        an.Schema.load(tmp_path / "s.json")


def test_an_unknown_column_or_kind_is_named() -> None:
    schema = infer(income=[0.5, 1.5])
    with pytest.raises(an.ColumnError, match="no column 'incme'; did you mean 'income'"):
        schema.with_types(incme="continuous")
    with pytest.raises(an.ParameterError, match="income='number'"):
        schema.with_types(income="number")


def test_columns_can_be_left_out() -> None:
    frame = {"a": [0.5, 1.5], "b": [0.25, None]}
    table = an.Table(frame, infer(**frame).without("b"))
    assert (table.names, table.n_rows) == (["a"], 2)


def places(value, path=()):
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(p for key, of in inner for p in places(of, (*path, key)))]


ODD = (None, True, -1, 2**70, 1.5, math.nan, "", "abc", [], {}, [1, 2], ["a"], [[1]], {"is": "binned"}, [2.0, 1.0])


def test_whatever_stands_in_a_schema_it_is_refused_or_serves():
    frame = {"a": ["yes", "no", None, "no"] * 5, "b": ["I", "II", "III", "I"] * 5, "x": [0.5, 1.0, 2.0, 7.0] * 5}
    schema = an.infer_schema(frame).with_types(b=an.Ordinal(["I", "II", "III"]), x=an.Binned(2))
    tables = [an.Table(frame | {"y": [1.0, 2.5] * 10}, missing="drop"), an.Table(frame, schema=schema, missing="drop")]
    for text in (json.dumps(table.schema.to_dict()) for table in tables):
        for path in places(json.loads(text))[1:]:
            for odd in ODD:
                told = at = json.loads(text)
                for key in path[:-1]:
                    at = at[key]
                at[path[-1]] = odd
                try:
                    read = an.Schema.from_dict(told)
                except an.FormatError:
                    continue
                assert str(read) and len(read) == len(set(read))
                assert an.Schema.from_dict(json.loads(json.dumps(read.to_dict()))).names == read.names
                with contextlib.suppress(an.ArbornetError):
                    an.Table(frame, schema=read, missing="drop")


def test_a_schema_nested_too_deeply_is_no_schema(tmp_path):
    (tmp_path / "x.json").write_text("[" * 100_000)
    with pytest.raises(an.FormatError, match="not JSON"):
        an.Schema.load(tmp_path / "x.json")
