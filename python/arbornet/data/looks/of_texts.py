"""What looks wrong in columns of text: words for a missing value, one level under several names, a few texts that cost
a column its numbers or dates, and codes for a missing value and years of two digits among what was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from arbornet.data.looks import dates, numbers_in_text, odd_dates
from arbornet.data.looks.countries import are_countries, namibia
from arbornet.data.looks.finding import Finding, listed
from arbornet.data.looks.grades import certain_order
from arbornet.data.looks.look import line
from arbornet.data.looks.missing_codes import missing_codes
from arbornet.data.looks.odd_values import odd_values
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.spellings import both_alike, spellings
from arbornet.data.looks.words import SAID_MISSING
from arbornet.text.terminal import several

WORDS = tuple(word for word in SAID_MISSING if word not in ("*", "NONE", "TBD", "tbd"))
NONE_THERE = "not applicable"
SPOILT = r"^\d(?:\.\d+)?E\+\d{2,}$"
"""How a spreadsheet rewrites a code that it reads as a number: `31E243` becomes `3.10E+244`."""
FEWEST_ROWS = 20
MOSTLY_ONCE = 0.5
"""A column of more levels than this share of its rows has levels of which most occur once."""
FEWEST_GRADES = 3
MOST_GRADES = 30
FEW_PAIRS = 12
MOST_DAYS = 31
_PAIR = r"^\s*(\d{1,4}(?:\.\d+)?)\s*[/x×]\s*(\d{1,4}(?:\.\d+)?)\s*$"
MOST_ALIKE = 5
"""Groups of levels that are named."""


def of_levels(seen: Seen, spoilt: bool) -> Iterator[Finding]:
    """Levels of which most occur once, words for a missing value, and one level under several names.

    Args:
        seen: The column.
        spoilt: Whether its texts are to be numbers or dates, and no levels.
    """
    name = seen.name
    if not spoilt and seen.n_values >= FEWEST_ROWS and seen.n_distinct > MOSTLY_ONCE * seen.n_values:
        told = f"has {seen.n_distinct:,} levels in {several(seen.n_values, 'row')}, too few of each to learn from"
        yield Finding(name, told, seen.n_distinct, f"schema.without({name!r})")
    stripped = seen.values.str.strip_chars()
    unknown = stripped.is_in(list(WORDS))
    if "NA" in seen.values and are_countries(seen):
        unknown &= stripped != "NA"
    yield from namibia(seen)
    if unknown.any() and seen.n_distinct > 2:
        words, times = seen.values.filter(unknown).to_list(), int(seen.counts.filter(unknown).sum())
        told = f"holds {', '.join(map(repr, words[:3]))} in {several(times, 'row')}, which may mean missing"
        so = "if so"
        if any(word.strip().casefold() == NONE_THERE for word in words):
            told, so = f"{told}, or that there is nothing to tell", "only if there is a value that nobody told"
        yield Finding(name, told, times, f"{so}: df.with_columns(pl.col({name!r}).replace({words!r}, None))")
    yield from _no_grade(seen, unknown)
    said = spellings(seen.values.filter(~unknown).to_list())
    if said is not None:
        yield _of_spellings(seen, *said)
        return
    frame = pl.DataFrame({"level": seen.values, "n": seen.counts, "plain": _plain(stripped)})
    alike = frame.filter(pl.col("plain").is_duplicated()).sort(pl.col("n"), "level", descending=[True, False])
    if alike.height:
        groups = alike.group_by("plain", maintain_order=True).agg(pl.col("level"))["level"].to_list()
        shown = [listed([repr(level) for level in sorted(group)]) for group in groups[:MOST_ALIKE]]
        more = f", and {len(groups) - MOST_ALIKE:,} more groups" if len(groups) > MOST_ALIKE else ""
        told = f"has levels that differ only in case or spaces: {', '.join(shown)}{more}"
        mend = f"df.with_columns(pl.col({name!r}).replace({_to_first(groups)}))"
        yield Finding(name, told, alike.height - len(groups), mend)


def _no_grade(seen: Seen, unknown: pl.Series) -> Iterator[Finding]:
    """One level that keeps the others from having an order that is certain: `ND` among I, II, III and IV."""
    levels = [str(level) for level in seen.values.filter(~unknown)]
    words = [level for level in levels if not any(map(str.isdigit, level))]
    if not FEWEST_GRADES < len(levels) <= MOST_GRADES or certain_order(levels) is not None:
        return
    orders = [(word, certain_order([level for level in levels if level != word])) for word in words]
    found = [(word, *order) for word, order in orders if order is not None]
    if len(found) != 1:
        return
    word, order, what = found[0]
    told = f"holds {word!r} beside {what}, {order[0]!r} to {order[-1]!r}, and so has no order"
    mend = f"if it means missing: df.with_columns(pl.col({seen.name!r}).replace({word!r}, None)); if it is the least: "
    mend += line(seen.name, f"an.Ordinal({[word, *order]!r})")
    yield Finding(seen.name, told, int(seen.counts.filter(seen.values == word).sum()), mend)


def in_pairs(seen: Seen) -> Finding | None:
    """That a text holds two numbers, as of blood pressure: `128/82`; days and months are smaller."""
    if len(seen.texts) <= FEW_PAIRS or not seen.texts.str.contains(_PAIR).all():
        return None
    both = [seen.texts.str.extract(_PAIR, i).cast(pl.Float64, strict=False).max() for i in (1, 2)]
    if not all(isinstance(largest, float) and largest > MOST_DAYS for largest in both):
        return None
    told = f"holds two numbers each, such as {seen.texts[0]!r}"
    return Finding(seen.name, told, seen.n_values, "make a column of each of them")


def _of_spellings(seen: Seen, what: str, said: Sequence[Sequence[str]]) -> Finding:
    counts = dict(zip(seen.values, seen.counts, strict=True))
    groups = [sorted(group, key=lambda level: (-counts[level], level)) for group in said]
    kept = both_alike(groups, counts)
    to = {level: one for group, one in zip(groups, kept, strict=True) for level in group if level != one}
    told = f"says {what} in several ways: {'; '.join(listed([repr(level) for level in group]) for group in groups)}"
    return Finding(seen.name, told, len(to), f"df.with_columns(pl.col({seen.name!r}).replace({to}))")


def _plain(levels: pl.Series) -> pl.Series:
    """Levels without case, and without spaces but those between digits: `10 mg` is `10mg`, `1 2` is not `12`."""
    apart = levels.str.to_lowercase().str.replace_all(r"(\d)\s+(\d)", "${1}_${2}")
    return apart.str.replace_all(r"(\d)\s+(\d)", "${1}_${2}").str.replace_all(r"\s+", "")


def _to_first(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Every level of a group, most frequent first, to the first one without blanks around it; others stay."""
    bare = [next((level for level in group if level == level.strip()), group[0].strip()) for group in groups]
    return {level: to for group, to in zip(groups, bare, strict=True) for level in group if level != to}


