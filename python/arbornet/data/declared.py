"""Columns as you declare them: another type, or how texts are written that hold numbers or dates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from arbornet._core import ParameterError
from arbornet.data import calendar
from arbornet.data.column import Column
from arbornet.data.kinds import Binned, Categorical, Continuous, Kind, Ordinal
from arbornet.data.levels import as_own_levels
from arbornet.data.looks.dates import zone_of
from arbornet.data.looks.written import class_of


def written_as(column: Column, form: str) -> Column:
    """The column with texts read by a form that you declared."""
    zone = zone_of(form) if class_of(form) != "number" else None
    made = declared(replace(column, form=form), Continuous())
    looks = "number in text" if class_of(form) == "number" else "date"
    return replace(
        made, class_=class_of(form), zone=zone, range_=None, observed=None, looks_like=looks, hint=None,
        reason=f"written as {form}, as declared",
    )  # fmt: skip


def declared(column: Column, kind: Kind) -> Column:
    """The column as you declared it; levels are texts again where texts were read as numbers or dates."""
    reason = "as declared"
    if column.form is not None and isinstance(kind, Categorical | Ordinal):
        column = replace(column, form=None, class_="text", range_=None, zone=None)
    if isinstance(kind, Ordinal) and kind.levels is None:
        if isinstance(column.kind, Ordinal):
            kind = column.kind
        elif column.class_ == "text":
            reason = "as declared, in the order of the text: an.Ordinal([...]) gives another"
    levels = kind.levels if isinstance(kind, Categorical | Ordinal) else None
    if levels is None and column.observed and isinstance(kind, Categorical | Ordinal):
        merging = isinstance(kind, Categorical) and kind.max_levels is not None
        levels = None if merging else column.observed
    if levels is not None:
        own = as_own_levels(column.name, levels, column.class_, column.observed)
        kind = Ordinal(own) if isinstance(kind, Ordinal) else Categorical(own)
    unknown: dict[str, Any] = {
        "scale": None,
        "step": None,
        "least": None,
        "point": None,
        "heap_places": None,
        "heap_numbers": None,
        "cuts": None,
        "ranked": None,
        "merged": (),
        "other": None,
        "missing_level": None,
        "dated": False,
    }
    if isinstance(kind, Binned):
        unknown |= {"cuts": kind.cuts, "dated": column.class_ in calendar.CLASSES}
    if isinstance(kind, Continuous) and kind.is_log and column.class_ in ("date", "datetime", "time"):
        raise ParameterError(
            f"{column.name}={kind!r}: the column holds {column.class_} values, which have no logarithm; "
            "numbers and spans of time have"
        )
    if isinstance(kind, Continuous) and kind.is_scored and column.class_ in ("date", "datetime", "time"):
        raise ParameterError(
            f"{column.name}={kind!r}: the column holds {column.class_} values; "
            "normal scores are for numbers and spans of time"
        )
    told = {name: getattr(kind, name, None) for name in ("step", "least", "point")}
    given = next((name for name, value in told.items() if value not in (None, "auto")), None)
    if given is not None and column.class_ in ("date", "datetime", "time"):
        raise ParameterError(
            f"{column.name}={kind!r}: the column holds {column.class_} values, which take no {given}; numbers do"
        )
    if isinstance(kind, Continuous) and kind.leaf == "counts" and column.class_ not in ("integer", "number", "nothing"):
        raise ParameterError(
            f"{column.name}={kind!r}: the column holds {column.class_} values; counts are whole numbers from 0 up"
        )
    return replace(column, kind=kind, reason=reason, left_out=None, hint=None, **unknown)
