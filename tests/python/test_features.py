"""Ranks of parents by forests, and the few candidates that any score may use."""

import math

import polars as pl
import pytest

import arbornet as an


def table(n=600, noise=8):
    columns = {f"n{j}": [math.sin((i + 1) * (j + 2) * 12.9898) for i in range(n)] for j in range(noise)}
    columns["a"] = [math.cos(i * 78.233) for i in range(n)]
    columns["k"] = [("u", "v", "w")[(i * 7919) % 3] for i in range(n)]
    columns["y"] = [3 * abs(a) + (2 if k == "u" else 0) for a, k in zip(columns["a"], columns["k"], strict=True)]
    columns["c"] = [
        ("p" if a > 0.3 else "q" if a > -0.3 else "r") if k != "w" else "p"
        for a, k in zip(columns["a"], columns["k"], strict=True)
    ]
    return an.Table(pl.DataFrame(columns))


@pytest.mark.parametrize("importance", ["gain", "permutation"])
@pytest.mark.parametrize("prefilter", [None, 6])
def test_the_parents_come_first(importance, prefilter):
    for child in ("y", "c"):
        others = table()
        ranks = an.rank_parents(others, child, importance=importance, prefilter=prefilter)
        assert {"a", "k"} <= set(ranks["parent"].head(3))
        assert ranks["rank"].to_list() == list(range(1, len(others.names)))
        # What the prefilter leaves out stands behind all others and counts for nothing.
        n = prefilter or len(others.names) - 1
        assert ranks["importance"].head(n).is_sorted(descending=True)
        assert ranks["importance"][0] > 0
        assert ranks["importance"].slice(n).to_list() == [0.0] * (len(others.names) - 1 - n)


def test_ranks_depend_on_values_and_seed_alone():
    base = table()
    first = an.rank_parents(base, n_jobs=1)
    assert an.rank_parents(base, n_jobs=2).equals(first)
    assert not an.rank_parents(base, seed=1).equals(first)
    assert first.height == len(base.names) * (len(base.names) - 1)
    assert an.rank_parents(base, ["y", "c"]).equals(
        first.filter(pl.col("child").is_in(["y", "c"])).sort(pl.col("child") == "c", maintain_order=True)
    )


def test_any_score_takes_the_candidates_of_a_forest_or_of_given_ranks():
    base = table()
    ranks = an.rank_parents(base)
    by_forest = an.score_parents(base, an.PCART(), 2, parents="forest", n_candidates=3)
    assert by_forest == an.score_parents(base, an.PCART(), 2, parents=ranks, n_candidates=3)
    best = set(ranks.filter(pl.col("child") == "y", pl.col("rank") <= 3)["parent"])
    assert {p for parents in by_forest.child("y")["parents"] for p in parents} <= best
    assert by_forest.n_sets == len(base.names) * (1 + 3 + 3)


def test_constraints_hold_and_required_parents_are_always_candidates():
    base = table()
    rules = an.Constraints(required=[("n0", "y")], forbidden=[("a", "y")])
    kept = an.score_parents(base, an.MARS(), "auto", rules, parents="forest", n_candidates=2).child("y")
    assert all("n0" in parents and "a" not in parents for parents in kept["parents"])
    assert an.rank_parents(base, "y", constraints=rules)["parent"].to_list().count("a") == 0


def test_a_child_out_of_time_keeps_its_small_sets():
    base = table()
    limited = an.score_parents(base, an.MARS(), "auto", parents="forest", n_candidates=5, child_time_limit=0.0)
    assert limited.n_skipped == len(base.names) * 31
    assert "spent on smaller parent sets" in limited.skipped[0].reason
    assert all(limited.child(name)["parents"].to_list() == [[]] for name in base.names)


def test_a_checkpoint_of_another_time_per_child_is_refused(tmp_path):
    base = table(200)
    asked = {"parents": "forest", "n_candidates": 4, "checkpoint": tmp_path / "checkpoint"}
    limited = an.score_parents(base, an.MARS(), "auto", child_time_limit=0.0, **asked)
    assert an.score_parents(base, an.MARS(), "auto", child_time_limit=0.0, **asked) == limited
    with pytest.raises(an.ParameterError, match="time per child is 0 s, not no limit"):
        an.score_parents(base, an.MARS(), "auto", **asked)


def test_a_checkpoint_goes_on_with_the_candidates_of_the_same_forests(tmp_path):
    base, calls = table(300), []

    def fails_once(own, child, parents):
        calls.append(child)
        if len(calls) == 100:
            raise RuntimeError("out of luck")
        return an.local_score(own, child, parents, an.MARS())

    asked = {"max_parents": "auto", "parents": "forest", "n_candidates": 4, "n_jobs": 1}
    score = an.CustomScore(fails_once)
    with pytest.raises(an.ArbornetError, match="out of luck"):
        an.score_parents(base, score, checkpoint=tmp_path / "checkpoint", **asked)
    resumed = an.score_parents(base, score, checkpoint=tmp_path / "checkpoint", **asked)
    whole = an.score_parents(base, an.MARS(), **asked)
    assert all(resumed.child(name).equals(whole.child(name)) for name in base.names)
    assert len(calls) <= whole.n_sets + an.CustomScore.block_sets


def test_progress_is_told_of_the_forests_and_then_of_the_sets():
    base, told = table(300), []
    an.score_parents(base, an.MARS(), "auto", parents="forest", progress=lambda *news: told.append(news))
    totals = [total for _, total in told]
    assert totals[0] == len(base.names)
    assert told[-1] == (totals[-1], totals[-1])
    assert totals[-1] == len(base.names) * 2**5


@pytest.mark.parametrize("parents", ["trees", 3, pl.DataFrame({"child": ["y"]})])
def test_what_is_no_selection_is_refused(parents):
    with pytest.raises(an.ParameterError):
        an.score_parents(table(60), an.MARS(), 1, parents=parents)


def test_ranks_of_unknown_variables_are_refused():
    ranks = pl.DataFrame({"child": ["y"], "parent": ["nobody"], "rank": [1]})
    with pytest.raises(an.ColumnError, match="nobody"):
        an.score_parents(table(60), an.MARS(), 1, parents=ranks)
    with pytest.raises(an.ColumnError, match="nobody"):
        an.rank_parents(table(60), "nobody")


def test_of_equal_importances_the_earlier_variable_comes_first():
    # Too few rows for any tree to split: nothing is worth anything.
    few = table(9)
    for importance in ("gain", "permutation"):
        ranks = an.rank_parents(few, "a", importance=importance)
        assert ranks["importance"].to_list() == [0.0] * (len(few.names) - 1)
        assert ranks["parent"].to_list() == [name for name in few.names if name != "a"]
