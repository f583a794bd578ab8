"""A Python callable as a score: slow, but usable wherever a score is."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from arbornet._core import ParameterError, ScoreHandle
from arbornet.given import TableLike
from arbornet.scores.prepare import Score, prepared, table_handle


@dataclass(frozen=True)
class CustomScore:
    """A score computed by a callable ``f(table, child, parents) -> float``, higher is better.

    It is called with the table as it was given, the child's name and the list of the parents' names in column order,
    from several threads in turn. Minus infinity forbids a family; other values that are not finite, and exceptions, end
    the work with an error that names the family. Raise ``FamilyError`` for a family that cannot be scored and should
    be left out.

    Args:
        f: the callable. For many machines it has to pickle; unpickling runs code, so use machines of your own.
        name: identifies it in checkpoints and files, beside its qualified name; change it when you change the callable.
        takes_weights: whether ``f`` heeds the weights of a table's rows (``table.handle.weights``). Tables with weights
            are refused otherwise.
        model: the score whose models are fitted to the variables of a network; without one, no network can be fitted.

    Example:
        >>> an.local_score(table, "y", ["a"], an.CustomScore(lambda table, child, parents: -len(parents)))
    """

    f: Callable[[Any, str, list[str]], float]
    name: str | None = None
    model: Any = None
    takes_weights: bool = False

    #: Calls are slow: few to a block, so that a checkpoint loses little.
    block_sets: ClassVar[int] = 32

    def __post_init__(self) -> None:
        if not callable(self.f):
            raise ParameterError(f"f={self.f!r}: give a callable f(table, child, parents) -> float")
        if self.model is not None and not isinstance(self.model, Score):
            raise ParameterError(f"model={self.model!r}: give a score such as an.PCART()")

    def spec(self) -> str:
        """Name and parameters as JSON."""
        kind = type(self.f) if not hasattr(self.f, "__qualname__") else self.f
        function = f"{kind.__module__}.{kind.__qualname__}"
        model = None if self.model is None else json.loads(self.model.spec())
        return json.dumps({"score": "custom", "function": function, "name": self.name, "model": model})

    def prepare(self, table: TableLike) -> ScoreHandle:
        """The score as the core calls it."""
        model = None if self.model is None else prepared(table, self.model)
        handle = table_handle(table)
        if handle.weights is not None and not self.takes_weights:
            raise ParameterError(
                "score: the table's rows have weights, and this CustomScore does not say that it heeds them; let f "
                "read table.handle.weights and pass takes_weights=True"
            )
        return ScoreHandle.custom(handle, self.spec(), _Family(self.f, table, tuple(handle.names)), model)


@dataclass(frozen=True)
class _Family:
    """The callable as the core calls it: with positions instead of names."""

    f: Callable[[Any, str, list[str]], float]
    table: Any
    names: tuple[str, ...]

    def __call__(self, child: int, parents: Sequence[int]) -> float:
        score = self.f(self.table, self.names[child], [self.names[p] for p in parents])
        try:
            return float(score)
        except (TypeError, ValueError):
            raise TypeError(f"it returned {score!r} where a number is needed") from None
