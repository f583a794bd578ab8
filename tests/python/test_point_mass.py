"""Point masses: a number that many rows share has a probability of its own, wherever it is used."""

import math
import pickle

import numpy as np
import polars as pl
import pytest
from scipy.special import betaln
from scipy.stats import multivariate_t

import arbornet as an
from arbornet.models import PointMass


def rainfall(n=1200, seed=0):
    """Days: no rain on most dry ones; how much it is follows the temperature."""
    rng = np.random.default_rng(seed)
    wind = rng.choice(["west", "east"], n, p=[0.5, 0.5])
    temperature = rng.normal(15, 6, n).round(1)
    wet = rng.random(n) < np.where(wind == "west", 0.8, 0.25)
    amount = np.where(wet, (8 + 0.4 * temperature + rng.normal(0, 1.5, n)).round(1), 0.0)
    return pl.DataFrame({"wind": wind, "temperature": temperature, "rain": amount})


@pytest.fixture(scope="module")
def net():
    return an.learn(rainfall(), progress=False)


def test_zeros_are_found_and_said():
    schema = an.infer_schema(rainfall(), scales="auto")
    assert schema["rain"].kind == an.Continuous(point=0.0)
    assert "rows hold 0: it has a probability of its own" in schema["rain"].reason
    assert schema["temperature"].kind == an.Continuous()
    assert str(schema["rain"].kind) == "continuous (point mass at 0)"
    assert repr(schema["rain"].kind) == "Continuous(point=0.0)"


def test_a_limit_in_which_measurements_end_is_found_and_rounding_is_not():
    rng = np.random.default_rng(3)
    x = rng.normal(50, 10, 500)
    frame = pl.DataFrame(
        {"capped": np.minimum(x, 60.0), "rounded": x.round(0), "plain": x, "halves": (x / 5).round() * 5}
    )
    schema = an.infer_schema(frame, scales="auto")
    assert schema["capped"].kind.point == 60.0
    assert all(schema[name].kind.point is None for name in ("rounded", "plain"))
    assert getattr(schema["halves"].kind, "point", None) is None


def test_in_any_order_of_rows_and_by_weights_the_same_is_found():
    frame = rainfall(300)
    found = an.infer_schema(frame, scales="auto")["rain"].kind
    assert an.infer_schema(frame.sample(fraction=1, shuffle=True, seed=1), scales="auto")["rain"].kind == found
    weights = np.where(frame["rain"].to_numpy() == 0, 0.0, 1.0)
    assert an.Table(frame, scales="auto", weights=weights).schema["rain"].kind.point is None


def test_the_paper_s_trees_know_nothing_of_it():
    frame = rainfall()
    plain, declared = an.Table(frame), an.Table(frame, an.infer_schema(frame).with_types(rain=an.Continuous(point=0)))
    assert plain.schema["rain"].point is None
    assert declared.schema["rain"].point == (0.0, 0.1)
    family = ("rain", ["wind", "temperature"], an.PCART(published=True))
    assert an.local_score(plain, *family) == an.local_score(declared, *family)


@pytest.mark.parametrize("score", [an.PCART(), an.PCART(leaf="linear"), an.PCART(tree_prior="cell")])
def test_a_leaf_counts_the_rows_that_share_it_and_is_fitted_to_the_others(score):
    frame = rainfall()
    table = an.Table(frame, an.infer_schema(frame).with_types(rain=an.Continuous(point=0)))
    model = an.local_model(table, "rain", ["wind"], score)
    for leaf in model.leaves:
        of = leaf.distribution
        assert isinstance(of, PointMass)
        rows = frame.filter(pl.col("wind") == leaf.conditions[0].levels[0])["rain"].to_numpy()
        assert leaf.n == len(rows)
        assert math.isclose(of.probability, ((rows == 0).sum() + 0.5) / (len(rows) + 1), rel_tol=1e-12)
        assert math.isclose(of.others.location, rows[rows != 0].mean(), abs_tol=0.1)
        assert math.isclose(of.mean, rows.mean(), abs_tol=0.1)
        assert math.isclose(of.sd, rows.std(), rel_tol=0.02)


