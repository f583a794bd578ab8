"""Where a network comes from, as its file states it: every entry is checked before it is used.

JSON has no infinite numbers: they are written as the texts "inf" and "-inf", and NaN as null. Entries that this version
does not know are ignored.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from arbornet._core import FormatError
from arbornet.network.origin import Origin

_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_TEXTS = ("method", "stopped")
_NUMBERS = ("score", "bound", "seconds")
"""Entries about the search that are read again."""


def to_dict(origin: Origin) -> dict[str, Any]:
    """The origin in JSON's types."""
    told: dict[str, Any] = _plain(dataclasses.asdict(origin))
    if not told["in_order"]:  # which earlier files do not have
        del told["in_order"]
    return told


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(of) for of in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def from_dict(told: Any, names: Sequence[str], parents: Sequence[Sequence[int]]) -> Origin:
    """The origin that `to_dict` wrote, of a network over these variables with these parents.

    Raises:
        FormatError: If an entry is damaged, with its name.
    """
    _check(isinstance(told, dict), "")
    score, n_rows = told.get("score"), told.get("n_rows")
    _check(score is None or isinstance(score, str), ".score")
    _check(n_rows is None or (type(n_rows) is int and 0 <= n_rows < 1 << 63), ".n_rows")
    scores, contributions = told.get("family_scores"), told.get("contributions")
    if scores is not None:
        scores = _listed(scores, len(names), _number, ".family_scores")
    if contributions is not None:

        def of_child(listed: Any, at: str) -> tuple[float, ...]:
            child = int(at.rpartition("[")[2][:-1])
            return _listed(listed, len(parents[child]), _number, at)

        contributions = _listed(contributions, len(names), of_child, ".contributions")
    arcs = {(names[p], names[child]) for child, of in enumerate(parents) for p in of}
    search = _search(told.get("search", {}))
    strengths, in_order = _strengths(told.get("strengths", {}), arcs), _in_order(told.get("in_order", {}), arcs)
    return Origin(score, n_rows, scores, contributions, search, strengths, in_order)


def _check(fits: bool, at: str) -> None:
    if not fits:
        raise FormatError(f"its entry origin{at} is damaged")


def _number(told: Any, at: str) -> float:
    if told is None:
        return math.nan
    if isinstance(told, str) and told in _INFINITE:
        return _INFINITE[told]
    _check(isinstance(told, int | float) and not isinstance(told, bool), at)
    try:
        return float(told)
    except OverflowError:
        raise FormatError(f"its entry origin{at} is a number beyond all bounds; the file is damaged") from None


def _listed(told: Any, length: int, read: Callable[[Any, str], Any], at: str) -> tuple[Any, ...]:
    _check(isinstance(told, list) and len(told) == length, at)
    return tuple(read(each, f"{at}[{i}]") for i, each in enumerate(told))


def _search(told: Any) -> dict[str, Any]:
    _check(isinstance(told, dict), ".search")
    search = dict(told)
    for name in _TEXTS:
        _check(isinstance(search.get(name, ""), str), f".search.{name}")
    for name in _NUMBERS:
        if name in search:
            search[name] = _number(search[name], f".search.{name}")
    return search


def _in_order(told: Any, arcs: set[tuple[str, str]]) -> dict[str, dict[str, tuple[int, int]]]:
    _check(isinstance(told, dict), ".in_order")
    in_order: dict[str, dict[str, tuple[int, int]]] = {}
    for child, parents in told.items():
        _check(isinstance(parents, dict), f".in_order[{child!r:.40}]")
        for parent, counts in parents.items():
            at = f".in_order[{child!r:.40}][{parent!r:.40}]"
            _check(isinstance(counts, list) and len(counts) == 2 and (parent, child) in arcs, at)
            _check(all(type(n) is int and n > 0 for n in counts), at)
            in_order.setdefault(child, {})[parent] = (counts[0], counts[1])
    return in_order


def _strengths(told: Any, arcs: set[tuple[str, str]]) -> dict[str, dict[str, float]]:
    _check(isinstance(told, dict), ".strengths")
    strengths: dict[str, dict[str, float]] = {}
    for parent, children in told.items():
        _check(isinstance(children, dict), f".strengths[{parent!r:.40}]")
        for child, share in children.items():
            at = f".strengths[{parent!r:.40}][{child!r:.40}]"
            strength = _number(share, at)
            _check((parent, child) in arcs and not (strength < 0.0 or strength > 1.0), at)
            strengths.setdefault(parent, {})[child] = strength
    return strengths
