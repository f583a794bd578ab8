"""Numbers cut by rank: `PCART(cuts="quantile")` through scores, trees, texts and files."""

import datetime as dt
import itertools
import math
import pickle

import networkx as nx
import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import arbornet as an
from arbornet import _core
from arbornet.cli import main
from arbornet.data.calendar import cut

QUANTILE = an.PCART(cuts="quantile")


def skewed(n=400, seed=0):
    """Incomes with a long tail, ties and a far outlier, on which a number and a class depend."""
    random = np.random.default_rng(seed)
    income = np.round(np.exp(random.normal(8, 1.2, n)), 1)
    income[0] = 1e9
    age = random.integers(18, 80, n)
    spent = 0.3 * np.log(income) + 0.01 * age + random.normal(0, 0.2, n)
    happy = np.where(random.random(n) < np.where(income > np.median(income), 0.8, 0.3), "yes", "no")
    return {"income": income, "age": age.astype(float), "spent": spent, "happy": happy.tolist()}


def fitted(frame, child, parents, score=QUANTILE):
    return an.fit(an.Table(frame), nx.DiGraph([(parent, child) for parent in parents]), score)[child]


def rank_cuts(values, weights, halvings):
    """The bin of every value, and each cut's two neighbours, by the definition."""
    bins = dict.fromkeys(values, 0)
    gaps = []

    def halve(cell, left):
        if left == 0 or len(cell) == 1:
            return
        below = list(itertools.accumulate(weights[x] for x in cell))[:-1]
        half = sum(weights[x] for x in cell) / 2
        at = 1 + min(range(len(below)), key=lambda i: (abs(below[i] - half), i))
        gaps.append((cell[at - 1], cell[at]))
        for x in cell[at:]:
            bins[x] += 1 << (left - 1)
        halve(cell[:at], left - 1)
        halve(cell[at:], left - 1)

    halve(sorted(values), halvings)
    return bins, gaps


def best_tree(bins, counts, halvings):
    """The best tree of two classes over one number, by every halving of every cell, without its Z."""
    log_gamma = -math.log(4)

    def leaf(cell):
        n = [sum(counts[x][c] for x in cell) for c in (0, 1)]
        return math.lgamma(1) - math.lgamma(1 + sum(n)) + sum(math.lgamma(0.5 + m) - math.lgamma(0.5) for m in n)

    def best(low, left):
        cell = [x for x, b in bins.items() if low <= b < low + (1 << left)]
        whole = log_gamma + leaf(cell)
        return whole if left == 0 else max(whole, best(low, left - 1) + best(low + (1 << (left - 1)), left - 1))

    return best(0, halvings)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("halvings", [1, 3, 5])
def test_the_score_is_that_of_the_best_tree_over_cuts_by_the_definition(seed, halvings):
    random = np.random.default_rng(seed)
    kinds = [
        lambda n: random.normal(size=n),
        lambda n: random.integers(0, 4, n).astype(float),
        lambda n: np.exp(random.normal(0, 4, n)),
        lambda n: np.where(random.random(n) < 0.7, 0.0, random.normal(size=n)),
    ]
    x = kinds[seed % 4](int(random.integers(2, 90))).tolist()
    x[0] += 1.0
    y = [int(random.random() < (0.2 if value < 0.5 else 0.8)) for value in x]
    y[:2] = 0, 1
    counts = {value: [sum(b == c for a, b in zip(x, y, strict=True) if a == value) for c in (0, 1)] for value in x}
    bins, _ = rank_cuts(sorted(counts), {value: sum(n) for value, n in counts.items()}, halvings)
    schema = {"x": an.Continuous(), "y": an.Categorical((0, 1))}
    frame = {"x": x, "y": y}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(**schema))
    score = an.PCART(cuts="quantile", penalised=False, max_splits=halvings)
    log_z = an.local_score(table, "y", ["x"], an.PCART(penalised=False, max_splits=halvings))
    # The same Z for either: the difference of scores is that of the best trees.
    low, high = min(x), max(x)
    width = 2**halvings
    by_range = {v: min(int((v - low) / (high - low) * width + 1e-9), width - 1) for v in counts}
    expected = best_tree(bins, counts, halvings) - best_tree(by_range, counts, halvings)
    assert math.isclose(an.local_score(table, "y", ["x"], score) - log_z, expected, rel_tol=1e-9, abs_tol=1e-9)


