"""Decimals: every digit counts where they are levels, whatever holds them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import arbornet as an

LARGE = [Decimal(2**53), Decimal(2**53 + 1), Decimal(2**53 + 2)] * 10
LONG = [Decimal("0.1234567890123456788"), Decimal("0.1234567890123456789"), Decimal("1.5")] * 10
SHORT = [Decimal("1.25"), Decimal("-3"), Decimal("0.1")] * 10
FORMS = {
    "dict": lambda values: {"v": values, "b": list("xyz") * 10},
    "pandas": lambda values: pd.DataFrame({"v": pd.Series(values, dtype=object), "b": list("xyz") * 10}),
    "numpy": lambda values: {"v": np.array(values, dtype=object), "b": list("xyz") * 10},
    "arrow": lambda values: pa.table({"v": values, "b": list("xyz") * 10}),
    "polars": lambda values: pl.DataFrame({"v": pl.Series(values), "b": list("xyz") * 10}),
}


@pytest.mark.parametrize("form", FORMS)
def test_whole_decimals_beyond_53_bits_are_told_apart(form):
    frame = FORMS[form](LARGE)
    schema = an.infer_schema(frame).with_types({"v": "categorical"})
    assert schema["v"].observed == (2**53, 2**53 + 1, 2**53 + 2)
    assert an.Table(frame, schema).schema["v"].levels == (2**53, 2**53 + 1, 2**53 + 2)


@pytest.mark.parametrize("form", FORMS)
def test_decimals_that_are_one_float_are_no_levels(form):
    frame = FORMS[form](LONG)
    schema = an.infer_schema(frame)
    assert schema["v"].word == "continuous"
    with pytest.raises(
        an.ColumnError, match=r"holds 0.1234567890123456788 and 0.1234567890123456789, which are one number"
    ):
        an.Table(frame, schema.with_types({"v": "categorical"}))


@pytest.mark.parametrize("form", ["dict", "pandas", "numpy"])
def test_decimal_objects_are_the_numbers_they_say(form):
    frame = FORMS[form]([*SHORT[:-1], Decimal("NaN")])
    table = an.Table(frame, an.infer_schema(frame).with_types({"v": "continuous"}), missing="drop")
    assert table.n_rows == 29
    schema = an.infer_schema(frame)
    assert schema["v"].missing == 1 and schema["v"].range_ == (-3.0, 1.25)
    levels = an.Table(frame, schema.with_types({"v": "categorical"}), missing="drop").schema["v"].levels
    assert levels == (-3.0, 0.1, 1.25)


def test_decimals_too_long_for_128_bits_are_read_as_floats():
    frame = {"v": [Decimal(10) ** 60, Decimal("1.5"), Decimal(-7)] * 10, "b": list("xyz") * 10}
    assert an.infer_schema(frame)["v"].range_ == (-7.0, 1e60)
