"""Decision graphs: trees whose leaves may be merged (Chickering, Heckerman and Meek 1997)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from arbornet._core import ParameterError
from arbornet.checks import real, truth, whole
from arbornet.scores.base import LogProbability, ScoreParameters
from arbornet.scores.dirichlet import network_of

if TYPE_CHECKING:
    from pathlib import Path

    from arbornet.network import BayesNet


@dataclass(frozen=True, repr=False)
class DecisionGraph(ScoreParameters):
    """The decision graph of a variable, grown by greedy search; its score is the sum over its leaves.

    Three operators change the leaves: a complete split (C) gives every level of a parent its own leaf, a binary split
    (B) parts one level from the others, a merge (M) makes one leaf of two. The best is applied until none improves.
    Without M the graph is a tree. Children need levels; parents too, unless `thresholds` is set.

    Args:
        operators: which may be used: some of "C", "B" and "M".
        prior: "uniform" (every leaf's pseudo-counts are 1), a number (of equivalent rows, spread evenly over the
            parents' configurations), or a network (a `BayesNet` or the path of one): `ess` equivalent rows, distributed
            as in the network.
        kappa: prior of the structure: every free parameter adds ln(kappa); above 0 and at most 1.
        schedule: "best" applies the best of all operators; "splits_first" merges only when no split improves.
        ess: equivalent rows of a prior network.
        thresholds: also split ordinal parents by threshold, and continuous ones by halving their range, as PCART does.
        max_splits: most halvings of a number's range.
        lookahead: where no operator improves, how many of the best splits to try with what follows; finds parents that
            only matter together.
        restarts: how often to perturb the best graph and grow again.
        seed: random seed of the perturbations.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.DecisionGraph(prior=10, schedule="splits_first")
        DecisionGraph(prior=10.0, schedule='splits_first')
    """

    named: ClassVar[Mapping[str, str]] = {"score": "decision_graph"}
    log_probability: ClassVar[LogProbability] = "exact"

    operators: str = "CBM"
    prior: Literal["uniform"] | float | BayesNet | str | Path = field(default="uniform", hash=False)
    kappa: float = 1.0
    schedule: Literal["best", "splits_first"] = "best"
    ess: float = 1.0
    thresholds: bool = False
    max_splits: int = 5
    lookahead: int = 0
    restarts: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "operators", _operators(self.operators))
        object.__setattr__(self, "ess", real("ess", self.ess, above=0))
        object.__setattr__(self, "prior", _prior(self.prior))
        kappa = real("kappa", self.kappa, above=0)
        if kappa > 1:
            raise ParameterError(f"kappa={self.kappa!r}: must be above 0 and at most 1")
        object.__setattr__(self, "kappa", kappa)
        if self.schedule not in ("best", "splits_first"):
            raise ParameterError(f"schedule={self.schedule!r}: must be 'best' or 'splits_first'")
        object.__setattr__(self, "thresholds", truth("thresholds", self.thresholds))
        object.__setattr__(self, "max_splits", whole("max_splits", self.max_splits, 1, 16))
        for name, most in (("lookahead", 1 << 20), ("restarts", 1 << 20), ("seed", (1 << 64) - 1)):
            object.__setattr__(self, name, whole(name, getattr(self, name), 0, most))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        prior: Any = self.prior
        if isinstance(prior, float):
            prior = {"ess": prior}
        elif prior != "uniform":
            prior = {"network": {"ess": self.ess, "network": json.loads(prior.handle.to_json())}}
        return {
            "score": "decision_graph",
            "operators": self.operators,
            "prior": prior,
            "kappa": self.kappa,
            "schedule": self.schedule,
            "thresholds": self.thresholds,
            "max_splits": self.max_splits,
            "lookahead": self.lookahead,
            "restarts": self.restarts,
            "seed": self.seed,
        }


def _operators(given: Any) -> str:
    if not isinstance(given, str) or set(given.upper()) - set("CBM"):
        raise ParameterError(f"operators={given!r}: give some of 'C' (complete split), 'B' (binary split), 'M' (merge)")
    if not set(given.upper()) & set("CB"):
        raise ParameterError(f"operators={given!r}: nothing grows without 'C' (complete split) or 'B' (binary split)")
    return "".join(letter for letter in "CBM" if letter in given.upper())


def _prior(given: Any) -> Any:
    if isinstance(given, str) and given == "uniform":
        return given
    if isinstance(given, bool) or given is None:
        raise ParameterError(f"prior={given!r}: give 'uniform', a number of equivalent rows, or a network")
    if isinstance(given, int | float) or type(given).__module__ == "numpy":
        return real("prior", given, above=0)
    if isinstance(given, str) and not given.endswith((".json", ".bif", ".bif.gz")):
        raise ParameterError(f"prior={given!r}: give 'uniform', a number of equivalent rows, or a network")
    return network_of("prior", given)
