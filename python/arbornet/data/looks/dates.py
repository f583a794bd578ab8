"""Dates and times that a person wrote as text: `03/04/2021`, `4 Mar 2021 15:30`, `2021-03-04T15:30:00Z`, `3:15 pm`.

A form is a `strptime` format, inferred from the whole column. Where day and month could be swapped, a value above
twelve decides; otherwise the order of the other date columns of the frame is used, and if that is ambiguous too, the
column stays text, with a hint: `schema.with_forms(x="%d/%m/%Y")` decides.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import polars as pl

MOST_COMPARED = 500
"""Texts by which it is settled how dates are written."""
Order = Literal["day first", "month first"]

_DAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    *((rf"\d{{4}}{re.escape(s)}\d{{1,2}}{re.escape(s)}\d{{1,2}}", (f"%Y{s}%m{s}%d",)) for s in "-/. "),
    *((rf"\d{{1,2}}{re.escape(s)}\d{{1,2}}{re.escape(s)}\d{{4}}", (f"%m{s}%d{s}%Y", f"%d{s}%m{s}%Y")) for s in "/-. "),
    *(
        (rf"\d{{1,2}}{re.escape(s)}\d{{1,2}}{re.escape(s)}\d{{2}}", (f"%m{s}%d{s}%y", f"%d{s}%m{s}%y", f"%y{s}%m{s}%d"))
        for s in "/-."
    ),
    *((rf"\d{{1,2}}{s}[A-Za-z]{{3,9}}{s}\d{{4}}", (f"%d{s}%B{s}%Y",)) for s in ("-", " ", "/", "")),
    *((rf"\d{{1,2}}{s}[A-Za-z]{{3,9}}{s}\d{{2}}", (f"%d{s}%B{s}%y",)) for s in ("-", " ", "/")),
    (r"[A-Za-z]{3,9}\.? \d{1,2}, ?\d{4}", ("%B %d, %Y",)),
    (r"[A-Za-z]{3,9} \d{1,2} \d{4}", ("%B %d %Y",)),
    (r"\d{4}[- ][A-Za-z]{3,9}[- ]\d{1,2}", ("%Y-%B-%d", "%Y %B %d")),
    (r"[A-Za-z]{3}, \d{1,2} [A-Za-z]{3} \d{4}", ("%a, %d %b %Y",)),
    (r"[A-Za-z]{6,9}, [A-Za-z]{3,9} \d{1,2}, \d{4}", ("%A, %B %d, %Y",)),
    (r"(?:19|20)\d{6}", ("%Y%m%d",)),
)
_MONTHS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"[A-Za-z]{3,9}-\d{4}", ("%B-%Y",)),
    (r"[A-Za-z]{3,9} \d{4}", ("%B %Y",)),
    (r"[A-Za-z]{3}-\d{2}", ("%B-%y",)),
    (r"\d{4}-\d{2}", ("%Y-%m",)),
    (r"\d{2}/\d{4}", ("%m/%Y",)),
)
_CLOCKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{1,2}:\d{2} ?[AaPp]\.?[Mm]\.?", ("%I:%M %p", "%I:%M%p")),
    (r"\d{1,2}:\d{2}:\d{2} ?[AaPp]\.?[Mm]\.?", ("%I:%M:%S %p", "%I:%M:%S%p")),
    (r"\d{1,2}:\d{2}:\d{2}(?:\.\d+)?", ("%H:%M:%S", "%H:%M:%S%.f")),
    (r"\d{1,2}:\d{2}", ("%H:%M",)),
)
_ZONES = ((r"Z|[+-]\d{2}:?\d{2}", "%#z"), (r" [+-]\d{2}:?\d{2}", " %#z"), (r" UTC", " UTC"), (r" GMT", " GMT"))
_MOMENT = re.compile(
    r"(?P<day>.+?)(?P<joint>, |T| )(?P<clock>\d{1,2}:\d.*?[\d.MmPpAa])(?P<zone>Z| ?[+-]\d{2}:?\d{2}| UTC| GMT)?"
)
_WORDY = (
    (r"[A-Za-z]{3} [A-Za-z]{3} \d{1,2} \d{2}:\d{2}:\d{2} [+-]\d{4} \d{4}", "%a %b %d %H:%M:%S %z %Y"),
    (r"[A-Za-z]{3} [A-Za-z]{3} \d{1,2} \d{2}:\d{2}:\d{2} \d{4}", "%a %b %d %H:%M:%S %Y"),
    (r"[A-Za-z]{3}, \d{1,2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2} [+-]\d{4}", "%a, %d %b %Y %H:%M:%S %z"),
)


@dataclass(frozen=True)
class Undecided:
    """Several formats that fit all values."""

    forms: tuple[str, ...]


def _likely(text: str) -> list[str]:
    """The formats that one text may have, by its shape."""
    forms = [form for pattern, forms in (*_DAYS, *_MONTHS, *_CLOCKS) if re.fullmatch(pattern, text) for form in forms]
    forms += [form for pattern, form in _WORDY if re.fullmatch(pattern, text)]
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        days = [form for pattern, forms in _DAYS if re.fullmatch(pattern, moment["day"]) for form in forms]
        clocks = [form for pattern, forms in _CLOCKS if re.fullmatch(pattern, moment["clock"]) for form in forms]
        zone = next((form for pattern, form in _ZONES if re.fullmatch(pattern, moment["zone"] or "")), "")
        forms += [f"{day}{moment['joint']}{clock}{zone}" for day in days for clock in clocks]
    return list(dict.fromkeys(forms))


MONTHS = 6
"""Of dates that are all the first day of a month, so many months tell the day from the month."""
_SHAPE = re.compile(r"[A-Za-z]*,? ?\d{1,4}[-/.: ]|\d{1,2}[A-Za-z]{3}|(?:19|20)\d{6}|[A-Za-z]{3,9}[-. ]+[A-Z\d]")


def class_of(form: str) -> Literal["date", "datetime", "time"]:
    """What a format describes: a date, a date with time, or a time of day."""
    has_day = any(mark in form for mark in ("%d", "%m", "%Y", "%y", "%B", "%b"))
    has_clock = any(mark in form for mark in ("%H", "%I"))
    return "datetime" if has_day and has_clock else "date" if has_day else "time"


def is_form(text: str) -> bool:
    """Whether a text is a format of dates or times."""
    return bool(re.search(r"%[YyHI]", text)) and not re.search(r"%(?![YymdBbHIMSpaAzf#.%Zje])", text)


def zone_of(form: str) -> str | None:
    """The time zone in which moments of a format are kept."""
    return "UTC" if re.search(r"%#?z", form) or form.endswith((" UTC", " GMT")) else None


def read_as(texts: pl.Series, form: str, class_: Literal["date", "datetime", "time"]) -> pl.Series:
    """What texts of a format stand for, as values of a class, null where a text does not fit."""
    types = {"date": pl.Date(), "datetime": pl.Datetime("us"), "time": pl.Time()}
    return texts.str.strptime(types[class_], form, strict=False)


def read(values: pl.Series, form: str) -> pl.Series:
    """The dates, moments or times that texts of a format stand for, null where a text does not fit."""
    texts = values.cast(pl.String).str.strip_chars()
    if "%p" in form:
        texts = texts.str.replace_all(r"([AaPp])\.[Mm]\.?", "${1}m")
    if class_of(form) == "date" and "%d" not in form:
        texts, form = "1 " + texts, "%d " + form
    made = read_as(texts, form, class_of(form))
    if zone_of(form) and getattr(made.dtype, "time_zone", None) is None:
        made = made.dt.replace_time_zone("UTC")
    return made.alias(values.name)


def read_iso(values: pl.Series, form: str) -> pl.Series:
    """What texts of ISO 8601 stand for where dates, moments or times of a format are wanted, null where one is none."""
    class_ = class_of(form)
    clocks = ("%H:%M:%S%.f", "%H:%M")
    if class_ == "time":
        forms: Iterable[str] = clocks
    else:
        # A day is the moment at which it begins, and such a moment is a day.
        midnight = ("%H:%M:%S%.f", "%H:%M") if class_ == "datetime" else ("00:00:00", "00:00")
        zones = ("", "%#z") if class_ == "datetime" else ("",)
        forms = ("%Y-%m-%d", *(f"%Y-%m-%d{t}{clock}{zone}" for t in "T " for clock in midnight for zone in zones))
    made = pl.Series(values.name, [None] * len(values), dtype=read(values.head(0), form).dtype)
    for iso in forms:
        if made.has_nulls():
            made = made.zip_with(made.is_not_null(), _as_type(read_as(values, iso, class_), made.dtype))
    return made


def _as_type(read_: pl.Series, dtype: pl.DataType) -> pl.Series:
    """Moments with or without a zone as those of a column: where none is told it is UTC."""
    zone = getattr(dtype, "time_zone", None)
    if isinstance(dtype, pl.Datetime):
        own = getattr(read_.dtype, "time_zone", None)
        if own is None and zone is not None:
            return read_.dt.replace_time_zone(zone)
        if own is not None:
            return read_.dt.convert_time_zone("UTC").dt.replace_time_zone(zone)
    return read_.cast(dtype)


def write(values: pl.Series, form: str, like: pl.Series | None = None) -> pl.Series:
    """Dates, moments or times as texts of a format.

    Args:
        values: The dates, moments or times.
        form: The format; what it leaves open (zeros before a day, names of months in full) is as in `like`.
        like: Distinct texts of the format.
    """
    ways = list(_ways(form))
    if like is None or len(like) == 0:
        return values.dt.strftime(ways[0])
    texts = like.head(MOST_COMPARED).str.strip_chars()
    made = _as_type(read(texts, form), values.dtype) if isinstance(values.dtype, pl.Datetime) else read(texts, form)
    best = max(ways, key=lambda way: (made.dt.strftime(way) == texts).sum())  # the first of equals
    return values.dt.strftime(best)


def _ways(form: str) -> Iterable[str]:
    """The formats that texts which are read by one may have been written by, the usual one first."""
    zones = ("Z", "%z", "%:z") if "%#z" in form else ("",)
    months = ("%B", "%b") if "%B" in form else ("",)
    halves = ("%p", "%P") if "%p" in form else ("",)
    for month, half, pad, zone in itertools.product(months, halves, ("", "-"), zones):
        way = form.replace("%#z", zone).replace("%B", month).replace("%p", half)
        padded = way
        for mark in ("d", "m", "H", "I") if pad and "%m%d" not in form else ():
            way = way.replace(f"%{mark}", f"%-{mark}")
        if not pad or way != padded:
            yield way


def form_of(values: pl.Series) -> str | Undecided | None:
    """The format of all these texts, the possible ones if several fit, or None.

    Args:
        values: The distinct texts of a column, none of them missing.
    """
    first = str(values[0]).strip() if len(values) else ""
    if len(first) > 40 or not _SHAPE.match(first) or not re.search(r"\d", first):
        return None
    fitting = [form for form in _likely(first) if _all_fit(values, form)]
    if not fitting:
        return None
    if len(fitting) == 1:
        return fitting[0]
    # Years of two digits come last unless nothing else fits: 01/02/03 is not in the year 1.
    late = [form for form in fitting if not form.startswith("%y")] or fitting
    same = {tuple(read(values.head(1000), form).to_list()) for form in late}
    if len(late) == 1 or len(same) == 1:
        return late[0]
    firsts = [form for form in late if _are_first_days(read(values, form))]
    return firsts[0] if len(firsts) == 1 else Undecided(tuple(late))


def _are_first_days(made: pl.Series) -> bool:
    """Whether all are the first day of a month, as monthly tables have them: the other reading would be one month."""
    return made.dtype == pl.Date and bool((made.dt.day() == 1).all()) and made.dt.month().n_unique() >= MONTHS


def likely_forms(text: str) -> list[str]:
    """The formats that one text may have, if it has the shape of a date or a time."""
    return _likely(text) if len(text) <= 40 and _SHAPE.match(text) and re.search(r"\d", text) else []


def fits(values: pl.Series, form: str) -> pl.Series:
    """Whether each text is a plausible date, or a time, of a format."""
    made = read(values, form)
    if class_of(form) == "time":
        return made.is_not_null()
    return made.is_not_null() & made.dt.year().is_between(1000, 2999).fill_null(False)


def _all_fit(values: pl.Series, form: str) -> bool:
    if read(values.head(20), form).has_nulls():
        return False
    made = read(values, form)
    if form == "%Y-%m" and (made.dt.month() == (made.dt.year() + 1) % 100).all():
        return False  # 2010-11 is a season
    return not made.has_nulls() and (class_of(form) == "time" or _are_plausible(made))


def _are_plausible(made: pl.Series) -> bool:
    years = made.dt.year()
    low, high = years.min(), years.max()
    return isinstance(low, int) and isinstance(high, int) and low >= 1000 and high <= 2999


def order_of(form: str) -> Order | None:
    """Whether a format of digits has the day or the month first, if either."""
    if re.match(r"%d[-/. ]%m", form):
        return "day first"
    return "month first" if re.match(r"%m[-/. ]%d", form) else None


def settled(undecided: Undecided, orders: Iterable[Order]) -> str | None:
    """The format that agrees with the order of the frame's other dates, if they agree with one another."""
    wanted = set(orders)
    left = [form for form in undecided.forms if order_of(form) in wanted]
    return left[0] if len(wanted) == 1 and len(left) == 1 else None
