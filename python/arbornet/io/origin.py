"""Where a network comes from, and how its file states it: every entry that is read is checked before it is used.

JSON has no infinite numbers: they are written as the texts "inf" and "-inf", and NaN as null. Entries that this version
does not know are ignored.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from arbornet._core import FormatError
from arbornet.alike import ByContent, alike
from arbornet.text.visible import visible_name

_INFINITE = {"inf": math.inf, "-inf": -math.inf}
_TEXTS = ("method", "stopped")
_REPLACED = ("missing_values", "replace")
TOOK = "seconds"
_NUMBERS = ("score", "bound", TOOK)
"""Entries about the search that are read again."""


@dataclass(frozen=True, eq=False, repr=False)
class Origin(ByContent):
    """Where a network comes from: what it was fitted to, by which score, found by which search."""

    score: str | None = None
    """The score as JSON."""
    n_rows: int | None = None
    """Rows it was fitted to."""
    family_scores: tuple[float, ...] | None = None
    """The score of every variable given its parents."""
    contributions: tuple[tuple[float, ...], ...] | None = None
    """Per variable and parent (in column order), how much removing that arc lowers the score."""
    search: dict[str, Any] = field(default_factory=dict)
    """Score, bound and end of the search, if there was one; and the `seconds` it took, which are no part of the result:
    they are not saved, and networks that differ in nothing else are equal."""
    strengths: dict[str, dict[str, float]] = field(default_factory=dict)
    """Share of bootstrap networks with an arc, by parent and child, if there was a bootstrap."""
    directed: tuple[tuple[str, str], ...] | None = None
    """The arcs that independence or a constraint directs as the search found it, where that is not what the graph's own
    independences direct."""
    in_order: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    """Variables whose model was found by groups in order, so that there may be a better one: by parent, its levels
    and the groups that they were merged to."""
    gaps: dict[str, Any] = field(default_factory=dict)
    """Of rows with missing values that were learned from: `rounds`, how they `ended`, the incomplete `rows`, the
    `missing` values by variable, and the share of `information` that these hide."""

    weights: dict[str, Any] = field(default_factory=dict)
    """Of rows with weights: what they `are` (`"frequency"` or `"survey"`), their `total`, and the `effective` size."""

    replaced: dict[str, list[str]] = field(default_factory=dict)
    """Options of the shell that changed values of the table first (`missing_values`, `replace`): its other commands
    change the same values of new rows."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Origin):
            return NotImplemented
        others = dataclasses.replace(other, search=self.search)
        return super().__eq__(others) is True and alike(_result(self.search), _result(other.search))

    __hash__ = None

    def __repr__(self) -> str:
        parts = [] if self.n_rows is None else [f"{self.n_rows:,} rows"]
        try:
            parts.append(f"score {json.loads(self.score or '')['score']}")
        except (ValueError, KeyError, TypeError):
            parts += [f"score {visible_name(self.score)}"] if self.score else []
        parts += [f"found by {self.search['method']}"] if self.search.get("method") else []
        parts += ["with shares of resampled networks"] if self.strengths else []
        return f"Origin({', '.join(parts) or 'unknown'})"


def to_dict(origin: Origin) -> dict[str, Any]:
    """The origin in JSON's types."""
    told: dict[str, Any] = _plain(dataclasses.asdict(origin))
    told["search"] = _result(told["search"])
    if told["directed"] is None:
        del told["directed"]
    if not told["in_order"]:  # which earlier files do not have
        del told["in_order"]
    for name in ("gaps", "weights", "replaced"):
        if not told[name]:
            del told[name]
    return told


def _result(search: dict[str, Any]) -> dict[str, Any]:
    """What is told of a search, without what another run of the same search would tell otherwise."""
    return {name: value for name, value in search.items() if name != TOOK}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(of) for key, of in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(of) for of in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


def from_dict(told: object, names: Sequence[str], parents: Sequence[Sequence[int]]) -> Origin:
    """The origin that `to_dict` wrote, of a network over these variables with these parents.

    Raises:
        FormatError: If an entry is damaged, with its name.
    """
    if not isinstance(told, dict):
        raise _damaged("")
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
    directed = _directed(told.get("directed"), arcs)
    gaps = _gaps(told.get("gaps", {}), names)
    weights, replaced = _weights(told.get("weights", {})), _replaced(told.get("replaced", {}))
    return Origin(score, n_rows, scores, contributions, search, strengths, directed, in_order, gaps, weights, replaced)


def _check(fits: bool, at: str) -> None:
    if not fits:
        raise _damaged(at)


def _damaged(at: str) -> FormatError:
    return FormatError(f"its entry origin{at} is damaged")


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
    left_out = search.get("left_out", [])
    _check(isinstance(left_out, list) and all(isinstance(text, str) for text in left_out), ".search.left_out")
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


def _weights(told: Any) -> dict[str, Any]:
    _check(isinstance(told, dict), ".weights")
    if told:
        _check(told.get("are") in ("frequency", "survey"), ".weights.are")
        for name in ("total", "effective"):
            value = told.get(name)
            fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
            _check(fits, f".weights.{name}")
    return dict(told)


def _replaced(told: Any) -> dict[str, list[str]]:
    _check(isinstance(told, dict), ".replaced")
    for name, texts in told.items():
        _check(name in _REPLACED and isinstance(texts, list), f".replaced[{name!r:.40}]")
        _check(all(isinstance(text, str) for text in texts), f".replaced.{name}")
    return dict(told)


def _gaps(told: Any, names: Sequence[str]) -> dict[str, Any]:
    _check(isinstance(told, dict), ".gaps")
    gaps = dict(told)
    for name in ("rounds", "rows"):
        _check(type(gaps.get(name, 0)) is int and gaps.get(name, 0) >= 0, f".gaps.{name}")
    _check(isinstance(gaps.get("ended", ""), str), ".gaps.ended")
    for name, kinds in (("missing", int), ("information", int | float)):
        of = gaps.get(name, {})
        _check(isinstance(of, dict), f".gaps.{name}")
        for variable, value in of.items():
            fits = variable in names and isinstance(value, kinds) and not isinstance(value, bool) and value >= 0
            _check(fits, f".gaps.{name}[{variable!r:.40}]")
    return gaps


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


def _directed(told: Any, arcs: set[tuple[str, str]]) -> tuple[tuple[str, str], ...] | None:
    if told is None:
        return None
    _check(isinstance(told, list), ".directed")
    for i, arc in enumerate(told):
        named = isinstance(arc, list) and len(arc) == 2 and all(isinstance(name, str) for name in arc)
        _check(named and tuple(arc) in arcs, f".directed[{i}]")
    return tuple((parent, child) for parent, child in told)
