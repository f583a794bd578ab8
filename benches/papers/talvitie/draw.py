"""Learning curves as the paper draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from arbornet.evaluate.plots import curves


def learning_curves(axis: Any, by_method: dict[str, dict[float, list[float]]], label: str) -> None:
    """Mean distances with their standard errors by number of rows."""
    rows = [
        {"method": method, "rows": n, "distance": float(np.mean(of)), "standard_error": standard_error(of)}
        for method, by_rows in by_method.items()
        for n, of in sorted(by_rows.items())
    ]
    curves(pl.DataFrame(rows), "rows", "distance", "standard_error", "rows", label, axis)


def standard_error(values: Sequence[float]) -> float:
    """Of the mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
