"""`net.impute`: every family of frames in and out, observed values untouched; the transformer; the shell."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils.estimator_checks import check_estimator

import arbornet as an
from arbornet.cli import main
from test_gaps import blanked, whole


@pytest.fixture(scope="module")
def net():
    return an.learn(whole(), max_parents=2, verbose=False, effort="quick")


GAPPY = blanked(whole(60, 7), 0.3)


def observed_kept(before, after):
    for name in before.columns:
        there = before[name].is_not_null()
        assert after[name].filter(there).to_list() == before[name].filter(there).to_list(), name


def test_a_polars_frame_comes_back_without_gaps_in_its_types(net):
    filled = net.impute(GAPPY)
    assert filled.schema == GAPPY.schema
    assert filled.null_count().sum_horizontal()[0] == 0
    observed_kept(GAPPY, filled)
    assert net.impute(GAPPY.lazy()).equals(filled)


def test_a_pandas_frame_keeps_its_index_names_and_types(net):
    frame = pd.DataFrame(GAPPY.to_dict(as_series=False), index=range(100, 160))
    frame["sex"] = frame["sex"].astype("category")
    frame["visit"] = pd.array([1, None] * 30, dtype="Int64")  # which the network does not know
    filled = net.impute(frame)
    assert (filled.dtypes == frame.dtypes).all()
    assert (filled.index == frame.index).all()
    assert filled[["sex", "size", "dose", "noise"]].notna().all().all()
    assert filled["visit"].isna().sum() == 30
    own = net.impute(GAPPY)
    assert filled["dose"].tolist() == own["dose"].to_list()
    assert np.allclose(filled["size"], own["size"])


def test_other_frames_come_back_as_polars(net):
    columns = GAPPY.to_dict(as_series=False)
    for frame in (columns, GAPPY.to_arrow()):
        assert net.impute(frame).equals(net.impute(GAPPY))
    assert isinstance(net.impute(GAPPY, output="pandas"), pd.DataFrame)
    assert isinstance(net.impute(pd.DataFrame(columns), output="polars"), pl.DataFrame)


def test_one_row_is_a_dict(net):
    filled = net.impute({"sex": None, "size": 1.5, "other": "x"})
    assert filled["sex"] in ("f", "m")
    assert (filled["size"], filled["other"]) == (1.5, "x")


def test_several_draws_stand_below_one_another(net):
    many = net.impute(GAPPY, m=4)
    assert many.columns == ["imputation", *GAPPY.columns]
    assert many["imputation"].to_list() == [i for i in (1, 2, 3, 4) for _ in range(60)]
    assert many.filter(pl.col("imputation") == 1).drop("imputation").equals(net.impute(GAPPY))
    assert not many.filter(pl.col("imputation") == 2).drop("imputation").equals(net.impute(GAPPY))
    of_pandas = net.impute(pd.DataFrame(GAPPY.to_dict(as_series=False)), m=2)
    assert of_pandas["imputation"].tolist() == [1] * 60 + [2] * 60
    assert of_pandas.index.tolist() == [*range(60), *range(60)]
    with pytest.raises(an.ColumnError, match="'imputation' already"):
        net.impute(many, m=2)


def test_seeds_and_threads(net):
    assert net.impute(GAPPY, n_jobs=1).equals(net.impute(GAPPY, n_jobs=5))
    assert not net.impute(GAPPY, seed=1).equals(net.impute(GAPPY))
    assert not net.impute(GAPPY, seed=1).equals(net.impute(GAPPY, m=2).filter(imputation=2).drop("imputation"))


def test_modes_are_the_predictions(net):
    filled = net.impute(GAPPY, "modes")
    observed_kept(GAPPY, filled)
    for name in GAPPY.columns:
        gone = GAPPY[name].is_null()
        modes, predicted = filled[name].filter(gone), net.predict(GAPPY, name).filter(gone)
        if (step := net.schema[name].step) is None:
            assert modes.to_list() == predicted.to_list()
        else:
            assert (modes - predicted).abs().max() <= step / 2


def test_means_are_those_of_draws_and_levels_the_most_probable():
    # size given sex alone: 0 or 2, and a third of those of 2 lie far above
    rng = np.random.default_rng(4)
    sex = rng.integers(0, 2, 900)
    size = np.where(sex == 1, np.where(rng.random(900) < 1 / 3, 5.0, 2.0), 0.0) + 0.1 * rng.normal(size=900)
    frame = pl.DataFrame({"sex": np.array(["f", "m"])[sex], "size": size})
    net = an.fit(an.Table(frame), nx.DiGraph([("sex", "size")]), an.PCART(leaf="normal"))
    asked = pl.DataFrame({"sex": ["f", "m", None], "size": [None, None, 2.1]})
    means, modes = (net.impute(asked, how) for how in ("means", "modes"))
    draws = net.impute(asked, m=2000)["size"].to_numpy().reshape(2000, 3)[:, 1]
    assert means["sex"].to_list() == ["f", "m", "m"]
    assert means["size"][1] == pytest.approx(draws.mean(), abs=0.15)
    assert abs(means["size"][1] - 3.0) < 0.15
    assert means["size"][2] == 2.1
    assert modes["size"].dtype == means["size"].dtype


def test_a_mean_of_whole_numbers_has_a_fraction_and_lies_within_what_was_observed():
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 300)
    frame = pl.DataFrame({"age": ages, "old": np.where(ages > 55, "yes", "no")})
    net = an.learn(frame, verbose=False, effort="quick")
    filled = net.impute({"age": [None, None, 31], "old": ["yes", "no", None]}, "means")
    assert filled.schema["age"] == pl.Float64
    assert filled["age"][0] % 1 != 0
    assert filled["age"][0] == pytest.approx(ages[ages > 55].mean(), abs=1.5)
    assert filled["age"][1] == pytest.approx(ages[ages <= 55].mean(), abs=1.5)


def test_whole_numbers_stay_whole_and_numbers_within_what_was_observed():
    rng = np.random.default_rng(0)
    ages = rng.integers(20, 80, 300)
    frame = pl.DataFrame({"age": ages, "old": np.where(ages > 55, "yes", "no")})
    net = an.learn(frame, verbose=False, effort="quick")
    gaps = frame.with_columns(pl.when(pl.int_range(300) % 2 == 0).then(None).otherwise("age").alias("age"))
    filled = net.impute(gaps)
    assert filled.schema["age"] == pl.Int64
    assert filled["age"].min() >= 20
    assert filled["age"].max() <= 79
    assert (filled.filter(pl.col("old") == "yes")["age"] > 50).mean() > 0.95


def test_bins_are_filled_with_values_observed_in_them():
    frame = whole()
    table = an.Table(frame, an.infer_schema(frame).with_types(size=an.Binned(4), noise=an.Binned(3)))
    net = an.fit(table, an.search.hill_climb(table, an.BDeu(1)), an.BDeu(1))
    filled = net.impute(GAPPY)
    assert filled.schema == GAPPY.schema
    known = set(frame["size"].to_list())
    assert set(filled["size"].filter(GAPPY["size"].is_null()).to_list()) <= known


def test_days_are_filled_with_days():
    days = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 4, 9), eager=True).alias("day")
    frame = pl.DataFrame([days, pl.Series("late", ["no"] * 50 + ["yes"] * 50)])
    net = an.learn(frame, verbose=False, effort="quick")
    gaps = frame.with_columns(pl.when(pl.int_range(100) % 3 == 0).then(None).otherwise("day").alias("day"))
    for of in (gaps, gaps.to_pandas()):
        filled = net.impute(of)
        assert (filled.schema if of is gaps else filled.dtypes.to_dict()) == (
            of.schema if of is gaps else of.dtypes.to_dict()
        )


def test_nonsense_is_refused(net):
    for how, message in (
        ({"how": "mean"}, "how='mean'"),
        ({"m": 0}, "m=0"),
        ({"how": "modes", "m": 3}, "modes are the same"),
        ({"how": "means", "m": 3}, "means are the same"),
        ({"seed": -1}, "seed=-1"),
        ({"method": "sampling"}, "method='sampling'"),
    ):
        with pytest.raises(an.ParameterError, match=message):
            net.impute(GAPPY, **how)
    odd = GAPPY.with_columns(sex=pl.lit("x"))
    with pytest.raises(an.ColumnError, match="not among its levels"):
        net.impute(odd)
    assert set(net.impute(odd, unseen="missing")["sex"]) <= {"f", "m"}


def test_a_frame_without_gaps_comes_back_as_it_is(net):
    assert net.impute(whole(20, 3)).equals(whole(20, 3))


def test_the_transformer_passes_scikit_learns_checks():
    imputer = an.NetworkImputer(search="hill_climb", max_parents=1, effort="quick", n_jobs=1)
    results = check_estimator(imputer, on_fail=None, on_skip=None)
    failed = {result["check_name"]: result["exception"] for result in results if result["status"] == "failed"}
    assert not failed


def test_the_transformer_fills_frames_and_arrays():
    imputer = an.NetworkImputer(max_parents=2, effort="quick").fit(GAPPY)
    filled = imputer.transform(GAPPY)
    assert filled.schema == GAPPY.schema
    assert filled.equals(imputer.network_.impute(GAPPY, "modes"))
    rows = np.random.default_rng(0).normal(size=(80, 3))
    rows[:, 1] += rows[:, 0]
    rows[::4, 1] = np.nan
    array = an.NetworkImputer(max_parents=1, effort="quick", how="draw", random_state=3).fit_transform(rows)
    assert array.shape == rows.shape
    assert not np.isnan(array).any()
    assert (array[1::4] == rows[1::4]).all()


def test_the_shell_imputes_and_learns_from_gaps(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blanked(whole(200)).write_csv("gaps.csv")
    assert main(["learn", "gaps.csv", "--missing", "learn", "--max-parents", "2", "--quiet", "-o", "net.json"]) == 0
    assert "round 1: score" in capsys.readouterr().out
    assert main(["impute", "net.json", "gaps.csv", "-m", "3", "--seed", "5", "-o", "many.csv"]) == 0
    many = pl.read_csv("many.csv")
    assert many.shape == (600, 5)
    assert many.null_count().sum_horizontal()[0] == 0
    assert main(["impute", "net.json", "gaps.csv", "--how", "modes", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 200
    assert main(["learn", "gaps.csv", "--missing", "drop", "--max-parents", "1", "--quiet"]) == 0
    assert "rows dropped for missing values" in capsys.readouterr().out
