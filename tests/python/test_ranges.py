"""Ranges that Python and the core both know are the same: what one refuses of a parameter, the other does too."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest

import arbornet as an
from arbornet import priors
from arbornet._core import ScoreHandle
from test_every_score import CLASSES, LEVELS, MIXED, made

ABOVE_0 = ([5e-324, 1e300], [0.0, -1.0, True, "1"])
TRUTHS = ([False, True], [2, "yes"])
BINS = ([2, 256], [1, 257, 2.5])
PRIORS: list[tuple[priors.Prior, str, tuple[list[Any], list[Any]]]] = [
    (priors.Binomial(), "expected_parents", ABOVE_0),
    (priors.EBIC(), "gamma", ([0.0, 1e300], [-5e-324, True])),
    (priors.Parameters(0.5), "kappa", ([5e-324, 1.0], [0.0, math.nextafter(1, 2), True])),
]
LEAVES = dict.fromkeys(("alpha", "kappa", "a", "nu", "lam"), ABOVE_0) | {
    "mean": ([-1e300, 1e300], [True, "x"]),
    "per_variable": ([{"x": {"nu": 5e-324}}], [{"x": {"nu": 0.0}}, {"x": {"none": 1.0}}, {"x": {"mean": "x"}}]),
}
SMALL = {"degree": ([1, 20], [0, 21, 1.5])}
POLYNOMIAL = {"degree": ([1, 20, "log"], [0, 21, "none"])}
RANGES: dict[str, dict[str, tuple[list[Any], list[Any]]]] = {
    "BD": {"alpha": ABOVE_0},
    "BDe": {"ess": ABOVE_0},
    "BDeu": {"ess": ABOVE_0},
    "BasisFunctions": SMALL,
    "BlockGaussian": SMALL | {"scale": (["normal_scores", "raw", "log", "auto"], ["none"])},
    "ConditionalGaussian": {"discretise": TRUTHS, "bins": BINS, "exact": TRUTHS},
    "DecisionGraph": {
        "operators": (["C", "B", "CBM"], ["", "M", "CX"]),
        "prior": (["uniform", 5e-324, 1e300], [0.0, -1.0]),
        "kappa": ([5e-324, 1.0], [0.0, math.nextafter(1, 2), True]),
        "schedule": (["best", "splits_first"], ["worst"]),
        "thresholds": TRUTHS,
        "max_splits": ([1, 16], [0, 17, 1.5]),
        "lookahead": ([0, 1 << 20], [-1, (1 << 20) + 1]),
        "restarts": ([0, 1 << 20], [-1, (1 << 20) + 1]),
        "seed": ([0, (1 << 64) - 1], [-1, 1 << 64]),
    },
    "FullTable": LEAVES
    | {"penalised": TRUTHS, "max_bins": ([2, 64], [1, 65, 2.5]), "normalised": TRUTHS, "published": TRUTHS},
    "LogisticRegression": POLYNOMIAL,
    "MARS": {
        "degree": ([1, 100], [0, 101, 1.5]),
        "penalty": ([None, 0.0, 1000.0], [-5e-324, math.nextafter(1000, 1001), True]),
        "criterion": (["gcv", "bic"], ["none"]),
        "compatible": ([None, "earth"], ["water"]),
    },
    "MIT": {"alpha": ([5e-324, math.nextafter(1, 0)], [0.0, 1.0, True])},
    "MixedPolynomial": POLYNOMIAL,
    "Multinomial": {"bins": BINS},
    "PCART": LEAVES
    | {
        "penalised": TRUTHS,
        "max_splits": ([1, 16], [0, 17, 1.5]),
        "ess": ([None, 5e-324, 1e300], [0.0, -1.0]),
        "published": TRUTHS,
        "memory_limit": ([1 << 20, 1 << 50], [(1 << 50) + (1 << 20), 0]),
        "grouping": (["auto", "exact", "ordered"], ["none"]),
        "tree_prior": (["paper", "cell"], ["none"]),
        "leaf_probability": ([0.5, math.nextafter(1, 0)], [math.nextafter(0.5, 0), 1.0, True]),
        "leaf": (["normal", "linear"], ["none"]),
        "linear_only": ([()], ["n", [1]]),
        "cuts": (["range", "quantile"], ["none"]),
    },
}
"""For each parameter values of which the last ones are just within its range, and values just outside."""
for _name in ("BasisFunctions", "ConditionalGaussian", "DegenerateGaussian", "LogisticRegression", "MixedPolynomial"):
    RANGES.setdefault(_name, {})
    RANGES[_name] = RANGES[_name] | {"published": TRUTHS}
RANGES["Multinomial"]["published"] = TRUTHS

# Checked by Python alone, with the reason.
ELSEWHERE = {
    ("BDe", "prior_network"): "a network",
    ("DecisionGraph", "ess"): "of a prior network, which the core reads with it",
}
# Parameters that do not go with one another, and one of each pair's ways in which they do not.
TOGETHER: list[tuple[str, dict[str, Any]]] = [
    ("ConditionalGaussian", {"discretise": True, "exact": True}),
    ("PCART", {"tree_prior": "cell", "published": True}),
    ("PCART", {"tree_prior": "cell", "ess": 1.0}),
    ("PCART", {"leaf": "linear", "published": True}),
    ("PCART", {"leaf": "linear", "tree_prior": "cell"}),
    ("PCART", {"linear_only": ("n",)}),
    ("PCART", {"cuts": "quantile", "published": True}),
]
TABLES = [an.Table(LEVELS), an.Table(MIXED)]
SCORES = {cls.__name__: made(cls) for cls in CLASSES}


def python_takes(of: Any, changes: dict[str, Any]) -> bool:
    try:
        of.replace(**changes)
    except an.ParameterError:
        return False
    return True


def core_takes(score: an.scores.ScoreParameters) -> bool:
    """Whether the core prepares a score for some table. That a table does not suit it is no parameter's fault."""
    told = []
    for table in TABLES:
        try:
            ScoreHandle(table.handle, json.dumps(score.document()))
        except an.ParameterError as error:
            told.append(str(error))
        except an.ArbornetError:
            pass
        else:
            return True
    assert told, "no table suits the score"
    return False


