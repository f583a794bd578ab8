"""Calls with an argument that a function has not, or without one that it needs: an error that says what to give.

Python's own names only what is wrong. What a function does with right arguments is left alone, its errors too.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from arbornet.text.elsewhere import of_argument

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C", bound=type[Any])
_SINGLE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def helpful(function: Callable[P, R]) -> Callable[P, R]:
    """The function, whose wrong calls say what to give instead; a TypeError, as ever."""

    @functools.wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        try:
            return function(*args, **kwargs)
        except TypeError:
            told = _told(function, function.__name__, args, kwargs)
            if told is None:
                raise
            raise TypeError(told) from None

    return called


def helpful_class(made: C) -> C:
    """The class, made with arguments in the same way."""
    init = made.__init__

    @functools.wraps(init)
    def started(self: Any, *args: Any, **kwargs: Any) -> None:
        __tracebackhide__ = True
        try:
            init(self, *args, **kwargs)
        except TypeError:
            told = _told(init, made.__name__, (self, *args), kwargs)
            if told is None:
                raise
            raise TypeError(told) from None

    made.__init__ = started
    return made


def _told(function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """What is wrong with a call; None if nothing is."""
    signature = inspect.signature(function)
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        known = {one: what for one, what in signature.parameters.items() if one != "self"}
        unknown = next((one for one in kwargs if one not in known), None)
        if unknown is not None:
            return f"{name}() has no argument {unknown!r}{of_argument(unknown, known)}"
        needed = [one for one, what in known.items() if what.default is what.empty and what.kind in _SINGLE]
        lacking = [one for one in list(needed)[len(args) - ("self" in signature.parameters) :] if one not in kwargs]
        if lacking:
            return f"{name}() needs {' and '.join(lacking)}: {name}({', '.join(needed)})"
        return f"{name}(): {error}"
    return None
