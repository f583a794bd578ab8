"""A score prepared for a table: the one place where both are handed to the core."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from arbornet._core import ColumnError, ParameterError, ScoreHandle, Step1, TableHandle
from arbornet.given import ScoreLike, TableLike
from arbornet.graphs.constraints import Rules
from arbornet.scores.base import ScoreParameters
from arbornet.text.near import nearest

MOST_PARENTS = 1 << 32
"""More than a table has columns: a larger limit changes nothing."""


@runtime_checkable
class Score(Protocol):
    """A score's parameters: a frozen dataclass that writes itself as JSON."""

    def spec(self) -> str:
        """Name and parameters as JSON; the same text for the same score."""
        ...


def table_handle(table: TableLike) -> TableHandle:
    """The core's table behind a Table."""
    handle = getattr(table, "handle", table)
    if not isinstance(handle, TableHandle):
        if hasattr(table, "spec"):
            raise ParameterError(f"table is the score {table!r}: the table comes first, then the score")
        raise ParameterError(f"table is a {type(table).__name__}: make it a Table first, an.Table(frame)")
    return handle


def prepared(table: TableLike, score: ScoreLike) -> ScoreHandle:
    """The score, prepared for the table; a score that was prepared for it already is returned as it is."""
    handle = table_handle(table)
    if isinstance(score, ScoreHandle):
        return score
    check_score(score)
    own = getattr(score, "prepare", None)
    if own is not None:
        made: ScoreHandle = own(table)
        return made
    return ScoreHandle(handle, score.spec())


def check_score(score: object) -> None:
    """Raises ParameterError if this is no score."""
    if isinstance(score, type) or not isinstance(score, Score | ScoreHandle):
        shown = f"the class {score.__name__}" if isinstance(score, type) else repr(score)
        name = score.__name__ if isinstance(score, type) else score if isinstance(score, str) else ""
        near = nearest(name.removesuffix("Score"), _names(ScoreParameters), alike=0.8) if name else None
        way = "such as an.PCART(), or an.CustomScore(f)" if near is None else f"itself, an.{near}()"
        raise ParameterError(f"score is {shown}: give a score {way}")


def _names(score: type) -> list[str]:
    """The names of the scores that are made from one."""
    own: list[type] = score.__subclasses__()
    return [name for one in own for name in _names(one)] if own else [score.__name__]


def positions(names: Sequence[str], wanted: Iterable[str | int]) -> list[int]:
    """Positions of columns given by name, or by position."""
    place = {name: i for i, name in enumerate(names)}
    if not isinstance(wanted, Iterable) or isinstance(wanted, str | bytes):
        raise ParameterError(f"columns={wanted!r}: give a list of names")
    out = []
    for name in wanted:
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < len(names):
            out.append(name)
        elif isinstance(name, str) and name in place:
            out.append(place[name])
        else:
            raise ColumnError(f"there is no column {name!r}; the columns are {shortened(names)}")
    return out


def shortened(names: Sequence[str], most: int = 20) -> str:
    """Names for a message."""
    return ", ".join(f"'{name}'" for name in names[:most]) + (", ..." if len(names) > most else "")


def local_score(table: TableLike, child: str, parents: Iterable[str], score: ScoreLike) -> float:
    """How well a child is explained by its parents: natural logarithm, higher is better.

    Args:
        table: a Table.
        child: the child's name.
        parents: the parents' names, in any order.
        score: the score; its prior over parent sets, if any, is included.

    Raises:
        FamilyError: if this family cannot be scored.

    Example:
        >>> an.local_score(table, "stage", ["age", "sex"], an.PCART())
    """
    if isinstance(parents, str):
        raise ParameterError(f"parents={parents!r}: give a list of names, even of one")
    handle = prepared(table, score)
    names = handle.table.names
    return handle.score(positions(names, [child])[0], positions(names, parents))


def checked_limit(max_parents: object) -> int:
    """A limit on the number of parents.

    Raises:
        ParameterError: if it is not an integer from 0 up.
    """
    if isinstance(max_parents, bool) or not isinstance(max_parents, int) or max_parents < 0:
        raise ParameterError(f'max_parents={max_parents!r}: give an integer from 0 up, or "auto"')
    return min(max_parents, MOST_PARENTS)


def step1(
    score: ScoreLike,
    handle: ScoreHandle,
    max_parents: int,
    rules: Rules,
    memory_limit: int | None = None,
    prune: bool = True,
) -> Step1:
    """The work of scoring parent sets (step 1): a score prepared for its table, and the sets to score."""
    return Step1(handle, max_parents, rules.spec(), memory_limit, getattr(score, "block_sets", None), prune)
