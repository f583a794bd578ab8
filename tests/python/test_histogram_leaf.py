"""Leaves that are histograms: numbers of any shape, wherever they are used."""

import math
import pickle
import re
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from scipy.special import betaln

import arbornet as an
from arbornet.models import Histogram, PointMass

HALVINGS, LEAST_ROWS = 5, 8


def waiting(n=800, seed=0):
    """Minutes to the next eruption, short or long by how the last one was; and what is seen of that."""
    rng = np.random.default_rng(seed)
    last = rng.choice(["short", "long"], n, p=[0.4, 0.6])
    late = np.where(rng.random(n) < 0.85, last == "long", last == "short")
    minutes = np.where(late, rng.normal(80, 5, n), rng.normal(52, 4, n)).round(2)
    heard = (minutes / 10 + rng.normal(0, 0.4, n)).round(2)
    return pl.DataFrame({"last": last, "minutes": minutes, "heard": heard})


def shaped(frame, name="minutes", **settings):
    return an.infer_schema(frame).with_types({name: an.Continuous(leaf="histogram", **settings)})


@pytest.fixture(scope="module")
def net():
    frame = waiting()
    tiers = an.Constraints(tiers=[["last"], ["minutes"], ["heard"]])
    return an.learn(frame, schema=shaped(frame), constraints=tiers, progress=False, verbose=False)


class Polya:
    """By the definition: halves of the ranks, each side's probability a beta variable."""

    def __init__(self, x, w=None):
        self.w = np.ones(len(x)) if w is None else w
        self.values, places = np.unique(x, return_inverse=True)
        self.weights = np.bincount(places, weights=self.w)
        self.below = np.append(0.0, np.cumsum(self.weights))
        half = np.diff(self.values).min() / 2 if len(self.values) > 1 else 0.5
        self.ends = self.values[0] - half, self.values[-1] + half
        self.outside = 1 / (self.weights.sum() + 4)

    def halves(self, i, j, depth=1):
        """Cells of values i to below j: the cut, its depth, and both sides."""
        few = self.below[j] - self.below[i] < LEAST_ROWS
        if j - i < 2 or depth > HALVINGS or few:
            return None
        middle = (self.below[i] + self.below[j]) / 2
        cut = min(range(i + 1, j), key=lambda k: (abs(self.below[k] - middle), k))
        return cut, depth, self.halves(i, cut, depth + 1), self.halves(cut, j, depth + 1)

    def edge(self, cut):
        return (self.values[cut - 1] + self.values[cut]) / 2

    def edges(self):
        def cuts(node):
            return [] if node is None else [*cuts(node[2]), self.edge(node[0]), *cuts(node[3])]

        return [self.ends[0], *cuts(self.halves(0, len(self.values))), self.ends[1]]

    def log_marginal(self, y, w):
        """Of some of the rows in one leaf, in the user's units."""
        edges = self.edges()
        widths = np.diff(edges)[np.searchsorted(edges[1:-1], y, side="right")]
        total = (w * (math.log1p(-2 * self.outside) - np.log(widths))).sum()

        def of(node, low, high):
            if node is None:
                return 0.0
            at, prior = self.edge(node[0]), node[1] ** 2
            left, right = (w[(low <= y) & (y < at)].sum(), w[(at <= y) & (y < high)].sum())
            own = betaln(prior + left, prior + right) - betaln(prior, prior)
            return own + of(node[2], low, at) + of(node[3], at, high)

        return total + of(self.halves(0, len(self.values)), -math.inf, math.inf)


@pytest.mark.parametrize("kind", ["smooth", "ties", "one value", "few", "whole"])
@pytest.mark.filterwarnings("ignore:left out")
def test_its_score_is_a_product_of_beta_binomials(kind):
    rng = np.random.default_rng(3)
    y = {
        "smooth": rng.normal(size=300) ** 3,
        "ties": rng.choice([0.0, 0.0, 0.0, 0.4, 1.5, 1.51, 9.0], 200),
        "one value": np.full(40, 3.25),
        "few": np.array([1.0, 2.5, 7.0]),
        "whole": rng.poisson(6.0, 150).astype(float),
    }[kind]
    frame = pl.DataFrame({"y": y, "x": np.arange(len(y)) % 7 + 0.1})
    table = an.Table(frame, shaped(frame, "y"))
    scale = table.schema["y"].scale[1]
    score = an.local_score(table, "y", [], an.PCART(penalised=False))
    want = Polya(y).log_marginal(y, np.ones(len(y))) + len(y) * math.log(scale)
    assert math.isclose(score, want, rel_tol=1e-9, abs_tol=1e-9)


