"""The evidence in a frame, or in a dict of single values.

A schema codes it; here it takes the form that the core needs. Columns the network does not know are ignored, and
variables without a column are missing in every row.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import polars as pl

from arbornet._core import MISSING, ArbornetError, ColumnError, ParameterError
from arbornet.data import units
from arbornet.data.coding import TREAT_AS_MISSING, encode_rows
from arbornet.data.column import Column
from arbornet.data.frames import read_frame
from arbornet.data.kinds import Binned, Continuous
from arbornet.data.question import Limit, Question
from arbornet.data.schema import Schema
from arbornet.data.schema_text import range_text
from arbornet.given import Evidence, FrameLike
from arbornet.network import bins
from arbornet.text.near import instead, nearest
from arbornet.text.notices import warn

if TYPE_CHECKING:
    from arbornet._core import RowsHandle

Several = (list, tuple, set, frozenset)
EVERYTHING = (float("-inf"), float("inf"))
#: How alike names are of which one may be meant for the other, and pairs that are compared at most.
NEARLY_EQUAL = 0.8
MOST_COMPARED = 10_000
Unseen = Literal["error", "missing"]


def encode(
    schema: Schema, frame: FrameLike, unseen: Unseen = "error", n_jobs: int = -1, way_out: str = TREAT_AS_MISSING
) -> RowsHandle:
    """The rows of a frame as a network reads them.

    Raises:
        ArbornetError: If no column of the frame is a variable of the network.
        ColumnError: If a column holds a value its variable cannot have.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    given = _names(frame)
    if given is not None:
        if not given & set(schema.names):
            raise _unrelated(schema)
        _warn_of_near_names(schema, given)
    rows = encode_rows(read_frame(frame, schema.names, n_jobs), schema, unseen, n_jobs, way_out)
    if not rows.has_columns:
        raise _unrelated(schema)
    return rows


def _names(frame: FrameLike) -> set[str] | None:
    """The names of a frame's columns, if it is one that says them."""
    told = getattr(frame, "column_names", getattr(frame, "columns", None))
    names = list(frame) if isinstance(frame, Mapping) else told
    return {str(name) for name in names} if isinstance(names, Iterable) and not isinstance(names, str) else None


def _warn_of_near_names(schema: Schema, given: set[str]) -> None:
    """Warns of columns that the network ignores, and whose names are nearly those of variables that are missing."""
    ignored, absent = sorted(given - set(schema)), [name for name in schema.names if name not in given]
    if not absent or len(ignored) * len(absent) > MOST_COMPARED:
        return
    for name in ignored:
        near = nearest(name, absent, NEARLY_EQUAL)
        if near is not None and re.findall(r"\d", name) == re.findall(r"\d", near):
            warn(
                f"{name!r} is ignored, as the network has no such variable; if {near!r} is meant, of which the rows "
                "have no column, rename it"
            )


def _unrelated(schema: Schema) -> ArbornetError:
    return ArbornetError(f"no column of the frame is a variable of the network, which are {some(schema.names)}")


def known(schema: Schema, given: Evidence | None, do: Evidence | None, question: Question) -> Question:
    """The question with the observations and interventions.

    Raises:
        ArbornetError: If a name is not a variable, or in both.
        ColumnError: If a value is not one its variable can have, or is missing.
        ParameterError: If an interval or a set of levels is empty.
    """
    for name, values in (("given", given), ("do", do)):
        if values is not None and not isinstance(values, Mapping):
            raise ParameterError(f"{name}={values!r}: give a dict of values by variable")
    given, do = ({str(name): value for name, value in (values or {}).items()} for values in (given, do))
    both = sorted(set(given) & set(do))
    if both:
        raise ArbornetError(f"{both[0]!r} is in given and in do; a value is either observed or set")
    several = {name for name, value in given.items() if isinstance(value, Several)}
    acted = next((name for name, value in do.items() if isinstance(value, Several)), None)
    if acted is not None:
        raise ColumnError(f"column '{acted}' is {do[acted]!r} in do; a variable is set to one value")
    acts = single(schema, do, "do")
    seen = single(schema, {name: value for name, value in given.items() if name not in several}, "given")
    limits: list[tuple[int, Limit]] = []
    for name in sorted(several, key=list(given).index):
        var = position(schema, name, "given")
        column = schema.used[var]
        limit: Limit
        if bins.is_interval(column, given[name]):
            limit = bins.possible(column, interval(schema, var, given[name], "given"))
        elif column.levels is None:
            limit = interval(schema, var, given[name], "given")
        else:
            allowed = codes(schema, var, cast("Collection[object]", given[name]), "given")
            limit = [float(code in allowed) for code in range(len(column.levels))]
        if limit != EVERYTHING:
            limits.append((var, limit))
    for var, value in (*seen, *acts):
        _warn_outside(schema.used[var], (value, value), {**given, **do}[schema.names[var]])
    for var, limit in limits:
        if isinstance(limit, tuple):
            _warn_outside(schema.used[var], limit, given[schema.names[var]])
    return replace(question, known=seen + acts, limits=limits, set=[var for var, _ in acts])


