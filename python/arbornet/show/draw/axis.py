"""Axes of numbers, of dates and of times, with about four round ticks."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterator

import numpy as np

from arbornet.data import calendar
from arbornet.data.units import Bend, Knots, bent, unbent

EPOCH = dt.date(1970, 1, 1)
FIRST, LAST = (dt.date.min - EPOCH).days + 400, (dt.date.max - EPOCH).days - 400
MOST = 4.5
DATES = calendar.DATES
STEPS = (
    *(("days", n) for n in (1, 2, 7, 14)),
    *(("months", n) for n in (1, 2, 3, 6)),
    *(("years", n * power) for power in (1, 10, 100, 1000) for n in (1, 2, 5)),
)
DAYS = {"days": 1.0, "months": 30.44, "years": 365.25}


DAY = 86_400.0
#: Seconds that make round ticks.
SPANS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)


#: Between two powers of ten.
ROUND = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1, 3), (1,))


class Axis:
    """An axis from low to high; for dates these are days since 1970-01-01, for times and spans of time seconds.

    A logarithmic one is that of `ln(x + bend)`, from low to high of these; one of normal scores is that of the scores.
    """

    def __init__(self, low: float, high: float, values: str = "", bend: Bend | None = None):
        self.low, self.high = low, high
        self.values = values
        self.bend = bend

    def ticks(self) -> list[tuple[float, str]]:
        """Round places on it with what they are called."""
        if isinstance(self.bend, tuple):
            return self._scores(self.bend)
        if self.bend is not None:
            return self._logarithms(self.bend)
        if self.values in DATES and has_calendar(self.low, self.high):
            return list(self._days())
        width = self.high - self.low
        if self.values not in ("time", "duration"):
            return self._multiples(_round(width), number)
        if width > DAY:
            return self._multiples(DAY * _round(width / DAY), self._time)
        step = next((s for s in SPANS if s <= width <= MOST * s), None)
        return self._multiples(step or _round(width), self._time)

    def _logarithms(self, log: float) -> list[tuple[float, str]]:
        ends = [min(max(end, -690.0), 690.0) for end in (self.low, self.high)]
        low, high = (max(math.exp(end) - log, 0.0) for end in ends)
        first, last = (math.floor(math.log10(x)) if x > 0 else -300 for x in (low or log or high, high))
        for steps, every in [*((steps, 1) for steps in ROUND), *(((1,), n) for n in (2, 3, 5, 10, 20, 50, 100))]:
            powers = [power for power in range(first, last + 1) if power % every == 0]
            values = [step * 10.0**power for power in powers for step in steps]
            shown = [x for x in ([0.0] if log and low <= 0 else []) + values if low <= x <= high]
            if len(shown) <= MOST:
                break
        if len(shown) < 2 and high > low:
            step = _round(high - low)
            shown = [i * step for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
        return [(math.log(x + log), said(x, self.values)) for x in shown if x + log > 0]

    def _scores(self, knots: Knots) -> list[tuple[float, str]]:
        """At about even steps of the score, numbers of as few digits as tell them apart."""
        n = int(MOST)
        numbers = bent(knots, np.linspace(self.low, self.high, 2 * n + 1))
        shown = []
        for low, middle, high in zip(numbers[0::2], numbers[1::2], numbers[2::2], strict=False):
            step = 10.0 ** math.floor(math.log10(max(high - low, 1e-300) / 2))
            shown.append(float(f"{round(middle / step) * step:.6g}"))
        places = unbent(knots, np.array(shown))
        told = zip(places, shown, strict=True)
        return [(float(at), said(x, self.values)) for at, x in told if self.low <= at <= self.high]

    def _multiples(self, step: float, called: Callable[[float], str]) -> list[tuple[float, str]]:
        first = math.ceil(self.low / step)
        return [(i * step, called(i * step)) for i in range(first, math.floor(self.high / step) + 1)]

    def _time(self, seconds: float) -> str:
        if self.values == "time" and seconds % 60 == 0:
            return f"{seconds // 3600:02.0f}:{seconds % 3600 // 60:02.0f}"
        return calendar.span(seconds) if seconds else "0"

    def share(self, x: float) -> float:
        """How far along the axis a number stands, from 0 to 1."""
        return (x - self.low) / (self.high - self.low)

    def _days(self) -> Iterator[tuple[float, str]]:
        span = self.high - self.low
        # Names of months are wide, so there are fewer of them.
        unit, n = next((u, n) for u, n in STEPS if span / (n * DAYS[u]) <= (MOST if u == "years" else MOST - 1))
        for day in days_of(self.low, unit, n):
            at = float((day - EPOCH).days)
            if at > self.high:
                return
            if at >= self.low:
                yield at, _called(day, unit)


def _round(width: float) -> float:
    """A round step that fits a few times."""
    step = 10.0 ** math.floor(math.log10(width / 2))
    return next(s for s in (step, 2 * step, 5 * step, 10 * step) if width / s <= MOST)


def days_of(low: float, unit: str, n: int) -> Iterator[dt.date]:
    """Every n-th day, month or year, from the last one that is not after `low`, on and on."""
    day = EPOCH + dt.timedelta(days=math.floor(low))
    if unit == "years":
        day = day.replace(day=1, month=1, year=max(1, day.year - day.year % n))
    elif unit == "months":
        day = day.replace(day=1, month=day.month - (day.month - 1) % n)
    while True:
        yield day
        if unit == "days":
            day += dt.timedelta(days=n)
        else:
            months = day.year * 12 + day.month - 1 + (n if unit == "months" else 12 * n)
            day = dt.date(months // 12, months % 12 + 1, 1)


def date_edges(low: float, high: float, wish: float) -> list[float]:
    """The ends of calendar bins at least about `wish` days wide, from before low to after high."""
    unit, n = next((u, n) for u, n in STEPS if n * DAYS[u] >= 0.98 * wish)
    edges: list[float] = []
    for day in days_of(low, unit, n):
        edges.append(float((day - EPOCH).days))
        if edges[-1] > high:
            break
    return edges


def has_calendar(low: float, high: float) -> bool:
    """Whether there is a calendar for these days, and room for a tick a day."""
    return low > FIRST and high < LAST - 400_000 and high - low >= 1.5


def _called(day: dt.date, unit: str) -> str:
    if unit == "years":
        return str(day.year)
    month = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")[day.month - 1]
    return f"{month} {day.year}" if unit == "months" else f"{day.day} {month}"


def number(x: float) -> str:
    """A round number in few characters: thousands with commas, very large and very small ones with an exponent."""
    if x and not 1e-4 <= abs(x) < 1e7:
        return f"{x:.4g}"
    return f"{x:,.6f}".rstrip("0").rstrip(".") if abs(x) < 1e4 else f"{x:,.0f}"


def said(x: float, values: str) -> str:
    """A number as a variable's values are written."""
    return calendar.told(x, values) if values else number(x)


