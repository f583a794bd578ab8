"""Figures of the papers as small SVG files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any


def panels(path: Path, titles: Sequence[str], draw: Callable[[str, Any], None], columns: int = 3) -> str:
    """Axes side by side in one file, each drawn by its title; the picture in Markdown."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    # Text as text keeps the files small, and nothing in them depends on the day.
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.parent.name, "font.size": 8}):
        columns = min(columns, len(titles))
        rows = -(-len(titles) // columns)
        width = max(3.2, 6.4 / columns)
        figure = Figure(figsize=(width * columns, 2.6 * rows), layout="constrained")
        for axis, title in zip(figure.subplots(rows, columns, squeeze=False).flat, titles, strict=False):
            draw(title, axis)
            axis.set_title(title)
            axis.minorticks_off()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
    return f"\n![{', '.join(titles)}]({path.parent.name}/{path.name})\n"