def _warn_outside(column: Column, ends: tuple[float, float], given: Any) -> None:
    """Warns of a number, or an interval, outside of what was observed: the network has not seen the like."""
    if column.range_ is None or column.levels is not None:
        return
    low, high = column.range_
    slack = 1e-6 * max(abs(low), abs(high), *(column.scale or units.IDENTITY)[1:2])
    first, last = units.to_original(column.scale, np.asarray(ends))
    if last < low - slack or first > high + slack:
        warn(
            f"'{column.name}' is {given!r}, outside of what was observed, {range_text(column)}: no row was like that, "
            "and the answer continues what was seen at the end of this range"
        )


def single(schema: Schema, values: Evidence | None, role: str) -> list[tuple[int, float]]:
    """Known values of variables by name as (position, code or number in stored units).

    Raises:
        ArbornetError: If a name is not a variable.
        ColumnError: If a value is not one its variable can have, or is missing.
    """
    if not values:
        return []
    at = {str(name): position(schema, name, role) for name in values}
    used = schema.used
    asked = Schema(tuple(used[var] for var in sorted(at.values())))
    row = encode(asked, {str(name): [value] for name, value in values.items()}, way_out="")
    places = {name: i for i, name in enumerate(asked.names)}
    known = []
    for (name, var), value in zip(at.items(), values.values(), strict=True):
        cells = row.column(places[name])
        if cells is None or cells[0] == MISSING or cells[0] != cells[0]:
            raise ColumnError(f"column '{name}' is {value!r} in {role}; leave out a variable whose value is not known")
        known.append((var, float(cells[0])))
    return known


def codes(schema: Schema, var: int, levels: Collection[object], role: str) -> list[int]:
    """Some levels of a variable as codes, ascending.

    Raises:
        ParameterError: If there are none.
        ColumnError: If one is not among the variable's levels.
    """
    name = schema.names[var]
    if not levels:
        raise ParameterError(f"{role}: no level of '{name}' is given; name at least one")
    return sorted({int(single(schema, {name: level}, role)[0][1]) for level in levels})


def interval(schema: Schema, var: int, value: object, role: str) -> tuple[float, float]:
    """The ends of an interval of numbers (or dates, or times) in stored units, infinite where it is open.

    Of a number cut into bins, in its own units.

    Raises:
        ColumnError: If it is not a pair of values.
        ParameterError: If its low end is not below its high end.
    """
    name = schema.names[var]
    if not (isinstance(value, tuple | list) and len(value) == 2):
        raise ColumnError(
            f"column '{name}' is continuous: {role} takes an interval (low, high), None for an open end, not {value!r}"
        )
    if isinstance(schema.used[var].kind, Binned):
        schema = Schema((bins.plain(schema.used[var]),))
    ends = [None if _is_below(schema[name], end) else end for end in value]
    if ends[1] is None and value[1] is not None:
        raise ParameterError(
            f"{role}: the interval of '{name}' is {value!r}; on its logarithmic scale no value is there"
        )
    low, high = (
        open_ if end is None or end == open_ else single(schema, {name: end}, role)[0][1]
        for end, open_ in zip(ends, EVERYTHING, strict=True)
    )
    if low >= high:
        raise ParameterError(f"{role}: the interval of '{name}' is {value!r}; its low end must be below its high end")
    return low, high


def _is_below(column: Column, end: object) -> bool:
    """Whether all values of a column on a logarithmic scale are above the end of an interval."""
    log = units.log_of(column.scale) if isinstance(column.kind, Continuous) else None
    return log is not None and isinstance(end, Real) and (end < 0 or (end == 0 and log == 0))


def position(schema: Schema, name: object, role: str) -> int:
    """The position of a variable.

    Raises:
        ArbornetError: If there is none of that name.
    """
    if hasattr(name, "columns"):
        raise ArbornetError(f"{role}: a {type(name).__name__} is not the name of a variable; the rows come first")
    try:
        return schema.names.index(str(name))
    except ValueError:
        if str(name) in schema:
            why = f"{name!r} is no variable of the network, as it was left out: it {schema[str(name)].left_out}"
            raise ArbornetError(f"{role}: {why}") from None
        told = f"the network has no variable {name!r}; it has {some(schema.names)}"
        raise ArbornetError(f"{role}: {told}{instead(str(name), schema.names)}") from None


def some(names: Sequence[Any]) -> str:
    """The first few of many names."""
    shown = ", ".join(map(repr, names[:8]))
    return shown + (f", ... {len(names) - 8} more" if len(names) > 8 else "")
