"""`simulate.network`: every style's effects are in its rows, and the rows are the seed's alone."""

import hashlib
import pickle
from typing import get_args

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.simulate import STYLES, Style, network
from arbornet.simulate.effects import SHAPES
from arbornet.simulate.mechanisms import LevelKind, NumberKind

ROWS = 6000


def explained(x, y, bins=60):
    """The share of the variance of y that is between bins of x."""
    codes = np.argsort(np.argsort(x, kind="stable"), kind="stable") * bins // len(x)
    means = np.array([y[codes == b].mean() for b in range(bins)])
    return means[codes].var() / y.var()


def pair(style, strength=2.0, seed=3, **settings):
    """Two numbers, one of them the parent of the other: its values and the child's."""
    made = network(2, ROWS, style=style, arcs_per_node=0.5, strength=strength, seed=seed, **settings)
    ((a, b),) = made.dag.edges
    return made, made.frame[a].to_numpy(), made.frame[b].to_numpy()


def collider(pairs, seed_from=0):
    """Three numbers, one of them the child of both others, and a network of them."""
    style = Style(("linear",), pairs=pairs)
    for seed in range(seed_from, seed_from + 100):
        made = network(3, ROWS, style=style, numbers=1, arcs_per_node=2 / 3, strength=2, seed=seed)
        child = next((v for v in made.dag if made.dag.in_degree(v) == 2), None)
        if child is not None:
            return [made.frame[p].to_numpy() for p in made.dag.predecessors(child)], made.frame[child].to_numpy()
    raise AssertionError("no such graph was drawn")


@pytest.mark.parametrize("style", STYLES)
def test_graph_frame_and_schema_are_as_asked(style):
    made = network(30, 400, style=style, arcs_per_node=1.5, max_parents=3, numbers=0.6, levels=(2, 4), seed=7)
    dag, frame, schema = made
    assert nx.is_directed_acyclic_graph(dag) and list(dag) == frame.columns == [f"X{v}" for v in range(1, 31)]
    assert dag.number_of_edges() == 45 and max(d for _, d in dag.in_degree) <= 3
    assert {name: sorted(one.parents) for name, one in made.mechanisms.items()} == {
        name: sorted(dag.predecessors(name)) for name in dag
    }
    words = {name: schema[name].word for name in dag}
    assert sum(word == "continuous" for word in words.values()) == 18
    for name in dag:
        if words[name] != "continuous":
            assert 2 <= len(schema[name].levels) <= 4 and set(frame[name]) <= set(schema[name].levels)
            assert (words[name] == "categorical") is (frame[name].dtype == pl.String)
    assert frame.height == 400 and an.Table(frame, schema=schema).n_rows == 400
    assert np.isfinite(frame.select(pl.col(pl.Float64)).to_numpy()).all()


@pytest.mark.parametrize(("most", "arcs"), [(0, 0), (1, 9), (2, 17), (9, 45)])
def test_the_fullest_graph_within_the_limit_can_be_drawn(most, arcs):
    dag = network(10, 5, max_parents=most, arcs_per_node=arcs / 10, seed=1).dag
    assert dag.number_of_edges() == arcs and max(d for _, d in dag.in_degree) == most
    with pytest.raises(an.ParameterError, match="arcs_per_node"):
        network(10, 5, max_parents=most, arcs_per_node=arcs / 10 + 0.1)


DIGESTS = {
    "linear": "ac5d5dcb1eb30840",
    "nonlinear": "61a3e87f03083173",
    "smooth": "69f1593ce8b0322a",
    "products": "e7e7783a02c7d738",
    "heavy-tails": "7edeb178af440387",
    "mixed": "277dbed1088e3b77",
    "hidden": "37e2a656b1bc50d8",
}


@pytest.mark.parametrize("style", STYLES)
def test_a_seed_gives_the_bytes_it_always_gave(style):
    made = network(12, 50, style=style, seed=5)
    told = [
        sorted(made.dag.edges),
        *(column.to_list() for rows in (made.frame, made.sample(20, seed=3)) for column in rows),
    ]
    assert hashlib.sha256(repr(told).encode()).hexdigest()[:16] == DIGESTS[style]


def test_another_seed_gives_another_network():
    one, other = network(seed=1), network(seed=2)
    assert one == network(seed=1) and one != other and set(one.dag.edges) != set(other.dag.edges)


def test_what_is_pickled_is_equal_and_draws_the_same():
    made = network(8, 30, style="mixed", seed=4)
    again = pickle.loads(pickle.dumps(made))
    assert again == made and again.sample(10, seed=2).equals(made.sample(10, seed=2))


def test_fewer_rows_are_the_first_of_more():
    few, many = network(15, 100, style="mixed", seed=2), network(15, 700, style="mixed", seed=2)
    assert few.mechanisms == many.mechanisms and few.frame.equals(many.frame[:100])
    assert few.sample(50, seed=6).equals(many.sample(80, seed=6)[:50])


