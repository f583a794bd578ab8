"""A search from several seeds: the best is kept, whoever makes the runs."""

import pytest

import arbornet as an


@pytest.fixture(scope="module")
def table():
    return an.Table(an.simulate.network(12, 300, numbers=0.0, seed=3).frame)


def runs(table, seeds):
    return [an.search.boss(table, an.BIC(), seed=seed, restarts=1) for seed in seeds]


def test_the_best_run_is_kept_and_of_equal_ones_that_of_the_first_seed(table):
    seeds = [4, 0, 9, 2]
    each = runs(table, seeds)
    best = max(each, key=lambda found: found.score)
    found = an.search.best_of("boss", table, an.BIC(), seeds=seeds, restarts=1)
    assert (found.score, set(found.dag.edges)) == (best.score, set(best.dag.edges))
    assert found.details["seed"] == seeds[each.index(best)]
    assert found.details["n_best"] == sum(other.score == best.score for other in each)
    assert found.details["seeds"] == 4


def test_the_result_does_not_depend_on_the_number_of_threads(table):
    candidates = an.score_parents(table, an.BIC(), max_parents=2)
    one, four = (
        an.search.best_of("anytime", candidates, seeds=5, rounds=3, window=4, n_jobs=n_jobs) for n_jobs in (1, 4)
    )
    assert (one.dag.edges, one.score, one.bound, one.details) == (four.dag.edges, four.score, four.bound, four.details)


def test_the_bound_is_the_lowest_of_all_runs(table):
    def lucky(candidates, seed):
        found = an.search.hill_climb(candidates, seed=seed)
        return type(found)(found.dag, found.score, found.score + [5.0, 1.0, 7.0][seed], "finished", 0.0)

    candidates = an.score_parents(table, an.BIC(), max_parents=1)
    found = an.search.best_of(lucky, candidates, seeds=3)
    assert (found.details["seed"], found.gap) == (0, pytest.approx(1.0))


def test_runs_that_ended_before_ctrl_c_count(table):
    def stopped(candidates, seed):
        if seed == 2:
            raise KeyboardInterrupt
        return an.search.hill_climb(candidates, seed=seed)

    candidates = an.score_parents(table, an.BIC(), max_parents=1)
    found = an.search.best_of(stopped, candidates, seeds=[0, 1, 2], n_jobs=1)
    assert (found.stopped, found.details["seeds"]) == ("interrupted", 2)
    with pytest.raises(KeyboardInterrupt):
        an.search.best_of(stopped, candidates, seeds=[2])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"search": "fges"}, "search='fges' takes no seed"),
        ({"seeds": []}, "give at least one seed"),
        ({"seeds": [1, 1]}, "each once"),
        ({"seeds": 0}, "seeds=0: give an integer from 1 up"),
        ({"seed": 1}, r"give seeds=\[...\]"),
    ],
)
def test_what_cannot_be_meant_is_refused(table, given, told):
    with pytest.raises(an.ParameterError, match=told):
        an.search.best_of(**{"search": "boss", "over": table, "score": an.BIC(), **given})
