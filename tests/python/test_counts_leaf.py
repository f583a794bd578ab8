"""Leaves of counts: whole numbers from 0 up, wherever they are used."""

import math
import pickle
import re

import numpy as np
import polars as pl
import pytest
from scipy.special import gammaln
from scipy.stats import nbinom

import arbornet as an
from arbornet.models import Counts, PointMass
from arbornet.show.draw.parts import Leaf
from arbornet.show.draw.tree import density, tallest

SIZES = [None, 64, 16, 4, 1, 0.25]
MEANS = {"ill": 9.0, "well": 2.0}


def visits(n=900, seed=0):
    """How often people see a doctor: by their health, more or less evenly; and what that costs."""
    rng = np.random.default_rng(seed)
    health = rng.choice(list(MEANS), n, p=[0.3, 0.7])
    mean = np.array([MEANS[h] for h in health])
    often = rng.poisson(mean * rng.gamma(1.0, 1.0, n))
    cost = (40 * often + rng.normal(0, 30, n)).round(1)
    return pl.DataFrame({"health": health, "visits": often, "cost": cost})


def counted(frame, **settings):
    return an.infer_schema(frame).with_types(visits=an.Continuous(leaf="counts", **settings))


@pytest.fixture(scope="module")
def net():
    frame = visits()
    tiers = an.Constraints(tiers=[["health"], ["visits"], ["cost"]])
    return an.learn(frame, schema=counted(frame), constraints=tiers, progress=False, verbose=False)


def log_marginal(y, mean, size, w):
    """Of one leaf with one size, in the user's units."""
    n, s = w.sum(), (w * y).sum()
    if size is None:
        own = gammaln(1 + s) - math.log(mean) - (1 + s) * math.log(1 / mean + n)
        return own - (w * gammaln(y + 1)).sum()
    a = 1 + size / mean
    ways = (w * (gammaln(y + size) - gammaln(size) - gammaln(y + 1))).sum()
    of = lambda a, b: gammaln(a) + gammaln(b) - gammaln(a + b)  # noqa: E731
    return ways + of(a + size * n, 1 + s) - of(a, 1)


def best_marginal(y, mean, weights=None):
    w = np.ones(len(y)) if weights is None else weights
    return max(log_marginal(y, mean, size, w) for size in SIZES) - math.log(len(SIZES))


def test_its_score_is_the_best_marginal_of_the_counts():
    frame = visits()
    table = an.Table(frame, counted(frame))
    y = frame["visits"].to_numpy()
    scale = table.schema["visits"].scale[1]
    score = an.local_score(table, "visits", [], an.PCART(penalised=False))
    assert math.isclose(score, best_marginal(y, y.mean()) + len(y) * math.log(scale), rel_tol=1e-9)


def test_its_best_tree_of_one_parent_is_that_of_all_trees():
    frame = visits(60, seed=4).with_columns(age=pl.Series(np.arange(60) % 4))
    frame = frame.select("visits", pl.col("age").cast(pl.String))
    table = an.Table(frame, counted(frame).with_types(age=an.Ordinal(["0", "1", "2", "3"])))
    y, age = frame["visits"].to_numpy(), frame["age"].cast(pl.Int64).to_numpy()
    scale, mean = table.schema["visits"].scale[1], y.mean()
    leaf = {(i, j): best_marginal(y[(age >= i) & (age < j)], mean) for i in range(4) for j in range(i + 1, 5)}

    def trees(i, j):
        """Values and numbers of leaves of all trees over the levels from i to below j."""
        yield leaf[i, j], 1
        for k in range(i + 1, j):
            for left, m in trees(i, k):
                for right, n in trees(k, j):
                    yield left + right, m + n

    model = an.local_model(table, "visits", ["age"], an.PCART())
    best = {}
    for value, n in trees(0, 4):
        best[n] = max(best.get(n, -math.inf), value)
    rows = [[all(of.holds(str(a)) for of in leaf.conditions) for a in age] for leaf in model.leaves]
    told = sum(best_marginal(y[np.array(here)], mean) for here in rows)
    assert math.isclose(told, best[len(model.leaves)], rel_tol=1e-12)
    flat = an.local_score(table, "visits", [], an.PCART(penalised=False))
    assert math.isclose(flat, best[1] + 60 * math.log(scale), rel_tol=1e-9)


