"""Numbers that a person wrote as text: `$1,200`, `10.4%`, `1.234,5`, `12 kg`.

A form is an example of how a number is written: `$1,234.5`, `1234.5%`, `1.234,5`, `1234.5 kg`. It is inferred from the
whole column, never from one row: `1,234` is a thousand and more unless another value of the column has a comma
elsewhere. A column has one unit; ranges (`5-10`), versions, ordinals (`1st`) and numbers with a leading zero (`007`)
have no form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import polars as pl

_PARTS = (
    r"^(?P<open>\()?\s*(?P<before>[-+−]?)\s*(?P<prefix>[^\d.,'()+−\s-][^\d.,'()+−-]*?)?\s*(?P<after>[-+−]?)\s*"
    r"(?P<digits>\d[\d.,'’ \u{a0}\u{202f}]*\d|\d|[.,]\d+)(?P<power>[eE][+-]?\d{1,3})?(?P<gap>[ \u{a0}]?)"
    r"(?P<unit>[^\d\s()+−-][^\d]*?)?\s*(?P<close>\))?$"
)
_CURRENCY = re.compile(
    r"(?:[A-Z]{1,3})?[$€£¥₹₽₩₪₫₺₴฿]|USD|EUR|GBP|CHF|INR|JPY|CAD|AUD|NZD|SEK|NOK|DKK|PLN|BRL|MXN|Rs\.?"
)
_UNIT = re.compile(r"[%‰]|[^\W\d_]{1,12}\.?(?:[ /·][^\W\d_]{1,10}[²³]?)?[²³]?|°[CF]?|[$€£¥₹]|[\"′″']|[µμ][^\W\d_]{1,4}")
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
_FORM = re.compile(r"(?P<prefix>\D*?)1(?P<thousands>\D?)234(?P<decimal>[.,])5(?P<gap>[ ]?)(?P<unit>\D*)")
MOST_DECIMALS = 6
MOST_COMPARED = 500
"""Texts by which it is settled how many decimals numbers are written with."""
_MANY = 2
"""A unit is one unit with or without the s of more than one: `1 year`, `2 years`."""


@dataclass(frozen=True)
class NumberForm:
    """How the numbers of a column are written."""

    prefix: str = ""
    thousands: str = ""
    decimal: str = "."
    gap: str = ""
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.prefix}1{self.thousands}234{self.decimal}5{self.gap}{self.unit}"

    @property
    def is_plain(self) -> bool:
        """Whether any program reads such numbers."""
        return self == NumberForm()

    def said(self, x: float) -> str:
        """The same beside numbers with a decimal point, which marks no thousands there."""
        return (replace(self, thousands="") if self.thousands == "." else self).written(x)

    @property
    def is_money(self) -> bool:
        """Whether a currency stands before or after the numbers."""
        return any(_CURRENCY.fullmatch(part) for part in (self.prefix, self.unit))

    @cached_property
    def _grouped(self) -> str:
        if not self.thousands:
            return r"\d+"
        mark = _class_of(self.thousands)
        return rf"(?:\d+|\d{{1,3}}(?:{mark}\d{{2,3}})*{mark}\d{{3}})"

    def digits_pattern(self) -> str:
        """What the digits of such a number match."""
        mark = re.escape(self.decimal)
        return rf"^(?:{self._grouped}(?:{mark}\d*)?|{mark}\d+)$"

    def written(self, x: float, decimals: int | None = None) -> str:
        """A number as the column has it: `$1,200`; of so many decimals if they are given: `$1,200.00`."""
        text = f"{abs(x):,.10g}" if abs(x) < 1e15 else f"{abs(x):.10g}"
        if decimals is not None and abs(x) < 1e15:
            text = f"{abs(x):,.{decimals}f}"
        whole, _, part = text.partition(".")
        whole = whole.replace(",", self.thousands)
        plain = whole + (self.decimal + part if part else "")
        return f"{'-' if x < 0 else ''}{self.prefix}{plain}{self.gap}{self.unit}"


def form_of_text(text: str) -> NumberForm | None:
    """The form that a text such as `$1,234.5` shows."""
    found = _FORM.fullmatch(text)
    if found is None or found["thousands"] == found["decimal"]:
        return None
    return NumberForm(**found.groupdict())


def parts_of(values: pl.Series) -> pl.DataFrame:
    """What texts consist of, if they are numbers: sign, currency, digits, unit; nulls where they are not."""
    return values.str.strip_chars().str.extract_groups(_PARTS).struct.unnest()


def form_of(values: pl.Series) -> NumberForm | None:
    """The form in which all of these texts are numbers, if there is one.

    Args:
        values: The distinct texts of a column, none of them missing.
    """
    if len(values) == 0 or not values.head(64).str.contains(r"\d").all():
        return None
    if not values.head(64).str.contains(_PARTS).all():
        return None
    parts = parts_of(values)
    if parts["digits"].has_nulls():
        return None
    prefix, unit = _one_prefix(parts["prefix"]), _one_unit(parts["unit"])
    if prefix is None or unit is None:
        return None
    gaps = parts.filter(parts["unit"].is_not_null())["gap"]
    gap = " " if len(gaps) and gaps.str.len_chars().mean() > 0.5 else ""  # type: ignore[operator]
    if unit and not gap and _ORDINAL.match(unit):
        return None
    marks = _marks(parts["digits"])
    if marks is None:
        return None
    form = NumberForm(prefix, marks[0], marks[1], gap, unit)
    if not parts["digits"].str.contains(form.digits_pattern()).all():
        return None
    if _has_leading_zeros(parts["digits"]) and not unit:
        return None
    return form


def read(values: pl.Series, form: NumberForm) -> pl.Series:
    """The numbers that texts of this form stand for, null where a text does not fit; plain numbers are read too."""
    parts = parts_of(values)
    digits, plain = parts["digits"], values.str.strip_chars().cast(pl.Float64, strict=False)
    fits = digits.str.contains(form.digits_pattern()) & _fits(parts["prefix"], form.prefix)
    fits &= _fits(parts["unit"], form.unit)
    text = digits.str.replace_all(form.thousands, "", literal=True) if form.thousands else digits
    text = text.str.replace(form.decimal, ".", literal=True) + parts["power"].fill_null("")
    numbers = text.cast(pl.Float64, strict=False)
    signs = parts["before"].fill_null("") + parts["after"].fill_null("")
    negative = signs.is_in(["-", "−"]) | (parts["open"].is_not_null() & parts["close"].is_not_null())
    numbers = pl.select(pl.when(negative).then(-numbers).otherwise(numbers)).to_series()
    written = pl.select(pl.when(fits).then(numbers)).to_series()
    # A bare `1.234` is read as the form says; a number that is not of the form, as a program wrote it.
    return written.fill_null(plain).alias(values.name)


_GROUPED = r"^[1-9]\d{0,2}(?:\.\d{3})+$"
_SMALL = r"^(?:0|[1-9]\d{0,2})$"
_WHOLE = r"^(?:0|[1-9]\d*)$"


def dots(values: pl.Series) -> Literal["beside small", "beside large", "alone"] | None:
    """Whether dots may stand between thousands: only before groups of three digits.

    Args:
        values: The distinct texts of a column, none of them missing.

    Returns:
        What the numbers without a dot are: whole and below 1,000, whole and larger, or none; None if dots are decimal
        points, or there are none.
    """
    digits = parts_of(values)["digits"]
    dotted = digits.str.contains(".", literal=True)
    if digits.has_nulls() or not dotted.any() or not digits.filter(dotted).str.contains(_GROUPED).all():
        return None
    rest = digits.filter(~dotted)
    if len(rest) == 0:
        return "alone"
    if not rest.str.contains(_WHOLE).all():
        return None
    return "beside small" if rest.str.contains(_SMALL).all() else "beside large"


def write(values: pl.Series, form: NumberForm, step: float | None = None, like: pl.Series | None = None) -> pl.Series:
    """Numbers as texts of a form, with as many decimals as most texts of it.

    Args:
        values: The numbers.
        form: How they are written.
        step: What they are multiples of, if that is known: without texts it tells the decimals.
        like: Distinct texts of the form.
    """
    texts = pl.Series([], dtype=pl.String) if like is None else like.head(MOST_COMPARED).str.strip_chars()
    own = read(texts, form).to_list()

    def alike(decimals: int | None) -> int:
        return sum(x is not None and form.written(x, decimals) == t for x, t in zip(own, texts, strict=True))

    decimals = max((None, *range(MOST_DECIMALS + 1)), key=alike)  # the first of equals
    if not own and step is not None:
        needed = next((d for d in range(MOST_DECIMALS + 1) if round(step, d) == step), None)
        # Nobody writes a price with one decimal.
        decimals = 2 if needed == 1 and form.is_money else needed
    written = [None if x is None else form.written(float(x), decimals) for x in values.to_list()]
    return pl.Series(values.name, written, dtype=pl.String)


def _class_of(mark: str) -> str:
    return r"[ \u{a0}\u{202f}]" if mark == " " else r"['’]" if mark == "'" else re.escape(mark)


def _one_prefix(prefixes: pl.Series) -> str | None:
    """The one currency before all numbers, "" if there is none; None if it is something else."""
    found = prefixes.drop_nulls().str.strip_chars().unique().to_list()
    if not found:
        return ""
    return found[0] if len(found) == 1 and _CURRENCY.fullmatch(found[0]) else None


def _one_unit(units: pl.Series) -> str | None:
    """The one unit after all numbers, "" if there is none; None if there are several, or it is not a unit."""
    present = units.drop_nulls().str.strip_chars()
    found = sorted(present.unique().to_list(), key=len)
    if not found:
        return ""
    if len(found) > _MANY or (len(found) == _MANY and found[1] != found[0] + "s"):
        return None
    # A number without its unit stands for another thing, unless it is the odd zero.
    if len(present) < 0.9 * len(units) or not _UNIT.fullmatch(found[-1]):
        return None
    return str(found[-1])


def _fits(parts: pl.Series, wanted: str) -> pl.Series:
    """Whether each text has the wanted part, or none; with or without the s of more than one."""
    stripped = parts.str.strip_chars()
    return stripped.is_null() | stripped.is_in([wanted, wanted.removesuffix("s"), wanted + "s"])


def _has_leading_zeros(digits: pl.Series) -> bool:
    return bool(digits.str.contains(r"^0\d").any())


def _marks(digits: pl.Series) -> tuple[str, str] | None:
    """The marks of thousands and of the fraction, inferred from all values together."""
    plain = digits.str.replace_all(r"[\u{a0}\u{202f}]", " ").str.replace_all("’", "'", literal=True)
    used = {mark for mark in ",.' " if plain.str.contains(mark, literal=True).any()}
    blank = used & {" ", "'"}
    points = used & {",", "."}
    if len(blank) > 1 or (blank and len(points) > 1):
        return None
    if blank:
        return blank.pop(), points.pop() if points else "."
    if not points:
        return "", "."
    if points == {"."}:
        return (".", ",") if _groups_only(plain, ".", twice=True) else ("", ".")
    if points == {","}:
        return (",", ".") if _groups_only(plain, ",", twice=False) else ("", ",")
    both = plain.filter(plain.str.contains(",", literal=True) & plain.str.contains(".", literal=True))
    if len(both):
        comma_last = both.str.contains(r",[^.]*$")
        if comma_last.n_unique() > 1:
            return None
        return (".", ",") if comma_last[0] else (",", ".")
    # No value has both: the one that only stands before groups of three is that of thousands.
    if _groups_only(plain.filter(plain.str.contains(",", literal=True)), ",", twice=False):
        return ",", "."
    if _groups_only(plain.filter(plain.str.contains(".", literal=True)), ".", twice=False):
        return ".", ","
    return None


def _groups_only(digits: pl.Series, mark: str, twice: bool) -> bool:
    """Whether a mark only stands before groups of three digits; if asked, in one value at least twice."""
    point = re.escape(mark)
    marked = digits.filter(digits.str.contains(mark, literal=True))
    grouped = marked.str.contains(rf"^[1-9]\d{{0,2}}(?:{point}\d{{2,3}})*{point}\d{{3}}$").all()
    return bool(grouped) and (not twice or bool(marked.str.contains(rf"{point}\d+{point}").any()))
