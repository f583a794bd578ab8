"""Warnings about what you may not expect; the message says what was done, and how to change it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ArbornetWarning(UserWarning):
    """Something was done that you may not expect; the message says what, and how to change it."""


class LeftOutWarning(ArbornetWarning):
    """Columns were left out because they carry no information about the others (identifiers, constants, empty)."""


class RowsDroppedWarning(ArbornetWarning):
    """More than a tenth of the rows were dropped for missing values; the message names the columns."""


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