def test_in_any_order_and_by_whole_weights_it_is_the_same():
    frame = visits(200)
    weights = np.arange(200) % 3 + 1
    repeated = frame.select(pl.all().repeat_by(pl.Series(weights)).explode())
    for settings in ({}, {"point": 0}):
        schema = counted(frame, **settings)
        family = ("visits", ["health", "cost"], an.PCART(leaf="linear"))
        one = an.local_score(an.Table(frame, schema, weights=weights), *family)
        other = an.local_score(an.Table(repeated, schema), *family)
        assert math.isclose(one, other, rel_tol=1e-9)
        shuffled = repeated.sample(fraction=1, shuffle=True, seed=1)
        assert an.local_score(an.Table(shuffled, schema), *family) == other


def test_parts_of_rows_count_as_powers():
    frame = visits(200)
    weights = np.arange(200) % 3 / 2 + 0.25
    table = an.Table(frame, counted(frame), weights=weights)
    y, scale = frame["visits"].to_numpy(), table.schema["visits"].scale[1]
    score = an.local_score(table, "visits", [], an.PCART(penalised=False))
    of = best_marginal(y, np.average(y, weights=weights), weights)
    assert math.isclose(score, of + weights.sum() * math.log(scale), rel_tol=1e-9)


def test_the_paper_s_trees_and_other_scores_know_nothing_of_it():
    frame = visits(300)
    plain, declared = an.Table(frame), an.Table(frame, counted(frame))
    for score in (an.PCART(published=True), an.MARS()):
        family = ("visits", ["health"], score)
        assert an.local_score(plain, *family) == an.local_score(declared, *family)


def probability(net, counts, **given):
    """Of counts, one by one."""
    return np.exp([net["visits"].log_density(float(y), given) for y in counts])


def test_probabilities_of_counts_sum_to_one_and_fractions_have_none(net):
    counts = np.arange(400)
    for health, mean in MEANS.items():
        p = probability(net, counts, health=health)
        assert math.isclose(p.sum(), 1, abs_tol=1e-4)
        assert math.isclose((p * counts).sum(), mean, rel_tol=0.15)
    assert (probability(net, [2.5, -1.0, 1e300], health="ill") == 0).all()


def test_an_interval_has_the_probability_of_its_counts(net):
    drawn = net.query("health", given={"visits": (2, 5)})
    share = dict(net.query("health").iter_rows())
    weight = {health: share[health] * probability(net, [2, 3, 4], health=health).sum() for health in MEANS}
    assert math.isclose(dict(drawn.iter_rows())["ill"], weight["ill"] / sum(weight.values()), rel_tol=1e-9)


def test_what_counts_say_of_their_parents_is_the_rule_of_bayes(net):
    share = dict(net.query("health").iter_rows())
    for given, counts in ((7, [7]), ((6, None), range(6, 4000))):
        weight = {health: share[health] * probability(net, counts, health=health).sum() for health in MEANS}
        found = dict(net.query("health", given={"visits": given}).iter_rows())
        assert math.isclose(found["ill"], weight["ill"] / sum(weight.values()), rel_tol=1e-3)


def test_what_follows_from_counts_tells_of_them(net):
    # All counts by hand: how probable each is, and this cost under it.
    counts, given = range(80), {"health": "ill", "cost": 400.0}
    of_cost = [math.exp(net["cost"].log_density(400.0, {"health": "ill", "visits": float(y)})) for y in counts]
    weight = probability(net, counts, health="ill") * of_cost
    by_hand = np.searchsorted(np.cumsum(weight) / weight.sum(), 0.5)
    assert net.predict({name: [value] for name, value in given.items()}, "visits")[0] == by_hand