@pytest.mark.parametrize("leaf", ["normal", "linear"])
@pytest.mark.parametrize("unit", [1e-285, 1e-7, 1.0, 1e6, 1e285])
def test_printed_cuts_part_the_training_rows_as_the_tree_does(unit, leaf):
    # Numbers are taken up to 1e290.
    frame = skewed() | {"income": np.minimum(skewed()["income"], 9e4) * unit}
    model = fitted(frame, "spent", ["income", "age"], an.PCART(cuts="quantile", leaf=leaf))
    assert len(model.leaves) > 2
    rows = np.zeros(400, int)
    for found in model.leaves:
        inside = np.ones(400, bool)
        for condition in found.conditions:
            x = np.asarray(frame[condition.variable])
            for bound in condition.text.removeprefix(condition.variable).strip().split(" and "):
                inside &= within(x, bound)
            assert inside.any()
        assert inside.sum() == found.n
        rows += inside
    assert (rows == 1).all()


def within(x, bound):
    """What a printed bound such as `< 3`, `>= 3` or `in [1, 3)` says of some numbers."""
    if bound.startswith("in ["):
        low, high = bound[4:-1].split(", ")
        return (x >= float(low)) & (x < float(high))
    sign, _, number = bound.partition(" ")
    return x < float(number) if sign == "<" else x >= float(number)


def test_a_logarithmic_scale_of_a_parent_changes_neither_scores_nor_cuts():
    frame = skewed()
    plain = an.Table(frame)
    table = an.Table(frame, schema=plain.schema.with_types(income=an.Continuous(scale="log")))
    graph = nx.DiGraph([("income", "spent"), ("age", "spent")])
    one, two = (an.fit(each, graph, QUANTILE)["spent"] for each in (plain, table))
    assert len(one.leaves) > 2
    assert one.text() == two.text()
    parents = ["income", "age"]
    assert an.local_score(plain, "spent", parents, QUANTILE) == an.local_score(table, "spent", parents, QUANTILE)


def test_a_cut_is_written_with_the_fewest_decimals():
    frame = {"x": [1.0, 2.0] * 30 + [3.17, 3.24] * 30, "y": [0.0] * 60 + [5.0, 9.0] * 30}
    frame["y"] = [y + i % 7 / 50 for i, y in enumerate(frame["y"])]
    text = fitted(frame, "y", ["x"]).text()
    assert "x < 3:" in text or "x < 3\n" in text
    assert "x < 3.2:" in text


def test_scores_and_trees_heed_the_order_of_a_parents_values_alone():
    frame = skewed()
    moved = frame | {"income": np.log(frame["income"]), "age": -1 / frame["age"]}
    one, two = an.Table(frame), an.Table(moved)
    for child in ("spent", "happy"):
        for parents in (["income"], ["income", "age"]):
            assert an.local_score(one, child, parents, QUANTILE) == an.local_score(two, child, parents, QUANTILE)
            leaves = [[leaf.n for leaf in fitted(each, child, parents).leaves] for each in (frame, moved)]
            assert leaves[0] == leaves[1]
        assert an.local_score(one, child, ["income"], an.PCART()) != an.local_score(two, child, ["income"], an.PCART())


@pytest.mark.parametrize("score", [QUANTILE, an.PCART(cuts="quantile", tree_prior="cell")])
def test_whole_weights_are_repeated_rows(score):
    random = np.random.default_rng(3)
    frame = pl.DataFrame(skewed(80)).with_columns(w=random.integers(1, 6, 80))
    rows = frame.drop("w")[np.repeat(np.arange(80), frame["w"].to_numpy())]
    weighted, repeated = an.Table(frame, weights="w"), an.Table(rows, schema=an.Table(frame, weights="w").schema)
    for child in ("spent", "happy"):
        one, two = (an.local_score(table, child, ["income", "age"], score) for table in (weighted, repeated))
        assert math.isclose(one, two, rel_tol=1e-9)
    graph = nx.DiGraph([("income", "happy"), ("age", "happy")])
    texts = [an.fit(table, graph, score)["happy"].text() for table in (weighted, repeated)]
    assert texts[0] == texts[1]


def test_weights_that_are_no_whole_numbers_count_in_the_ranks():
    frame = pl.DataFrame({"x": [float(i) for i in range(100)]}).with_columns(
        y=5.0 * (pl.col("x") >= 90) + pl.col("x") % 3 / 10,
        w=pl.when(pl.col("x") < 90).then(1.5).otherwise(13.4),
    )
    once = an.PCART(cuts="quantile", max_splits=1)
    for weights, cut_at in (("w", "x < 90"), (None, "x < 50")):
        table = an.Table(frame if weights else frame.drop("w"), weights=weights)
        model = an.fit(table, nx.DiGraph([("x", "y")]), once)["y"]
        assert str(model.leaves[0].conditions[0]) == cut_at


