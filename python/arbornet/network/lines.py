"""Which numbers of a network follow which parents along lines, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbornet.data.kinds import Continuous
from arbornet.models import PointMass
from arbornet.text.terminal import percent
from arbornet.text.visible import visible

if TYPE_CHECKING:
    from arbornet.models import LocalModel
    from arbornet.network import BayesNet

MOST_TOLD = 12
"""So many numbers are told in lines of their own."""


def followed(model: LocalModel) -> list[str]:
    """The parents that some leaf of a model follows along a line, in the order of the parents."""
    names = {slope.variable for leaf in model.leaves for slope in leaf.slopes}
    return [parent for parent in model.parents if parent in names]


def lines_of(net: BayesNet) -> list[str]:
    """A line for each number with lines in its leaves: what its column says, and the parents it is linear in."""
    told = []
    for column in net.schema.used:
        if not isinstance(column.kind, Continuous):
            continue
        model = net[column.name]
        if parents := followed(model):
            own = ["logarithmic"] if column.kind.is_log else ["normal scores"] if column.kind.is_scored else []
            own += _share(model, column.kind)
            linear = f"linear in {', '.join(map(visible, parents))}"
            told.append(f"{visible(column.name)}: {'; '.join([*filter(None, [', '.join(own)]), linear])}")
    more = len(told) - MOST_TOLD
    return told if more <= 0 else [*told[:MOST_TOLD], f"and {more:,} more numbers with lines in their leaves"]


def _share(model: LocalModel, kind: Continuous) -> list[str]:
    """How probable the number is that many rows share, over all leaves."""
    points = [(leaf.n, leaf.distribution) for leaf in model.leaves if isinstance(leaf.distribution, PointMass)]
    n = sum(rows for rows, _ in points)
    if not n or not isinstance(kind.point, float):
        return []
    return [f"{percent(sum(rows * of.probability for rows, of in points) / n)} {kind.point:g}"]
