"""The handle on a core table: what goes in comes out."""

import pickle

import numpy as np
import pytest

import arbornet as an
from arbornet._core import TableHandle


def small() -> TableHandle:
    return TableHandle.from_columns(
        ["x", "sex", "stage"],
        ["continuous", "categorical", "ordinal"],
        [None, ["f", "m"], [1, 2, 3]],
        [np.array([0.5, -0.5]), np.array([1, 0], dtype=np.uint32), np.array([2, 2], dtype=np.uint8)],
        [(10.0, 2.0), (0.0, 1.0), (0.0, 1.0)],
    )


def same(a: TableHandle, b: TableHandle) -> bool:
    columns = all(
        np.array_equal(
            a.reals(v) if a.kind(v) == "continuous" else a.codes(v),
            b.reals(v) if b.kind(v) == "continuous" else b.codes(v),
        )
        and a.levels(v) == b.levels(v)
        and a.scale(v) == b.scale(v)
        for v in range(len(a.names))
    )
    return a.names == b.names and columns


def test_columns_come_back_as_they_went_in() -> None:
    table = small()
    assert (table.names, table.n_rows) == (["x", "sex", "stage"], 2)
    assert [table.kind(v) for v in range(3)] == ["continuous", "categorical", "ordinal"]
    assert [table.levels(v) for v in range(3)] == [None, ["f", "m"], [1, 2, 3]]
    assert table.reals(0).tolist() == [0.5, -0.5]
    assert table.scale(0) == (10.0, 2.0)
    assert table.codes(1).tolist() == [1, 0]
    assert table.codes(2).dtype == np.uint8


def test_levels_keep_their_python_type() -> None:
    levels = [True, 1, 1.5, "1"]
    codes = np.arange(4, dtype=np.uint32)
    (kept,) = [TableHandle.from_columns(["a"], ["categorical"], [levels], [codes]).levels(0)]
    assert kept is not None
    assert [(type(v), v) for v in kept] == [(type(v), v) for v in levels]


def test_a_pickle_holds_the_same_table() -> None:
    assert same(pickle.loads(pickle.dumps(small())), small())


@pytest.mark.parametrize(
    ("kind", "levels", "column", "words"),
    [
        ("categorical", ["a"], np.array([1], dtype=np.uint32), "code 1 in row 0"),
        ("categorical", ["a"], np.array([256], dtype=np.uint32), "code 256 in row 0"),
        ("categorical", None, np.array([0], dtype=np.uint32), "without levels"),
        ("categorical", [None], np.array([0], dtype=np.uint32), "NoneType"),
        ("number", ["a"], np.array([0], dtype=np.uint32), "kind 'number'"),
        ("continuous", None, np.array([np.nan]), "NaN in row 0"),
    ],
)
def test_a_bad_column_is_named(kind, levels, column, words) -> None:
    with pytest.raises(an.ColumnError, match=words) as error:
        TableHandle.from_columns(["age"], [kind], [levels], [column])
    assert "'age'" in str(error.value)


def test_a_position_beyond_the_columns_is_an_index_error() -> None:
    with pytest.raises(IndexError, match="no variable 3"):
        small().kind(3)