def test_weights_count_as_powers():
    y = np.random.default_rng(5).normal(size=200).round(2)
    weights = np.arange(200) % 3 / 2 + 0.25
    frame = pl.DataFrame({"y": y})
    table = an.Table(frame, shaped(frame, "y"), weights=weights)
    score = an.local_score(table, "y", [], an.PCART(penalised=False))
    want = Polya(y, weights).log_marginal(y, weights) + weights.sum() * math.log(table.schema["y"].scale[1])
    assert math.isclose(score, want, rel_tol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"point": 52.0}])
def test_in_any_order_and_by_whole_weights_it_is_the_same(settings):
    frame = waiting(200).with_columns(minutes=pl.col("minutes").round(0))
    weights = np.arange(200) % 3 + 1
    repeated = frame.select(pl.all().repeat_by(pl.Series(weights)).explode())
    family = ("minutes", ["last", "heard"], an.PCART(leaf="linear"))
    one = an.local_score(an.Table(frame, shaped(frame, **settings), weights=weights), *family)
    other = an.local_score(an.Table(repeated, shaped(frame, **settings)), *family)
    assert math.isclose(one, other, rel_tol=1e-9)
    shuffled = repeated.sample(fraction=1, shuffle=True, seed=1)
    assert an.local_score(an.Table(shuffled, shaped(frame, **settings)), *family) == other


def test_its_best_tree_of_one_parent_is_that_of_all_trees():
    frame = waiting(120, seed=4).with_columns(age=pl.Series(np.arange(120) % 4))
    frame = frame.select("minutes", pl.col("age").cast(pl.String)).with_columns(
        minutes=pl.col("minutes") + 9.0 * (pl.col("age") == "3")
    )
    table = an.Table(frame, shaped(frame).with_types(age=an.Ordinal(["0", "1", "2", "3"])))
    y, age = frame["minutes"].to_numpy(), frame["age"].cast(pl.Int64).to_numpy()
    polya = Polya(y)

    def leaf(i, j):
        here = (age >= i) & (age < j)
        return polya.log_marginal(y[here], np.ones(here.sum()))

    def trees(i, j):
        """Values and numbers of leaves of all trees over the levels from i to below j."""
        yield leaf(i, j), 1
        for k in range(i + 1, j):
            for left, m in trees(i, k):
                for right, n in trees(k, j):
                    yield left + right, m + n

    model = an.local_model(table, "minutes", ["age"], an.PCART())
    best = {}
    for value, n in trees(0, 4):
        best[n] = max(best.get(n, -math.inf), value)
    rows = [[all(of.holds(str(a)) for of in leaf.conditions) for a in age] for leaf in model.leaves]
    told = sum(polya.log_marginal(y[np.array(here)], np.ones(sum(here))) for here in rows)
    assert len(model.leaves) > 1
    assert math.isclose(told, best[len(model.leaves)], rel_tol=1e-12)


def test_the_paper_s_trees_and_other_scores_know_nothing_of_it():
    frame = waiting(300)
    plain, declared = an.Table(frame), an.Table(frame, shaped(frame))
    for score in (an.PCART(published=True), an.MARS()):
        family = ("minutes", ["last"], score)
        assert an.local_score(plain, *family) == an.local_score(declared, *family)


@pytest.mark.parametrize("size", [1e-285, 1e-9, 1.0, 1e9, 1e285])
def test_its_density_integrates_to_one_in_the_user_s_units(size):
    y = waiting(300)["minutes"].to_numpy() * size
    frame = pl.DataFrame({"y": y})
    net = an.learn(frame, schema=shaped(frame, "y"), progress=False, verbose=False)
    of = net["y"].leaves[0].distribution
    assert isinstance(of, Histogram)
    middles = [low / 2 + high / 2 for low, high in pairwise(of.edges)]
    log_density = np.array([net["y"].log_density(x, {}) for x in middles])
    mass = np.exp(log_density + np.log(np.diff(np.array(of.edges) / size)) + math.log(size))
    assert np.allclose(mass, of.probabilities, rtol=1e-6)
    # Beyond the ends the rest, half on either side.
    edge, tail = of.edges[-1], of.tails[1]
    t = (np.arange(200_000) + 0.5) / 200_000
    beyond = np.array([net["y"].log_density(edge + tail * x, {}) for x in (1e-9, 0.5, 2.0, 9.0)])
    rest = 1 - sum(of.probabilities)
    want = math.log(rest / 2 * 3) - math.log(tail) - 4 * np.log1p([1e-9, 0.5, 2.0, 9.0])
    assert np.allclose(beyond, want, atol=1e-6)
    assert math.isclose((3 * (1 + t / (1 - t)) ** -4.0 / (1 - t) ** 2).mean(), 1, rel_tol=1e-6)
    assert np.isfinite(net.log_likelihood(frame)).all()
    assert 40 * size < net.sample(200, seed=1)["y"].median() < 100 * size


