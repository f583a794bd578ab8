"""The prior by the cell: against every tree there is, and through fit, files and predictions."""

import itertools
import math

import numpy as np
import pytest

import arbornet as an


def literal(y, columns, kinds, q):
    """The best tree's score by the definition: no memo, no bounds, every split of every cell."""
    occurring = [sorted(set(column)) for column in columns]

    def marginal(rows):
        counts = [sum(y[r] == c for r in rows) for c in (0, 1)]
        odds = math.lgamma(1.0) - math.lgamma(1.0 + len(rows))
        return odds + sum(math.lgamma(0.5 + n) - math.lgamma(0.5) for n in counts)

    def splits(i, levels):
        if kinds[i] == "ordinal":
            return [(levels[:at], levels[at:]) for at in range(1, len(levels))]
        first, *rest = levels
        chosen = itertools.chain.from_iterable(itertools.combinations(rest, k) for k in range(len(rest)))
        return [((first, *some), tuple(sorted(set(rest) - set(some)))) for some in chosen]

    def best(cell, rows):
        found = {i: splits(i, levels) for i, levels in enumerate(cell) if len(levels) > 1}
        score = marginal(rows) + (math.log(q) if found else 0.0)
        for i, pairs in found.items():
            cost = math.log(1 - q) - math.log(len(found)) - math.log(len(pairs))
            for pair in pairs:
                sides = [[r for r in rows if columns[i][r] in side] for side in pair]
                cells = [(*cell[:i], side, *cell[i + 1 :]) for side in pair]
                score = max(score, cost + sum(best(c, r) for c, r in zip(cells, sides, strict=True)))
        return score

    return best(tuple(map(tuple, occurring)), list(range(len(y))))


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("q", [0.5, 0.75])
def test_the_score_is_that_of_the_best_of_all_trees(seed, q):
    random = np.random.default_rng(seed)
    n, kinds = 10 + 5 * (seed % 4), ("categorical", "ordinal", "categorical")[: 1 + seed % 3]
    columns = [random.integers(0, 3 if i else 4, n).tolist() for i in range(len(kinds))]
    y = [int(random.random() < 0.15 + 0.7 * (columns[0][r] % 2)) for r in range(n)]
    # A declared level that never comes costs nothing.
    declared = {"categorical": an.Categorical((0, 1, 2, 3, 9)), "ordinal": an.Ordinal((0, 1, 2, 3, 9))}
    frame = {f"x{i}": column for i, column in enumerate(columns)} | {"y": y}
    types = {f"x{i}": declared[kind] for i, kind in enumerate(kinds)} | {"y": an.Categorical((0, 1))}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(**types))
    score = an.PCART(penalised=False, tree_prior="cell", leaf_probability=q)
    got = an.local_score(table, "y", [f"x{i}" for i in range(len(kinds))], score)
    assert math.isclose(got, literal(y, columns, kinds, q), rel_tol=1e-10)


def test_a_network_by_the_cell_is_fitted_saved_and_predicts(tmp_path):
    table = an.Table(an.example("penguins"))
    score = an.PCART(tree_prior="cell")
    net = an.fit(table, an.search.exact(an.score_parents(table, score, max_parents=1)), score)
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert '"tree_prior":"cell"' in again.origin.score.replace(" ", "")
    mass = net["body_mass_g"].text()
    assert "body_mass_g given" in mass
    assert again["body_mass_g"].text() == mass


def test_many_levels_are_grouped_in_order_here_too():
    random = np.random.default_rng(0)
    zone = random.integers(0, 70, 500)
    frame = {"zone": [f"z{i}" for i in zone], "y": (zone % 7) + random.normal(size=500)}
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(zone=an.Categorical()))
    made = an.score_parents(table, an.PCART(tree_prior="cell"), max_parents=1)
    assert made.n_skipped == 0
    assert made.n_in_order == 1
    # The paper's prior charges 48 nats a leaf, and this one only its own splits.
    assert an.local_score(table, "y", ["zone"], an.PCART(tree_prior="cell")) > an.local_score(
        table, "y", [], an.PCART(tree_prior="cell")
    )


def test_its_parameters_are_checked():
    with pytest.raises(an.ParameterError, match="tree_prior='none'"):
        an.PCART(tree_prior="none")
    with pytest.raises(an.ParameterError, match=r"leaf_probability=0\.3: must be from 0.5 to below 1"):
        an.PCART(tree_prior="cell", leaf_probability=0.3)
    with pytest.raises(an.ParameterError, match="goes neither with published=True nor with ess"):
        an.PCART(tree_prior="cell", ess=1.0)
    assert "tree_prior" not in an.PCART().document()