def test_threads_and_the_order_of_rows_change_nothing():
    frame = pl.DataFrame(skewed(200))
    nets = [an.learn(frame, QUANTILE, max_parents=2, verbose=False, n_jobs=jobs) for jobs in (1, 2)]
    nets.append(an.learn(frame.sample(fraction=1.0, shuffle=True, seed=2), QUANTILE, max_parents=2, verbose=False))
    models = [[net[name].to_dict() for name in frame.columns] for net in nets]
    assert models[0] == models[1] == models[2]


def test_a_saved_network_is_the_same_and_values_beyond_the_rows_go_to_the_end_cells(tmp_path):
    frame = skewed()
    net = an.learn(frame, QUANTILE, max_parents=2, verbose=False)
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert '"cuts":"quantile"' in again.origin.score.replace(" ", "")
    for name in frame:
        assert again[name].text() == net[name].text()
        assert again[name].to_dict() == net[name].to_dict()
    assert (np.asarray(again.log_likelihood(frame)) == np.asarray(net.log_likelihood(frame))).all()
    assert pickle.loads(pickle.dumps(net))["spent"] == net["spent"]
    model = fitted(frame, "spent", ["income"])
    below, above = ([model.log_density(3.0, {"income": x}) for x in some] for some in ENDS)
    assert len(set(below)) == len(set(above)) == 1
    assert below != above
    drawn = net.sample(50, seed=1)
    assert np.isfinite(np.asarray(net.log_likelihood(drawn))).all()


ENDS = ((-1e12, 0.0, min(skewed()["income"])), (1e300, 1e12, 1e9))
"""Values below and above those of the rows, with the least and the greatest of these."""


def test_a_score_without_cuts_is_read_and_written_as_before():
    assert "cuts" not in an.PCART().document()
    assert an.PCART(cuts="range").spec() == an.PCART().spec()
    assert QUANTILE.document()["cuts"] == "quantile"
    assert QUANTILE.spec() != an.PCART().spec()
    # As a pickle of an earlier version has it.
    restored = an.PCART.__new__(an.PCART)
    restored.__setstate__({name: value for name, value in an.PCART().__dict__.items() if name != "cuts"})
    assert restored == an.PCART()
    table = an.Table(skewed(60))
    model = an.local_model(table, "spent", ["income"], an.PCART())
    assert "written" not in str(model.to_dict())


def test_its_parameters_are_checked():
    with pytest.raises(an.ParameterError, match=r"cuts='ranks': choose 'range' or 'quantile'"):
        an.PCART(cuts="ranks")
    with pytest.raises(an.ParameterError, match=r"cuts='quantile' does not go with published=True"):
        an.PCART(cuts="quantile", published=True)
    with pytest.raises(_core.ParameterError):
        an.local_score(an.Table(skewed(20)), "spent", [], Given({"cuts": "ranks"}))


class Given(an.PCART):
    """A score whose text is another's."""

    def __init__(self, changed):
        super().__init__()
        object.__setattr__(self, "changed", changed)

    def document(self):
        return super().document() | self.changed


DAYS = [dt.date(2020, 1, 1) + dt.timedelta(days=(i * i) % 367) for i in range(300)]
BEGAN = dt.datetime(2020, 1, 1)


@pytest.mark.parametrize(
    ("values", "read"),
    [
        (DAYS, dt.date.fromisoformat),
        ([BEGAN + dt.timedelta(seconds=(i * i) % 9973) for i in range(300)], dt.datetime.fromisoformat),
        ([(BEGAN + dt.timedelta(seconds=(i * i) % 9973)).time() for i in range(300)], dt.time.fromisoformat),
        ([dt.timedelta(seconds=7 * ((i * i) % 9973)) for i in range(300)], None),
        ([dt.timedelta(hours=(i * i) % 97) for i in range(300)], None),
    ],
    ids=["dates", "moments", "times", "seconds", "hours"],
)
def test_a_cut_of_dates_and_times_is_told_as_one_and_parts_the_rows(values, read):
    middle = sorted(values)[150]
    frame = pl.DataFrame({"when": values, "y": [float(v < middle) + i % 5 / 10 for i, v in enumerate(values)]})
    leaves = fitted(frame, "y", ["when"]).leaves
    assert len(leaves) > 1
    for leaf in leaves:
        (condition,) = leaf.conditions
        text = condition.text.removeprefix("when").strip()
        bounds = [text[4:-1].split(", ")] if text.startswith("in [") else []
        low, high = bounds[0] if bounds else ("", text[2:]) if text.startswith("<") else (text[3:], "")
        made = read or span
        inside = [(not low or made(low) <= v) and (not high or v < made(high)) for v in values]
        assert sum(inside) == leaf.n