def test_edges_of_whole_numbers_lie_between_them():
    y = np.random.default_rng(1).poisson(20, 500)
    frame = pl.DataFrame({"y": y})
    table = an.Table(frame, shaped(frame, "y"))
    (leaf,) = an.local_model(table, "y", [], an.PCART()).leaves
    assert all(edge % 1 == 0.5 for edge in leaf.distribution.edges)
    assert leaf.distribution.edges[0] == y.min() - 0.5 and leaf.distribution.edges[-1] == y.max() + 0.5


def test_a_leaf_follows_two_peaks_where_a_normal_one_cannot():
    train, test = waiting(600, seed=1), waiting(600, seed=2)
    made = [
        an.learn(train, schema=schema, progress=False, verbose=False).log_likelihood(test).mean()
        for schema in (shaped(train), an.infer_schema(train))
    ]
    assert made[0] > made[1] + 0.05


def probability(net, low, high, **given):
    """That minutes are between two numbers, by adding densities."""
    x = low + (np.arange(4000) + 0.5) / 4000 * (high - low)
    return np.exp([net["minutes"].log_density(float(at), given) for at in x]).mean() * (high - low)


def test_an_interval_says_of_its_parents_what_its_probability_does(net):
    share = dict(net.query("last").iter_rows())
    for ends in ((60, 75.3), (20, 51)):
        weight = {last: share[last] * probability(net, *ends, last=last) for last in share}
        found = dict(net.query("last", given={"minutes": ends}).iter_rows())
        assert math.isclose(found["long"], weight["long"] / sum(weight.values()), rel_tol=1e-3)
    density = {last: share[last] * math.exp(net["minutes"].log_density(66.0, {"last": last})) for last in share}
    found = dict(net.query("last", given={"minutes": 66.0}).iter_rows())
    assert math.isclose(found["long"], density["long"] / sum(density.values()), rel_tol=1e-9)


def test_what_follows_from_it_tells_of_it(net):
    # A grid by hand: how probable each number is, and this sound after it.
    minutes, given = np.arange(30, 110, 0.02), {"last": "short", "heard": 7.7}
    prior = np.array([net["minutes"].log_density(x, {"last": "short"}) for x in minutes])
    heard = np.array([net["heard"].log_density(7.7, {"minutes": x, "last": "short"}) for x in minutes])
    weight = np.exp(prior + heard)
    by_hand = minutes[np.searchsorted(np.cumsum(weight) / weight.sum(), 0.5)]
    predicted = net.predict({name: [value] for name, value in given.items()}, "minutes")[0]
    assert abs(predicted - by_hand) < 0.3


def test_draws_gaps_and_quantiles_follow_it(net):
    frame, drawn = waiting(), net.sample(4000, seed=1)
    for last in ("short", "long"):
        of, real = (np.sort(x.filter(pl.col("last") == last)["minutes"].to_numpy()) for x in (drawn, frame))
        at = np.linspace(0.02, 0.98, 25)
        shares = np.searchsorted(real, np.quantile(of, at)) / len(real)
        assert np.abs(shares - at).max() < 0.08
    gaps = waiting(60, seed=5).with_columns(minutes=pl.lit(None, dtype=pl.Float64))
    filled = net.impute(gaps, seed=2)["minutes"].to_numpy()
    assert np.corrcoef(filled, gaps["heard"].to_numpy())[0, 1] > 0.9
    low, high = net.predict_interval({"last": ["short"]}, "minutes", 0.8).row(0)
    here = frame.filter(pl.col("last") == "short")["minutes"]
    assert math.isclose(here.is_between(low, high).mean(), 0.8, abs_tol=0.05)


def test_files_and_pickles_keep_it(net, tmp_path):
    net.save(tmp_path / "net.json")
    for again in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(net))):
        assert np.array_equal(again.log_likelihood(waiting(50)), net.log_likelihood(waiting(50)))
        assert again.schema["minutes"].kind == an.Continuous(leaf="histogram")
    table = an.Table(waiting(50), shaped(waiting(50)))
    assert pickle.loads(pickle.dumps(table)).handle.leaves == [None, "histogram", None]
    damaged = (tmp_path / "net.json").read_text().replace('"outside":', '"outside":-', 1)
    (tmp_path / "damaged.json").write_text(damaged)
    with pytest.raises(an.ArbornetError):
        an.load(tmp_path / "damaged.json")


