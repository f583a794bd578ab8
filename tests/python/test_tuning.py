"""Priors chosen from the data: higher totals, the best of a grid on one family, the same at any number of threads."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import arbornet as an


def frame(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(8)
    group = rng.integers(0, 3, n)
    return pl.DataFrame(
        {
            "group": np.array(["x", "y", "z"])[group],
            "grade": np.array([1, 2, 3, 4])[np.minimum(group + rng.integers(0, 2, n), 3)],
            "size": rng.normal(group * 2.0, 0.3),
            "noise": rng.normal(size=n),
        }
    )


def table() -> an.Table:
    df = frame()
    return an.Table(df, schema=an.infer_schema(df).with_types(grade=an.Ordinal([1, 2, 3, 4])))


def total(score) -> float:
    return an.search.hill_climb(table(), score, max_parents=2).score


@pytest.mark.parametrize("kind", [an.PCART, an.FullTable])
@pytest.mark.parametrize("how", ["auto", "each"])
def test_chosen_priors_raise_the_total_score(kind, how):
    names = ("alpha", "kappa", "mean", "a", "nu", "lam")
    score = kind(**dict.fromkeys(names, how))
    chosen = an.evaluate.tuned(table(), score)
    assert not chosen.chosen()
    assert total(chosen) > total(kind()) + 5
    if how == "each":
        assert set(chosen.per_variable) == {"group", "grade", "size", "noise"}
        assert {name: set(own) for name, own in chosen.per_variable.items()} == {
            "group": {"alpha"},
            "grade": {"alpha", "kappa"},
            "size": {"mean", "a", "nu", "lam"},
            "noise": {"mean", "a", "nu", "lam"},
        }
        assert total(chosen) >= total(an.evaluate.tuned(table(), kind(**dict.fromkeys(names, "auto")))) - 1e-9


def test_one_prior_of_one_variable_is_the_best_of_a_fine_grid():
    one = an.Table(frame().select("size"))
    chosen = an.evaluate.tuned(one, an.PCART(lam="auto")).lam
    grid = {lam: an.local_score(one, "size", [], an.PCART(lam=lam)) for lam in np.geomspace(1e-3, 1e3, 400)}
    best = max(grid, key=grid.__getitem__)
    assert best / 1.5 < chosen < best * 1.5
    assert an.local_score(one, "size", [], an.PCART(lam=chosen)) > grid[best] - 0.1


def test_the_whole_road_takes_a_score_whose_priors_are_yet_to_be_chosen(tmp_path):
    t = table()
    score = an.PCART(nu="auto", lam="each")
    concrete = an.evaluate.tuned(t, score)
    net = an.learn(t, score, max_parents=2, verbose=False)
    assert net.origin.score == concrete.spec()
    assert json.loads(net.origin.score)["priors"]["per_variable"]["size"]["lam"] == concrete.per_variable["size"]["lam"]
    assert an.local_score(t, "size", ["group"], score) == an.local_score(t, "size", ["group"], concrete)
    net.save(tmp_path / "net.json")
    df = frame()
    np.testing.assert_array_equal(an.load(tmp_path / "net.json").log_likelihood(df), net.log_likelihood(df))


def test_the_choice_does_not_depend_on_threads():
    score = an.PCART(nu="each", lam="auto", alpha="auto")
    one, many = (an.evaluate.tuned(table(), score, n_jobs=n) for n in (1, 4))
    assert one == many
    assert one.spec() == many.spec()


def test_nothing_is_chosen_where_nothing_is_asked():
    score = an.PCART(lam=2)
    assert an.evaluate.tuned(table(), score) is score
    assert repr(an.PCART(lam="auto")) == "PCART(lam='auto')"
    with pytest.raises(an.ParameterError, match=r"lam='auto' is chosen from a table"):
        an.PCART(lam="auto").spec()
    with pytest.raises(an.ParameterError, match=r'lam=\'best\': give a number, "auto" or "each"'):
        an.PCART(lam="best")
    with pytest.raises(an.ParameterError, match="per_variable"):
        an.PCART(per_variable={"size": {"lam": "auto"}})


def test_a_constant_column_has_priors_too():
    df = frame().select("size").with_columns(flat=pl.lit(3.5))
    with pytest.warns(an.LeftOutWarning, match="flat"):
        inferred = an.infer_schema(df)
    t = an.Table(df, schema=inferred.with_types(flat="continuous"))
    chosen = an.evaluate.tuned(t, an.PCART(nu="each", lam="each"))
    assert all(2.0**-12 <= value <= 2.0**12 for own in chosen.per_variable.values() for value in own.values())


def test_a_prior_that_changes_nothing_stays_where_it_was():
    frame = {"one": ["x"] * 7, "number": [1.0, 2.0, 3.0, 5.0, 4.0, 4.0, 1.0]}
    schema = an.infer_schema({"one": ["x", "y"], "number": [1.5, 2.5]}).with_types(one=an.Ordinal(["x"]))
    assert an.evaluate.tuned(an.Table(frame, schema), an.PCART(kappa="auto")).kappa == an.PCART().kappa
