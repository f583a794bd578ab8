import itertools
import logging
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import arbornet as an
from interrupting import ctrl_c
from small_tables import BIC, chain, with_numbers


def every_set(names, child, most):
    others = [name for name in names if name != child]
    for size in range(most + 1):
        yield from itertools.combinations(others, size)


def kept_by_definition(table, score, child, most, permitted=lambda child, parents: True):
    sets = [s for s in every_set(table.names, child, most) if permitted(child, s)]
    scored = {frozenset(s): an.local_score(table, child, s, score) for s in sets}
    dominated = {s for s in scored for t in scored if t < s and scored[t] >= scored[s]}
    return {s: score for s, score in scored.items() if s not in dominated}


def as_dict(candidates, child):
    frame = candidates.child(child)
    return {frozenset(parents): score for parents, score in frame.iter_rows()}


def test_local_score_takes_parents_in_any_order():
    table = chain(4, 100)
    assert an.local_score(table, "v1", ["v0", "v3"], BIC()) == an.local_score(table, "v1", ["v3", "v0"], BIC())


@pytest.mark.parametrize(
    ("child", "parents", "told"),
    [
        ("w", [], "no column 'w'"),
        ("v0", ["w"], "no column 'w'"),
        ("v0", "v1", "give a list of names"),
        ("v0", ["v0"], "own parent"),
        ("v0", ["v1", "v1"], "twice"),
    ],
)
def test_local_score_tells_what_is_wrong_with_a_family(child, parents, told):
    with pytest.raises(an.ArbornetError, match=told):
        an.local_score(chain(3, 20), child, parents, BIC())


def test_a_score_class_or_something_else_is_refused_with_advice():
    with pytest.raises(an.ParameterError, match="the class BIC"):
        an.local_score(chain(2, 20), "v0", [], BIC)
    with pytest.raises(an.ParameterError, match="make it a Table first"):
        an.local_score({"v0": [1]}, "v0", [], BIC())


@pytest.mark.parametrize("most", [0, 1, 2, 4, 9])
def test_the_sets_kept_are_those_that_no_subset_dominates(most):
    table = chain(5, 200)
    candidates = an.score_parents(table, BIC(), max_parents=most)
    for child in table.names:
        assert as_dict(candidates, child) == kept_by_definition(table, BIC(), child, most)
    assert candidates.n_sets == sum(1 for child in table.names for _ in every_set(table.names, child, most))
    assert candidates.n_evaluated <= candidates.n_sets
    assert candidates.n_kept == sum(candidates.child(child).height for child in candidates)


def test_constraints_are_known_before_pruning():
    table = chain(5, 200, seed=3)
    constraints = an.Constraints(
        required=[("v4", "v1")], forbidden=[("v0", "v2")], max_parents={"v3": 1}, tiers=[["v4"], ["v0", "v1"]]
    )
    rules = constraints.resolve(table.names)
    candidates = an.score_parents(table, BIC(), max_parents=3, constraints=constraints)
    for child in table.names:
        expected = kept_by_definition(table, BIC(), child, 3, rules.permits)
        assert as_dict(candidates, child) == expected
    assert all("v4" in parents for parents in candidates.child("v1")["parents"])


def test_more_required_parents_than_max_parents_are_told():
    constraints = an.Constraints(required=[("v0", "v2"), ("v1", "v2")])
    with pytest.raises(an.ParameterError, match="'v2' alone has 2 required parents"):
        an.score_parents(chain(3, 20), BIC(), max_parents=1, constraints=constraints)


@pytest.mark.parametrize("n_jobs", [2, 5, -1])
def test_any_number_of_threads_gives_the_same_bytes(n_jobs, tmp_path):
    table = chain(9, 300)
    one, many = (an.score_parents(table, BIC(), max_parents=3, n_jobs=n) for n in (1, n_jobs))
    one.save(tmp_path / "one.jkl")
    many.save(tmp_path / "many.jkl")
    assert (tmp_path / "one.jkl").read_bytes() == (tmp_path / "many.jkl").read_bytes()
    assert (one.n_evaluated, one.n_sets) == (many.n_evaluated, many.n_sets)


@pytest.mark.parametrize("max_parents", [-1, 1.5, True, "all"])
def test_limits_that_are_none_are_refused(max_parents):
    with pytest.raises(an.ParameterError, match="max_parents"):
        an.score_parents(chain(2, 20), BIC(), max_parents=max_parents)


def test_no_jobs_are_refused():
    with pytest.raises(an.ParameterError, match="n_jobs=0"):
        an.score_parents(chain(2, 20), BIC(), n_jobs=0)


def test_a_child_of_the_wrong_kind_ends_the_run_with_its_name():
    with pytest.raises(an.ColumnError, match="'x' is continuous"):
        an.score_parents(with_numbers(3, 50), BIC(), max_parents=1)