def test_it_is_said_in_words_and_drawn(net):
    assert re.search(r"last = short: n=\d+  \d+% between \d+\.\d and \d+\.\d", net["minutes"].text())
    assert re.search(r"\d+% between \d+(\.\d)? and \d+", net["minutes"]._repr_html_())
    assert "cells" in repr(net["minutes"].leaves[0])
    assert repr(an.Continuous(leaf="histogram")) == "Continuous(leaf='histogram')"
    assert str(net.schema["minutes"].kind) == "continuous (histogram)"


def test_two_peaks_are_two_ranges_and_whole_numbers_are_said_as_such():
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"y": np.where(rng.random(900) < 0.5, rng.normal(0, 1, 900), rng.normal(50, 1, 900))})
    text = an.learn(frame, schema=shaped(frame, "y"), progress=False, verbose=False)["y"].text()
    assert re.search(r"\d+% between -\S+ and \S+, \d+% between 4\d\.?\d* and 5\d", text)
    whole = pl.DataFrame({"y": rng.poisson(30, 900)})
    text = an.learn(whole, schema=shaped(whole, "y"), progress=False, verbose=False)["y"].text()
    assert re.search(r"\d+% from 2\d to 3\d$", text)


def test_a_number_that_many_rows_share_stands_beside_it():
    rng = np.random.default_rng(2)
    y = np.where(rng.random(900) < 0.4, 0.0, np.where(rng.random(900) < 0.5, 3, 9) + rng.normal(0, 0.3, 900)).round(3)
    frame = pl.DataFrame({"y": y, "x": np.where(y == 0, "no", "yes")})
    net = an.learn(frame, schema=shaped(frame, "y", point=0), progress=False, verbose=False)
    own = an.local_model(an.Table(frame, shaped(frame, "y", point=0)), "y", [], an.PCART())
    of = own.leaves[0].distribution
    assert isinstance(of, PointMass) and isinstance(of.others, Histogram)
    assert math.isclose(of.probability, ((y == 0).sum() + 0.5) / 901, rel_tol=1e-9)
    assert math.isclose(of.others.mean, y[y > 0].mean(), rel_tol=0.02)
    assert math.isclose(of.mean, y.mean(), rel_tol=0.02)
    polya = Polya(y[y > 0])
    assert np.allclose(of.others.edges, polya.edges())
    assert re.search(r"\d+% 0, else \d+% between", own.text())
    drawn = net.sample(2000, seed=3)["y"].to_numpy()
    assert math.isclose((drawn == 0).mean(), (y == 0).mean(), abs_tol=0.05)
    assert ((drawn > 4.5) & (drawn < 7)).mean() < 0.05
    cell = net.query("x", given={"y": (-0.5, 0.5)})
    assert dict(cell.iter_rows())["no"] > 0.95


def test_what_does_not_go_together_is_refused():
    with pytest.raises(an.ParameterError, match="leaf='histogram' goes with scale='linear'"):
        an.Continuous(leaf="histogram", scale="log")
    with pytest.raises(an.ParameterError, match="leaf"):
        an.PCART(leaf="histogram")


def test_numbers_with_two_peaks_are_taken_as_histograms_where_there_are_rows_enough(capsys):
    rng = np.random.default_rng(6)
    frame = waiting(700).drop("heard").with_columns(x=rng.normal(size=700), y=rng.exponential(size=700))
    schema = an.infer_schema(frame, scales="auto")
    assert schema["minutes"].kind == an.Continuous(leaf="histogram")
    assert "as a histogram: more probable so" in schema["minutes"].reason
    assert schema["x"].kind == an.Continuous() and schema["y"].kind.leaf is None
    assert an.infer_schema(frame.reverse(), scales="auto")["minutes"].kind == schema["minutes"].kind
    assert an.infer_schema(frame[:200], scales="auto")["minutes"].kind.leaf is None
    assert an.infer_schema(frame)["minutes"].kind == an.Continuous()
    # One normal distribution for each of the groups that make the peaks is enough.
    told = frame.with_columns(peak=pl.when(pl.col("minutes") < 66).then(pl.lit("low")).otherwise(pl.lit("high")))
    assert an.infer_schema(told, scales="auto")["minutes"].kind == an.Continuous()
    own = an.infer_schema(frame).with_types(minutes=an.Continuous(leaf="auto"))
    assert an.Table(frame, own).schema["minutes"].kind == schema["minutes"].kind
    an.learn(frame, max_parents=1, progress=False)
    assert "histogram: minutes\n" in capsys.readouterr().out
