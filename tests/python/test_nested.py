"""Columns of lists, records, bytes and other objects are left out, with how to make columns of them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main

N = 40
RNG = np.random.default_rng(0)
PLAIN = {"size": RNG.normal(size=N).round(2), "sex": ["f", "m"] * (N // 2)}
COMPLEX = np.full(N, 1 + 2j)


class Odd:
    """Something that no column holds."""


def of_polars() -> tuple[pl.DataFrame, dict[str, str]]:
    """A frame with every kind of such a column, and what is said of each."""
    nested = {
        "tags": pl.Series([[1, 2], [3]] * (N // 2)),
        "pair": pl.Series([[1, 2]] * N, dtype=pl.Array(pl.Int64, 2)),
        "place": pl.Series([{"x": 1, "town": "a"}] * N),
        "photo": pl.Series([b"ab"] * N),
    }
    said = {
        "tags": r"holds lists (pl.col('tags').list.len() counts their items",
        "pair": "holds arrays of 2 values (df.with_columns(pl.col('pair').arr.to_struct()).unnest('pair')",
        "place": r"holds structs (df.unnest('place') makes a column of each field)",
        "photo": r"holds bytes (pl.col('photo').cast(pl.String) makes texts of them)",
    }
    return pl.DataFrame(PLAIN | nested), said


def of_pandas() -> tuple[pd.DataFrame, dict[str, str]]:
    nested = {
        "tags": [[1, 2]] * N,
        "place": [{"x": 1}] * N,
        "photo": [None, b"x"] * (N // 2),
        "wave": COMPLEX,
        "odd": [Odd()] * N,
        "arrays": [np.zeros(2)] * N,
    }
    said = {
        "tags": "holds [1, 2] of type list in row 0 (df['tags'].map(len) counts their items)",
        "place": "holds {'x': 1} of type dict in row 0 (df.join(pd.json_normalize(df['place'])) makes a column",
        "photo": "holds b'x' of type bytes in row 1 (df['photo'].str.decode('utf-8') makes texts of them)",
        "wave": "is an array of dtype complex128 (np.real, np.imag and np.abs of 'wave' are numbers)",
        "odd": "holds a value of type Odd in row 0 (no single values)",
        "arrays": "of type ndarray in row 0 (df['arrays'].map(len) counts their items)",
    }
    return pd.DataFrame(PLAIN | nested), said


def of_columns() -> tuple[dict[str, Any], dict[str, str]]:
    nested = {"tags": [(1,), (2, 3)] * (N // 2), "wave": COMPLEX, "place": pl.Series([{"x": 1}] * N)}
    said = {"tags": "of type tuple in row 0", "wave": "complex128", "place": "of type dict in row 0"}
    return PLAIN | nested, said


FRAMES = [of_polars, of_pandas, of_columns]


@pytest.mark.parametrize("made", FRAMES)
def test_they_are_left_out_all_at_once_with_what_to_do(made: Any, capsys: pytest.CaptureFixture[str]) -> None:
    frame, said = made()
    with pytest.warns(an.LeftOutWarning) as warned:
        schema = an.infer_schema(frame)
    assert len(warned) == 1 and "with_types" not in str(warned[0].message), "no type makes values of them"
    assert schema.names == ["size", "sex"]
    for name, words in said.items():
        assert words in str(schema[name].left_out) and f"'{name}' {schema[name].left_out}" in str(warned[0].message)
        assert (schema[name].class_, schema[name].missing) == ("unreadable", 0)
    assert an.Schema.from_dict(schema.to_dict()) == pickle.loads(pickle.dumps(schema)) == schema
    with pytest.warns(an.LeftOutWarning):
        assert an.Table(frame).names == ["size", "sex"]
    net = an.learn(frame, effort="quick")
    told = " ".join(capsys.readouterr().out.split())
    assert net.names == ["size", "sex"] and all(f"left out: {name} " in told for name in said)
    assert len(net.impute(frame)) == N and len(net.log_likelihood(frame)) == N


@pytest.mark.parametrize("made", FRAMES)
@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_a_schema_that_names_one_is_refused_with_what_to_do(made: Any) -> None:
    frame, said = made()
    schema = an.infer_schema(frame)
    for name, words in said.items():
        for kind in ("categorical", "continuous"):
            with pytest.raises(an.ColumnError) as refused:
                an.Table(frame, schema.with_types({name: kind}))
            assert f"column '{name}'" in str(refused.value) and words in str(refused.value)
    with pytest.raises(an.ColumnError, match="'tags'"):
        an.Table(frame, weights="tags")


def test_a_frame_of_nothing_else_says_so() -> None:
    with (
        pytest.warns(an.LeftOutWarning),
        pytest.raises(an.ArbornetError, match=r"no column is left to use: 'tags' holds lists"),
    ):
        an.Table(pl.DataFrame({"tags": [[1], [2]]}))


def test_objects_mixed_with_values_stay_an_error() -> None:
    with pytest.raises(an.ColumnError, match=r"'size' holds \['b'\] of type list in row 1"):
        an.Table({"size": [0.5, ["b"], 1.5]})


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_the_shell_leaves_them_out_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame, _ = of_polars()
    frame.drop("photo").write_parquet(tmp_path / "t.parquet")
    assert main(["schema", str(tmp_path / "t.parquet")]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "holds lists" in told and "df.unnest('place')" in told
