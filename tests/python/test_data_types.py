"""The collected data sets: all load as declared; where inference disagrees with the declaration it is written down."""

from __future__ import annotations

import csv
import json
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import arbornet as an
from places import DATA, GOLDEN

DISAGREEMENTS = Path(__file__).parent / "inference_disagreements.csv"


@cache
def declared_types() -> dict[str, dict[str, Any]]:
    return json.loads((DATA / "types.json").read_text())


@cache
def path_of(name: str) -> Path:
    return next(path for path in DATA.glob("*/*.csv*") if path.name.partition(".csv")[0] == name)


def inferred(frame: pl.DataFrame) -> an.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        return an.infer_schema(frame)


def kind_of(declared: Any) -> Any:
    return an.Ordinal(declared["ordinal"]) if isinstance(declared, dict) else declared


def word_of(declared: Any) -> str:
    return "ordinal" if isinstance(declared, dict) else declared


@pytest.mark.parametrize("name", sorted(declared_types()))
def test_a_data_set_loads_as_declared(name: str) -> None:
    frame = an.read(path_of(name))
    types = {column: kind for column, kind in declared_types()[name].items() if column != "target"}
    schema = inferred(frame).with_types({column: kind_of(kind) for column, kind in types.items()})
    for column, kind in types.items():
        assert word_of(kind) in str(schema[column].kind)
        if isinstance(kind, dict):
            assert [str(level) for level in schema[column].levels or ()] == [str(level) for level in kind["ordinal"]]
    unused = [column for column in frame.columns if column not in types]
    schema = schema.without(*unused)
    table = an.Table(frame, schema, missing="drop")
    assert table.n_rows == frame.select(list(types)).drop_nulls().height
    assert table.names == [column for column in frame.columns if column in types]
    back = table.to_polars()
    expected = frame.select(table.names).drop_nulls()
    for column in table.names:
        ours, theirs = back[column], expected[column]
        if ours.dtype.is_numeric() and theirs.dtype == pl.String:  # digits padded with zeros
            theirs = theirs.cast(pl.Float64)
        if ours.dtype.is_numeric() and theirs.dtype.is_numeric():
            assert ours.cast(pl.Float64).to_list() == pytest.approx(
                theirs.cast(pl.Float64).to_list(), rel=1e-9, abs=1e-9
            )
        else:
            assert ours.cast(pl.String).to_list() == theirs.cast(pl.String).to_list()


def disagreements() -> list[tuple[str, str, str, str]]:
    found = []
    for name, types in sorted(declared_types().items()):
        schema = inferred(an.read(path_of(name)))
        for column, kind in types.items():
            if column == "target" or column not in schema:
                continue
            seen = schema[column]
            word = seen.word if seen.used else "left out"
            if word != word_of(kind):
                found.append((name, column, word, word_of(kind)))
    return found


def test_every_disagreement_with_the_declared_types_is_explained() -> None:
    with DISAGREEMENTS.open(encoding="utf-8", newline="") as file:
        listed = list(csv.DictReader(file))
    assert all(row["why"].strip() for row in listed)
    known = [(row["data set"], row["column"], row["inferred"], row["declared"]) for row in listed]
    assert disagreements() == known


def test_every_golden_table_loads() -> None:
    paths = sorted(GOLDEN.rglob("*.csv"))
    assert paths
    for path in paths:
        frame = an.read(path)
        schema = inferred(frame).with_types({c: "continuous" for c in frame.columns if frame[c].dtype.is_float()})
        assert an.Table(frame, schema).n_rows == frame.select(schema.names).drop_nulls().height, path