def test_fresh_rows_are_others_of_the_same_distribution():
    made = network(10, 4000, style="mixed", seed=9)
    fresh, others = made.sample(4000), made.sample(4000, seed=1)
    assert fresh.schema == made.frame.schema
    numbers = [name for name in made.dag if made.schema[name].word == "continuous"]
    for drawn in (fresh, others):
        both = pl.concat([made.frame, drawn])
        assert both.select(numbers).unique().height == both.height
        for name in numbers:
            for quantile in (0.1, 0.5, 0.9):
                share = (drawn[name] <= made.frame[name].quantile(quantile)).mean()
                assert abs(share - (made.frame[name] <= made.frame[name].quantile(quantile)).mean()) < 0.04
    assert an.Table(fresh, schema=made.schema).n_rows == 4000


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_an_effect_is_in_the_rows(shape):
    made, x, y = pair(Style((shape,)), numbers=1)
    assert shape in str(made)
    assert 0.65 < explained(x, y) < 0.9  # four fifths, at strength 2
    line = np.corrcoef(x, y)[0, 1] ** 2
    means = [y[np.abs(x - at) < 0.15].mean() for at in np.linspace(-2, 2, 41)]
    turns = np.sum(np.diff(np.sign(np.diff(np.convolve(means, np.ones(5) / 5, "valid")))) != 0)
    if shape == "linear":
        assert line > 0.75
    elif shape == "step":
        ((effect,),) = [one.effects for one in made.mechanisms.values() if one.effects]
        reading = effect.readings[0]
        at = reading.value(effect.at[0])
        sides = [y[x > at], y[x <= at]]
        assert all(
            abs(np.corrcoef(side, x[keep])[0, 1]) < 0.05 for side, keep in zip(sides, (x > at, x <= at), strict=True)
        )
        assert abs(sides[0].mean() - sides[1].mean()) > 1.5
    elif shape in ("valley", "hill"):
        ends = [y[x < -1.5].mean() - y[np.abs(x) < 0.3].mean(), y[x > 1.5].mean() - y[np.abs(x) < 0.3].mean()]
        assert ends[0] * ends[1] > 0 and line < 0.4
    elif shape == "wave":
        assert turns >= 3 and line < 0.1
    else:
        assert 0.4 < line < 0.78


def test_of_an_xor_neither_parent_tells_anything_alone():
    (a, b), y = collider(("xor",))
    assert explained(a, y, 20) < 0.02 and explained(b, y, 20) < 0.02
    same = (a > np.median(a)) == (b > np.median(b))
    assert explained(same + 0.0, y, 2) > 0.7


def test_a_slope_turns_with_the_other_parent():
    (a, b), y = collider(("slope",))
    slopes = {}
    for first, second in ((a, b), (b, a)):
        low = first < np.median(first)
        slopes[id(first)] = [np.corrcoef(second[side], y[side])[0, 1] for side in (low, ~low)]
    assert any(max(pair) > 0.8 and min(pair) < -0.8 for pair in slopes.values())


def test_a_product_is_more_than_its_parents():
    (a, b), y = collider(("product",))
    design = np.stack([np.ones(ROWS), a, b, a * b], axis=1)

    def share(columns):
        fitted = design[:, :columns] @ np.linalg.lstsq(design[:, :columns], y, rcond=None)[0]
        return fitted.var() / y.var()

    assert share(4) > 0.75 and share(4) - share(3) > 0.3 and share(3) > 0.1


def lone(kind, **settings):
    """Columns without parents of one kind."""
    style = Style(numbers=kind) if kind in get_args(NumberKind) else Style(levels=kind)
    return network(
        6, ROWS, style=style, arcs_per_node=0, numbers=float(kind in get_args(NumberKind)), seed=1, **settings
    )


def test_log_normal_numbers_are_positive_and_normal_as_logarithms():
    for column in lone("log-normal").frame:
        values = np.log(column.to_numpy())
        scaled = (values - values.mean()) / values.std()
        assert column.min() > 0 and abs((scaled**3).mean()) < 0.15 and abs((scaled**4).mean() - 3) < 0.3
        assert column.mean() > 1.05 * column.median()


def test_heavy_tails_have_outliers_that_normal_numbers_lack():
    def far(column):
        low, high = column.quantile(0.25), column.quantile(0.75)
        return ((column - column.median()).abs() > 4 * (high - low)).mean()

    assert all(0.002 < far(column) < 0.05 for column in lone("heavy-tails").frame)
    assert all(far(column) == 0 for column in lone("normal").frame)


def test_counts_are_poisson():
    for column in lone("count").frame:
        assert column.dtype == pl.Int64 and column.min() >= 0
        assert 1.5 < column.mean() < 9 and abs(column.var() / column.mean() - 1) < 0.1
    _, x, y = pair(Style(numbers="count"), numbers=1, seed=2)
    # The logarithm of the mean is linear in the parent or its logarithm, and the variance follows the mean.
    values = [value for value in np.unique(x) if (x == value).sum() > 200]
    groups = [y[x == value] for value in values]
    means = np.array([group.mean() for group in groups])
    assert means.max() > 3 * means.min() and all(0.8 < group.var() / group.mean() < 1.25 for group in groups)
    assert max(np.corrcoef(np.log(means), of)[0, 1] ** 2 for of in (values, np.log1p(values))) > 0.99


