"""The way between the stored values of a column of numbers and the user's units.

A column is stored standardised, on a logarithmic scale as the standardised `ln(x + log)`. The core goes the same way
(`rust/table/src/units.rs`) wherever it reads rows or answers; this is for what Python holds in stored values.
"""

from __future__ import annotations

import sys
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Scale: TypeAlias = tuple[float, float] | tuple[float, float, float]
"""Shift and scale with `original = shift + scale * stored`; with a third number, `log`, the way leads to
`ln(original + log)`."""

IDENTITY: Scale = (0.0, 1.0)


def log_of(scale: Scale | None) -> float | None:
    """What a logarithmic scale adds before it takes logarithms; None for a linear one."""
    return scale[2] if scale is not None and len(scale) == 3 else None


def identity(log: float | None) -> Scale:
    """The scale of a column that is not standardised."""
    return IDENTITY if log is None else (*IDENTITY[:2], log)


def to_original(scale: Scale | None, stored: NDArray[np.float64]) -> NDArray[np.float64]:
    """Stored values in the user's units: of a logarithmic scale never below 0, and above 0 if it adds nothing."""
    shift, factor, *_ = scale or IDENTITY
    log = log_of(scale)
    values: NDArray[np.float64] = shift + factor * stored
    if log is None:
        return values
    with np.errstate(over="ignore"):
        numbers = np.clip(np.exp(values), sys.float_info.min, sys.float_info.max)
    # There and back, zero is what rounding leaves of it.
    return np.where(numbers - log > 1e-13 * log, numbers - log, 0.0) if log > 0 else numbers


def log_jacobian(scale: Scale | None, stored: NDArray[np.float64]) -> NDArray[np.float64]:
    """What turns the log density of each stored value into one in the user's units."""
    shift, factor, *_ = scale or IDENTITY
    affine = np.full(len(stored), -np.log(factor))
    return affine if log_of(scale) is None else affine - (shift + factor * stored)


def to_stored(scale: Scale | None, original: NDArray[np.float64]) -> NDArray[np.float64]:
    """The user's values as they are stored; NaN for those that have no logarithm on a logarithmic scale."""
    shift, factor, *_ = scale or IDENTITY
    log = log_of(scale)
    if log is not None:
        with np.errstate(all="ignore"):
            logs = np.log(original + log)
        original = np.where((original < 0) | ~np.isfinite(logs), np.nan, logs)
    stored: NDArray[np.float64] = (original - shift) / factor
    return stored
