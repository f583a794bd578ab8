"""The paper's figures as small SVG files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from arbornet.evaluate.plots import curves


def panels(path: Path, titles: Sequence[str], draw: Callable[[str, Any], None], columns: int = 3) -> str:
    """Axes side by side in one file, each drawn by its title; the picture in Markdown."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Text as text keeps the files small, and nothing in them depends on the day.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "talvitie2019", "font.size": 8}):
        columns = min(columns, len(titles))
        rows = -(-len(titles) // columns)
        figure = Figure(figsize=(3.2 * columns, 2.6 * rows), layout="constrained")
        for axis, title in zip(figure.subplots(rows, columns, squeeze=False).flat, titles, strict=False):
            draw(title, axis)
            axis.set_title(title)
            axis.minorticks_off()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
    return f"\n![{', '.join(titles)}]({path.parent.name}/{path.name})\n"


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
