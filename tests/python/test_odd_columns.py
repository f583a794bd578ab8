"""Columns as wards and field notes have them: pairs of numbers, directions, one word that hides an order."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.cli.advice import in_shell

random = np.random.default_rng(3)
N = 200


def found(**columns: object) -> dict[str, an.data.looks.finding.Finding]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        frame = pl.DataFrame({"x": random.normal(0, 1, N)} | columns)
        return {one.column: one for one in an.infer_schema(frame).findings}


def test_two_numbers_in_one_text_are_told_of_but_days_and_months_are_dates() -> None:
    pressure = [f"{a}/{b}" for a, b in zip(random.integers(95, 180, N), random.integers(55, 99, N), strict=True)]
    assert found(bp=pressure)["bp"].what.startswith("holds two numbers each, such as '")
    days = [f"{a}/{b}" for a, b in zip(random.integers(1, 13, N), random.integers(1, 29, N), strict=True)]
    assert "two numbers" not in str(found(day=days).get("day"))


def test_a_direction_in_degrees_is_told_of() -> None:
    degrees = random.integers(0, 360, N)
    one = found(aspect=degrees)["aspect"]
    assert "0 and 360 are one" in one.what and in_shell(one.mend).startswith("a column made from 'aspect' in the file")
    for name, values in {"weight": degrees, "direction": degrees // 3, "wind_dir": degrees - 180}.items():
        assert name not in found(**{name: values})
    frame = pd.DataFrame({"aspect": degrees, "x": random.normal(0, 1, N)})
    (told,) = an.infer_schema(frame).findings
    exec(told.mend.split(" keeps")[0], {"df": frame, "np": np})
    assert frame["aspect"].between(-1, 1).all()


@pytest.mark.parametrize(
    ("levels", "word"),
    [(["I", "II", "III", "IV", "ND"], "ND"), (["Not staged", "18-24", "25-34", "35-44"], "Not staged")],
)
def test_the_one_word_that_hides_an_order_is_named(levels, word) -> None:
    one = found(grade=random.choice(levels, N))["grade"]
    assert f"holds {word!r} beside " in one.what and one.what.endswith("and so has no order")
    assert f"replace({word!r}, None)" in one.mend and f"--set 'grade=ordinal:{word}," in in_shell(one.mend)


@pytest.mark.parametrize("levels", [["I", "II", "III"], ["a", "b", "c", "d"], ["I", "II", "III", "p", "q"]])
def test_levels_with_an_order_or_without_any_are_left_in_peace(levels) -> None:
    assert "grade" not in found(grade=random.choice(levels, N))


def test_levels_that_differ_in_any_space_are_one_but_not_numbers() -> None:
    one = found(dose=random.choice(["10 mg", "10mg", "none"], N))["dose"]
    assert "differ only in case or spaces: '10 mg' and '10mg'" in one.what
    assert "code" not in found(code=random.choice(["a 1 2", "a 12", "b 3"], N))