def unchecked(of: Any, changes: dict[str, Any]) -> Any:
    """A copy with some parameters changed that nobody looked at."""
    copy = of.replace()
    for name, value in changes.items():
        object.__setattr__(copy, name, value)
    return copy


def told(values: tuple[list[Any], list[Any]]) -> list[tuple[Any, bool]]:
    """Each value, and whether it is to be taken."""
    within, outside = values
    return [(value, True) for value in within] + [(value, False) for value in outside]


WALK = [(name, parameter) for name, ranges in sorted(RANGES.items()) for parameter in sorted(ranges)]


@pytest.mark.parametrize(("name", "parameter"), WALK, ids=lambda of: of)
def test_a_value_that_python_refuses_the_core_does_too_and_the_other_way_round(name: str, parameter: str) -> None:
    for value, takes in told(RANGES[name][parameter]):
        said = {
            "Python": python_takes(SCORES[name], {parameter: value}),
            "the core": core_takes(unchecked(SCORES[name], {parameter: value})),
        }
        assert said == dict.fromkeys(said, takes), value


@pytest.mark.parametrize(("prior", "parameter", "values"), PRIORS, ids=lambda of: str(of)[:20])
def test_so_it_is_of_priors_over_parent_sets(
    prior: priors.Prior, parameter: str, values: tuple[list[Any], list[Any]]
) -> None:
    for value, takes in told(values):
        changed = unchecked(prior, {parameter: value})
        said = {
            "Python": python_takes(prior, {parameter: value}),
            "the core": core_takes(unchecked(an.BIC(), {"prior": changed})),
        }
        assert said == dict.fromkeys(said, takes), value


@pytest.mark.parametrize(("name", "changes"), TOGETHER, ids=str)
def test_so_it_is_of_parameters_that_do_not_go_together(name: str, changes: dict[str, Any]) -> None:
    assert not python_takes(SCORES[name], changes)
    assert not core_takes(unchecked(SCORES[name], changes))


def test_every_parameter_of_every_score_is_walked() -> None:
    walked = {(name, parameter) for name, ranges in RANGES.items() for parameter in ranges} | set(ELSEWHERE)
    own = {(cls.__name__, field.name) for cls in CLASSES for field in dataclasses.fields(cls)}
    of_priors = {(name, "prior") for name, _ in own if name != "DecisionGraph"}
    assert own - of_priors == walked
    every_prior = {field.name for of in priors.__all__ for field in _fields(getattr(priors, of))}
    assert every_prior == {parameter for _, parameter, _ in PRIORS}


def _fields(of: Any) -> tuple[Any, ...]:
    return dataclasses.fields(of) if dataclasses.is_dataclass(of) else ()
