"""Functions of higher rooms that lower rooms call: the higher room provides them, so that imports go one way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class Hook(Generic[P, R]):
    """A function that another module provides when it is imported; `import arbornet` imports all that do.

    Args:
        module: The module that provides it.
    """

    def __init__(self, module: str) -> None:
        self.module = module
        self._function: Callable[P, R] | None = None

    def provide(self, function: Callable[P, R]) -> None:
        """Says which function is called."""
        self._function = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Calls it."""
        assert self._function is not None, f"{self.module} has not been imported"
        return self._function(*args, **kwargs)
