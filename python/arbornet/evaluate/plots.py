"""Drawings of results: on a matplotlib axis, or into a file."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from arbornet._core import ArbornetError, ParameterError
from arbornet.given import Target
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bars(frame: pl.DataFrame, label: str, value: str, error: str, axis_label: str, target: Target) -> Axes | None:
    """A point with its standard error per row of a frame, the first on top."""

    def draw(axis: Axes) -> None:
        places = range(frame.height)
        errors = frame[error].fill_null(0.0).to_list()
        axis.errorbar(frame[value].to_list(), list(places), xerr=errors, fmt="o", capsize=3)
        axis.set_yticks(list(places), frame[label].to_list())
        axis.set_ylim(frame.height - 0.5, -0.5)
        axis.set_xlabel(axis_label)

    return _on(target, draw, (6.0, 1.0 + 0.35 * frame.height))


def curves(
    frame: pl.DataFrame, x: str, value: str, error: str, x_label: str, y_label: str, target: Target
) -> Axes | None:
    """A curve with standard errors per method over a logarithmic axis."""

    def draw(axis: Axes) -> None:
        for name in frame["method"].unique(maintain_order=True):
            of = frame.filter(pl.col("method") == name)
            errors = of[error].fill_null(0.0).to_list()
            axis.errorbar(of[x].to_list(), of[value].to_list(), yerr=errors, marker="o", capsize=3, label=name)
        axis.set_xscale("log", base=2)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.legend(frameon=False)

    return _on(target, draw, (6.0, 4.0))


def stacked(
    labels: Sequence[str], parts: Mapping[str, Sequence[float]], axis_label: str, target: Target
) -> Axes | None:
    """A bar per label, the first on top, of parts end to end."""

    def draw(axis: Axes) -> None:
        places, ends = range(len(labels)), [0.0] * len(labels)
        for name, lengths in parts.items():
            axis.barh(places, lengths, left=ends, label=name)
            ends = [end + length for end, length in zip(ends, lengths, strict=True)]
        axis.set_yticks(list(places), list(labels))
        axis.set_ylim(len(labels) - 0.5, -0.5)
        axis.set_xlabel(axis_label)
        if len(parts) > 1:
            axis.legend(frameon=False, ncols=len(parts), loc="lower center", bbox_to_anchor=(0.5, 1.0))

    return _on(target, draw, (6.0, 1.2 + 0.3 * len(labels)))


def _on(target: Target, draw: Callable[[Axes], None], size: tuple[float, float]) -> Axes | None:
    if target is not None and not isinstance(target, str | os.PathLike):
        if not hasattr(target, "errorbar"):
            raise ParameterError(f"target={target!r}: give a matplotlib axis, a path, or nothing")
        draw(target)
        return target
    try:
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure
    except ImportError:
        raise ArbornetError('plots need matplotlib: pip install "arbornet[draw]"') from None
    if target is None:
        axis = plt.subplots(figsize=size, layout="constrained")[1]
        draw(axis)
        return axis
    # A figure of its own, outside pyplot's register: nothing to close, and no window system needed.
    figure = Figure(figsize=size, layout="constrained")
    draw(figure.subplots())
    plain = Path(target).exists() and not Path(target).is_file()  # a pipe, say, whose name has no ending
    path = Path(target) if Path(target).suffix or plain else Path(target).with_suffix(".png")
    ending = path.suffix.lower()[1:] or "png"
    known = figure.canvas.get_supported_filetypes()
    if ending not in known:
        raise ParameterError(f"cannot plot to {path.name!r}: use a name ending in .{', .'.join(sorted(known))}")
    stream = io.BytesIO()
    figure.savefig(stream, format=ending, metadata={"Date": None} if ending == "svg" else None)
    write_whole(path, stream.getvalue())
    return None
