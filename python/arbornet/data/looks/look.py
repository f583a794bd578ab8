"""What one column looks like: the rules in order.

`arbornet.data.infer` has already inferred a type from the values alone. Here their text, their counts and the name
are used too. Clear evidence changes the type, leaves the column out, or reads it as numbers or dates. Weaker evidence
is a hint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import polars as pl

from arbornet.data.infer import FEW_GRADES, MOST_LEVELS, ROWS_PER_LEVEL, Inferred
from arbornet.data.kinds import Categorical, Continuous, Kind, Ordinal
from arbornet.data.looks import codes, counts, dates, grades, identifiers, numbers_in_text, texts
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import DATE
from arbornet.data.schema_check import LOOKS

Looks = Literal[
    "number", "category", "date", "text", "address", "list", "number in text", "identifier", "constant", "empty", "code"
]
assert get_args(Looks) == LOOKS

FEW_TO_BE_NUMBERS = 3
"""The fewest distinct written numbers that are read as numbers; two are labels."""
FEW_DATES = 5
GRADES = "if these are grades"
KEPT = 50
"""How many levels the hint keeps of a column that has too many."""
_CYCLES = {"month": (1, 12), "hour": (0, 23), "weekday": (0, 7), "dow": (0, 7), "minute": (0, 59)}


@dataclass(frozen=True)
class Look:
    """What a column looks like, and how it is therefore read."""

    looks_like: Looks
    kind: Kind
    reason: str
    left_out: str | None = None
    form: str | None = None
    """How its texts are written, if they are read as numbers or dates."""
    class_: str | None = None
    """What they are read as."""
    hint: str | None = None
    """The line of code that changes it, or a column to derive."""
    undecided: dates.Undecided | None = None
    """Possible date formats, if other columns may decide."""
    may_be: str | None = None
    """Another form that its numbers may have: dots between thousands."""
    range_: tuple[float, float] | None = None
    zone: str | None = None
    n_words_for_missing: int = 0
    because: str = ""
    """Why it looks so."""
    by_shape: bool = False
    """Whether it looks so by its shape alone, so that the tree may overrule it."""


def line(name: str, kind: str, method: str = "with_types") -> str:
    """A line of code that declares a column: `schema.with_types(price="categorical")`."""
    told = f"{name}={kind}" if name.isidentifier() else f"{{{name!r}: {kind}}}"
    return f"schema.{method}({told})"


def _told_form(form: str, example: str) -> str:
    return f"{'times' if dates.class_of(form) == 'time' else 'dates'} in text, such as {example!r} ({form})"


def look(seen: Seen, base: Inferred, constant: bool, declared: bool) -> Look:
    """What a column looks like, given the type that `infer` found; one of too many levels is left out."""
    told = _look(seen, base, constant, declared)
    if told.left_out is not None or not isinstance(told.kind, Categorical | Ordinal) or seen.n_distinct <= MOST_LEVELS:
        return told
    out = f"has {seen.n_distinct:,} levels, more than {MOST_LEVELS:,}"
    hint = line(seen.name, f"an.Categorical(max_levels={KEPT})") + " merges the rarest levels"
    return replace(told, left_out=out, hint=hint)


def _look(seen: Seen, base: Inferred, constant: bool, declared: bool) -> Look:
    as_text = line(seen.name, '"categorical"')
    if seen.n_values == 0:
        return Look("empty", base.kind, base.reason, base.left_out)
    if constant:
        return Look("constant", base.kind, base.reason, base.left_out, hint=as_text)
    if declared and seen.class_ == "text" and isinstance(base.kind, Categorical):
        return Look("category", base.kind, base.reason, base.left_out, hint=_hint_of_grades(seen))
    if declared or seen.class_ == "truth":
        return Look("category", base.kind, base.reason, base.left_out)
    if seen.class_ == "text":
        return _of_text(seen, base)
    if seen.class_ == "integer":
        return _of_whole(seen, base)
    if seen.class_ in ("date", "datetime", "time"):
        return Look("date", base.kind, base.reason, base.left_out)
    few = seen.whole and seen.n_distinct <= FEW_GRADES and seen.n_values >= ROWS_PER_LEVEL * seen.n_distinct
    hint = line(seen.name, '"ordinal"') if few else None
    return Look("number", base.kind, base.reason, base.left_out, hint=hint)


def is_open(said: Look, seen: Seen) -> bool:
    """Whether no rule decides what a column looks like; its type is decided."""
    if said.form is not None or said.looks_like in ("empty", "address", "code") or seen.class_ == "truth":
        return False
    if said.looks_like == "identifier":
        return said.by_shape
    if said.looks_like == "constant":
        return seen.n_missing > 0
    return not (said.looks_like in ("date", "list") and said.undecided is None)


def _of_text(seen: Seen, base: Inferred) -> Look:
    plain = seen.texts
    form = dates.form_of(plain)
    if isinstance(form, str):
        return read_as_dates(seen, base, form)
    if isinstance(form, dates.Undecided):
        first, second = form.forms[:2]
        hint = f"day and month cannot be distinguished: {line(seen.name, repr(first), 'with_forms')}, or {second!r}"
        return replace(_of_levels(seen, base), looks_like="date", undecided=form, hint=hint)
    number = numbers_in_text.form_of(plain)
    if number is not None and len(plain) >= FEW_TO_BE_NUMBERS:
        numbers = numbers_in_text.read(plain, number)
        if not number.is_plain or _is_measured(seen, numbers):
            return read_as_numbers(seen, number)
    return _of_levels(seen, base)


def read_as_dates(seen: Seen, base: Inferred, form: str) -> Look:
    """A column whose texts are read as dates or times."""
    made = dates.read(seen.texts if seen.class_ == "text" else seen.values, form)
    class_ = dates.class_of(form)
    reason = _told_form(form, _example(seen))
    return Look(
        "date", Continuous(), reason, form=form, class_=class_, zone=dates.zone_of(form), range_=_range(made),
        hint=line(seen.name, '"categorical"'), n_words_for_missing=_words_for_missing(seen),
    )  # fmt: skip


def read_as_numbers(seen: Seen, form: numbers_in_text.NumberForm) -> Look:
    """A column whose texts are read as numbers."""
    numbers = numbers_in_text.read(seen.texts, form)
    reason = f"numbers in text, such as {_example(seen)!r}"
    class_ = "integer" if (numbers.round(0) == numbers).all() else "number"
    return Look(
        "number in text", Continuous(), reason, form=str(form), class_=class_, range_=_range(numbers),
        hint=line(seen.name, '"categorical"'), n_words_for_missing=_words_for_missing(seen),
    )  # fmt: skip


def _words_for_missing(seen: Seen) -> int:
    return seen.n_words_for_missing if seen.class_ == "text" else 0


def _example(seen: Seen) -> str:
    values = seen.texts if seen.class_ == "text" else seen.values.cast(pl.String)
    return str(values[len(values) // 2])


def _range(values: pl.Series) -> tuple[float, float] | None:
    """The smallest and largest value as numbers: days for dates, seconds for times."""
    if values.dtype == pl.Date:
        values = values.to_physical()
    elif isinstance(values.dtype, pl.Datetime):
        values = values.dt.timestamp("us") / 86_400e6
    elif values.dtype == pl.Time:
        values = values.to_physical() / 1e9
    low, high = values.min(), values.max()
    return (float(low), float(high)) if isinstance(low, int | float) and isinstance(high, int | float) else None


def _is_measured(seen: Seen, numbers: pl.Series) -> bool:
    """Whether plain numbers stored as text are measurements: not levels, and not identifiers."""
    whole = bool((numbers.round(0) == numbers).all())
    names_rows = whole and (len(seen.texts) >= identifiers.NEARLY_ALL * seen.n_values or seen.has_id_name)
    return len(numbers) > counts.MOST and not names_rows


def _of_levels(seen: Seen, base: Inferred) -> Look:
    told = texts.texts_of(seen.values)
    shape = texts.shape(seen, told)
    why = identifiers.why_identifier(seen)
    if why is not None:
        every = seen.n_distinct == seen.n_values and base.left_out is not None
        reason, out = (base.reason, base.left_out) if every else (why, why)
        return Look("identifier", base.kind, reason, out, hint=_hint_of_identifier(seen))
    if seen.n_values >= identifiers.SMALLEST and texts.is_mostly_new(seen):
        named: dict[str, str] = {"identifier": "text", "address": "an address", "list": "a list", "text": "text"}
        if seen.n_distinct == seen.n_values:
            reason, out = base.reason, f"is {named[shape]} that differs in every row"
        else:
            reason = f"{seen.n_distinct:,} texts in {seen.n_values:,} rows"
            out = f"is {named[shape]}, {seen.n_distinct:,} different ones in {seen.n_values:,} rows"
        hint = texts.advice(shape, seen.name) or None
        return Look(shape, base.kind, reason, out, hint=hint, by_shape=True)
    if (seen.n_distinct <= texts.MANY and shape == "category") or seen.n_distinct <= 12:
        graded = _graded(seen, base)
        if graded is not None:
            return graded
    if codes.has_leading_zeros(seen.texts) and seen.n_distinct > 2:
        return Look("code", base.kind, f"digits with leading zeros: {seen.n_distinct:,} codes")
    clear = shape in ("list", "address") and (told.brackets >= 0.6 or told.addresses >= 0.6)
    hint = texts.advice(shape, seen.name) if clear else None
    return Look(shape if clear else "category", base.kind, base.reason, base.left_out, hint=hint)


def _graded(seen: Seen, base: Inferred) -> Look | None:
    levels = [str(value) for value in seen.values]
    certain = grades.certain_order(levels)
    if certain is not None:
        order, told = certain
        return Look("category", Ordinal(order), f"{told}: an order", hint=line(seen.name, '"categorical"'))
    likely = grades.likely_order(levels)
    if likely is None:
        return None
    hint = f"{GRADES}: " + line(seen.name, f"an.Ordinal({likely!r})")
    return Look("category", base.kind, base.reason, hint=hint)


def _hint_of_grades(seen: Seen) -> str | None:
    """The line that gives an order to levels that a frame declares without one, if their words imply one."""
    levels = [str(value) for value in seen.values]
    certain = grades.certain_order(levels)
    order = grades.likely_order(levels) if certain is None else certain[0]
    return None if order is None else f"{GRADES}: " + line(seen.name, f"an.Ordinal({order!r})")


def _hint_of_identifier(seen: Seen) -> str:
    if identifiers.is_repeated(seen):
        return f"rows with the same {seen.name!r} are not independent"
    return line(seen.name, '"categorical"' if seen.class_ == "text" else '"continuous"')


def _of_whole(seen: Seen, base: Inferred) -> Look:
    if seen.counter and base.left_out is not None:
        return Look("identifier", base.kind, base.reason, base.left_out, hint=line(seen.name, '"continuous"'))
    values = seen.values
    as_labels, as_numbers = line(seen.name, '"categorical"'), line(seen.name, '"continuous"')
    if _may_be_days(seen):
        form = dates.form_of(values.cast(pl.String))
        if isinstance(form, str):
            return read_as_dates(seen, base, form)
    why = identifiers.why_identifier(seen)
    if why is not None:
        return Look("identifier", base.kind, why, why, hint=_hint_of_identifier(seen))
    often = seen.n_values >= ROWS_PER_LEVEL * seen.n_distinct
    if codes.is_code(seen):
        told = f"codes: {seen.n_distinct:,} distinct whole numbers, and the name says codes"
        out = None if often else f"holds codes, {seen.n_distinct:,} different ones in {seen.n_values:,} rows"
        return Look("code", Categorical(), told, out, hint=as_numbers)
    if often and codes.is_label(seen):
        told = f"{seen.n_distinct} distinct whole numbers, and the name says labels"
        return Look("category", Categorical(), told, hint=line(seen.name, '"ordinal"'))
    if often and not isinstance(base.kind, Ordinal) and counts.is_count(values.to_list(), seen.counts.to_list()):
        told = (
            f"{seen.n_distinct} distinct whole numbers in {seen.n_values:,} rows, {values[0]} to {values[-1]}: a count"
        )
        return Look("number", Ordinal(values.to_list()), told, hint=as_numbers)
    looks: Looks = "category" if isinstance(base.kind, Categorical) else "number"
    hint = as_numbers if not isinstance(base.kind, Continuous) else _cyclic(seen) or as_labels
    return Look(looks, base.kind, base.reason, base.left_out, hint=hint)


def _may_be_days(seen: Seen) -> bool:
    """Whether whole numbers may be dates written as 20210304."""
    low, high = seen.values.min(), seen.values.max()
    if not isinstance(low, int) or not isinstance(high, int) or low < 19_000_101 or high > 21_001_231:
        return False
    return seen.n_distinct >= FEW_DATES or seen.has(DATE)


def _cyclic(seen: Seen) -> str | None:
    for word, (low, high) in _CYCLES.items():
        if word in seen.words and low <= seen.values.min() and seen.values.max() <= high:  # type: ignore[operator]
            return f"cyclic: {line(seen.name, chr(34) + 'ordinal' + chr(34))}, or keep it continuous"
    return None
