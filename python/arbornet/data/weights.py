"""Weights of rows: how often each counts, read from a column of the frame or given one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ColumnError, Keep, ParameterError
from arbornet.data.frames import Raw

RANGE = "weights are finite numbers from 0 up, and 0 leaves a row out"
WeightsAre = Literal["frequency", "survey"]
"""What weights say: how many equal rows a row stands for, or how many of those who were not asked."""
WeightsLike: TypeAlias = "str | Sequence[float] | NDArray[Any] | pl.Series"
"""Weights of rows: the name of a column that holds them, or one for each row."""


@dataclass(frozen=True)
class Weights:
    """What is known of the weights of a table's rows."""

    are: WeightsAre
    """What they say."""
    total: float
    """The sum of the weights of the rows used, as they were given."""
    effective: float
    """The sum of the weights as they are used: Kish's effective size of a survey."""
    n_weightless: int = 0
    """Complete rows of weight 0, which are left out."""

    def spec(self) -> dict[str, Any]:
        """What a network keeps of them."""
        return {"are": self.are, "total": self.total, "effective": self.effective}

    def __str__(self) -> str:
        size = f" (effective size {_number(self.effective)})" if self.are == "survey" else ""
        left = f"; {self.n_weightless:,} rows of weight 0 left out" if self.n_weightless > 1 else ""
        left = "; 1 row of weight 0 left out" if self.n_weightless == 1 else left
        return f"weights sum to {_number(self.total)}{size}{left}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == round(value) else f"{value:,.4g}"


def of_rows(raw: Raw, weights: WeightsLike) -> tuple[NDArray[np.float64], str | None]:
    """The weight of every row of a frame, and the name of the column that held them, if one did.

    Raises:
        ColumnError: If there is no such column, or it does not hold numbers.
        ParameterError: If they are not one number for each row, or one is negative or not finite.
    """
    if isinstance(weights, str):
        values = _of_column(raw, weights)
        _check(values, lambda row, told: ColumnError(f"column '{weights}' holds {told} in row {row}; {RANGE}"))
        return values, weights
    try:
        values = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"weights is a {type(weights).__name__} ({error}): give the name of a column, or a number for each row"
        ) from None
    n_rows = raw.n_rows
    if values.ndim != 1 or len(values) != n_rows:
        shape = f"{len(values):,} weights" if values.ndim == 1 else f"an array of shape {values.shape}"
        raise ParameterError(f"weights: {shape} for {n_rows:,} rows; give one for each row")
    _check(values, lambda row, told: ParameterError(f"weights: {told} in row {row}; {RANGE}"))
    return np.ascontiguousarray(values), None


def _check(weights: NDArray[np.float64], wrong: Callable[[int, str], ArbornetError]) -> None:
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        value = float(weights[bad[0]])
        raise wrong(int(bad[0]), "no weight" if np.isnan(value) else f"the weight {value:g}")


def _of_column(raw: Raw, name: str) -> NDArray[np.float64]:
    at = raw.places.get(name)
    if at is None:
        raise ColumnError(
            f"weights={name!r}: the frame has no such column; name one of its columns, or give a number for each row"
        )
    seen = raw.profile_as_meant(at)
    if seen.class_ not in ("integer", "number"):
        raise ColumnError(f"column '{name}' holds {seen.class_} values, and weights are numbers; convert it first")
    return raw.numbers(at)


def told(keep: Keep, are: WeightsAre, effective: float) -> Weights | None:
    """What is known of the weights of the kept rows, if they have some."""
    return None if keep.given_weight is None else Weights(are, keep.given_weight, effective, keep.n_weightless)


def used(
    weights: NDArray[np.float64], are: WeightsAre, n_weightless: int = 0
) -> tuple[NDArray[np.float64] | None, Weights]:
    """Weights of rows that all count as they are used, None where each counts once, and what is known of them."""
    own = scaled(weights, are)
    told = Weights(are, float(weights.sum()), float(own.sum()), n_weightless)
    return (None if (own == 1).all() else np.ascontiguousarray(own)), told


def scaled(weights: NDArray[np.float64], are: WeightsAre) -> NDArray[np.float64]:
    """Weights of some of the rows, as they are used: those of a survey sum to the effective size of these rows."""
    own: NDArray[np.float64] = weights * (weights.sum() / (weights**2).sum()) if are == "survey" else weights
    return own