def test_its_score_is_that_of_the_share_and_of_the_others_alone():
    frame = rainfall()
    schema = an.infer_schema(frame).with_types(rain=an.Continuous(point=0))
    table = an.Table(frame, schema)
    zero = frame["rain"].to_numpy() == 0
    shift, scale = table.schema["rain"].scale
    others = (frame["rain"].to_numpy()[~zero] - shift) / scale
    n = len(others)
    of_others = multivariate_t(np.zeros(n), np.eye(n) + 1, df=1).logpdf(others)
    of_share = betaln(zero.sum() + 0.5, n + 0.5) - betaln(0.5, 0.5)
    of_width = -zero.sum() * math.log(0.1 / scale)
    # Without parents a tree is a leaf, and its prior probability is 1.
    score = an.local_score(table, "rain", [], an.PCART(penalised=False))
    assert math.isclose(score, of_others + of_share + of_width, rel_tol=1e-9)


def test_whole_weights_are_repeated_rows():
    frame = rainfall(200)
    weights = np.arange(200) % 3 + 1
    schema = an.infer_schema(frame).with_types(rain=an.Continuous(point=0))
    repeated = frame.select(pl.all().repeat_by(pl.Series(weights)).explode())
    for score in (an.PCART(), an.PCART(leaf="linear")):
        one = an.local_score(an.Table(frame, schema, weights=weights), "rain", ["wind", "temperature"], score)
        other = an.local_score(an.Table(repeated, schema), "rain", ["wind", "temperature"], score)
        assert math.isclose(one, other, rel_tol=1e-9)


def test_lines_are_of_the_other_rows(net):
    model = an.local_model(an.Table(rainfall(), net.schema), "rain", ["wind", "temperature"], an.PCART(leaf="linear"))
    slopes = [slope.slope for leaf in model.leaves for slope in leaf.slopes]
    assert slopes
    assert all(math.isclose(slope, 0.4, abs_tol=0.1) for slope in slopes)
    assert "% 0, else rain = " in model.text()


def test_densities_add_up_to_one_with_the_mass_over_its_width():
    schema = an.infer_schema(rainfall()).with_types(rain=an.Continuous(point=0))
    rain = an.local_model(an.Table(rainfall(), schema), "rain", ["wind", "temperature"], an.PCART(leaf="linear"))
    given = {"wind": "east", "temperature": 15.0}
    x = np.linspace(-40, 60, 2001) + 1e-7
    density = np.exp([rain.log_density(float(v), given) for v in x])
    mass = math.exp(rain.log_density(0.0, given)) * 0.1
    assert 0.65 < mass < 0.85
    assert math.isclose(density.sum() * (x[1] - x[0]) + mass, 1, abs_tol=0.02)


def test_draws_hold_it_as_often_as_the_rows_do(net):
    drawn = net.sample(20_000, seed=1)
    share = (drawn["rain"] == 0).mean()
    assert abs(share - (rainfall()["rain"] == 0).mean()) < 0.02
    east = drawn.filter(pl.col("wind") == "east")
    assert abs((east["rain"] == 0).mean() - 0.75) < 0.05


def test_without_a_step_draws_are_exactly_it_too():
    frame = rainfall().with_columns(pl.col("rain") * math.pi)
    net = an.learn(frame, progress=False)
    assert net.schema["rain"].step is None
    assert net.schema["rain"].point[0] == 0.0
    assert abs((net.sample(5000, seed=2)["rain"] == 0).mean() - (frame["rain"] == 0).mean()) < 0.03


def test_where_most_rows_share_it_the_median_is_it(net):
    rows = {"wind": ["east", "west"], "temperature": [15.0, 15.0]}
    median = net.predict(rows, "rain").to_list()
    assert median[0] == 0
    assert 10 < median[1] < 16
    assert net.predict_interval(rows, "rain", mass=0.8)["lower"][0] == 0


def test_whether_it_rained_tells_of_the_wind(net):
    p = net.predict_proba({"rain": [0.0, 12.0], "temperature": [15.0, 15.0]}, "wind")
    by_hand = 0.75 * 0.5 / (0.75 * 0.5 + 0.2 * 0.5)
    assert math.isclose(p["east"][0], by_hand, abs_tol=0.05)
    assert p["east"][1] < 0.35


