"""What a schema's file may hold: every entry of a column is checked before a `Column` is made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from arbornet._core import FormatError
from arbornet.data.looks import dates, numbers_in_text
from arbornet.data.units import log_of, scores_of

if TYPE_CHECKING:
    from arbornet.data.column import Column


LOOKS = (
    "number",
    "category",
    "date",
    "text",
    "address",
    "list",
    "number in text",
    "identifier",
    "constant",
    "empty",
    "code",
)
"""What a column may look like."""


def _text(told: Any) -> bool:
    return isinstance(told, str)


def _count(told: Any) -> bool:
    return isinstance(told, int) and not isinstance(told, bool) and 0 <= told < 1 << 63


def _numbers(told: Any) -> bool:
    if not isinstance(told, tuple) or any(isinstance(x, bool) or not isinstance(x, int | float) for x in told):
        return False
    return all(abs(x) <= 1.8e308 and math.isfinite(x) for x in told)


def _levels(told: Any) -> bool:
    return isinstance(told, tuple) and all(isinstance(x, str | int) or _numbers((x,)) for x in told)


def _scale(told: Any) -> bool:
    if not isinstance(told, tuple) or not _numbers(told[:2]) or len(told) not in (2, 3) or not told[1:2] > (0,):
        return False
    if len(told) == 2 or not isinstance(told[2], tuple):
        return len(told) == 2 or (_numbers(told[2:]) and told[2] >= 0)
    return len(told[2]) >= 2 and all(_numbers(knot) and len(knot) == 2 for knot in told[2]) and _rise(told[2])


def _rise(knots: tuple[tuple[float, float], ...]) -> bool:
    return all(low[0] < high[0] and low[1] < high[1] for low, high in pairwise(knots))


def _cuts(told: Any) -> bool:
    return _numbers(told) and all(low < high for low, high in pairwise(told))


def _form(told: Any) -> bool:
    return isinstance(told, str) and (dates.is_form(told) or numbers_in_text.form_of_text(told) is not None)


ENTRIES: Mapping[str, Callable[[Any], bool]] = {
    "name": _text,
    "class_": _text,
    "reason": _text,
    "left_out": _text,
    "n_rows": _count,
    "missing": _count,
    "zone": _text,
    "unit": lambda told: told == "ns",
    "range_": lambda told: _numbers(told) and len(told) == 2 and told[0] <= told[1],
    "observed": _levels,
    "scale": _scale,
    "step": lambda told: _numbers((told,)) and told > 0,
    "least": lambda told: _numbers((told,)),
    "point": lambda told: _numbers(told) and len(told) == 2 and told[1] > 0,
    "heap_places": lambda told: _cuts(told) and len(told) % 2 == 0,
    "heap_numbers": lambda told: _numbers(told) and all(low <= high for low, high in pairwise(told)),
    "cuts": _cuts,
    "ranked": lambda told: _numbers(told) and all(low <= high for low, high in pairwise(told)),
    "merged": _levels,
    "other": _text,
    "missing_level": _text,
    "dated": lambda told: isinstance(told, bool),
    "looks_like": lambda told: told == "" or told in LOOKS,
    "looks_because": _text,
    "hint": _text,
    "form": _form,
}
OPTIONAL = (
    "left_out",
    "zone",
    "unit",
    "range_",
    "observed",
    "scale",
    "step",
    "least",
    "point",
    "heap_places",
    "heap_numbers",
    "cuts",
    "ranked",
    "other",
    "missing_level",
    "hint",
    "form",
)


def checked(column: Column) -> Column:
    """The column, if its entries are of their types and agree with its levels.

    Raises:
        FormatError: If not, with the entry.
    """
    for entry, fits in ENTRIES.items():
        told = getattr(column, entry)
        if not (told is None and entry in OPTIONAL) and not fits(told):
            shown = repr(told)[:80]
            raise FormatError(f"the schema is damaged: column {column.name!r:.80} has {entry}={shown}")
    for setting, fits in (("max_levels", _count), ("other", _text), ("k", _count)):
        told = getattr(column.kind, setting, None)
        unset = told is None and (setting == "max_levels" or not hasattr(column.kind, setting))
        if not unset and not fits(told):
            raise FormatError(f"the schema is damaged: the kind of {column.name!r} has {setting}={told!r:.80}")
    bent = {"log": log_of(column.scale), "normal_scores": scores_of(column.scale)}
    told = getattr(column.kind, "scale", "linear")
    if column.scale is not None and any((bend is not None) != (told == way) for way, bend in bent.items()):
        raise FormatError(
            f"the schema is damaged: column {column.name!r:.80} has scale={column.scale!r} of another kind"
        )
    if len(column.heap_places or ()) != len(column.heap_numbers or ()):
        raise FormatError(f"the schema is damaged: column {column.name!r:.80} has heaps that lead nowhere")
    levels = column.levels or ()
    shared = _levels(levels) and (not column.merged or column.other in levels)
    if not shared or (column.missing_level is not None and column.missing_level != (levels or (None,))[-1]):
        raise FormatError(
            f"the schema is damaged: column {column.name!r} has a level that is none, or shares one it has not"
        )
    return column
