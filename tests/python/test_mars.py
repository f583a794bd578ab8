"""MARS from Python: numbers of R's earth in the user's units, terms that say what is predicted, the whole road."""

import datetime as dt
import json
import math
import pickle
import re

import polars as pl
import pytest

import arbornet as an
from places import GOLDEN

MARS = GOLDEN / "mars"
CASES = [path.stem for path in sorted(MARS.glob("*.json")) if "xtx" not in path.stem and "noauto" not in path.stem]


def case(name):
    document = json.loads((MARS / f"{name}.json").read_text())
    frame = pl.read_csv(MARS / document["csv"])
    kinds = {c: "continuous" if t.is_numeric() else "categorical" for c, t in frame.schema.items()}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(kinds))
    predictors = document["predictor_columns"]
    predictors = [predictors] if isinstance(predictors, str) else predictors
    parents = [
        c for c in frame.columns if any(p == c or (p.startswith(c) and kinds[c] != "continuous") for p in predictors)
    ]
    parents = [c for c in parents if c != document["response"]]
    options = document["options"] or {}
    return document, table, parents, an.MARS(degree=options.get("degree", 1), compatible="earth")


@pytest.mark.parametrize("name", CASES)
def test_earths_numbers_come_in_the_users_units(name):
    document, table, parents, score = case(name)
    child, last = document["response"], document["final"]
    model = an.local_model(table, child, parents, score)
    assert model.rss == pytest.approx(last["rss"], rel=1e-6)
    assert model.gcv == pytest.approx(last["gcv"], rel=1e-6)
    assert model.n_terms == len(model.terms) == last["n_terms"]
    values = table.to_polars()[child]
    variance = values.var(ddof=0) if values.dtype.is_numeric() else 1.0
    assert an.local_score(table, child, parents, score) == pytest.approx(-last["gcv"] / variance, rel=1e-6)


def simulated(n=400):
    x = [math.sin(i * 12.9898) * 2 for i in range(n)]
    z = [math.cos(i * 78.233) for i in range(n)]
    sex = ["f" if (i * 7919) % 5 < 2 else "m" for i in range(n)]
    y = [
        50 + 8 * max(0, a - 0.4) + (3 if s == "f" else 0) + 0.3 * math.sin(i * 37.7)
        for i, (a, s) in enumerate(zip(x, sex, strict=True))
    ]
    late = ["yes" if a + 0.3 * math.sin(i * 3.3) > 0.5 else "no" for i, a in enumerate(x)]
    return pl.DataFrame({"age": x, "z": z, "sex": sex, "y": y, "late": late})


def test_terms_say_what_is_predicted():
    table = an.Table(simulated())
    model = an.local_model(table, "y", ["age", "sex"], an.MARS())
    for given in ({"age": -1.3, "sex": "f"}, {"age": 1.7, "sex": "m"}, {"age": 0.5, "sex": "f"}):
        total = sum(t.coefficient * math.prod(f.value(given[f.variable]) for f in t.factors) for t in model.terms)
        assert model.distribution(given).location == pytest.approx(total)
    assert any("for every unit that age is above 0." in rule for rule in model.rules())
    assert any("where sex = " in rule for rule in model.rules())
    assert model.text().startswith("y given age, sex\n  is ")
    assert repr(model) == f"<LocalModel of y given age, sex: {model.n_terms} terms>"


def test_shares_of_levels_are_probabilities_everywhere():
    table = an.Table(simulated())
    model = an.local_model(table, "late", ["age", "z"], an.MARS())
    for age in (-100.0, -1.0, 0.5, 100.0):
        shares = model.distribution({"age": age, "z": 0.0}).probabilities
        assert sum(shares.values()) == pytest.approx(1)
        assert all(0 < p < 1 for p in shares.values())
    assert model.distribution({"age": 1.9, "z": 0.0}).mode == "yes"


def test_models_save_pickle_and_draw(tmp_path):
    table = an.Table(simulated())
    for child, parents in (("y", ["age", "sex"]), ("late", ["age", "sex"]), ("sex", [])):
        model = an.local_model(table, child, parents, an.MARS(degree=2))
        assert type(model).from_dict(model.to_dict()) == model
        assert pickle.loads(pickle.dumps(model)) == model
        model.draw(tmp_path / "model.svg")
        assert f"{child} against each parent" in (tmp_path / "model.svg").read_text()
        assert model._repr_html_()


