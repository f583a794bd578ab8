"""The score where none is named: trees whose leaves follow numbers along lines.

`docs/prediction.md` and `docs/design/pcart.md` have the tables of held-out rows that this choice was made by: with
lines, trees are smaller and predict better.
"""

from __future__ import annotations

from collections.abc import Iterable

from arbornet.data.ways import spec_of_trees
from arbornet.scores.pcart import PCART

USUAL = PCART(leaf="linear")
"""For tables of which nothing is known yet."""

#: Ways to take a column are compared by its trees, as marginal likelihoods.
spec_of_trees.provide(PCART(leaf="linear", penalised=False).spec)


def usual(continuous: Iterable[bool]) -> PCART:
    """The score for a table of which some columns are numbers: plain trees where no number could follow another.

    Args:
        continuous: Of each column, whether it holds numbers.
    """
    return USUAL if sum(continuous) > 1 else PCART()
