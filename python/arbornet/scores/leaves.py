"""Hyperparameters of leaves, shared by the scores that have them: defaults here, changes for single variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from arbornet._core import ParameterError, ScoreHandle
from arbornet.checks import real
from arbornet.given import TableLike
from arbornet.hooks import Hook
from arbornet.scores.base import ScoreParameters
from arbornet.scores.prepare import table_handle

LEAF_PARAMETERS = ("alpha", "kappa", "mean", "a", "nu", "lam")
CHOSEN = ("auto", "each")
tune: Hook[[Any, Any], Any] = Hook("arbornet.evaluate.tuning")
"""A score with the priors that are chosen from a table; see `evaluate.tuned`."""


@dataclass(frozen=True, repr=False, kw_only=True)
class Leaves(ScoreParameters):
    """The priors of the three leaf distributions; a variable reads those of its kind.

    Numbers are standardised before they are scored, so `mean` and `lam` count in standard deviations from the mean. A
    prior may be `"auto"`, one value for all variables, or `"each"`, one for each variable: it is then chosen from the
    table so that the total score of a good graph is highest (`evaluate.tuned`).
    """

    alpha: float | str = 0.5
    """Categorical and ordinal: Dirichlet parameter of each level."""
    kappa: float | str = 0.25
    """Ordinal: prior odds of a boundary between neighbouring levels."""
    mean: float | str = 0.0
    """Continuous: prior mean."""
    a: float | str = 1.0
    """Continuous: weight of the prior mean, in rows."""
    nu: float | str = 1.0
    """Continuous: degrees of freedom of the prior variance."""
    lam: float | str = 1.0
    """Continuous: scale of the prior variance."""
    per_variable: Mapping[str, Mapping[str, float]] = field(default_factory=dict, hash=False)
    """Other values for single variables: `{"age": {"mean": 1.0}}`; what is not named stays as above."""

    def __post_init__(self) -> None:
        for name in LEAF_PARAMETERS:
            object.__setattr__(self, name, _checked(name, name, getattr(self, name)))
        if not isinstance(self.per_variable, Mapping):
            raise ParameterError(f"per_variable={self.per_variable!r}: give a dict of variable to a dict of parameters")
        changes = {variable: _changes(variable, own) for variable, own in self.per_variable.items()}
        object.__setattr__(self, "per_variable", changes)

    def chosen(self) -> dict[str, str]:
        """The priors that are to be chosen from a table, and how."""
        values = {name: getattr(self, name) for name in LEAF_PARAMETERS}
        return {name: value for name, value in values.items() if isinstance(value, str)}

    def prepare(self, table: TableLike) -> ScoreHandle:
        """The score as the core computes it on a table; priors that depend on the table are chosen here."""
        return ScoreHandle(table_handle(table), tune(table, self).spec())

    def priors(self) -> dict[str, Any]:
        """The leaf priors as the core reads them.

        Raises:
            ParameterError: If some are yet to be chosen from a table.
        """
        if self.chosen():
            name, how = next(iter(self.chosen().items()))
            raise ParameterError(f"{name}={how!r} is chosen from a table: call an.evaluate.tuned(table, score) first")
        common = {name: getattr(self, name) for name in LEAF_PARAMETERS}
        return {"common": common, "per_variable": {v: {**common, **own} for v, own in self.per_variable.items()}}


def _checked(shown: str, name: str, value: Any) -> float | str:
    if shown == name and isinstance(value, str):
        if value not in CHOSEN:
            raise ParameterError(f'{name}={value!r}: give a number, "auto" or "each"')
        return value
    return real(shown, value) if name == "mean" else real(shown, value, above=0)


def _changes(variable: str, own: Any) -> dict[str, float]:
    if not isinstance(own, Mapping):
        raise ParameterError(f"per_variable[{variable!r}]={own!r}: give a dict of parameter to value")
    for name in own:
        if name not in LEAF_PARAMETERS:
            known = ", ".join(LEAF_PARAMETERS)
            raise ParameterError(f"per_variable[{variable!r}] has {name!r}: the parameters of a leaf are {known}")
    checked = {name: _checked(f"per_variable[{variable!r}][{name!r}]", name, value) for name, value in own.items()}
    return cast(dict[str, float], checked)