def test_other_models_have_no_terms():
    model = an.local_model(an.Table(simulated()), "late", ["sex"], an.K2())
    with pytest.raises(AttributeError, match="not a spline"):
        _ = model.terms


def test_a_network_of_splines_goes_the_whole_road(tmp_path):
    frame = simulated()
    net = an.learn(frame, an.MARS(criterion="bic"), parents="forest", n_candidates=3, verbose=False)
    assert net.graph.number_of_edges() >= 2
    assert net.sample(10, seed=1).equals(net.sample(10, seed=1))
    assert all(map(math.isfinite, net.log_likelihood(frame)))
    net.save(tmp_path / "net.json")
    assert an.load(tmp_path / "net.json").log_likelihood(frame).tolist() == net.log_likelihood(frame).tolist()
    net.report(tmp_path / "net.html")


def test_draws_scatter_about_the_spline_as_the_residuals_do():
    table = an.Table(simulated())
    rules = an.Constraints(required=[("age", "y"), ("sex", "y")], max_parents=2)
    net = an.learn(table, an.MARS(), constraints=rules, verbose=False)
    model, drawn = net["y"], net.sample(20_000, seed=5, beyond=True)
    assert model.parents == ["age", "sex"]
    residuals = drawn["y"] - net.predict(drawn.drop("y"), "y")
    expected = (model.rss / (table.n_rows - model.n_terms)) ** 0.5
    assert residuals.mean() == pytest.approx(0, abs=4 * expected / 20_000**0.5)
    assert residuals.std() == pytest.approx(expected, rel=0.03)
    shares = drawn["late"].value_counts().sort("late")["count"] / 20_000
    assert shares.to_list() == pytest.approx(
        table.to_polars()["late"].value_counts().sort("late")["count"] / 400, abs=0.1
    )


def test_threads_and_the_order_of_rows_change_no_byte(tmp_path):
    frame = simulated()
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)

    def written(df, n_jobs):
        path = tmp_path / "x.jkl"
        an.score_parents(an.Table(df), an.MARS(), max_parents="auto", parents="forest", n_jobs=n_jobs).save(path)
        return path.read_bytes()

    first = written(frame, 1)
    assert written(frame, 2) == first
    assert written(shuffled, 2) == first


def test_bic_is_comparable_with_other_scores():
    table = an.Table(simulated())
    n = table.n_rows
    # Without parents: a mean and a variance, or shares of levels.
    expected = -0.5 * n * (math.log(2 * math.pi) + 1) - math.log(n)
    assert an.local_score(table, "y", [], an.MARS(criterion="bic")) == pytest.approx(expected)
    assert an.local_score(table, "late", [], an.MARS(criterion="bic")) == pytest.approx(
        an.local_score(table, "late", [], an.BIC())
    )


@pytest.mark.parametrize("wrong", [{"degree": 0}, {"penalty": -1}, {"criterion": "aic"}, {"compatible": "r"}])
def test_parameters_outside_their_range_are_refused(wrong):
    with pytest.raises(an.ParameterError, match=next(iter(wrong))):
        an.MARS(**wrong)


def dated(n=500):
    """A number that bends on a day and with a time waited, a moment, a child of days, names nobody expects."""
    joined = [dt.date(2018, 1, 1) + dt.timedelta(days=(i * 7919) % 1800) for i in range(n)]
    waited = [dt.timedelta(minutes=(i * 104729) % 240) for i in range(n)]
    seen = [dt.datetime(2021, 3, 1, 8) + dt.timedelta(minutes=(i * 611) % 2000) for i in range(n)]
    days = [(d - dt.date(2018, 1, 1)).days for d in joined]
    spent = [20 + 0.03 * max(0, d - 1158) - 2 * w / dt.timedelta(hours=1) for d, w in zip(days, waited, strict=True)]
    left = [d + dt.timedelta(days=100 + int(2 * s)) for d, s in zip(joined, spent, strict=True)]
    vip = [(i * 31) % 3 == 0 for i in range(n)]
    spent = [s + 12 * v + math.sin(i * 37.7) for i, (s, v) in enumerate(zip(spent, vip, strict=True))]
    return pl.DataFrame(
        {"Beitritt (Tag)": joined, "warten": waited, "gesehen": seen, "VIP?": vip, "Ausgaben €": spent, "weg": left}
    )


