"""Time and memory a search may use."""

from __future__ import annotations

import time
from copy import copy

from arbornet._core import ParameterError
from arbornet.given import Memory
from arbornet.system.memory import free_memory, in_bytes


class Budget:
    """A deadline and a number of bytes, counted from its making.

    Args:
        time_limit: wall seconds, or None for no limit.
        memory_limit: bytes, or text such as "4 GB"; None for four fifths of what is free now.
    """

    def __init__(self, time_limit: float | None = None, memory_limit: Memory | None = None):
        self._began = time.perf_counter()
        self._limit = seconds_of(time_limit)
        self.bytes = 0.8 * free_memory() if memory_limit is None else in_bytes(memory_limit)

    def less(self, held: float) -> Budget:
        """The same deadline, with so many bytes fewer, which others hold."""
        rest = copy(self)
        rest.bytes = max(0.0, self.bytes - held)
        return rest

    def spend(self, steps: float) -> None:
        """Counts steps that were taken; a deadline does not need to know."""

    @property
    def seconds(self) -> float:
        """Wall seconds used."""
        return time.perf_counter() - self._began

    @property
    def left(self) -> float | None:
        """Wall seconds left, or None if there is no limit."""
        return None if self._limit is None else max(0.0, self._limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether the time is used up."""
        return self.left == 0.0


def seconds_of(time_limit: float | None) -> float | None:
    """A time limit, checked.

    Raises:
        ParameterError: If it is negative, or not a number.
    """
    if time_limit is not None and not (isinstance(time_limit, int | float) and time_limit >= 0):
        raise ParameterError(f"time_limit={time_limit!r}: give seconds from 0 up, or None")
    return time_limit
