"""A few texts that cost a column its numbers or dates: `<0,5` among `1,5`, `31/31/2011`, `9.12` among `9:12`.

One form fits all other values. Texts such as `<0.5` are not without a value: they say on which side of a limit it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from arbornet.data.looks import dates, numbers_in_text
from arbornet.data.looks.seen import Seen

MOST = 0.1
"""The largest share of distinct values that may be odd."""
FEWEST = 10
"""Columns of fewer distinct values are levels."""
SAMPLE = 200
"""So many values say that a column holds no numbers."""
TAKES_THE_LIMIT = "takes the limit for the value"
SHOWN = 3
LISTED = 8
"""More texts are not listed in a line of code."""
PLAIN = str(numbers_in_text.NumberForm())
BELOW = ("<", "<=", "≤")
_LIMIT = re.compile(r"\s*(?P<sign><=?|>=?|≤|≥)\s*(?P<number>[\d.,]+)\s*")


@dataclass(frozen=True)
class Odd:
    """Texts that do not fit the form of all others."""

    texts: list[str]
    times: int
    """In how many rows."""
    others: str
    """What the others are: numbers, dates or times."""
    form: str = ""

    def without(self, once: frozenset[str]) -> Odd:
        """The same without some texts, each of which one row has."""
        texts = [text for text in self.texts if text not in once]
        return replace(self, texts=texts, times=self.times - len(self.texts) + len(texts))

    def told(self) -> str:
        """What looks wrong."""
        shown = ", ".join(map(repr, self.texts[:SHOWN]))
        more = f" and {len(self.texts) - SHOWN:,} more texts" if len(self.texts) > SHOWN else ""
        rows = f"{self.times:,} row{'s' if self.times != 1 else ''}"
        return f"holds {self.others} except for {shown}{more}, in {rows}"

    def mend(self, name: str) -> str:
        """What can be done."""
        gone = str(self.texts) if len(self.texts) > 1 else repr(self.texts[0])
        change = f"replace({gone}, None)"
        if len(self.texts) > LISTED and self.form == PLAIN:
            change = "cast(pl.Float64, strict=False)"
        elif len(self.texts) > LISTED and dates.is_form(self.form):
            change = f"str.to_{dates.class_of(self.form)}({self.form!r}, strict=False)"
        it = "them" if self.times > 1 else "it"
        as_missing = f"df.with_columns(pl.col({name!r}).{change}) makes {it} missing"
        limits = [_LIMIT.fullmatch(text) for text in self.texts]
        found = [limit for limit in limits if limit is not None]
        if not found or len(found) < len(limits):
            return f"{as_missing}, and the others {self.others}"
        col = f"df.with_columns(pl.col({name!r})"
        is_below = all(limit["sign"] in BELOW for limit in found)
        only = "the larger values" if is_below else "the values within the limits"
        as_missing += f", and what is learned is of {only} only"
        if len(found) > LISTED:
            return rf"{col}.str.replace(r'^\s*[<>=≤≥]+\s*', '')) {TAKES_THE_LIMIT}; {as_missing}"
        at_limit = {limit[0]: limit["number"] for limit in found}
        half = {limit[0]: _half(limit["number"]) for limit in found}
        told = f"{col}.replace({at_limit})) {TAKES_THE_LIMIT}; "
        return told + (f"{col}.replace({half})) half of it; " if is_below else "") + as_missing


def _half(number: str) -> str:
    """Half of a number, written with the same mark."""
    mark = "," if "," in number else "."
    try:
        return f"{float(number.replace(',', '.')) / 2:.10g}".replace(".", mark)
    except ValueError:
        return number


def odd_values(seen: Seen) -> Odd | None:
    """The few texts of a column that do not fit the form of the others, if those are numbers, dates or times."""
    values = seen.texts
    if len(values) <= FEWEST:
        return None
    most = MOST * seen.n_distinct
    for odd, others, form in (*_among_numbers(values, most), *_among_dates(values, most)):
        if 0 < len(odd) <= most:
            times = int(seen.counts.filter(seen.values.is_in(odd.to_list())).sum())
            return Odd(odd.to_list(), times, others, form)
    return None


def _among_numbers(values: pl.Series, most: float) -> Iterator[tuple[pl.Series, str, str]]:
    some = values.gather_every(max(1, len(values) // SAMPLE))
    if numbers_in_text.parts_of(some)["digits"].null_count() > 3 * MOST * len(some):
        return
    parts = numbers_in_text.parts_of(values)
    known = parts.filter(pl.col("digits").is_not_null()).with_columns(pl.col("prefix", "unit").str.strip_chars())
    if len(values) - known.height > most:
        return
    usual = known.group_by("prefix", "unit").len().sort("len", "prefix", "unit", descending=True, nulls_last=False)
    prefix, unit = usual.row(0)[:2]
    units = [unit] if unit is None else [unit, unit.removesuffix("s"), unit + "s"]
    same = parts["digits"].is_not_null() & parts["prefix"].str.strip_chars().eq_missing(pl.Series([prefix]))
    same &= (
        parts["unit"].str.strip_chars().is_in(units).fill_null(False) if unit is not None else parts["unit"].is_null()
    )
    odd, rest = values.filter(~same), values.filter(same)
    if len(odd) > most:
        return
    # Where both marks occur, the few with one of them may be slips.
    for mark in ("", ".", ","):
        slips = rest.str.contains(mark, literal=True) if mark else pl.Series([False]).new_from_index(0, len(rest))
        if int(slips.sum()) + len(odd) > most or (mark and not slips.any()):
            continue
        form = numbers_in_text.form_of(rest.filter(~slips))
        if form is not None:
            yield pl.concat([odd, rest.filter(slips)]), "numbers", str(form)
            return


def _among_dates(values: pl.Series, most: float) -> Iterator[tuple[pl.Series, str, str]]:
    n = len(values)
    some = [
        str(values[i]).strip() for i in sorted({*range(min(3, n)), *range(n // 2, min(n // 2 + 3, n)), n - 2, n - 1})
    ]
    best: tuple[int, pl.Series, str] | None = None
    for form in dict.fromkeys(form for text in some for form in dates.likely_forms(text)):
        odd = values.filter(~dates.fits(values, form))
        if 0 < len(odd) <= most and (best is None or len(odd) < best[0]):
            best = len(odd), odd, form
    if best is not None:
        yield best[1], "times" if dates.class_of(best[2]) == "time" else "dates", best[2]