@pytest.mark.parametrize("kind", get_args(LevelKind))
def test_no_level_is_rare(kind):
    made = network(60, ROWS, style=Style(levels=kind), numbers=0.3, levels=(3, 5), strength=3, seed=2)
    for name in made.dag:
        if made.schema[name].word != "continuous":
            shares = made.frame[name].value_counts(normalize=True)["proportion"]
            assert len(shares) == len(made.schema[name].levels) and shares.min() > 0.04


def test_levels_depend_on_their_parents():
    for kind in get_args(LevelKind):
        style, told = Style(levels=kind), []
        for seed in range(40):
            made = network(2, ROWS, style=style, numbers=0.5, arcs_per_node=0.5, seed=seed)
            ((a, b),) = made.dag.edges
            if made.schema[b].word != "continuous":
                high = made.frame[a] > made.frame[a].median()
                counts = [made.frame.filter(side)[b].value_counts(normalize=True) for side in (high, ~high)]
                both = counts[0].join(counts[1], on=b, how="full", coalesce=True).fill_null(0)
                told.append((both["proportion"] - both["proportion_right"]).abs().sum() / 2)
        assert len(told) > 5 and min(told) > 0.25


def test_categories_follow_a_multinomial_logit():
    style = Style(levels="category")
    for seed in range(60):
        made = network(2, 40 * ROWS, style=style, numbers=0.5, arcs_per_node=0.5, levels=(3, 3), strength=1, seed=seed)
        ((a, b),) = made.dag.edges
        if made.schema[b].word == "categorical":
            break
    x, y = made.frame[a].to_numpy(), made.frame[b].to_numpy()
    at = np.linspace(-1, 1, 11)
    odds = np.log([[(y[np.abs(x - place) < 0.1] == level).mean() for level in "abc"] for place in at])
    for level in (1, 2):
        ratio = odds[:, level] - odds[:, 0]
        slope, start = np.polyfit(at, ratio, 1)
        assert abs(slope) > 0.5 and np.abs(ratio - start - slope * at).max() < 0.15


@pytest.mark.parametrize("style", ["linear", "smooth"])
def test_strength_is_the_ratio_of_effects_to_noise(style):
    for strength in (0.5, 1.0, 3.0):
        _, x, y = pair(style, strength, numbers=1)
        assert abs(explained(x, y) - strength**2 / (1 + strength**2)) < 0.05
    _, x, y = pair(style, 0.0, numbers=1)
    assert explained(x, y) < 0.02


def test_stronger_effects_are_found_in_fewer_rows():
    found = []
    for strength in (0.0, 0.3, 1.5):
        made = network(15, 300, style="linear", strength=strength, seed=8)
        graph = an.search.boss(an.Table(made.frame, schema=made.schema), an.DegenerateGaussian(), restarts=2)
        found.append(an.metrics.compare(made.dag, graph).ar)
    assert found[0] < 0.2 < found[1] < found[2] and found[2] > 0.8


def test_the_names_of_before_are_where_they_were():
    assert an.simulate.BLOWN_UP == 10.0 and "linear" in get_args(an.simulate.Kind)
    # As pickles of earlier versions name it.
    assert an.simulate.Simulated is pickle.loads(b"carbornet.simulate\nSimulated\n.")


def test_words_stand_for_tuples_and_repeats_for_frequency():
    assert Style("step", numbers="count") == Style(("step",), ("count",))
    made = network(200, 5, style=Style(numbers=("normal", "normal", "normal", "count")), numbers=1, seed=1)
    counts = sum(one.kind == "count" for one in made.mechanisms.values())
    assert 30 < counts < 70


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_variables": 0}, "n_variables=0"),
        ({"n_rows": 1}, "n_rows=1"),
        ({"style": "cubic"}, "style='cubic': choose 'linear', 'nonlinear'"),
        ({"arcs_per_node": -1}, "arcs_per_node=-1"),
        ({"max_parents": 1.5}, "max_parents=1.5"),
        ({"numbers": 1.1}, "numbers=1.1"),
        ({"levels": (1, 3)}, r"levels=\(1, 3\)"),
        ({"levels": (2, 27)}, r"levels=\(2, 27\)"),
        ({"strength": -1}, "strength=-1"),
        ({"strength": float("nan")}, "strength=nan"),
        ({"seed": -1}, "seed=-1"),
    ],
)
def test_wrong_settings_are_told(settings, message):
    with pytest.raises(an.ParameterError, match=message):
        network(**settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"effects": "square"}, "effects: 'square' is unknown; there are linear, step"),
        ({"numbers": ()}, r"numbers=\(\): give at least one of normal"),
        ({"pairs": ("and",)}, "pairs: 'and' is unknown"),
        ({"share": 2}, "share=2"),
    ],
)
def test_wrong_styles_are_told(settings, message):
    with pytest.raises(an.ParameterError, match=message):
        Style(**settings)


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(MemoryError, match="ask for fewer"):
        network(20, 4_000_000_000)
    with pytest.raises(MemoryError, match="ask for fewer"):
        network(5, 10).sample(4_000_000_000)
