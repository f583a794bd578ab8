"""Warnings about what you may not expect; the message says what was done, and how to change it."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ArbornetWarning(UserWarning):
    """Something was done that you may not expect; the message says what, and how to change it."""


class LeftOutWarning(ArbornetWarning):
    """Columns were left out because they carry no information about the others (identifiers, constants, empty)."""


class RowsDroppedWarning(ArbornetWarning):
    """More than a tenth of the rows were dropped for missing values; the message names the columns."""


def warn(message: str, category: type[ArbornetWarning] = ArbornetWarning) -> None:
    """Warns, and names the line outside of this package that led to it."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: object) -> bool:
    return isinstance(module, str) and module.partition(".")[0] == __name__.partition(".")[0]


_parts_only: ContextVar[bool] = ContextVar("parts_only", default=False)


@contextmanager
def of_parts() -> Iterator[None]:
    """Inside, tables are parts of one that was reported already: their dropped rows are not reported again."""
    token = _parts_only.set(True)
    try:
        yield
    finally:
        _parts_only.reset(token)


def tells_of_rows() -> bool:
    """Whether dropped rows are reported."""
    return not _parts_only.get()


_words: ContextVar[Callable[[str], str] | None] = ContextVar("words", default=None)


@contextmanager
def in_words_of(told: Callable[[str], str]) -> Iterator[None]:
    """Inside, advice that is printed is reworded: in the shell, as options."""
    token = _words.set(told)
    try:
        yield
    finally:
        _words.reset(token)


def reworded(text: str) -> str:
    """A text with its advice in the words of whoever called: lines of Python, or options of the shell."""
    told = _words.get()
    return text if told is None else told(text)