def by_factor(x: float, spread: float, values: str, log: float) -> str:
    """The median and the factor of a logarithm with its spread: `24,000 ×÷ 1.6`."""
    median = number_at(x, log)
    return f"{said(float(f'{median:.3g}'), values)} ×÷ {number(float(f'{math.exp(min(spread, 700.0)):.3g}'))}"


def number_at(x: float, bend: Bend) -> float:
    """The number of a logarithm or a normal score."""
    if isinstance(bend, tuple):
        return float(bent(bend, np.array([x]))[0])
    return max(math.exp(min(x, 700.0)) - bend, 0.0)


def around(x: float, spread: float, knots: Knots) -> tuple[float, ...]:
    """The numbers below which 10%, 50% and 90% are, if their normal scores are normal with this spread."""
    return tuple(number_at(x + share * spread, knots) for share in (-1.2816, 0.0, 1.2816))


def between(deciles: tuple[float, ...], values: str) -> str:
    """A median, and where 80% are: `12 (80%: 9.1 to 15)`."""
    low, middle, high = (said(float(f"{end:.3g}"), values) for end in deciles)
    return f"{middle} (80%: {low} to {high})"


def measured(x: float, spread: float) -> str:
    """A number with the decimals that its spread makes sense of, and the spread to two digits: `9.0 ± 1.6`."""
    if not (0 < spread < 1e9 and spread > 1e-6) or abs(x) >= 1e9:
        return f"{x:.4g} ± {spread:.2g}"
    decimals = 1 - math.floor(math.log10(spread))
    if decimals <= 0:
        x, spread = round(x, decimals), round(spread, decimals)
    return f"{x:,.{max(decimals, 0)}f} ± {spread:,.{max(decimals, 0)}f}"
