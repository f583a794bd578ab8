"""MARS from Python: numbers of R's earth in the user's units, terms that say what is predicted, the whole road."""

import json
import math
import pickle
from pathlib import Path

import polars as pl
import pytest

import arbornet as an

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "mars"
if not GOLDEN.is_dir():
    pytest.skip(f"the golden numbers are not at {GOLDEN}", allow_module_level=True)

CASES = [path.stem for path in sorted(GOLDEN.glob("*.json")) if "xtx" not in path.stem and "noauto" not in path.stem]


def case(name):
    document = json.loads((GOLDEN / f"{name}.json").read_text())
    frame = pl.read_csv(GOLDEN / document["csv"])
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
        assert f"{child} along each of its parents" in (tmp_path / "model.svg").read_text()
        assert model._repr_html_()


def test_other_models_have_no_terms():
    model = an.local_model(an.Table(simulated()), "late", ["sex"], an.K2())
    with pytest.raises(AttributeError, match="no spline"):
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
