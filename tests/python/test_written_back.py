"""Values put into columns of text are written as these columns are, and what programs write is understood beside it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.data.looks import dates, numbers_in_text, written

ROWS = 200


def texts() -> dict[str, list[object]]:
    """A table of texts with gaps: dates, money, decimal commas, percent, times of day, days as whole numbers."""
    clock = [dt.time(i * 7 % 24, i * 11 % 60) for i in range(ROWS)]
    made: dict[str, list[object]] = {
        "visit": [f"{i % 12 + 1:02d}/{i * 3 % 28 + 1:02d}/2021" for i in range(ROWS)],
        "price": [f"${3000 + i * 37 % 900:,}.50" for i in range(ROWS)],
        "Preis": [f"{1 + i % 3}.{i * 37 % 900 + 100},{i % 10}0 €" for i in range(ROWS)],
        "share": [f"{i * 7 % 100}.{i % 10}%" for i in range(ROWS)],
        "at": [f"{t.hour}:{t.minute:02d}" for t in clock],
        "met": [f"{i % 28 + 1} {('Mar', 'Apr', 'Jun')[i % 3]} 2021 {t:%H:%M}" for i, t in enumerate(clock)],
        "x": [i * 7 % 11 / 3 for i in range(ROWS)],
    }
    for i, column in enumerate(list(made.values())[:-1]):
        column[i :: 10 + i] = [None] * len(column[i :: 10 + i])
    return made


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    return an.learn(texts(), effort="quick", verbose=False)


def shape(text: str) -> str:
    return (
        "".join("0" if c.isdigit() else "a" if c.isalpha() else c for c in text).replace("00", "0").replace("00", "0")
    )


@pytest.mark.parametrize("how", ["draw", "modes"])
@pytest.mark.parametrize("family", ["polars", "pandas"])
def test_what_is_filled_in_looks_like_the_column_and_can_be_read_again(net: an.BayesNet, how: str, family: str) -> None:
    given = pl.DataFrame(texts())
    filled = net.impute(given, how, seed=1, output=family)
    made = filled if family == "polars" else pl.DataFrame({name: filled[name].tolist() for name in filled.columns})
    for name in given.columns[:-1]:
        was = given[name]
        assert made[name].dtype == pl.String
        assert made[name].null_count() == 0
        assert made[name].filter(was.is_not_null()).equals(was.drop_nulls())
        known = {shape(text) for text in was.drop_nulls()}
        assert {shape(text) for text in made[name].filter(was.is_null())} <= known, name
    assert len(net.predict(filled, "x")) == ROWS


def test_money_has_as_many_decimals_as_the_column(net: an.BayesNet) -> None:
    filled = net.impute(pl.DataFrame(texts()), seed=1)
    assert filled["price"].str.contains(r"^\$\d,\d{3}\.\d{2}$").all()
    assert filled["Preis"].str.contains(r"^\d\.\d{3},\d{2} €$").all()


def test_whole_numbers_that_stand_for_days_are_filled_in_as_such() -> None:
    days = [None if i % 9 == 0 else 20210101 + i % 28 + 100 * (i % 12) for i in range(ROWS)]
    frame = pl.DataFrame({"day": days, "x": [i % 7 / 3 for i in range(ROWS)]})
    schema = an.infer_schema(frame).with_forms(day="%Y%m%d")
    net = an.learn(frame, schema=schema, verbose=False)
    filled = net.impute(frame, seed=2)
    assert filled["day"].dtype == pl.Int64
    assert filled["day"].is_between(20210101, 20211231).all()
    of_pandas = net.impute(frame.to_pandas(), seed=2)
    assert of_pandas["day"].dtype == np.float64
    assert of_pandas["day"].tolist() == filled["day"].to_list()


@pytest.mark.parametrize(
    ("name", "own", "iso"),
    [
        ("visit", "01/07/2021", "2021-01-07"),
        ("visit", "01/07/2021", dt.date(2021, 1, 7)),
        ("at", "2:05", "02:05:00"),
        ("met", "7 Mar 2021 10:30", "2021-03-07T10:30:00"),
        ("met", "7 Mar 2021 10:30", "2021-03-07 10:30"),
        ("price", "$3,584.00", "3584.0"),
        ("Preis", "1.584,50 €", 1584.5),
    ],
)
def test_values_as_programs_write_them_are_understood(net: an.BayesNet, name: str, own: str, iso: object) -> None:
    assert net.query("x", given={name: iso}).equals(net.query("x", given={name: own}))
    assert net.log_likelihood({name: iso}) == net.log_likelihood({name: own})


def test_days_of_a_column_of_dates_can_be_given_as_text() -> None:
    frame = pl.DataFrame(
        {"day": [dt.date(2021, 1, 1 + i % 28) for i in range(60)], "x": [i % 5 / 2 for i in range(60)]}
    )
    net = an.learn(frame, verbose=False)
    assert net.log_likelihood({"day": "2021-01-07"}) == net.log_likelihood({"day": dt.date(2021, 1, 7)})
    with pytest.raises(an.ColumnError, match=r"'day' holds '7 Jan', which is not written as '%Y-%m-%d'"):
        net.log_likelihood({"day": "7 Jan"})


def test_rows_that_the_shell_draws_are_read_again(
    net: an.BayesNet, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    saved, rows = tmp_path / "net.json", tmp_path / "s.csv"
    net.save(saved)
    assert main(["sample", str(saved), "-n", "40", "-o", str(rows)]) == 0
    drawn = an.read(rows)
    assert drawn["visit"].str.contains(r"^\d\d/\d\d/2021$").all()
    assert drawn["at"].str.contains(r"^\d\d:\d\d$").all()
    assert drawn["Preis"].str.contains(r"^\d\.?\d{3},\d\d? €$").all()
    assert main(["predict", str(saved), str(rows), "x", "--only", "--json"]) == 0
    assert len(json.loads(capfd.readouterr().out)) == 40


def test_every_way_to_write_a_date_is_read_and_written_back() -> None:
    days = [form for _, forms in (*dates._DAYS, *dates._MONTHS) for form in forms]
    clocks = [form for _, forms in dates._CLOCKS for form in forms]
    zones = ["", *(form for _, form in dates._ZONES)]
    moments = [f"{day} {clock}{zone}" for day in days[:8] for clock in clocks for zone in zones]
    for form in {*days, *clocks, *moments, *(form for _, form in dates._WORDY)}:
        series = pl.Series([dt.datetime(2021, 3, 4, 15, 7), dt.datetime(2020, 12, 25, 9, 30)])
        if dates.class_of(form) == "date":
            series = series.dt.date() if "%d" in form else series.dt.month_start().dt.date()
        elif dates.class_of(form) == "time":
            series = series.dt.time()
        elif dates.zone_of(form):
            series = series.dt.replace_time_zone("UTC")
        for way in dates._ways(form):
            shown = series.dt.strftime(way)
            assert written.read(shown, form).to_list() == series.to_list(), (form, way)
            assert dates.write(series, form, shown).equals(shown), (form, way)


def test_numbers_are_written_with_the_decimals_of_the_column() -> None:
    form = numbers_in_text.NumberForm("$", ",")
    like = pl.Series(["$1,200.50", "$3.00"])
    numbers = pl.Series([1234.0, None, -0.5])
    assert numbers_in_text.write(numbers, form, None, like).to_list() == ["$1,234.00", None, "-$0.50"]
    assert numbers_in_text.write(numbers, form, 0.5).to_list() == ["$1,234.00", None, "-$0.50"]
    assert numbers_in_text.write(numbers, form).to_list() == ["$1,234", None, "-$0.5"]
