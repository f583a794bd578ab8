"""Scores as people choose them: validated, frozen, readable, the same text for the same score."""

from __future__ import annotations

import dataclasses
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import arbornet as an
from arbornet._core import TableHandle
from arbornet.scores import ScoreParameters

PRIORS = [
    an.priors.Uniform(),
    an.priors.ParentCount(),
    an.priors.Binomial(2),
    an.priors.EBIC(0.25),
    an.priors.Parameters(0.5),
]
TABULAR = [an.LogLikelihood(), an.AIC(), an.BIC(), an.BD(0.7), an.K2(), an.BDeu(10), an.NML(), an.QNML(), an.MIT(0.95)]
MIXED = [
    an.ConditionalGaussian(discretise=True, bins=4, prior=an.priors.Binomial(1)),
    an.DegenerateGaussian(published=True),
    an.BasisFunctions(degree=2),
    an.BlockGaussian(2, "auto", prior=an.priors.Binomial(1)),
    an.MixedPolynomial("log"),
    an.LogisticRegression(2),
    an.Multinomial(bins=4, prior=an.priors.EBIC()),
]
EVERY = [an.PCART(), an.FullTable(), *MIXED, *TABULAR, *(an.BDeu(prior=prior) for prior in PRIORS)]


@pytest.fixture(scope="module")
def table() -> TableHandle:
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 3, 200).astype(np.uint32), rng.integers(0, 2, 200).astype(np.uint32)
    z = ((x + y + rng.integers(0, 2, 200)) % 3).astype(np.uint32)
    levels: list[Any] = [list("abc"), list("de"), list("fgh")]
    return TableHandle.from_columns(["x", "y", "z"], ["categorical"] * 3, levels, [x, y, z])


@pytest.mark.parametrize("score", EVERY, ids=repr)
def test_a_score_survives_pickling_replacing_and_its_own_repr(score: ScoreParameters) -> None:
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
    own = json.loads(score.spec())["priors"]["per_variable"]["age"]
    assert own == {"alpha": 2.0, "kappa": 0.25, "mean": 0.0, "a": 1.0, "nu": 4.0, "lam": 3.0}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: an.BDeu(0), r"ess=0: must be a finite number above 0"),
        (lambda: an.BD(-1), r"alpha=-1"),
        (lambda: an.MIT(1.0), r"alpha=1.0: must be a number above 0 and below 1"),
        (lambda: an.K2(prior="uniform"), r"prior='uniform': give one of an.priors"),
        (lambda: an.K2(prior=an.K2()), r"prior=K2\(\): give one of an.priors"),
        (lambda: an.priors.Binomial(0), r"expected_parents=0"),
        (lambda: an.priors.EBIC(-0.5), r"gamma=-0.5: must be a finite number of at least 0"),
        (lambda: an.priors.Parameters(1.5), r"kappa=1.5: must be above 0 and at most 1"),
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


@pytest.mark.parametrize("score", EVERY, ids=repr)
def test_every_score_scores_and_its_model_tells_the_rows(table: TableHandle, score: ScoreParameters) -> None:
    assert math.isfinite(an.local_score(table, "z", ["x", "y"], score))
    model = an.local_model(table, "z", ["x", "y"], score)
    assert sum(leaf.n for leaf in model.leaves) == 200


@pytest.mark.parametrize("score", TABULAR, ids=repr)
def test_priors_add_what_they_say(table: TableHandle, score: Any) -> None:
    def gain(prior: an.priors.Prior) -> float:
        with_prior = an.local_score(table, "z", ["x", "y"], score.replace(prior=prior))
        return with_prior - an.local_score(table, "z", ["x", "y"], score)

    free = 2 * 6
    assert gain(an.priors.Uniform()) == 0
    assert gain(an.priors.ParentCount()) == pytest.approx(0, abs=1e-9)
    assert gain(an.priors.Binomial(1)) == pytest.approx(math.log(0.25), abs=1e-9)
    assert gain(an.priors.EBIC(0.5)) == pytest.approx(-free * 0.5 * math.log(3), abs=1e-9)
    assert gain(an.priors.Parameters(0.1)) == pytest.approx(free * math.log(0.1), abs=1e-9)


