"""Which values are one level: texts only if they are the same text, numbers and truth values by what they are."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an

UNKNOWN = "unknown"


def found(learned: list[Any], given: Any, **kinds: Any) -> list[Any]:
    """What the values of a column are taken for, whose levels were learned from others."""
    rows = {"c": learned * 6}
    schema = an.Table(rows, schema=an.infer_schema(rows).with_types(**kinds)).schema
    levels = schema["c"].levels or ()
    codes = schema.encode({"c": given}, unseen="missing").column(0)
    assert codes is not None
    return [levels[code] if code < len(levels) else UNKNOWN for code in codes.tolist()]


@pytest.mark.parametrize(
    "texts", [["250.1", "250.10", "2501e-1"], ["1E2", "100", "1e2"], ["TRUE", "true", "True"], ["1", "1.0", "01"]]
)
def test_texts_that_read_alike_are_levels_of_their_own(texts: list[str]) -> None:
    assert found(texts, texts[::-1]) == texts[::-1]
    assert found([texts[0], "x"], texts) == [texts[0], UNKNOWN, UNKNOWN]
    outcome = [["a", "b", "c"][i % 3] for i in range(30)]
    table = an.Table({"c": texts * 10, "y": outcome})
    net = an.fit(table, nx.DiGraph([("c", "y")]), an.BDeu())
    assert net.predict({"c": texts}, "y").to_list() == ["a", "b", "c"]
    alone = an.fit(an.Table({"c": [texts[0], "x"] * 10, "y": ["a", "b"] * 10}), nx.DiGraph([("c", "y")]), an.BDeu())
    with pytest.raises(an.ColumnError, match=f"'c' holds '{texts[1]}' in 1 row .*which is not among its levels"):
        alone.predict({"c": [texts[0], texts[1]]}, "y")


@pytest.mark.parametrize("declared", [["250.10", "250.1", "V30"], ["250.1", "V30"]])
def test_declared_texts_are_not_taken_for_others(declared: list[str]) -> None:
    schema = an.infer_schema({"c": ["250.10", "V30"] * 5}).with_types(c=an.Categorical(declared))
    assert schema["c"].levels == tuple(declared)


@pytest.mark.parametrize(
    ("learned", "given", "expected"),
    [
        ([1, 2, 5], ["1", "1.0", "2e0", "01", "x"], [1, 1, 2, UNKNOWN, UNKNOWN]),
        ([1, 2, 5], [1.0, 5.0, 2.5], [1, 5, UNKNOWN]),
        ([1, 2, 5], [True], [UNKNOWN]),
        ([True, False], ["TRUE", "false", "True"], [True, False, True]),
        (["1", "2", "x"], [1, 2], ["1", "2"]),
        (["1", "2", "x"], [1.0, 2.5], ["1", UNKNOWN]),
        (["1.0", "x"], [1], ["1.0"]),
        (["TRUE", "FALSE", "x"], [True, False], ["TRUE", "FALSE"]),
        (["250.1", "x"], [250.1], ["250.1"]),
        # A number may have been either text, or is written as neither.
        (["250.1", "250.10"], [250.1], [UNKNOWN]),
        (["250.10", "x"], [250.1], [UNKNOWN]),
        (["1E2", "100"], [100], ["100"]),
        (["1E2", "100"], [100.0], [UNKNOWN]),
        (["1E2", "x"], [100], [UNKNOWN]),
        (["TRUE", "true"], [True], [UNKNOWN]),
        (["007", "x"], [7], [UNKNOWN]),
    ],
)
def test_numbers_and_truth_values_name_the_level_that_they_are(learned: Any, given: Any, expected: Any) -> None:
    assert found(learned, given) == expected


def test_a_number_that_no_text_is_meant_by_for_sure_is_told_to_come_as_text() -> None:
    net = an.fit(an.Table({"c": ["250.1", "250.10"] * 8, "y": ["a", "b"] * 8}), nx.DiGraph([("c", "y")]), an.BDeu())
    with pytest.raises(an.ColumnError, match=r"'c' holds 250\.1 .*'250\.1', '250\.10'; give it as text"):
        net.predict({"c": [250.1]}, "y")


def test_texts_that_share_the_level_other_are_these_only() -> None:
    values = ["a"] * 9 + ["b"] * 8 + ["1.0", "2.50"]
    frame = {"c": values}
    schema = an.Table(frame, schema=an.infer_schema(frame, max_levels=3)).schema
    levels = schema["c"].levels or ()
    codes = schema.encode({"c": ["1.0", "2.50", "1", "2.5", "a"]}, unseen="missing").column(0)
    assert codes is not None
    assert [levels[c] if c < 3 else UNKNOWN for c in codes.tolist()] == ["other", "other", UNKNOWN, UNKNOWN, "a"]


@pytest.mark.parametrize("first", [2**53, 2**60, 2**63 - 2, -(2**60), -(2**63)])
def test_whole_numbers_beyond_53_bits_are_levels_exactly(first: int, tmp_path) -> None:
    pair = [first, first + 1]
    schema = an.infer_schema({"c": pair * 6})
    assert schema["c"].levels == tuple(pair) and schema["c"].used
    for kinds in ({}, {"c": "categorical"}, {"c": an.Ordinal(pair)}):
        assert found(pair, pair[::-1], **kinds) == pair[::-1]
    assert found(pair, [str(pair[1]), str(pair[0])]) == pair[::-1]
    assert found(pair, [float(first) + 0.0]) == [UNKNOWN]
    net = an.fit(an.Table({"c": pair * 6, "y": [0.5, 9.5] * 6}), nx.DiGraph([("c", "y")]), an.PCART())
    net.save(tmp_path / "net.json")
    for known in (net, an.load(tmp_path / "net.json")):
        low, high = known.predict({"c": pair}, "y").to_list()
        assert low < 5 < high
        assert known.predict({"y": [0.5, 9.5]}, "c").to_list() == pair
        assert str(pair[1]) in known["y"].text()
        assert known["y"].draw() is not None
    net.report(tmp_path / "net.html", {"c": pair, "y": [0.5, 9.5]})
    page = (tmp_path / "net.html").read_text(encoding="utf-8")
    assert f'"{pair[0]}","{pair[1]}"' in page


def test_levels_beyond_64_bits_are_refused_as_such() -> None:
    with pytest.raises(an.ParameterError, match=f"levels: {2**63} is beyond 64 bits; give it as text"):
        an.Categorical([2**63, 2**63 + 1])
    frame = pl.DataFrame({"c": pl.Series([2**64 - 2, 2**64 - 1] * 6, dtype=pl.UInt64)})
    with pytest.warns(an.LeftOutWarning, match=f"'c' holds {2**64 - 2} and {2**64 - 1}.*turn them into text"):
        schema = an.infer_schema(frame)
    with pytest.raises(an.ColumnError, match="'c' holds whole numbers beyond 64 bits"):
        an.Table(frame, schema=schema.with_types(c="categorical"))


def test_a_column_of_more_levels_than_there_can_be_is_left_out_and_the_rest_is_learned() -> None:
    n = 140_000
    codes = np.arange(n) % 70_000
    frame = pl.DataFrame({"plz": [f"{code:05d}" for code in codes], "sex": ["f", "m"] * (n // 2)})
    with pytest.warns(an.LeftOutWarning, match="'plz' has 70,000 levels, more than 65,536"):
        schema = an.infer_schema(frame)
    assert schema["plz"].left_out == "has 70,000 levels, more than 65,536"
    assert schema["plz"].hint == "schema.with_types(plz=an.Categorical(max_levels=50)) merges the rarest levels"
    assert an.learn(frame).names == ["sex"]
    kept = an.Table(frame, schema=schema.with_types(plz=an.Categorical(max_levels=50)))
    assert len(kept.schema["plz"].levels) == 50


@pytest.mark.parametrize(("learned", "told"), [([0, 1], "give 0 or 1 for it"), (["f", "t"], "give 'f' or 't' for it")])
def test_truth_values_for_other_levels_are_refused_with_what_to_give(learned, told) -> None:
    with pytest.raises(an.ColumnError, match=rf"'c' holds (True|False) .*; {told}"):
        an.Table({"c": learned * 6}).schema.encode({"c": [True, False]})
