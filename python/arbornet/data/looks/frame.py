"""All columns of a frame: first each by itself, then ambiguous dates and dots are read as those of other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import polars as pl

from arbornet.data.frames import Raw
from arbornet.data.infer import Profile, check_finite, infer, is_constant
from arbornet.data.looks import dates
from arbornet.data.looks.look import GRADES, Look, Looks, is_open, look, read_as_dates, read_as_numbers
from arbornet.data.looks.marks import Marks
from arbornet.data.looks.numbers_in_text import dots, form_of_text
from arbornet.data.looks.reasons import reason
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.tree import decided, is_plausible


def looked(raw: Raw, profiles: Sequence[Profile]) -> tuple[list[Seen], list[Look]]:
    """Every column as the rules see it, and what it looks like.

    Raises:
        ColumnError: If a column holds an infinite value.
    """
    seen = []
    for i, (name, one) in enumerate(zip(raw.names, profiles, strict=True)):
        check_finite(name, one)
        seen.append(Seen(name, one.class_, one.n_rows, one.n_missing, one.whole, one.counter, _taker(raw, i, one)))
    bases = [infer(name, one) for name, one in zip(raw.names, profiles, strict=True)]
    looks = [
        look(column, base, is_constant(one), one.declared or one.ordered)
        for column, base, one in zip(seen, bases, profiles, strict=True)
    ]
    orders = {order for told in looks if told.form is not None if (order := dates.order_of(told.form)) is not None}
    for i, told in enumerate(looks):
        form = None if told.undecided is None else dates.settled(told.undecided, orders)
        if form is not None:
            looks[i] = read_as_dates(seen[i], bases[i], form)
    _settle_dots(seen, looks)
    return seen, [_completed(column, told) for column, told in zip(seen, looks, strict=True)]


def _settle_dots(seen: Sequence[Seen], looks: list[Look]) -> None:
    """Reads dots that may stand between thousands as such where other columns have decimal commas."""
    forms = [None if told.form is None else form_of_text(told.form) for told in looks]
    has_commas = any(form is not None and form.decimal == "," for form in forms)
    for i, form in enumerate(forms):
        if form is None or form.thousands or form.decimal == ",":
            continue
        beside, other = dots(seen[i].texts), replace(form, thousands=".", decimal=",")
        if has_commas and beside in ("beside small", "alone"):
            looks[i] = read_as_numbers(seen[i], other)
        elif beside == "beside small" or (has_commas and beside is not None):
            looks[i] = replace(looks[i], may_be=str(other))


def _completed(seen: Seen, told: Look) -> Look:
    """What the column looks like by the tree, if no rule decides; its type is unchanged."""
    if not is_open(told, seen):
        return replace(told, because=told.reason)
    marks = Marks(seen)
    said, asked = decided(marks)
    possible = ONE if seen.n_distinct == 1 else NUMERIC if seen.class_ in ("integer", "number") else WORDED
    looks = next((each for each in possible if each == said), None)
    if looks is None or not is_plausible(said, marks):
        looks = "constant" if seen.n_distinct == 1 else told.looks_like
    hint = told.hint
    is_other = looks in ("identifier", "text", "list", "address") and looks != told.looks_like
    if told.left_out is None and is_other and not (hint or "").startswith(GRADES):
        hint = f"schema.without({seen.name!r}) leaves it out"
    return replace(told, looks_like=looks, because=reason(seen, marks, asked), hint=hint)


ONE: tuple[Looks, ...] = ("category",)
NUMERIC: tuple[Looks, ...] = ("number", "category", "code", "date", "identifier")
WORDED: tuple[Looks, ...] = ("category", "text", "address", "list", "number in text", "date", "identifier", "code")


def _taker(raw: Raw, i: int, told: Profile) -> Callable[[], tuple[pl.Series, pl.Series]]:
    """How to get the distinct values of a column: as already counted, otherwise by counting."""

    def take() -> tuple[pl.Series, pl.Series]:
        if told.values is not None:
            counted = pl.Series(told.values[1], dtype=pl.UInt32)
            dtype = pl.String if told.class_ == "text" else pl.Int64 if told.class_ == "integer" else None
            values = pl.Series(told.values[0], dtype=dtype)
            return values.filter(counted > 0), counted.filter(counted > 0)
        if told.class_ == "text":
            texts, n = raw.levels(i)
            counted = pl.Series(n, dtype=pl.UInt32)
            return pl.Series(texts, dtype=pl.String).filter(counted > 0), counted.filter(counted > 0)
        series = pl.Series("x", raw.numbers(i), nan_to_null=True).drop_nulls()
        if told.class_ == "integer":
            series = series.cast(pl.Int64, strict=False).drop_nulls()
        found = series.value_counts(sort=False, name="n").sort("x")
        return found["x"], found["n"]

    return take
