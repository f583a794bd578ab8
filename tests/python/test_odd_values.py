"""A few texts that cost a column its numbers or dates are a finding, with what may be done about them."""

from __future__ import annotations

import warnings

import polars as pl
import pytest

import arbornet as an

N = 240
DECIMAL = [f"{i * 7 % 97},{i % 10}" for i in range(N)]
POINT = [f"{i * 7 % 97}.{i % 10}" for i in range(N)]
DAYS = [f"{i % 28 + 1}/{i % 12 + 1}/20{i % 20 + 10}" for i in range(N)]
TIMES = [f"{i % 24}:{i % 60:02}" for i in range(N)]


def told(texts: list[str]) -> list[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        schema = an.infer_schema({"c": texts, "x": [i * 7919 % len(texts) * 1.37 for i in range(len(texts))]})
    return [(one.what, one.mend) for one in schema.findings if one.column == "c"]


def mended(texts: list[str], mend: str) -> pl.Series:
    df = pl.DataFrame({"c": texts})
    return eval(mend.split(" makes ")[0], {"df": df, "pl": pl})["c"]


@pytest.mark.parametrize(
    ("texts", "odd", "others", "looks"),
    [
        (DECIMAL, ["n. d."], "numbers", "number in text"),
        (DECIMAL, ["1.5"], "numbers", "number in text"),
        ([f"${x}" for x in POINT], ["see note"], "numbers", "number in text"),
        (DAYS, ["31/31/2011"], "dates", "date"),
        (DAYS, ["1/1/2011-2/1/2011", "May"], "dates", "date"),
        ([f"2011-0{i % 9 + 1}-{i % 28 + 1:02}" for i in range(N)], ["2011-02-31"], "dates", "date"),
        (TIMES, ["9.12"], "times", "date"),
        (DAYS, [f"{i}/31/2011-12/31/2011" for i in range(13, 23)], "dates", "date"),
    ],
)
def test_a_few_odd_texts_are_named_with_the_line_that_makes_the_others_numbers_or_dates(
    texts, odd, others, looks
) -> None:
    assert told(texts) == []
    for values in (texts + odd, odd + texts):
        ((what, mend),) = told(values)
        assert what.startswith(f"holds {others} except for ") and repr(odd[0]) in what
        made = mended(values, mend)
        assert made.null_count() == len(odd)
        if made.dtype == pl.String:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert an.infer_schema({"c": made})["c"].looks_like == looks


def test_values_below_a_limit_need_not_be_missing() -> None:
    ((what, mend),) = told([*DECIMAL, "<0,5", "<0,5"])
    assert what == "holds numbers except for '<0,5', in 2 rows"
    at_limit, half, missing = mend.split("; ")
    df = pl.DataFrame({"c": ["<0,5", "7,1"]})
    for line, does, value in (
        (at_limit, " takes the limit for the value", "0,5"),
        (half, " half of it", "0,25"),
        (missing, " makes them missing, and what is learned is of the larger values only", None),
    ):
        assert line.endswith(does)
        assert eval(line.removesuffix(does), {"df": df, "pl": pl})["c"].to_list() == [value, "7,1"]
    ((_, mend),) = told([*POINT, ">100"])
    assert "half" not in mend and "of the values within the limits only" in mend


@pytest.mark.parametrize("texts", [[f"A{i % 50}" for i in range(N)], [f"1.{i % 30}.2" for i in range(N)]])
def test_codes_and_versions_are_not_called_numbers_with_odd_ones(texts) -> None:
    assert told([*texts, "to do"]) == []
