"""Tests of conditional independence: likelihood ratios, or Bayes factors, of the models behind scores.

an.independence.test(table, "x", "y", ["z"], an.ConditionalGaussian())
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from arbornet._core import ParameterError
from arbornet.given import ScoreLike, TableLike
from arbornet.scores import DegenerateGaussian
from arbornet.scores.prepare import positions, prepared

__all__ = ["Tested", "test"]


class Tested(NamedTuple):
    """What a test found.

    Attributes:
        p_value: how probable a statistic at least as large is if `x` and `y` are independent; of a Bayes factor, at
            most how probable.
        statistic: twice the difference of log-likelihoods, maximised or marginal.
        df: degrees of freedom of its chi-squared distribution; NaN of a Bayes factor, which has none.
    """

    p_value: float
    statistic: float
    df: float


def test(table: TableLike, x: str, y: str, given: Iterable[str] = (), score: ScoreLike | None = None) -> Tested:
    """Tests whether two variables are independent given others.

    It is the likelihood ratio of the score's models with and without the arc. A score that is not score equivalent is
    tested in both directions, and the smaller p-value counts. Scores of counts give the G test.

    Trees, full tables and decision graphs choose among models, so they have no degrees of freedom. They give a Bayes
    factor, without the prior over parent sets, and its inverse as p-value: under independence a factor above 100 occurs
    in at most one of a hundred tables, in fact much more rarely. This detects any form of dependence, but has less
    power than a test of the right form.

    Args:
        table: a Table.
        x: one variable.
        y: another.
        given: those to condition on.
        score: any score but `MARS`, which has no likelihood; `DegenerateGaussian()` if none is given.

    Raises:
        ParameterError: if the variables are not different ones.
        ArbornetError: if the score has no likelihood to test with.

    Example:
        >>> an.independence.test(table, "rain", "pavement", ["season"]).p_value
    """
    if isinstance(given, str):
        raise ParameterError(f"given={given!r}: give a list of names, even of one")
    handle = prepared(table, DegenerateGaussian() if score is None else score)
    names = handle.table.names
    first, second = positions(names, [x, y])
    others = positions(names, given)
    if len({first, second, *others}) < 2 + len(others):
        raise ParameterError(f"a test of {x!r} and {y!r} given {list(given)!r}: name different variables, each once")
    return Tested(*handle.test(first, second, sorted(others)))


test.__test__ = False  # type: ignore[attr-defined]  # pytest collects what is named so


def __dir__() -> list[str]:
    return sorted(__all__)
