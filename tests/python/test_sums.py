"""Columns that three or more others add up to are found: scores of scales, totals, shares. Nothing else is."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an

random = np.random.default_rng(8)
N = 200
ITEMS = random.integers(1, 6, (N, 9))
Q = {f"q{i + 1}": ITEMS[:, i] for i in range(9)}


def found(frame: object) -> dict[str, str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = [one for one in an.infer_schema(frame).findings if " sum of " in one.what or " mean of " in one.what]
    for one in told:
        assert one.mend == f"schema.without({one.column!r})"
    return {one.column: one.what for one in told}


@pytest.mark.parametrize("order", ["last", "first"])
def test_scores_of_scales_are_told_with_the_items_that_count_the_other_way_round(order) -> None:
    made = {
        "total": ITEMS.sum(axis=1),
        "a": ITEMS[:, :4].sum(axis=1),
        "turned": ITEMS[:, 4] + (6 - ITEMS[:, 5]) + ITEMS[:, 6] + (6 - ITEMS[:, 7]),
        "average": ITEMS[:, 4:].mean(axis=1).round(2),
        "age": random.integers(18, 80, N),
    }
    assert found(Q | made if order == "last" else made | Q) == {
        "total": "is the sum of 'q1', 'q2', 'q3' and 6 more columns in every row",
        "a": "is the sum of 'q1', 'q2', 'q3' and 1 more column in every row",
        "turned": "is 12 plus the sum of 'q5' and 'q7' minus the sum of 'q6' and 'q8' in every row",
        "average": "is the mean of 'q5', 'q6', 'q7' and 2 more columns in every row, but for rounding",
    }


def test_shares_that_add_up_to_a_hundred_are_told() -> None:
    shares = (random.dirichlet([2, 3, 4], N) * 100).round(1)
    rest = (100 - shares.sum(axis=1)).round(1)
    told = found({"clay": shares[:, 0], "silt": shares[:, 1], "sand": shares[:, 2], "stones": rest + 0.0} | Q)
    (what,) = told.values()
    assert what.startswith("is 100 minus the sum of ") and what.endswith(" in every row, but for rounding")


def test_rows_in_which_an_item_is_missing_say_nothing_against_it() -> None:
    frame = pl.DataFrame(Q).with_columns(total=ITEMS.sum(axis=1))
    holes = frame.with_columns(pl.when(pl.Series(random.random(N)) < 0.03).then(None).otherwise("q3").alias("q3"))
    assert list(found(holes)) == ["total"]


@pytest.mark.parametrize("how", ["one row", "few rows", "weights", "noise"])
def test_what_does_not_add_up_is_left_in_peace(how) -> None:
    total, rows = ITEMS.sum(axis=1), N
    if how == "one row":
        total = np.where(np.arange(N) == 150, total + 1, total)
    elif how == "few rows":  # in which some columns add up by chance
        rows = 29
    elif how == "weights":
        total = ITEMS @ np.arange(1, 10)
    else:
        total = random.integers(9, 45, N)
    assert found(pl.DataFrame(Q | {"total": total}).head(rows)) == {}