def test_draws_gaps_and_quantiles_are_counts(net):
    drawn = net.sample(3000, seed=1)
    assert drawn["visits"].dtype == pl.Int64
    assert drawn["visits"].min() >= 0
    frame = visits()
    for health in MEANS:
        of, real = (x.filter(pl.col("health") == health)["visits"] for x in (drawn, frame))
        assert math.isclose(of.mean(), real.mean(), rel_tol=0.15)
        assert math.isclose((of == 0).mean(), (real == 0).mean(), abs_tol=0.06)
    gaps = visits(60, seed=5).with_columns(visits=pl.lit(None, dtype=pl.Int64))
    filled = net.impute(gaps, seed=2)["visits"]
    assert filled.dtype == pl.Int64 and filled.min() >= 0
    # What it costs tells how often.
    assert np.corrcoef(filled.to_numpy(), gaps["cost"].to_numpy())[0, 1] > 0.9
    low, high = net.predict_interval({"health": ["well"]}, "visits", 0.8).row(0)
    assert low == 0
    assert high in (3, 4, 5, 6, 7)
    assert net.predict({"health": ["ill"]}, "visits")[0] in (5, 6, 7, 8)


def test_interventions_follow(net):
    assert net.query("visits", do={"health": "ill"}).equals(net.query("visits", given={"health": "ill"}))


def test_files_and_pickles_keep_it(net, tmp_path):
    net.save(tmp_path / "net.json")
    for again in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(net))):
        assert np.array_equal(again.log_likelihood(visits(50)), net.log_likelihood(visits(50)))
        assert again.schema["visits"].kind == an.Continuous(leaf="counts")
    table = an.Table(visits(50), counted(visits(50)))
    assert pickle.loads(pickle.dumps(table)).handle.leaves == [None, "counts", None]


def test_it_is_said_in_words_and_drawn(net):
    assert re.search(r"health = ill: n=\d+  mean [89]\.\d*  sd \d", net["visits"].text())
    assert re.search(r"[89]\.\d* ± \d", net["visits"]._repr_html_())
    assert repr(net["visits"].leaves[0]).count("mean") == 1
    assert repr(an.Continuous(leaf="counts", point=0)) == "Continuous(point=0.0, leaf='counts')"
    assert str(net.schema["visits"].kind) == "continuous (counts)"


def test_more_zeros_than_counts_say_are_a_point_mass():
    rng = np.random.default_rng(2)
    often = np.where(rng.random(800) < 0.5, 0, 1 + rng.poisson(5, 800))
    frame = pl.DataFrame({"visits": often})
    table = an.Table(frame, counted(frame, point=0))
    net = an.learn(table, progress=False, verbose=False)
    (leaf,) = net["visits"].leaves
    assert isinstance(leaf.distribution, PointMass)
    assert isinstance(leaf.distribution.others, Counts)
    assert math.isclose(leaf.distribution.others.mean, often[often > 0].mean(), rel_tol=0.01)
    assert math.isclose(leaf.distribution.mean, often.mean(), rel_tol=0.01)
    p = probability(net, range(300))
    assert math.isclose(p.sum(), 1, abs_tol=1e-9)
    assert math.isclose(p[0], ((often == 0).sum() + 0.5) / 801, rel_tol=1e-9)
    assert net.sample(2000, seed=3)["visits"].to_numpy().min() == 0
    assert "% 0, else mean" in net["visits"].text()


def test_even_counts_are_poisson_and_large_samples_find_their_size():
    rng = np.random.default_rng(8)
    for y, size in ((rng.poisson(6, 3000), None), (nbinom.rvs(4, 0.4, size=3000, random_state=rng), 4.0)):
        table = an.Table({"visits": y}, counted(pl.DataFrame({"visits": y})))
        (leaf,) = an.local_model(table, "visits", [], an.PCART()).leaves
        assert leaf.distribution.size == size


@pytest.mark.parametrize(
    ("values", "told"), [([1.0, 2.5, 3.0] * 20, "2.5"), ([1, -3, 2] * 20, "-3"), ([1, 2e6] * 20, "2000000")]
)
def test_other_numbers_are_refused_by_name_with_the_way_out(values, told):
    frame = pl.DataFrame({"visits": values, "x": np.arange(len(values)) * 0.37}, strict=False)
    with pytest.raises(an.ColumnError, match="'visits' holds") as caught:
        an.Table(frame, counted(frame))
    assert told in str(caught.value) and "row 1" in str(caught.value) and "leaf='normal'" in str(caught.value)


