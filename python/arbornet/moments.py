"""Dates and times in readable form, where models hold the numbers behind them.

Models are fitted to numbers: days since 1970-01-01 for dates and datetimes, seconds for times and spans of time. The
core prints those numbers; here they become dates again, in texts and in the labels of trees.
"""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arbornet.schema import Schema

EPOCH = dt.datetime(1970, 1, 1)
#: Days.
YEAR = 365.25
CLASSES = ("date", "datetime", "time", "duration")
#: Moments, and moments of a time zone, which are printed in UTC.
MOMENTS = ("datetime", "datetime UTC")
DATES = ("date", *MOMENTS)
Classes = Mapping[str, str]
"""The class of every variable that holds dates or times: one of `CLASSES` and `MOMENTS`."""

_NUMBER = r"-?[\d.]+(?:e[+-]?\d+)?"


def classes(schema: Schema) -> Classes:
    """Which variables of a schema hold dates or times."""
    held = [column for column in schema.used if column.class_ in CLASSES and column.levels is None]
    return {column.name: zoned(column.class_, column.zone) for column in held}


def zoned(class_: str, zone: str | None) -> str:
    """The class of a column of a time zone, if it has one."""
    return "datetime UTC" if class_ == "datetime" and zone else class_


def told(x: float, class_: str) -> str:
    """The date, moment, time of day or span of time that a number stands for."""
    try:
        if class_ == "date":
            return str((EPOCH + dt.timedelta(days=round(x))).date())
        if class_ in MOMENTS:
            moment = (EPOCH + dt.timedelta(days=x) + dt.timedelta(seconds=30)).strftime("%Y-%m-%d %H:%M")
            return moment + class_.removeprefix("datetime")
        if class_ == "time":
            return str((EPOCH + dt.timedelta(seconds=round(x))).time())
        return span(x)
    except (OverflowError, ValueError):
        return f"{x:.6g}"


def centre(x: float, width: float, class_: str) -> str:
    """The centre of a distribution: a moment is given by its day where its spread is days."""
    return told(x, "date" if class_ in MOMENTS and width >= 1.0 else class_)


def threshold(x: float, class_: str) -> str:
    """A threshold between values: for dates the first day at or above it."""
    return told(math.ceil(x) if class_ == "date" else x, class_)


def number(value: Any) -> Any:
    """The number that stands for a date, moment, time of day or span of time; anything else as it is."""
    if isinstance(value, dt.datetime):
        naive = value if value.tzinfo is None else value.astimezone(dt.UTC).replace(tzinfo=None)
        return (naive - EPOCH) / dt.timedelta(days=1)
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days
    if isinstance(value, dt.time):
        return (dt.datetime.combine(EPOCH, value) - EPOCH).total_seconds()
    return value.total_seconds() if isinstance(value, dt.timedelta) else value


def span(seconds: float) -> str:
    """A length of time in its natural unit."""
    for size, unit in ((86_400.0, "days"), (3600.0, "h"), (60.0, "min")):
        if abs(seconds) >= size:
            length = seconds / size
            return f"{length:.3g} {unit}" if abs(length) < 1000 else f"{length:,.0f} {unit}"
    return f"{seconds:.3g} s"


def unit(width: float, class_: str) -> tuple[str, float]:
    """The unit for differences of values that are so far apart: its name, and how long it is."""
    if class_ in DATES:
        if width >= 4 * YEAR:
            return "year", YEAR
        return ("hour", 1 / 24) if class_ in MOMENTS and width < 2.0 else ("day", 1.0)
    for name, size in (("day", 86_400.0), ("hour", 3600.0), ("minute", 60.0)):
        if width >= 2 * size:
            return name, size
    return "second", 1.0


def spread(x: float, class_: str) -> str:
    """The spread of such values, a length of time."""
    return span(x * 86_400.0 if class_ in DATES else x)