def nearly_read(seen: Seen, explained: frozenset[str]) -> Iterator[Finding]:
    """A few texts among numbers or dates, and codes that a spreadsheet turned into numbers."""
    name = seen.name
    spoilt = seen.values.filter(seen.values.str.contains(SPOILT))
    if 0 < len(spoilt) <= 0.1 * seen.n_distinct:
        times = int(seen.counts.filter(seen.values.is_in(spoilt.to_list())).sum())
        told = f"holds {', '.join(map(repr, spoilt.head(3)))}, codes that a spreadsheet turned into numbers"
        yield Finding(name, told, times, f"df.filter(pl.col({name!r}).str.contains('E')) shows the rows")
    odd = odd_values(seen)
    if odd is not None:
        odd = odd.without(explained)
        if odd.texts:
            yield Finding(name, odd.told(), odd.times, odd.mend(name))
        return
    ways = odd_dates.ways_of(seen)
    if ways is not None:
        shown = listed([f"{text!r} ({form})" for form, text in ways])
        each = ", ".join(f"pl.col({name!r}).str.to_date({form!r}, strict=False)" for form, _ in ways)
        yield Finding(
            name, f"holds dates that are written in {len(ways)} ways: {shown}", seen.n_values,
            f"df.with_columns(pl.coalesce({each}))",
        )  # fmt: skip


def of_written(seen: Seen, form: str) -> Iterator[Finding]:
    """Of texts that are read as numbers or dates: codes for a missing value, and years of two digits far ahead.

    Args:
        seen: The column.
        form: How its numbers or dates are written.
    """
    name = seen.name
    if dates.is_form(form):
        far = odd_dates.far_ahead(seen, form)
        if far is not None:
            text, year, times = far
            told = f"holds years of two digits: {text!r} is read as {year}"
            yield Finding(name, told, times, _with_centuries(name, form))
        return
    known = numbers_in_text.form_of_text(form)
    assert known is not None, "forms are checked when they come in"
    texts = pl.DataFrame({"text": seen.values, "n": seen.counts, "x": numbers_in_text.read(seen.values, known)})
    each = texts.drop_nulls("x").group_by("x").agg(pl.col("n").sum(), pl.col("text")).sort("x")
    numbers = Seen(name, "number", seen.n_rows, 0, False, False, lambda: (each["x"], each["n"]))
    found = missing_codes(numbers)
    if found is not None:
        wanted = each.filter(pl.col("x").is_in([float(code) for code, _ in found[0]]))
        yield of_codes(name, found, wanted["text"].explode().sort().to_list())


def _with_centuries(name: str, form: str) -> str:
    """The line of code that writes years of two digits with four: from 30 on of the last century."""
    if not form.endswith("%y"):
        return "write the years with four digits"
    col = rf"pl.col({name!r}).str.replace(r'(\D)([3-9]\d)$', '${{1}}19${{2}}')"
    return rf"if such years are past: df.with_columns({col}.str.replace(r'(\D)([0-2]\d)$', '${{1}}20${{2}}'))"


def of_codes(name: str, found: tuple[list[tuple[int, int]], tuple[float, float]], values: Sequence[object]) -> Finding:
    """Numbers such as -9 and 999 that may stand for a missing one.

    Args:
        name: The column.
        found: The codes, each with its rows, and the range of all other numbers.
        values: The codes as the column holds them.
    """
    codes, (low, high) = found
    times = sum(n for _, n in codes)
    told = listed([f"{code} in {several(n, 'row')}" for code, n in codes])
    gone = str(list(values)) if len(values) > 1 else repr(values[0])
    return Finding(
        name, f"is {told}, far from all other values ({low:.6g} to {high:.6g})", times,
        f"df.with_columns(pl.col({name!r}).replace({gone}, None))",
    )  # fmt: skip
