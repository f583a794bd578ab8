"""Findings of tables as laboratories and shops export them: turned round, with limits in many columns, of countries."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.cli.advice import in_shell

random = np.random.default_rng(4)
GENES = [f"G{i}" for i in range(40)]
SAMPLES = [f"s{j}" for j in range(12)]
LEVEL = random.normal(6, 2, (40, 1))
VALUES = np.round(LEVEL + random.normal(0, 0.4, (40, 12)), 3)
TURNED = pl.DataFrame({"gene": GENES} | dict(zip(SAMPLES, VALUES.T.tolist(), strict=True)))


def found(frame: object) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(an.infer_schema(frame).findings)


def test_a_table_with_its_variables_in_rows_is_found_and_the_line_turns_it() -> None:
    (one,) = found(TURNED)
    assert one.column == "gene" and "all other columns put the rows in nearly the same order" in one.what
    assert in_shell(one.mend) == "if so: exchange rows and columns in the file"
    right = eval(one.mend.removeprefix("if so: "), {"df": TURNED})
    assert right.columns == ["row", *GENES] and right.height == 12 and found(right) == []
    (one,) = found(TURNED.to_pandas())
    right = eval(one.mend.removeprefix("if so: "), {"df": TURNED.to_pandas()})
    assert isinstance(right, pd.DataFrame) and right.shape == (12, 40) and found(right) == []


def test_rows_of_words_among_rows_of_numbers_are_variables_and_nothing_else_is_said() -> None:
    words = {"gene": "batch"} | {name: f"b{j % 3}" for j, name in enumerate(SAMPLES)}
    texts = TURNED.with_columns(pl.all().cast(pl.String))
    (one,) = found(pl.concat([pl.DataFrame([words]).select(texts.columns), texts]))
    assert "numbers but for 'batch'" in one.what
    limits = texts.with_columns(
        pl.when(pl.col(name) < "3").then(pl.lit("<3")).otherwise(name).alias(name) for name in SAMPLES
    )
    (one,) = found(pl.concat([pl.DataFrame([words]).select(texts.columns), limits]))
    assert "numbers but for 'batch'" in one.what


@pytest.mark.parametrize("how", ["years", "sizes", "order", "names", "few"])
def test_a_table_that_only_resembles_one_is_left_in_peace(how: str) -> None:
    frame = TURNED
    if how == "years":
        frame = frame.rename({name: str(2000 + j) for j, name in enumerate(SAMPLES)})
    elif how == "sizes":
        frame = frame.with_columns((pl.col(name) * 10**j).alias(name) for j, name in enumerate(SAMPLES[:6]))
    elif how == "order":
        frame = frame.with_columns(pl.col(name).shuffle(seed=j) for j, name in enumerate(SAMPLES))
    elif how == "names":
        frame = frame.with_columns(gene=pl.Series([f"G{i // 2}" for i in range(40)]))
    else:
        frame = frame.head(9)
    assert not any("stand in rows" in one.what for one in found(frame))


def test_limits_in_many_columns_are_one_finding_whose_line_mends_all_of_them() -> None:
    columns = {
        f"x{j}": [f"<{j + 1}.5" if value < -1 else f"{value + 9:.2f}" for value in random.normal(size=80)]
        for j in range(5)
    }
    frame = pl.DataFrame(columns | {"city": ["a < b", "c", "d", "<e>"] * 20})
    (one,) = found(frame)
    assert one.column == "" and one.what.startswith("5 columns hold numbers except for limits; 'x0' holds numbers")
    line = one.mend.partition(" takes")[0]
    mended = eval(line, {"df": frame, "pl": pl})
    assert found(mended) == [] and mended["city"].equals(frame["city"])
    assert all(an.infer_schema(mended)[f"x{j}"].word == "continuous" for j in range(5))
    (one,) = found(frame.to_pandas())
    assert pl.from_pandas(eval(one.mend.partition(" takes")[0], {"df": frame.to_pandas()})).equals(mended)
    assert in_shell(str(one)) != str(one) or "pl." not in str(one)
    assert len(found(frame.drop("x4", "x3"))) == 3


def test_namibia_is_no_missing_value() -> None:
    codes = ["DE", "FR", "NA", "US", "ZA", "GB"] * 20
    whole = pl.DataFrame({"country": codes, "x": random.normal(size=120)})
    assert found(whole) == []
    lost = whole.with_columns(country=pl.col("country").replace("NA", None))
    (one,) = found(lost)
    assert one.what == "holds codes of countries, and none in 20 rows, which may be Namibia, 'NA'"
    assert "null_values" in one.mend and "keep_default_na=False" in found(lost.to_pandas())[0].mend
    assert found(lost.rename({"country": "state"})) == []