@dataclass(frozen=True)
class Words:
    """How the core prints dates and times, in the sentences of a spline."""

    classes: Classes

    def value(self, variable: str, x: float) -> str | None:
        """A value, unless it is a plain number."""
        return told(x, self.classes[variable]) if variable in self.classes else None

    def difference(self, variable: str, x: float) -> str | None:
        """A difference of two values, likewise."""
        return spread(x, self.classes[variable]) if variable in self.classes else None

    def unit(self, variable: str, width: float) -> tuple[str, float] | None:
        """The unit of differences, likewise."""
        return unit(width, self.classes[variable]) if variable in self.classes else None


def described(description: dict[str, Any], classes: Classes) -> dict[str, Any]:
    """A model's description with its labels as dates, and what its child holds under `values`."""
    if not classes.keys() & {description["child"], *description.get("parents", [])}:
        return description

    def below(node: dict[str, Any]) -> dict[str, Any]:
        if "branches" not in node:
            return node
        class_ = classes.get(node["variable"])
        branches = [
            {**b, "label": b["label"] if class_ is None else label(b, class_), "node": below(b["node"])}
            for b in node["branches"]
        ]
        return {**node, "branches": branches}

    child = {"values": classes[description["child"]]} if description["child"] in classes else {}
    return {**description, **child, "root": below(description["root"])}


def worded(text: str, description: dict[str, Any] | None, classes: Classes) -> str:
    """A model's text with dates in place of the numbers behind them."""
    if description is None:
        return text
    parents = description.get("parents", [])
    if classes.keys() & set(parents):
        exact = {name: dict(_thresholds(description["root"], name)) for name in parents if name in classes}
        text = _told_parents(text, parents, classes, exact)
    if description["child"] in classes:
        text = _told_child(text, classes[description["child"]])
    return text


def _told_parents(text: str, parents: list[str], classes: Classes, exact: Mapping[str, Mapping[str, float]]) -> str:
    def date(name: str, shown: str) -> str:
        return threshold(exact[name].get(shown, float(shown)), classes[name])

    def condition(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in classes or (match["low"] is None and match["end"] is None):
            return match[0]
        if match["end"] is not None:
            return f"{match['before']}{name} {match['sign']} {date(name, match['end'])}"
        return f"{match['before']}{name} in [{date(name, match['low'])}, {date(name, match['high'])})"

    # A name counts where a condition begins, and whole: `day` is neither in `birth day` nor in `day of birth`. The
    # longest comes first, as one name may begin as another does.
    names = "|".join(map(re.escape, sorted(parents, key=len, reverse=True)))
    return re.sub(
        rf"(?P<before>─ |\bif | and )(?P<name>{names}) "
        rf"(?:(?P<sign><|>=) (?P<end>{_NUMBER})(?=$|:|,| ->| and | then )"
        rf"|in \[(?P<low>{_NUMBER}), (?P<high>{_NUMBER})\)|(?=!?= |in {{|not in |is anything))",
        condition,
        text,
        flags=re.MULTILINE,
    )


def _told_child(text: str, class_: str) -> str:
    def leaf(match: re.Match[str]) -> str:
        return f"{match[1]} {centre(float(match[2]), float(match[4]), class_)}  {match[3]} " + spread(
            float(match[4]), class_
        )

    return re.sub(rf"\b(mean|centre) ({_NUMBER})  (sd|scale) ({_NUMBER})", leaf, text)


def _thresholds(node: dict[str, Any], name: str) -> Iterator[tuple[str, float]]:
    for branch in node.get("branches", []):
        if node["variable"] == name:
            ends = [end for end in (branch.get("low"), branch.get("high")) if end is not None]
            # Labels show one end, or both in this order.
            yield from zip(re.findall(_NUMBER, branch["label"]), ends, strict=False)
        yield from _thresholds(branch["node"], name)


def label(branch: Mapping[str, Any], class_: str) -> str:
    """The label of an answer between thresholds, `low` and `high`."""
    low, high = (None if end is None else threshold(end, class_) for end in (branch.get("low"), branch.get("high")))
    if low is None or high is None:
        return f"< {high}" if high is not None else f">= {low}"
    return f"in [{low}, {high})"
