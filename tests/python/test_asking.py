"""What people reach for: questions from the shell, frames of their own family, one row, groups, a target."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.evaluate.samples import group_folds


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    return an.learn(an.example("patients"), an.PCART(), max_parents=2, missing="drop", verbose=False)


@pytest.fixture
def there(net, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    an.example("patients").write_csv("patients.csv")
    net.save("net.json")


def said(capsys, *line: str) -> str:
    capsys.readouterr()
    assert main(line) == 0
    return capsys.readouterr().out


def test_query_in_the_shell_answers_as_query_in_python(net, there, capsys) -> None:
    given = {"stage": ["III", "IV"], "age": (50, 60)}
    line = ("net.json", "readmitted", "--given", "stage=III,IV", "--given", "age=50..60")
    found = json.loads(said(capsys, "query", *line, "--json"))
    assert found == net.query("readmitted", given=given).to_dicts()
    text = said(capsys, "query", *line).splitlines()
    assert text[0] == "readmitted,probability" and float(text[1].split(",")[1]) == pytest.approx(
        found[0]["probability"], rel=1e-5
    )
    both = json.loads(said(capsys, "query", "net.json", "treatment", "age", "--bins", "age=40,60", "--json"))
    assert both == net.query(["treatment", "age"], bins={"age": [40, 60]}).to_dicts()
    done = json.loads(said(capsys, "query", "net.json", "crp", "--do", "stage=IV", "--json"))
    assert done == net.query("crp", do={"stage": "IV"}).to_dicts()


def test_query_in_the_shell_gives_the_probability_of_an_event(net, there, capsys) -> None:
    (found,) = json.loads(
        said(capsys, "query", "net.json", "readmitted=yes", "crp=20..", "--given", "stage=IV", "--json")
    )
    assert found["probability"] == net.query({"readmitted": "yes", "crp": (20, None)}, given={"stage": "IV"})
    assert main(["query", "net.json", "age", "stage=IV"]) == 1
    assert "'age' is a variable and 'stage=IV' an event" in capsys.readouterr().err


def test_fit_in_the_shell_fits_the_graph_of_a_file(net, there, capsys) -> None:
    told = said(capsys, "fit", "patients.csv", "net.json", "-o", "again.json", "--score", "PCART()")
    assert "rows: 586 used" in told
    again = an.load("again.json")
    assert list(again.graph.edges) == list(net.graph.edges)
    assert again.query("readmitted").equals(net.query("readmitted"))


def test_fit_in_the_shell_keeps_the_types_of_the_network(there, capsys) -> None:
    line = ["--set", "stage=ordinal:I,II,III,IV", "--set", "glucose=logarithmic", "--set", "age=binned:40,60,75"]
    line += ["--set", "bmi=normal-scores"]
    said(
        capsys, "learn", "patients.csv", "--quiet", "--max-parents", "1", "--missing", "drop", *line, "-o", "typed.json"
    )
    said(capsys, "fit", "patients.csv", "typed.json", "-o", "again.json")
    learned, again = an.load("typed.json"), an.load("again.json")
    assert [(c.kind, c.levels, c.scale) for c in again.schema.used] == [
        (c.kind, c.levels, c.scale) for c in learned.schema.used
    ]
    assert again.query("glucose").equals(learned.query("glucose"))
    assert learned.schema["bmi"].kind.is_scored and again.query("bmi").equals(learned.query("bmi"))
    said(capsys, "fit", "patients.csv", "typed.json", "-o", "other.json", "--set", "glucose=continuous")
    assert not an.load("other.json").schema["glucose"].kind.is_log
    an.example("patients").with_columns(sex="x" + pl.col("sex")).write_csv("others.csv")
    said(capsys, "fit", "others.csv", "typed.json", "-o", "other.json")
    assert an.load("other.json").schema["sex"].levels == ("xfemale", "xmale")


def test_evaluate_in_the_shell_compares_scores_on_the_same_parts(there, capsys) -> None:
    line = ["evaluate", "patients.csv", "--score", "PCART()", "--score", "cg", "--folds", "3", "--max-parents", "1"]
    found = json.loads(said(capsys, *line, "--quiet", "--json"))
    made = an.evaluate.cross_validate(
        an.example("patients"), {"PCART()": an.PCART(), "cg": an.ConditionalGaussian()}, 3, 1, max_parents=1
    )
    assert found["summary"] == made.summary.to_dicts()
    text = said(capsys, *line, "--quiet", "--by-variable")
    assert "PCART()  -2" in text and "by variable, cg:" in text and "14 rows left out" in text


def test_frames_come_out_in_the_family_that_came_in_and_as_you_say(net) -> None:
    rows = an.example("patients").head(5)
    theirs = rows.to_pandas().set_axis([3, 1, 4, 15, 9])
    for ours, other in (
        (net.predict(rows, "stage"), net.predict(theirs, "stage")),
        (net.predict_proba(rows, "stage"), net.predict_proba(theirs, "stage")),
        (net.predict_interval(rows, "age"), net.predict_interval(theirs, "age")),
        (net.log_likelihood(rows, by="node"), net.log_likelihood(theirs, by="node")),
    ):
        assert isinstance(ours, pl.Series | pl.DataFrame) and isinstance(other, pd.Series | pd.DataFrame)
        assert list(other.index) == [3, 1, 4, 15, 9]
        assert np.array_equal(np.asarray(other), ours.to_numpy())
    assert isinstance(net.predict(theirs, "stage", output="polars"), pl.Series)
    assert isinstance(net.predict(rows, "age", output="pandas"), pd.Series)
    assert isinstance(net.predict(rows.to_dict(as_series=False), "age"), pl.Series)
    drawn = net.sample(4, output="pandas")
    assert isinstance(drawn, pd.DataFrame) and drawn["stage"].cat.ordered
    assert net.sample(4).rows() == list(drawn.itertuples(index=False, name=None))
    with pytest.raises(an.ParameterError, match="output='arrow'"):
        net.predict(rows, "age", output="arrow")


def test_one_row_may_be_a_dict_of_single_values(net) -> None:
    row = an.example("patients").drop("readmitted").row(7, named=True)
    whole = an.example("patients").drop("readmitted")[7]
    assert net.predict(row, "readmitted") == net.predict(whole, "readmitted")[0]
    assert net.predict_proba(row, "readmitted").equals(net.predict_proba(whole, "readmitted"))
    assert net.log_likelihood(row) == net.log_likelihood(whole)[0]
    assert net.predict({"age": 61, "stage": None}, "stage") == net.predict({"age": [61], "stage": [None]}, "stage")[0]


def test_evidence_outside_of_what_was_observed_warns_and_says_the_range(net) -> None:
    for given in ({"age": 130}, {"age": (100, 120)}, {"age": (None, 12)}):
        with pytest.warns(an.ArbornetWarning, match=r"'age' is .*, outside of what was observed, 20 to 92: no row was"):
            net.query("stage", given=given)
    with pytest.warns(an.ArbornetWarning, match="'age' is 5"):
        net.sample(3, do={"age": 5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.query("stage", given={"age": 20})
        net.query("stage", given={"age": (85, 130)}, do={"crp": 0.5})


def test_rows_of_one_group_stay_in_one_fold() -> None:
    groups = np.random.default_rng(1).integers(0, 17, 200)
    parts = group_folds(groups, 4, 0, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(200))
    assert all(len({i for i, part in enumerate(parts) if group in groups[part]}) == 1 for group in set(groups.tolist()))
    assert max(map(len, parts)) - min(map(len, parts)) <= 20
    assert [part.tolist() for part in parts] != [part.tolist() for part in group_folds(groups, 4, 1, 0)]


@pytest.mark.parametrize("family", ["polars", "pandas", "dict", "values"])
def test_repeated_persons_look_predictable_unless_their_rows_stay_together(family) -> None:
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(60), 4)
    x = rng.normal(size=60)[person] + rng.normal(scale=0.001, size=240)
    frame = pl.DataFrame({"person": [f"p{i}" for i in person], "x": x, "y": rng.normal(size=60)[person]})
    given = {
        "polars": frame, "pandas": frame.to_pandas(), "dict": frame.to_dict(as_series=False),
        "values": frame.drop("person"),
    }[family]  # fmt: skip
    schema = an.infer_schema(frame.drop("person")) if family == "values" else None
    groups = frame["person"].to_list() if family == "values" else "person"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        how = {"repeats": 1, "folds": 4, "schema": schema}
        apart = an.evaluate.cross_validate(given, an.PCART(), **how)
        together = an.evaluate.cross_validate(given, an.PCART(), groups=groups, **how)
    fold_of = dict(zip(together.rows["row"], together.rows["fold"], strict=True))
    assert all(len({fold_of[row] for row in range(4 * i, 4 * i + 4)}) == 1 for i in range(60))
    assert together.summary["log_density"][0] < apart.summary["log_density"][0] - 0.3


@pytest.mark.parametrize(
    ("groups", "told"),
    [("nobody", "there is no such column"), ([1, 2], "2 values for 600 rows"), ("diabetes", "there are 2 groups only")],
)
def test_groups_that_cannot_be_are_refused(groups, told) -> None:
    with pytest.raises(an.ParameterError, match=told):
        an.evaluate.cross_validate(an.example("patients"), folds=5, repeats=1, max_parents=1, groups=groups)


def test_an_estimator_with_a_target_predicts_it_and_without_one_is_a_density() -> None:
    from sklearn.model_selection import GroupKFold, KFold, cross_val_score

    frame = an.example("penguins").drop_nulls()
    learner, shuffled = an.NetworkLearner(max_parents=2), KFold(3, shuffle=True, random_state=1)
    for X, y in (
        (frame.drop("species"), frame["species"]),
        (frame.to_pandas().drop(columns="species"), frame.to_pandas()["species"]),
    ):
        shares = cross_val_score(learner, X, y, cv=shuffled)
        assert shares.shape == (3,) and shares.min() > 0.9
        fitted = an.NetworkLearner(max_parents=2).fit(X, y)
        assert fitted.target_ == "species" and set(fitted.predict(X[:5])) <= {"Adelie", "Chinstrap", "Gentoo"}
    mass = cross_val_score(learner, frame.drop("body_mass_g"), frame["body_mass_g"], cv=shuffled)
    assert mass.min() > 0.5 and mass.max() < 1
    array = frame.select("bill_length_mm", "bill_depth_mm").to_numpy()
    codes = frame["species"].cast(pl.Categorical).to_physical().to_numpy()
    assert cross_val_score(learner, array, codes, cv=GroupKFold(4), groups=np.arange(len(codes)) % 20).mean() > 0.8
    density = cross_val_score(learner, frame, cv=shuffled)
    assert density.max() < -5
    with pytest.raises(an.ParameterError, match="no target to predict"):
        an.NetworkLearner(max_parents=1).fit(frame).predict(frame)


def test_a_column_that_determines_another_is_found_and_arcs_between_copies_are_marked(tmp_path, capsys) -> None:
    rng = np.random.default_rng(2)
    city = rng.integers(0, 12, 400)
    frame = pl.DataFrame(
        {
            "city": [f"c{i}" for i in city],
            "country": [f"k{i // 4}" for i in city],
            "code": [f"{(i * 7) % 12:02}-x" for i in city],
            "x": rng.normal(size=400) + city,
            "hit": rng.integers(0, 2, 400),
        }
    )
    found = {one.column: one for one in an.infer_schema(frame).findings}
    assert set(found) == {"country", "code"}
    assert (found["country"].what, found["country"].of) == ("is determined by 'city' in every row", "city")
    assert found["code"].is_mutual and found["code"].of == "city"
    schema = an.infer_schema(frame)
    assert an.Schema.from_dict(schema.to_dict()).findings == schema.findings
    assert schema.without("city").findings == () and len(schema.without("code").findings) == 1
    net = an.learn(frame, max_parents=1)
    out = " ".join(capsys.readouterr().out.split())
    assert "says little: " in out and "in every row: one determines the other" in out
    assert "says little: 'code' matches the levels of 'city'" in str(net.explain("code"))
    net.report(tmp_path / "r.html")
    assert "says little" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_target_that_a_column_reveals_is_told() -> None:
    frame = an.example("penguins").drop_nulls()
    X = frame.with_columns(ward=pl.col("species").replace({"Adelie": "A", "Chinstrap": "B", "Gentoo": "C"}))
    with pytest.warns(an.ArbornetWarning, match="'ward' determines the target 'species' in every row"):
        an.NetworkLearner(max_parents=1).fit(X.drop("species"), X["species"])