def test_gaps_are_filled_with_it():
    whole = rainfall()
    blank = pl.int_range(pl.len()) % 5 == 0
    frame = whole.with_columns(pl.when(~blank).then(pl.col("rain")).alias("rain"))
    net = an.learn(frame, progress=False)
    drawn = net.impute(frame, seed=1).filter(blank)["rain"]
    assert abs((drawn == 0).mean() - (whole.filter(blank)["rain"] == 0).mean()) < 0.1


def spending(n=1500, seed=5):
    """Half of all spend nothing, the others by a skewed amount that rises with age."""
    rng = np.random.default_rng(seed)
    group, age = rng.choice(["a", "b"], n), rng.normal(40, 12, n).round()
    spends = rng.random(n) < np.where(group == "a", 0.3, 0.7)
    return pl.DataFrame(
        {"group": group, "age": age, "spend": np.where(spends, np.exp(5 + 0.03 * age + 0.8 * rng.normal(size=n)), 0.0)}
    )


def test_skewed_amounts_with_zeros_are_lognormal_beside_them(capsys):
    frame = spending()
    net = an.learn(frame, constraints=an.Constraints(tiers=[["group", "age"], ["spend"]]), progress=False)
    printed = capsys.readouterr().out
    assert "logarithmic: spend\n" in printed
    assert "point mass: spend at 0\n" in printed
    assert str(net.schema["spend"].kind) == "continuous (log, point mass at 0)"
    slopes = [slope.slope for leaf in net["spend"].leaves for slope in leaf.slopes]
    assert slopes
    assert all(math.isclose(slope, 0.03, abs_tol=0.006) for slope in slopes)
    given = {"group": "a", "age": 40.0}
    x = np.exp(np.linspace(-3, 16, 8001))
    density = np.exp([net["spend"].log_density(float(v), given) for v in x])
    mass = math.exp(net["spend"].log_density(0.0, given)) * net.schema["spend"].point[1]
    assert math.isclose(mass, 0.68, abs_tol=0.06)
    assert math.isclose(np.trapezoid(density, x) + mass, 1, abs_tol=1e-3)
    drawn = net.sample(10_000, seed=1)["spend"]
    assert drawn.min() == 0
    assert abs((drawn == 0).mean() - (frame["spend"] == 0).mean()) < 0.03


def test_networks_with_it_survive_files_and_pickles(net, tmp_path):
    net.save(tmp_path / "net.json")
    for again in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(net))):
        assert again["rain"].text() == net["rain"].text()
        assert again.schema["rain"].point == (0.0, 0.1)
        assert np.array_equal(again.log_likelihood(rainfall(50, 1)), net.log_likelihood(rainfall(50, 1)))


def test_a_schema_keeps_it():
    schema = an.Table(rainfall(), scales="auto").schema
    again = an.Schema.from_dict(schema.to_dict())
    assert again == schema
    assert an.Table(rainfall(50, 2), again).schema["rain"].point == (0.0, 0.1)


def test_it_is_drawn_in_pictures_and_told_in_the_report(net, tmp_path):
    assert "% 0, else" in net["rain"]._repr_html_()
    path = tmp_path / "report.html"
    net.report(path)
    assert "% 0, else" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("point", ["zero", math.nan, math.inf, True])
def test_what_is_no_number_is_refused(point):
    with pytest.raises(an.ParameterError, match="point="):
        an.Continuous(point=point)


def test_dates_take_none():
    frame = pl.DataFrame({"day": pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 3, 1), eager=True)})
    with pytest.raises(an.ParameterError, match="take no point"):
        an.infer_schema(frame).with_types(day=an.Continuous(point=3))


def test_a_declared_number_may_be_looked_for():
    frame = rainfall()
    schema = an.infer_schema(frame).with_types(
        rain=an.Continuous(point="auto"), temperature=an.Continuous(point="auto")
    )
    made = an.Table(frame, schema).schema
    assert made["rain"].kind.point == 0.0
    assert made["temperature"].kind.point is None