def span(text):
    """A length of time as it is written."""
    number, unit = text.split(" ")
    return dt.timedelta(**{{"days": "days", "h": "hours", "min": "minutes", "s": "seconds"}[unit]: float(number)})


def test_numbers_become_cuts_of_dates():
    assert cut(18353.25, "date") == "2020-04-02"
    assert cut(18353.5, "datetime") == "2020-04-01 12:00"
    assert cut(18353.5 + 1 / 86_400, "datetime UTC") == "2020-04-01 12:00:01 UTC"
    assert cut(3661.2, "time") == "01:01:02"
    assert cut(9000.0, "duration") == "2.5 h"
    assert cut(9001.0, "duration") == "9001 s"
    assert cut(1e12, "datetime") == "1000000000000"
    assert cut(1234.5, "written $1,234.5") == "$1,234.5"


def test_rows_with_missing_values_and_the_rest_of_the_workflow_take_it(tmp_path):
    frame = pl.DataFrame(skewed(150)).with_columns(
        income=pl.when(pl.arange(150) % 9 == 0).then(None).otherwise(pl.col("income"))
    )
    net = an.learn(frame, QUANTILE, max_parents=1, verbose=False)
    net.save(tmp_path / "net.json")
    assert an.load(tmp_path / "net.json").origin.score == net.origin.score
    scores = {"range": an.PCART(), "quantile": QUANTILE}
    told = str(an.evaluate.cross_validate(an.Table(skewed(80)), scores, folds=2, repeats=1, max_parents=1))
    assert "range" in told
    assert "quantile" in told
    learner = an.NetworkLearner(QUANTILE, max_parents=1)
    assert clone(learner).fit(pl.DataFrame(skewed(80))).network_.origin.score == net.origin.score
    skewed_csv = tmp_path / "skewed.csv"
    pl.DataFrame(skewed(80)).write_csv(skewed_csv)
    out = tmp_path / "shell.json"
    asked = ["learn", str(skewed_csv), "--score", 'PCART(cuts="quantile")', "--max-parents", "1", "-o", str(out)]
    assert main([*asked, "--quiet"]) == 0
    assert an.load(out).origin.score == net.origin.score


def test_one_value_and_two_values_and_no_row_more_than_one():
    with pytest.warns(an.LeftOutWarning):
        schema = an.infer_schema({"x": [7.0] * 30, "y": [float(i) for i in range(30)]})
    frame = {"x": [7.0] * 30, "y": [float(i) for i in range(30)]}
    constant = an.Table(frame, schema=schema.with_types(x=an.Continuous()))
    for score in (QUANTILE, an.PCART(cuts="quantile", tree_prior="cell")):
        # As with any number, a constant brings nothing but its prior; the same as by range.
        other = an.PCART(tree_prior=score.tree_prior)
        assert an.local_score(constant, "y", ["x"], score) == an.local_score(constant, "y", ["x"], other)
    two = {"x": [0.0, 1.0] * 30, "y": [i % 2 * 9.0 + i / 100 for i in range(60)]}
    schema = an.infer_schema(two).with_types(x=an.Continuous())
    table = an.Table(two, schema=schema)
    model = an.local_model(table, "y", ["x"], QUANTILE)
    assert [str(leaf.conditions[0]) for leaf in model.leaves] == ["x < 1", "x >= 1"]
    assert [leaf.n for leaf in model.leaves] == [30, 30]


def test_bdeu_leaves_and_ordered_groups_take_it():
    random = np.random.default_rng(1)
    frame = skewed(300) | {"zone": [f"z{i}" for i in random.integers(0, 40, 300)]}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(zone=an.Categorical()))
    by_share = an.fit(table, nx.DiGraph([("income", "happy")]), an.PCART(cuts="quantile", ess=2.0))["happy"]
    assert sum(leaf.n for leaf in by_share.leaves) == 300
    in_order = an.PCART(cuts="quantile", grouping="ordered")
    assert math.isfinite(an.local_score(table, "spent", ["income", "zone"], in_order))
    model = an.fit(table, nx.DiGraph([("income", "spent"), ("zone", "spent")]), in_order)["spent"]
    assert sum(leaf.n for leaf in model.leaves) == 300