def test_k2_is_bd_with_one_and_bdeu_is_the_same_for_equivalent_graphs(table: TableHandle) -> None:
    assert an.local_score(table, "z", ["x"], an.K2()) == an.local_score(table, "z", ["x"], an.BD(1))
    for score in (an.BDeu(5), an.QNML()):
        forward = an.local_score(table, "x", [], score) + an.local_score(table, "z", ["x"], score)
        back = an.local_score(table, "z", [], score) + an.local_score(table, "x", ["z"], score)
        assert forward == pytest.approx(back, abs=1e-9)


@pytest.fixture(scope="module")
def prior_network(table: TableHandle) -> an.BayesNet:
    import networkx as nx

    return an.fit(an.Table.from_handle(table), nx.DiGraph([("x", "z"), ("y", "z")]), an.K2())


def test_bde_is_a_score_like_the_others(table: TableHandle, prior_network: an.BayesNet, tmp_path: Any) -> None:
    score = an.BDe(prior_network, 5)
    assert pickle.loads(pickle.dumps(score)) == score and hash(score) == hash(score.replace())
    assert score.replace(ess=7).ess == 7 and score != score.replace(ess=7)
    assert repr(score) == "BDe(prior_network=BayesNet(3 variables, 2 arcs, fitted to 200 rows), ess=5.0)"
    prior_network.save(tmp_path / "prior.json")
    prior_network.to_bif(tmp_path / "prior.bif")
    expected = an.local_score(table, "z", ["x"], score)
    for path in (str(tmp_path / "prior.json"), tmp_path / "prior.bif"):
        assert an.local_score(table, "z", ["x"], an.BDe(path, 5)) == pytest.approx(expected, rel=1e-9)


def test_bde_with_a_uniform_network_is_bdeu(table: TableHandle, tmp_path: Any) -> None:
    levels = {"x": "abc", "y": "de", "z": "fgh"}
    lines = ["network flat { }"]
    for name, of in levels.items():
        lines.append(f"variable {name} {{ type discrete [ {len(of)} ] {{ {', '.join(of)} }}; }}")
        lines.append(f"probability ( {name} ) {{ table {', '.join([str(1 / len(of))] * len(of))}; }}")
    (tmp_path / "flat.bif").write_text("\n".join(lines))
    for child, parents in [("x", []), ("z", ["x", "y"]), ("y", ["z"])]:
        bde = an.local_score(table, child, parents, an.BDe(tmp_path / "flat.bif", 4))
        assert bde == pytest.approx(an.local_score(table, child, parents, an.BDeu(4)), rel=1e-9)


def test_bde_refuses_what_it_cannot_use(table: TableHandle, prior_network: an.BayesNet) -> None:
    with pytest.raises(an.ParameterError, match="prior_network=3: give a BayesNet"):
        an.BDe(3)  # type: ignore[arg-type]
    with pytest.raises(an.ParameterError, match="ess=0"):
        an.BDe(prior_network, 0)
    told = "column 'w' is not a variable of the prior network; its variables are 'x', 'y', 'z'"
    with pytest.raises(an.ColumnError, match=told):
        an.local_score(an.Table({"w": list("abab")}), "w", [], an.BDe(prior_network))


@pytest.mark.parametrize("score", TABULAR, ids=repr)
def test_a_continuous_column_is_refused_with_three_ways_out(score: ScoreParameters) -> None:
    table = an.Table({"dose of x": [0.5, 1.5, 2.25], "y": list("aba")})
    way_out = r"column 'dose of x' is continuous.*with_types\({'dose of x': an.Binned\(5\)}\).*FayyadIrani.*PCART"
    for child, parents in [("dose of x", []), ("y", ["dose of x"])]:
        with pytest.raises(an.ColumnError, match=way_out):
            an.local_score(table, child, parents, score)
    with pytest.raises(an.ArbornetError, match=way_out):
        an.learn(table, score, verbose=False)
    with pytest.raises(an.ArbornetError, match=way_out):
        an.search.hill_climb(table, score)
