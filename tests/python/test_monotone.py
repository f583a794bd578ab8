"""What can only rise or only fall, and does: likelihoods, best scores, bounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import polars as pl
import pytest

import arbornet as an
from small_tables import chain

ROWS = 120


def degenerate(seed: int) -> an.Table:
    """Columns that repeat, hang together exactly, separate one another, or hardly vary."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=ROWS)
    columns = {
        "x": x,
        "twin": x.copy(),
        "sum": x + np.round(rng.normal(size=ROWS)),
        "spike": np.where(np.arange(ROWS) == 7, 1e6, rng.normal(size=ROWS) * 1e-6),
        "side": np.where(x > 0, "above", "below"),
        "group": rng.choice(["a", "b", "c"], ROWS),
        "rare": np.where(np.arange(ROWS) < 2, "seldom", "often"),
    }
    return an.Table(columns)


@pytest.mark.parametrize("score", [an.DegenerateGaussian(), an.BlockGaussian(), an.Multinomial()])
@pytest.mark.parametrize("seed", range(3))
def test_a_maximised_likelihood_does_not_fall_when_a_parent_is_added(score, seed):
    table = degenerate(seed)
    for x, y in itertools.permutations(table.names, 2):
        others = [name for name in table.names if name not in (x, y)]
        for given in itertools.chain([[]], ([one] for one in others), itertools.combinations(others, 2)):
            tested = an.independence.test(table, x, y, given, score)
            assert tested.statistic >= -1e-6 * ROWS, (x, y, given)


@pytest.mark.parametrize("seed", range(5))
def test_the_likelihood_of_levels_does_not_fall_and_bounds_every_penalised_score(seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, [2, 2, 3, 5, 40], size=(60, 5))
    codes[:, 4] = codes[:, 3]
    frame = pl.DataFrame({f"v{i}": [f"l{c}" for c in codes[:, i]] for i in range(5)})
    schema = an.infer_schema(frame).with_types({name: an.Categorical() for name in frame.columns})
    table = an.Table(frame, schema=schema)
    for child in table.names:
        others = [name for name in table.names if name != child]
        for size in range(len(others)):
            for parents in itertools.combinations(others, size):
                before = an.local_score(table, child, parents, an.LogLikelihood())
                for more in set(others) - set(parents):
                    after = an.local_score(table, child, [*parents, more], an.LogLikelihood())
                    assert after >= before - 1e-9 * abs(before)
                    for penalised in (an.BIC(), an.AIC(), an.NML(), an.BDeu(1.0)):
                        assert an.local_score(table, child, [*parents, more], penalised) <= after + 1e-9


def test_more_parents_never_make_the_best_network_worse_nor_rules_better():
    table = chain(7, 200)
    bests = [an.search.exact(an.score_parents(table, an.BDeu(1.0), max_parents=most)).score for most in range(5)]
    assert bests == sorted(bests)
    free, rules = bests[3], []
    for pair in itertools.permutations(table.names[:4], 2):
        rules.append(pair)
        bound = an.score_parents(table, an.BDeu(1.0), max_parents=3, constraints=an.Constraints(forbidden=rules))
        ruled = an.search.exact(bound).score
        assert ruled <= free
        free = ruled


def test_the_kth_best_is_no_better_than_the_one_before_and_an_early_end_no_better_than_the_best():
    candidates = an.score_parents(chain(7, 200), an.BDeu(1.0), max_parents=2)
    scores = [found.score for found in an.search.k_best(candidates, 30)]
    assert scores == sorted(scores, reverse=True)
    best = an.search.exact(candidates)
    early = an.search.exact(candidates, time_limit=0)
    assert early.score <= best.score <= early.score + early.gap + 1e-9
    assert math.isclose(best.score, scores[0])
