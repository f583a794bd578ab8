"""The way between the stored values of a column of numbers and the user's units.

A column is stored standardised, on a logarithmic scale as the standardised `ln(x + log)`, by normal scores as the
standardised score. The core goes the same way (`rust/table/src/units.rs`) wherever it reads rows or answers; this is
for what Python holds in stored values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from arbornet._core import along_scores

Knots: TypeAlias = tuple[tuple[float, float], ...]
"""Of a curve from normal scores to numbers: pairs of both, which rise."""

Bend: TypeAlias = float | Knots
"""What numbers are taken by, if not as they are: what a logarithmic scale adds, or the knots of normal scores."""

Scale: TypeAlias = tuple[float, float] | tuple[float, float, Bend]
"""Shift and scale with `original = shift + scale * stored`; with a third part, a bend, the way leads to
`ln(original + log)` or to the normal score of the original."""

IDENTITY: Scale = (0.0, 1.0)


def bend_of(scale: Scale | None) -> Bend | None:
    """What a scale takes numbers by; None for a linear one."""
    return scale[2] if scale is not None and len(scale) == 3 else None


def log_of(scale: Scale | None) -> float | None:
    """What a logarithmic scale adds before it takes logarithms; None for another one."""
    bend = bend_of(scale)
    return None if isinstance(bend, tuple) else bend


def scores_of(scale: Scale | None) -> Knots | None:
    """The knots of a scale of normal scores; None for another one."""
    bend = bend_of(scale)
    return bend if isinstance(bend, tuple) else None


def knots_of(pairs: Iterable[Iterable[float]]) -> Knots:
    """Knots as they stand in JSON."""
    return tuple((float(score), float(number)) for score, number in pairs)


def identity(bend: Bend | None) -> Scale:
    """The scale of a column that is not standardised."""
    return with_bend((0.0, 1.0), bend)


def with_bend(affine: tuple[float, float], bend: Bend | None) -> Scale:
    """A scale of a shift, a factor and a bend."""
    return affine if bend is None else (*affine, bend)


def unbent(bend: Bend | None, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithms or normal scores of numbers; NaN for those that have no logarithm."""
    if bend is None:
        return numbers
    if isinstance(bend, tuple):
        return along_scores(bend, np.ascontiguousarray(numbers, dtype=np.float64), "to_score")
    with np.errstate(all="ignore"):
        logs = np.log(numbers + bend)
    return np.where((numbers < 0) | ~np.isfinite(logs), np.nan, logs)


def bent(bend: Bend | None, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The numbers of logarithms or normal scores; of logarithms never below 0, and above 0 if nothing is added."""
    if bend is None:
        return values
    if isinstance(bend, tuple):
        return along_scores(bend, np.ascontiguousarray(values, dtype=np.float64), "to_number")
    with np.errstate(over="ignore"):
        numbers = np.clip(np.exp(values), sys.float_info.min, sys.float_info.max)
    # There and back, zero is what rounding leaves of it.
    return np.where(numbers - bend > 1e-13 * bend, numbers - bend, 0.0) if bend > 0 else numbers


def to_original(scale: Scale | None, stored: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stored values in the user's units: of a logarithmic scale never below 0, and above 0 if it adds nothing."""
    shift, factor, *_ = scale or IDENTITY
    return bent(bend_of(scale), np.asarray(shift + factor * stored))


def log_jacobian(scale: Scale | None, stored: NDArray[np.float64]) -> NDArray[np.float64]:
    """What turns the log density of each stored value into one in the user's units."""
    shift, factor, *_ = scale or IDENTITY
    bend = bend_of(scale)
    affine = np.full(len(stored), -np.log(factor))
    if bend is None:
        return affine
    values = shift + factor * stored
    if isinstance(bend, tuple):
        return affine - np.log(along_scores(bend, np.ascontiguousarray(values, dtype=np.float64), "slope"))
    return np.asarray(affine - values)


def to_stored(scale: Scale | None, original: NDArray[np.float64]) -> NDArray[np.float64]:
    """The user's values as they are stored; NaN for those that have no logarithm on a logarithmic scale."""
    shift, factor, *_ = scale or IDENTITY
    stored: NDArray[np.float64] = (unbent(bend_of(scale), original) - shift) / factor
    return stored
