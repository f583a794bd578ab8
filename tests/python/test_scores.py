"""Scores as people choose them: validated, frozen, readable, the same text for the same score."""

from __future__ import annotations

import dataclasses
import json
import pickle

import pytest

import arbornet as an
from arbornet.scores import Parameters

EVERY = [an.PCART(), an.FullTable(), an.LogLikelihood(), an.AIC(), an.BIC()]


@pytest.mark.parametrize("score", EVERY, ids=repr)
def test_a_score_survives_pickling_replacing_and_its_own_repr(score: Parameters) -> None:
    assert pickle.loads(pickle.dumps(score)) == score
    assert score.replace() == score
    assert eval(repr(score), vars(an).copy()) == score
    assert hash(score) == hash(score.replace())
    assert json.loads(score.spec())["score"]


def test_the_repr_names_what_differs_from_the_defaults() -> None:
    assert repr(an.PCART()) == "PCART()"
    assert repr(an.PCART(penalised=False, alpha=1)) == "PCART(alpha=1.0, penalised=False)"
    score = an.FullTable(max_bins=5, per_variable={"age": {"nu": 3}})
    assert repr(score) == "FullTable(per_variable={'age': {'nu': 3.0}}, max_bins=5)"
    assert eval(repr(score), vars(an).copy()) == score


def test_scores_are_frozen_and_replaced() -> None:
    score = an.PCART()
    with pytest.raises(dataclasses.FrozenInstanceError):
        score.alpha = 1.0  # type: ignore[misc]
    changed = score.replace(max_splits=3)
    assert (score.max_splits, changed.max_splits) == (5, 3)
    with pytest.raises(an.ParameterError, match="no parameter 'depth'"):
        score.replace(depth=3)


def test_equal_scores_are_equal_however_they_are_written() -> None:
    assert an.PCART(alpha=1, max_splits=5) == an.PCART(alpha=1.0)
    assert an.PCART(alpha=1).spec() == an.PCART(alpha=1.0).spec()
    one = an.PCART(per_variable={"a": {"nu": 2}, "b": {"nu": 3}})
    other = an.PCART(per_variable={"b": {"nu": 3.0}, "a": {"nu": 2.0}})
    assert one == other and one.spec() == other.spec() and hash(one) == hash(other)
    assert an.PCART() != an.PCART(penalised=False)
    assert an.AIC() != an.BIC()


def test_changes_for_one_variable_keep_the_score_s_own_values_for_the_rest() -> None:
    score = an.PCART(alpha=2, lam=3, per_variable={"age": {"nu": 4}})
    own = json.loads(score.spec())["leaf"]["per_variable"]["age"]
    assert own == {"alpha": 2.0, "kappa": 0.25, "mean": 0.0, "a": 1.0, "nu": 4.0, "lam": 3.0}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: an.PCART(alpha=0), r"alpha=0: must be a finite number above 0"),
        (lambda: an.PCART(kappa=float("nan")), r"kappa=nan"),
        (lambda: an.PCART(lam="1"), r"lam='1'"),
        (lambda: an.PCART(mean=float("inf")), r"mean=inf: must be a finite number"),
        (lambda: an.PCART(max_splits=0), r"max_splits=0: must be an integer from 1 to 16"),
        (lambda: an.PCART(max_splits=2.5), r"max_splits=2.5"),
        (lambda: an.PCART(max_splits=True), r"max_splits=True"),
        (lambda: an.PCART(ess=-1), r"ess=-1"),
        (lambda: an.PCART(penalised="yes"), r"penalised='yes': must be True or False"),
        (lambda: an.FullTable(max_bins=1), r"max_bins=1: must be an integer from 2 to 64"),
        (lambda: an.FullTable(per_variable=[1]), r"per_variable=\[1\]: give a dict"),
        (lambda: an.FullTable(per_variable={"y": 1}), r"per_variable\['y'\]=1"),
        (lambda: an.FullTable(per_variable={"y": {"beta": 1}}), r"per_variable\['y'\] has 'beta'"),
        (lambda: an.FullTable(per_variable={"y": {"nu": 0}}), r"per_variable\['y'\]\['nu'\]=0"),
    ],
)
def test_a_parameter_out_of_range_is_told_with_name_value_and_range(make: object, told: str) -> None:
    with pytest.raises(an.ParameterError, match=told):
        make()  # type: ignore[operator]
