"""Rows that are not independent are told of: panels, visits of patients, series in time; and only such rows."""

from __future__ import annotations

import warnings
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli.advice import in_shell
from arbornet.data.looks.repeated import SURER

random = np.random.default_rng(11)
COUNTRIES = ["Chile", "Ghana", "Italy", "Japan", "Kenya", "Nepal", "Peru"]
YEARS = list(range(1990, 2002))
PANEL = pl.DataFrame(
    {
        "country": [country for country in COUNTRIES for _ in YEARS],
        "year": YEARS * len(COUNTRIES),
        "gdp": np.round(random.lognormal(8, 1, 84), 2),
    }
)


def found(frame: object) -> list:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [one for one in an.infer_schema(frame).findings if SURER in one.what]


def test_a_panel_names_its_units_and_the_way_to_keep_their_rows_together() -> None:
    (one,) = found(PANEL.sample(fraction=1, shuffle=True, seed=1))
    assert one.column == "country"
    assert one.what.startswith("has 7 values, each with at most one row for each 'year'")
    assert one.mend == (
        "schema.without('country') with groups='country' of an.evaluate.cross_validate "
        "says how well rows of other units are predicted"
    )
    assert in_shell(one.mend).startswith("--set 'country=leave-out' with --groups 'country' of `arbornet evaluate`")


def test_what_the_finding_says_to_do_is_done() -> None:
    (one,) = found(PANEL)
    schema, settings = one.mend.split(" of ")[0].split(" with ")
    given = {"schema": eval(schema, {"schema": an.infer_schema(PANEL)}), **eval(f"dict({settings})")}
    made = an.evaluate.cross_validate(PANEL, an.PCART(), 3, 1, max_parents=1, progress=False, **given)
    assert made.summary["n_folds"].item() == 3 and set(made.by_variable["variable"]) == {"year", "gdp"}


@pytest.mark.parametrize("how", ["twice", "few units", "by chance", "no time"])
def test_tables_that_only_resemble_a_panel_are_left_in_peace(how: str) -> None:
    frame = PANEL
    if how == "twice":
        frame = pl.concat([PANEL, PANEL.head(1).with_columns(gdp=pl.lit(1.0))])
    elif how == "few units":
        frame = PANEL.filter(pl.col("country").is_in(COUNTRIES[:4]))
    elif how == "by chance":  # so many moments that any two columns give different pairs
        frame = PANEL.with_columns(year=pl.Series(range(1, 2 * PANEL.height, 2)).shuffle(3))
    else:
        frame = PANEL.rename({"year": "dose"})
    assert found(frame) == []


def test_patients_with_visits_at_any_time_are_subjects_and_not_a_variable() -> None:
    counts = random.integers(1, 9, 60)
    ids = np.repeat(np.arange(1, 61), counts)
    frame = pl.DataFrame({"id": ids, "day": random.integers(0, 3000, len(ids)), "bili": random.normal(3, 1, len(ids))})
    for name in ("id", "patient_id", "PatientID", "subjid", "participant"):
        named = frame.rename({"id": name})
        (one,) = found(named)
        assert one.column == name and one.what.startswith("has several rows for each of 60 values")
        with pytest.warns(an.LeftOutWarning, match="identifies subjects: 60 values"):
            assert name not in [column.name for column in an.infer_schema(named).used]
    # A shop or a plot may well matter.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = an.infer_schema(frame.rename({"id": "shop_id"}))
    assert "shop_id" in [column.name for column in schema.used]
    (one,) = (one for one in schema.findings if one.column == "shop_id")
    assert "if it identifies subjects, their rows are not independent: groups='shop_id'" in one.mend


def test_one_row_a_month_whose_numbers_go_on_is_a_series() -> None:
    months = pl.date_range(date(2010, 1, 1), date(2015, 12, 1), "1mo", eager=True)
    walk = np.cumsum(random.normal(0, 1, len(months)))
    frame = pl.DataFrame({"month": months, "price": walk, "noise": random.normal(0, 1, len(months))})
    for shown in (frame, frame.with_columns(month=months.dt.strftime("%d.%m.%Y")), frame.reverse()):
        (one,) = found(shown)
        assert one.column == "month" and "'price' of one row tells that of the next" in one.what
        assert in_shell(one.mend).startswith("--groups COLUMN of `arbornet evaluate` and `learn --bootstrap` keeps")


@pytest.mark.parametrize("how", ["noise", "any day", "birth", "year"])
def test_dates_that_are_no_series_are_left_in_peace(how: str) -> None:
    n = 80
    day = [date(2020, 1, 1) + timedelta(days=i) for i in range(n)]
    walk = np.cumsum(random.normal(0, 1, n))
    frame = pl.DataFrame({"date": day, "x": walk})
    assert len(found(frame)) == 1
    if how == "noise":
        frame = frame.with_columns(x=pl.Series(random.normal(0, 1, n)))
    elif how == "any day":
        days = np.sort(random.choice(3000, n, replace=False))
        frame = frame.with_columns(date=pl.Series([date(2010, 1, 1) + timedelta(days=int(i)) for i in days]))
    elif how == "birth":
        frame = frame.rename({"date": "date of birth"})
    else:
        frame = frame.select("date", year=pl.Series(np.arange(n)) // 20 + 2001)
    assert found(frame) == []
