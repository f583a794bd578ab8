"""Numbers that are drawn look like numbers of the column: multiples of its step, and none below its least."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arbornet as an
from arbornet.data.column import Column
from arbornet.data.kinds import Continuous
from arbornet.data.support import supported

RNG = np.random.default_rng(11)
N = 300
SEX = np.where(RNG.random(N) < 0.5, "f", "m")
COUNT = RNG.poisson(np.where(SEX == "m", 3.0, 12.0))
PRICE = np.round(np.abs(RNG.normal(1, 1, N)), 2)
BALANCE = np.round(RNG.normal(0, 5, N), 1)
WEIGHT = RNG.gamma(1.0, 2.0, N)
FRAME = pl.DataFrame({"sex": SEX, "count": COUNT, "price": PRICE, "balance": BALANCE, "weight": WEIGHT})
AS_BEFORE = an.Continuous(step=None, least=None)
NUMBERS = ("count", "price", "balance", "weight")


def learned(frame: Any = FRAME, **kinds: Any) -> an.BayesNet:
    schema = an.infer_schema(frame).with_types(kinds)
    return an.learn(frame, schema=schema, score=an.PCART(), verbose=False)


NET = learned()
PLAIN = learned(**dict.fromkeys(NUMBERS, AS_BEFORE))


def is_multiple(values: Any, step: float) -> bool:
    return np.allclose(np.asarray(values) / step, np.round(np.asarray(values) / step), atol=1e-9, rtol=0)


@pytest.mark.parametrize(
    ("values", "step", "least"),
    [
        (COUNT, 1.0, 0.0),
        (PRICE, 0.01, 0.0),
        (BALANCE, 0.1, None),
        (WEIGHT, None, 0.0),
        (COUNT * 50, 50.0, 0.0),
        (COUNT / 4, 0.25, 0.0),
        (PRICE.astype(np.float32), 0.01, 0.0),
        (WEIGHT * 1e-9, None, 0.0),
        (-WEIGHT, None, None),
        (COUNT + 0.5, 0.5, 0.0),
    ],
)
def test_a_table_knows_the_step_and_the_least_of_its_columns(values: Any, step: float | None, least: float) -> None:
    column = an.Table({"x": values, "sex": SEX}).schema["x"]
    assert (column.step, column.least) == (step, least)


@pytest.mark.parametrize("seed", [0, 1])
def test_draws_are_numbers_of_the_table_and_those_of_before_in_the_same_order(seed: int) -> None:
    drawn, before = NET.sample(4000, seed, beyond=True), PLAIN.sample(4000, seed, beyond=True)
    assert before["count"].min() < 0 and before["price"].min() < 0, "or there is nothing to test"
    for name, step in (("count", 1.0), ("price", 0.01), ("balance", 0.1)):
        assert is_multiple(drawn[name], step), name
        least = -math.inf if name == "balance" else 0.0
        assert (drawn[name] - np.maximum(before[name], least)).abs().max() <= step / 2 + 1e-9
    assert np.array_equal(drawn["weight"], np.maximum(before["weight"], 0.0))
    assert drawn["price"].to_list() == [round(x, 2) for x in drawn["price"]], "the floats that their decimals are"


def test_whole_numbers_come_back_as_whole_numbers() -> None:
    for made in (FRAME, FRAME.to_pandas(), FRAME.to_arrow(), {"sex": list(SEX), "count": COUNT.tolist()}):
        drawn = learned(made).sample(50, seed=1)
        assert drawn.schema["count"] == pl.Int64 and drawn["count"].min() >= 0
    with_gaps = FRAME.to_pandas().assign(count=FRAME["count"].to_pandas().astype(float).mask(np.arange(N) % 7 == 0))
    drawn = an.learn(with_gaps, missing="drop", verbose=False).sample(50, seed=1, output="pandas")
    assert drawn["count"].dtype == np.int64
    # What was a float before stays one.
    assert learned(FRAME.with_columns(pl.col("count").cast(float))).sample(9)["count"].dtype == pl.Float64


def test_intervals_and_quantiles_are_those_of_draws() -> None:
    row = {"sex": "m"}
    drawn = NET.sample(200_000, seed=3, given=row, beyond=True)
    for name in ("count", "price", "weight"):
        for share, value in NET.query(name, given=row).select("quantile", name).rows():
            # So many are below the quantile, and so many up to it.
            assert (drawn[name] < value).mean() - 0.01 <= share <= (drawn[name] <= value).mean() + 0.01
        ends = NET.predict_interval(pl.DataFrame([row]), name, 0.8)
        below = [quantile for share, quantile in NET.query(name, given=row).select("quantile", name).rows()]
        assert ends.row(0) == (below[2], below[6])
    assert NET.predict_interval(pl.DataFrame([row]), "count", 0.8).dtypes == [pl.Int64, pl.Int64]


def test_predictions_are_not_below_the_least() -> None:
    debts = pl.DataFrame({"k": ["a", "b"] * 30, "x": [0.0, 8.0] * 30})
    net = learned(debts.with_columns(x=pl.when(pl.col("k") == "b").then(pl.col("x")).otherwise(0.0)))
    assert (np.asarray(net.predict(debts.select("k"), "x")) >= 0).all()
    low = PLAIN.predict(FRAME.drop("price"), "price")
    assert np.array_equal(NET.predict(FRAME.drop("price"), "price"), np.maximum(low, 0.0))


def test_densities_and_probabilities_are_those_of_the_continuous_number() -> None:
    assert np.array_equal(NET.log_likelihood(FRAME), PLAIN.log_likelihood(FRAME))
    for event in ({"count": (None, 3)}, {"price": (0.5, 2.0)}):
        assert NET.query(event) == PLAIN.query(event)


def test_draws_stay_within_what_is_given() -> None:
    for limit, allowed in (
        ((3, 6), {3, 4, 5}),
        ((3.4, 5.2), {4, 5}),
        ((None, 2), {0, 1}),
    ):
        drawn = NET.sample(500, seed=2, given={"count": limit})["count"]
        assert set(drawn) <= allowed and len(set(drawn)) > 1
    lifted = {"seed": 2, "beyond": True}
    assert set(NET.sample(500, given={"count": (None, 1)}, **lifted)["count"]) == {0}, "also what is below"
    assert NET.sample(500, given={"weight": (None, 1)}, **lifted)["weight"].min() == 0
    between = NET.sample(50, seed=2, given={"count": (3.2, 3.7)})["count"]
    assert between.min() >= 3.2 and between.max() < 3.7, "there is no whole number"
    with pytest.warns(an.ArbornetWarning, match="outside of what was observed"):
        below = NET.sample(50, seed=2, given={"weight": (-2, -1)})["weight"]
    assert below.min() >= -2 and below.max() < -1, "asked for in so many words"
    assert set(NET.sample(5, given={"count": 3.5})["count"]) == {3.5}
    assert NET.sample(5, do={"balance": 0.123})["balance"].to_list() == pytest.approx([0.123] * 5)
    assert NET.query("count", given={"count": (3.4, 5.2)})["count"].is_between(4, 5).all()


def test_imputed_numbers_are_numbers_of_the_table() -> None:
    gaps = FRAME.with_columns(
        price=pl.when(pl.int_range(N) % 3 == 0).then(None).otherwise(pl.col("price")),
        count=pl.when(pl.int_range(N) % 4 == 0).then(None).otherwise(pl.col("count")),
    )
    for how in ("draw", "modes"):
        filled = NET.impute(gaps, how=how)
        assert is_multiple(filled["price"], 0.01) and filled["price"].min() >= 0
        assert filled["count"].dtype == FRAME["count"].dtype and filled["count"].min() >= 0
        known = gaps["price"].is_not_null()
        assert filled["price"].filter(known).equals(FRAME["price"].filter(known))


def test_logarithmic_scales_have_steps_too_and_stay_above_0() -> None:
    wage = np.round(np.exp(RNG.normal(1.0, 1.2, N))) + 1
    net = learned({"wage": wage.astype(int), "sex": SEX}, wage=an.Continuous(scale="log"))
    assert net.schema["wage"].step == 1 and net.schema["wage"].least is None
    drawn = net.sample(5000, seed=1)["wage"]
    assert drawn.dtype == pl.Int64 and drawn.min() == 1, "0 has no logarithm there"
    net.log_likelihood(pl.DataFrame({"wage": drawn}))
    for limit, ends in (((3, None), (3, math.inf)), ((None, 3), (1, 2)), ((2.5, 7.5), (3, 7))):
        given = net.sample(500, seed=1, given={"wage": limit})["wage"]
        assert ends[0] == given.min() and given.max() <= ends[1]
    with_zeros = learned({"wage": (wage - 2).clip(0).astype(int), "sex": SEX}, wage=an.Continuous(scale="log"))
    assert with_zeros.sample(5000, seed=1)["wage"].min() == 0


def test_you_may_declare_them() -> None:
    net = learned(weight=an.Continuous(step=0.5, least=0), price=an.Continuous(least=None), count=AS_BEFORE)
    kept = net.sample(2000, seed=1)
    assert is_multiple(kept["weight"], 0.5) and kept["price"].min() >= 0
    drawn = net.sample(2000, seed=1, beyond=True)
    assert is_multiple(drawn["weight"], 0.5) and drawn["weight"].min() == 0
    assert is_multiple(drawn["price"], 0.01) and drawn["price"].min() < 0
    assert drawn["count"].dtype == pl.Float64
    assert repr(net.schema["weight"].kind) == "Continuous(step=0.5, least=0.0)"
    assert eval(repr(AS_BEFORE), {"Continuous": Continuous}) == AS_BEFORE != Continuous()
    for wrong in ({"step": 0}, {"step": -1.0}, {"step": "1"}, {"least": math.inf}, {"least": True}):
        with pytest.raises(an.ParameterError, match=next(iter(wrong))):
            an.Continuous(**wrong)
    with pytest.raises(an.ColumnError, match=r"'balance' holds -.*below its declared least=0"):
        learned(balance=an.Continuous(least=0))
    days = pl.DataFrame({"day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 3, 1), eager=True)})
    with pytest.raises(an.ParameterError, match="date values, which take no step"):
        an.infer_schema(days).with_types(day=an.Continuous(step=7))


def test_days_keep_their_own_way_and_times_their_unit() -> None:
    start = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 1, 1) + pl.duration(days=N - 1), eager=True)
    frame = FRAME.select("sex").with_columns(day=start, wait=pl.Series(COUNT * 60.0).cast(int) * pl.duration(seconds=1))
    net = learned(frame)
    assert net.schema["day"].step is None and net.schema["day"].least is None
    assert net.schema["wait"].step == 60 and net.schema["wait"].least == 0
    drawn = net.sample(2000, seed=1)
    assert drawn["day"].dtype == pl.Date and drawn["wait"].min().total_seconds() == 0


def test_files_and_pickles_keep_them_and_say_nothing_where_there_is_nothing_to_say(tmp_path: Path) -> None:
    for net in (NET, PLAIN, learned(weight=an.Continuous(step=0.5))):
        net.save(tmp_path / "net.json")
        again = an.load(tmp_path / "net.json")
        assert again == net and again.schema == net.schema.plain()
        for other in (again, pickle.loads(pickle.dumps(net)), copy.deepcopy(net)):
            assert other.sample(20, seed=1).equals(net.sample(20, seed=1))
    told = json.loads((tmp_path / "net.json").read_text())
    columns = {column["name"]: column for column in told["schema"]["columns"]}
    assert columns["weight"]["step"] == 0.5 and columns["weight"]["kind"] == {"is": "continuous", "step": 0.5}
    assert "least" not in columns["balance"] and "step" not in columns["sex"]
    # A file of an earlier version says nothing of them: its network draws as it did.
    for column in columns.values():
        for key in ("step", "least"):
            column.pop(key, None)
            column["kind"].pop(key, None)
    (tmp_path / "old.json").write_text(json.dumps(told))
    assert an.load(tmp_path / "old.json").sample(50, seed=1).equals(PLAIN.sample(50, seed=1))
    for key, value in (("step", 0), ("step", "1"), ("least", [0])):
        broken = copy.deepcopy(told)
        broken["schema"]["columns"][1][key] = value
        (tmp_path / "broken.json").write_text(json.dumps(broken))
        with pytest.raises(an.FormatError, match=f"{key}="):
            an.load(tmp_path / "broken.json")


def test_rows_coded_by_the_schema_of_another_table_change_nothing() -> None:
    schema = an.Table(FRAME).schema
    other = an.Table(FRAME.with_columns(pl.col("price") / 3), schema=schema).schema
    assert other["price"].step == 0.01


def test_the_shell_draws_such_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from arbornet.cli import main

    NET.save(tmp_path / "net.json")
    assert main(["sample", str(tmp_path / "net.json"), "-n", "200", "-o", str(tmp_path / "drawn.csv")]) in (0, None)
    drawn = pl.read_csv(tmp_path / "drawn.csv")
    assert drawn.schema["count"] == pl.Int64 and drawn["count"].min() >= 0
    text = pl.read_csv(tmp_path / "drawn.csv", infer_schema=False)
    assert max(len(price.partition(".")[2]) for price in text["price"]) == 2
    # Cents, however large the amounts are.
    price = np.round(np.exp(RNG.normal(12, 2, N)), 2)
    learned({"price": price, "sex": SEX}, price=an.Continuous(scale="log")).save(tmp_path / "large.json")
    assert main(["sample", str(tmp_path / "large.json"), "-n", "20", "-o", str(tmp_path / "large.csv")]) in (0, None)
    drawn = an.load(tmp_path / "large.json").sample(20)["price"]
    assert pl.read_csv(tmp_path / "large.csv")["price"].equals(drawn) and drawn.max() > 1e6


STEPS = st.sampled_from([1.0, 0.1, 0.05, 0.01, 5.0, 1e-6, 0.3, 1 / 3, 1000.0])
VALUES = st.floats(-1e6, 1e6)


@given(STEPS, st.lists(VALUES, min_size=1, max_size=20), st.none() | VALUES, st.none() | st.tuples(VALUES, VALUES))
def test_the_way_keeps_the_order_and_the_limits(
    step: float, values: list[float], least: float | None, ends: tuple[float, float] | None
) -> None:
    column = Column("x", Continuous(), "number", "", scale=(0.0, 1.0), step=step, least=least)
    ordered = np.sort(values)
    if ends is not None:
        low, high = min(ends), max(ends) + 1e-3
        ordered = np.sort(low + (high - low) * (0.5 + np.asarray(values) / 2.0001e6))
        made = supported(column, ordered, (low, high))
        assert made.min() >= low - 1e-6 and made.max() < high + 1e-6
    else:
        made = supported(column, ordered)
        above = -math.inf if least is None else least
        assert np.allclose(made, np.maximum(ordered, above), rtol=0, atol=step * 0.5 + 1e-6)
    assert (np.diff(made) >= 0).all()
    assert supported(column, np.array([np.nan, 1.0]))[0] != supported(column, np.array([np.nan, 1.0]))[0]


def test_numbers_as_large_as_floats_stay_numbers() -> None:
    column = Column("x", Continuous(), "number", "", scale=(0.0, 1.0), step=0.01)
    values = np.array([1.7e308, -1e300, 1e20, 3.14159, np.nan])
    assert np.array_equal(supported(column, values), [1.7e308, -1e300, 1e20, 3.14, np.nan], equal_nan=True)
    assert supported(column, np.array([])).size == 0
    assert np.array_equal(supported(column, values[:1], (1e303, math.inf)), values[:1])
    assert np.array_equal(supported(column, values[1:2], (-math.inf, -1e295)), values[1:2])