def test_whole_numbers_with_many_zeros_are_taken_as_counts(capsys):
    rng = np.random.default_rng(6)
    n = 700
    often = np.where(rng.random(n) < 0.6, 0, 1 + rng.poisson(3 * rng.gamma(1, 1, n)))
    frame = pl.DataFrame({"often": often, "half": often / 2 + 0.5, "even": rng.poisson(8, n), "x": rng.normal(size=n)})
    schema = an.infer_schema(frame, scales="auto")
    assert schema["often"].kind == an.Continuous(leaf="counts", point=0)
    assert re.search(r"whole numbers, 58% of them 0: counts", schema["often"].reason)
    assert all(schema[name].kind.leaf is None for name in ("half", "even", "x"))
    assert (
        an.infer_schema(frame.sample(fraction=1, shuffle=True, seed=1), scales="auto")["often"].kind
        == schema["often"].kind
    )
    assert an.infer_schema(frame)["often"].kind == an.Continuous()
    own = an.infer_schema(frame).with_types(dict.fromkeys(frame.columns, an.Continuous(leaf="auto")))
    table = an.Table(frame, own)
    made = an.Table(frame, schema)
    assert {c.name: c.kind for c in table.schema.used} == {c.name: c.kind for c in made.schema.used}
    an.learn(frame, max_parents=1, progress=False)
    printed = capsys.readouterr().out
    assert "counts: often\n" in printed
    assert "point mass: often at 0" in printed
    # Of rows that weigh nothing, zeros are none.
    weights = np.where(often == 0, 0.0, 1.0)
    assert an.Table(frame, scales="auto", weights=weights).schema["often"].kind.leaf is None


def test_what_does_not_go_together_is_refused():
    for settings in ({"scale": "log"}, {"point": 0.5}, {"point": -1}, {"step": 2}):
        with pytest.raises(an.ParameterError):
            an.Continuous(leaf="counts", **settings)
    with pytest.raises(an.ParameterError, match="leaf='auto' chooses"):
        an.Continuous(leaf="auto", point=0)
    with pytest.raises(an.ParameterError, match="leaf='poisson'"):
        an.Continuous(leaf="poisson")


def test_a_column_says_its_leaf_and_the_score_that_of_all_others():
    frame = visits(400)
    linear = an.infer_schema(frame).with_types(cost=an.Continuous(leaf="linear"))
    plain = an.infer_schema(frame).with_types(cost=an.Continuous(leaf="normal"))
    family = ("cost", ["visits"])
    of = lambda schema, leaf: an.local_score(an.Table(frame, schema), *family, an.PCART(leaf=leaf))  # noqa: E731
    bare = an.infer_schema(frame)
    assert of(linear, "normal") == of(linear, "linear") == of(bare, "linear")
    assert of(plain, "linear") == of(plain, "normal") == of(bare, "normal")
    assert of(bare, "linear") > of(bare, "normal")
    assert an.Continuous(leaf="lognormal") == an.Continuous(scale="log", leaf="normal")
    schema = an.Table(frame, linear).schema
    assert an.Schema.from_dict(schema.to_dict())["cost"].kind == an.Continuous(leaf="linear")


@pytest.mark.parametrize("size", [None, 0.25, 1.0, 4.0, 64.0])
@pytest.mark.parametrize("point", [None, (0.0, 0.3)])
def test_a_picture_of_counts_is_as_high_as_its_most_probable_count(size, point):
    leaf = Leaf(20, (), 6.3, 5.0, point=point, counted=True, size=size)
    assert math.isclose(tallest([leaf]), max(density(leaf, count) for count in range(60)))


def test_counts_with_gaps_are_learned_from():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b"], 300)
    visits = [None if rng.random() < 0.2 else int(k) for k in rng.poisson(np.where(kind == "a", 0.3, 6))]
    net = an.learn({"visits": visits, "kind": kind, "x": rng.normal(size=300)}, verbose=False)
    assert net.schema["visits"].leaf == "counts" and net.parents("kind") + net.parents("visits")
    filled = net.impute({"visits": visits, "kind": kind})["visits"]
    assert filled.null_count() == 0 and filled.dtype == pl.Int64