def test_dates_and_spans_of_time_are_said_as_such():
    table = an.Table(dated())
    model = an.local_model(table, "Ausgaben €", ["Beitritt (Tag)", "warten", "VIP?"], an.MARS(degree=1))
    knots = [f.at for t in model.terms for f in t.factors if f.shape == "above" and f.variable == "Beitritt (Tag)"]
    days = {str(dt.date(1970, 1, 1) + dt.timedelta(days=round(at))) for at in knots}
    assert days and all(f"for every year that Beitritt (Tag) is above {day}" in model.text() for day in days)
    assert all(any(f"h(Beitritt (Tag) - {day})" in term.text for term in model.terms) for day in days)
    assert "for every hour that warten is " in model.text()
    assert any("where VIP? = " in rule for rule in model.rules())
    # 0.03 a day is about 11 a year, from the day where it bends.
    (day,) = days
    assert abs(dt.date.fromisoformat(day) - dt.date(2021, 3, 4)) < dt.timedelta(days=15)
    (per_year,) = (r for r in model.rules() if f"above {day}" in r)
    assert float(per_year.split(" rises by ")[1].split(" ")[0]) == pytest.approx(0.03 * 365.25, rel=0.03)
    leaving = an.local_model(table, "weg", ["Beitritt (Tag)", "gesehen"], an.MARS(degree=1))
    assert re.search(r"is 20\d\d-\d\d-\d\d to begin with", leaving.text())
    assert re.search(r"(rises|falls) by [\d.]+ days for every year", leaving.text())
    assert re.search(r"residual sd [\d.]+ days", leaving.text())


def test_dates_are_values_of_a_spline_and_stand_on_its_axes(tmp_path):
    table = an.Table(dated())
    model = an.local_model(table, "Ausgaben €", ["Beitritt (Tag)", "warten", "gesehen"], an.MARS())
    moment = dt.datetime(2021, 3, 1, 18, 30)
    given = {"Beitritt (Tag)": dt.date(2021, 3, 4), "warten": dt.timedelta(hours=1), "gesehen": moment}
    plain = {"Beitritt (Tag)": 18690, "warten": 3600.0, "gesehen": 18687 + 18.5 / 24}
    assert model.distribution(given).location == pytest.approx(model.distribution(plain).location)
    by_terms = sum(t.coefficient * math.prod(f.value(given[f.variable]) for f in t.factors) for t in model.terms)
    assert model.distribution(given).location == pytest.approx(by_terms)
    assert model.log_density(20.0, given) == pytest.approx(model.log_density(20.0, plain))
    model.draw(tmp_path / "model.svg")
    drawn = (tmp_path / "model.svg").read_text()
    assert ">2020<" in drawn and ">2 h<" in drawn and ">2 Mar<" not in drawn.split("gesehen")[0]
    leaving = an.local_model(table, "weg", ["Beitritt (Tag)"], an.MARS())
    assert ">2020<" in str(leaving.draw()).split("Beitritt")[-1]
    with pytest.raises(an.ColumnError, match=r"'warten' cannot be 'an hour'"):
        model.distribution(given | {"warten": "an hour"})


def test_a_network_of_dates_goes_the_whole_road(tmp_path):
    frame = dated().with_columns(
        pl.when(pl.int_range(500) % 50 > 0).then(pl.col("VIP?")).alias("VIP?"),
        pl.lit("x").alias("konstant"),
        pl.Series("Stadt", ["東京" if i < 4 else "Zürich" if i % 3 else "São Paulo" for i in range(500)]),
    )
    with pytest.warns(an.LeftOutWarning, match="konstant"):
        net = an.learn(frame, an.MARS(), parents="forest", n_candidates=3, verbose=False)
    assert net.predict(frame.head(3), "Beitritt (Tag)").dtype == pl.Date
    assert net.sample(5, seed=1).schema["warten"] == pl.Duration
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert [again.explain(name) for name in again.graph] == [net.explain(name) for name in net.graph]
    net.report(tmp_path / "net.html")
    written = (tmp_path / "net.html").read_text()
    # Each picture says so twice, in its title and its description.
    n_drawn = sum(bool(net[name].parents) for name in net.graph)
    assert n_drawn > 0 and 2 * n_drawn == written.count("against each parent")
    days = re.findall(r"h\(Beitritt \(Tag\) - (\d{4}-\d\d-\d\d)\)", "".join(_terms(net)))
    assert days and all(day in written for day in days)


def _terms(net):
    return [term.text for name in net.graph for term in net[name].terms]
