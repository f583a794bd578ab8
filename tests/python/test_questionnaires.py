"""Questionnaires: answers of a scale have an order, and what is said of many items is said once."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli.advice import in_shell
from arbornet.data.looks import grades

random = np.random.default_rng(5)
N = 120
AGREE = ["Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree"]


def schema_of(frame: object) -> an.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return an.infer_schema(frame)


def items(levels: list[str], n: int = 8) -> dict[str, list[str]]:
    return {f"item {i + 1}": random.choice(levels, N).tolist() for i in range(n)}


@pytest.mark.parametrize(
    "scale",
    [
        AGREE,
        ["strongly disagree", "somewhat disagree", "neither agree nor disagree", "somewhat agree", "strongly agree"],
        ["Very dissatisfied", "Dissatisfied", "Neutral", "Satisfied", "Very satisfied"],
        ["Extremely unlikely", "Somewhat unlikely", "Somewhat likely", "Extremely likely"],
        ["Not at all important", "Slightly important", "Very important"],
        ["stimme gar nicht zu", "stimme eher nicht zu", "stimme eher zu", "stimme voll zu"],
        ["pas du tout d'accord", "plutôt pas d’accord", "plutôt d’accord", "tout à fait d'accord"],
    ],
)
def test_answers_of_a_questionnaire_are_ordinal(scale) -> None:
    for column in schema_of(items(scale, 2)).columns:
        assert column.word == "ordinal" and list(column.levels) == scale
        assert column.reason == "answers of a scale: an order"


@pytest.mark.parametrize(
    "levels",
    [
        ["low", "medium", "high"],
        ["agree", "disagree", "neutral"],
        ["Fair", "Good", "Ideal"],
        [*AGREE, "Not applicable"],
    ],
)
def test_words_that_may_mean_something_else_are_a_hint_at_most(levels) -> None:
    assert grades.certain_order(levels) is None


def test_an_answer_of_many_items_that_may_mean_missing_is_one_finding_whose_line_mends_all() -> None:
    frame = pl.DataFrame(items([*AGREE, "Not applicable"]))
    (one,) = schema_of(frame).findings
    assert one.what.startswith("8 columns, 'item 1' to 'item 8', hold 'Not applicable', which may mean missing, or")
    assert one.mend.startswith("only if there is a value that nobody told: df.with_columns(")
    mended = eval(one.mend.split(": ", 1)[1], {"df": frame, "pl": pl})
    assert {column.word for column in schema_of(mended).columns} == {"ordinal"}
    assert in_shell(one.mend).count("--missing-values") == 8
    assert "--missing-values 'item 8=Not applicable'" in in_shell(one.mend)
    (same,) = schema_of(frame.to_pandas()).findings
    of_pandas = frame.to_pandas()
    exec(same.mend.split(": ", 1)[1], {"df": of_pandas})
    assert of_pandas.isna().sum().sum() == sum(mended.null_count().row(0))


def test_words_for_missing_that_are_read_as_such_in_many_columns_are_one_finding() -> None:
    numbers = {f"{year}": [".." if x < 0.2 else f"{x:.5f}" for x in random.random(N)] for year in range(2000, 2012)}
    (one,) = schema_of(numbers).findings
    assert one.what == "12 columns, '2000' to '2011', hold words for a missing value, which are read as missing"
    assert one.how_many == sum(text == ".." for texts in numbers.values() for text in texts)


def test_hints_that_are_the_same_for_many_columns_are_one_line() -> None:
    text = str(schema_of({**items(AGREE), "size": random.choice(["S", "M", "L"], N).tolist()}))
    assert "\n  item 1 and 7 more, to item 8: schema.with_types({'item 1': \"categorical\"})\n" in text
    assert "\n  size: if these are grades: schema.with_types(size=an.Ordinal(" in text and "item 2:" not in text


def test_the_hint_of_texts_that_name_their_rows_is_no_number() -> None:
    column = schema_of({"ResponseId": [f"R_{i}" for i in range(N)], "x": random.random(N)})["ResponseId"]
    assert column.hint == 'schema.with_types(ResponseId="categorical")'