def test_families_that_cannot_be_scored_are_left_out_and_told(caplog):
    table = chain(5, 50)

    def no_pair(table, child, parents):
        if set(parents) >= {"v1", "v2"}:
            raise an.FamilyError("v1 and v2 together are too large")
        return an.local_score(table, child, parents, BIC())

    with caplog.at_level(logging.WARNING, logger="arbornet"):
        candidates = an.score_parents(table, an.CustomScore(no_pair), max_parents=3)
    refused = [(child, s) for child in table.names for s in every_set(table.names, child, 3) if {"v1", "v2"} <= set(s)]
    assert candidates.n_skipped == len(refused)
    assert {(s.child, s.parents) for s in candidates.skipped} == set(refused)
    assert "v1 and v2 together are too large" in candidates.skipped[0].reason
    assert f"{len(refused)} parent sets left out" in caplog.text


def test_a_child_without_any_scorable_family_ends_the_run():
    def never(table, child, parents):
        raise an.FamilyError("not today")

    with pytest.raises(an.FamilyError, match=r"'v0'.*nor with any other permitted parents.*not today"):
        an.score_parents(chain(3, 20), an.CustomScore(never), max_parents=1, n_jobs=1)


def test_absurd_sizes_are_refused_before_the_start():
    table = chain(300, 4)
    with pytest.raises(an.ParameterError, match="parent sets"):
        an.score_parents(table, BIC(), max_parents=9)
    with pytest.raises(MemoryError, match="lower max_parents"):
        an.score_parents(table, BIC(), max_parents=4, memory_limit=10**7)


def test_progress_goes_from_little_to_all_the_sets():
    told = []
    table = chain(10, 20_000)
    candidates = an.score_parents(table, BIC(), max_parents=3, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert told[-1] == (candidates.n_sets, candidates.n_sets)


def test_an_exception_in_a_progress_callback_stops_the_run():
    def burst(done, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        an.score_parents(chain(12, 50_000), BIC(), max_parents=4, progress=burst)


def interrupted_after(seconds, work):
    """Seconds from Ctrl-C to the KeyboardInterrupt."""
    with ctrl_c(seconds) as pressed:
        with pytest.raises(KeyboardInterrupt):
            work()
        return pressed.ago()


def test_ctrl_c_ends_hours_of_scoring_at_once():
    table = chain(60, 3000)
    took = interrupted_after(0.5, lambda: an.score_parents(table, BIC(), max_parents=4, memory_limit=10**10))
    assert took < 5


def test_ctrl_c_does_not_wait_for_a_family_that_takes_long():
    goes_on = threading.Event()

    def slow(table, child, parents):
        goes_on.wait(60)
        return 0.0

    try:
        took = interrupted_after(0.5, lambda: an.score_parents(chain(3, 10), an.CustomScore(slow), max_parents=1))
    finally:
        goes_on.set()
    assert took < 5


def n_threads():
    return sum(1 for _ in Path("/proc/self/task").iterdir())


def noise(n_rows, n_vars):
    """Numbers that nothing explains: every split is tried."""
    rng = np.random.default_rng(0)
    return an.Table({f"x{i}": rng.normal(size=n_rows) for i in range(n_vars)})


@pytest.mark.parametrize(
    "work",
    [
        lambda table, parents: an.local_score(table, "x0", parents, an.PCART(memory_limit="1 TB")),
        lambda table, parents: an.local_model(table, "x0", parents, an.PCART(memory_limit="1 TB")),
        lambda table, parents: an.local_score(table, "x0", parents, an.FullTable()),
        lambda table, parents: an.score_parents(table, an.PCART(), max_parents=len(parents), n_jobs=1),
    ],
    ids=["tree's score", "tree", "full table's score", "all sets"],
)
def test_ctrl_c_ends_one_huge_family_midway_and_nothing_runs_on(work):
    table = noise(20_000, 7)
    threads = n_threads()
    assert interrupted_after(0.5, lambda: work(table, [f"x{i}" for i in range(1, 7)])) < 5
    for _ in range(100):
        if n_threads() <= threads:
            break
        time.sleep(0.05)
    assert n_threads() <= threads


def test_a_family_beyond_its_memory_is_named_and_left_out():
    table = noise(3000, 5)
    score = an.PCART(memory_limit="1 MiB")
    told = r"the best tree of 'x0' given \[x1, x2, x3, x4\] needs about \d+ MB, the limit is 1 MB; raise memory_limit"
    with pytest.raises(MemoryError, match=told):
        an.local_score(table, "x0", ["x1", "x2", "x3", "x4"], score)
    candidates = an.score_parents(table, score, max_parents=4)
    assert candidates.n_skipped > 0
    assert {len(skipped.parents) for skipped in candidates.skipped} <= {3, 4}
    assert all(skipped.child in skipped.reason for skipped in candidates.skipped)
    assert candidates.n_sets == 5 * 16


def test_what_is_no_client_is_refused():
    with pytest.raises(an.ParameterError, match="client='tcp://localhost:1'"):
        an.score_parents(an.Table({"a": [0.0, 1.0, 3.0]}), an.PCART(), 1, client="tcp://localhost:1")
