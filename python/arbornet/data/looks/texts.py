"""Texts that are not levels: free text, web addresses, lists of items.

More than a hundred levels, most of which occur once, carry no information about other columns; such a column is left
out, with a hint on what to derive from it: a length, a number of items, the site of an address.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from arbornet.data.looks.seen import Seen

MANY = 100
NEARLY_ALL = 0.95
ADDRESS = r"^(?:https?://|ftp://|www\.)\S+$|^[\w.+-]+@[\w-]+\.[\w.]+$|^[\w-]+(?:\.[\w-]+)*\.(?:com|org|net|gov|edu|io|co)(?:/\S*)?$"
LIST = r"^[\[{]|^[^,;|]{1,40}(?:[,;|]\s*[^,;|]{1,40}){2,}$|^[^;|\s][^;|]*[;|][^;|]+"

Shape = Literal["text", "address", "list", "identifier", "category"]


@dataclass(frozen=True)
class Texts:
    """The shape of a column of texts."""

    n_words: float
    """On average."""
    addresses: float
    """Share of distinct values that are addresses."""
    lists: float
    brackets: float
    """Share that begin with a square or curly bracket, as lists do in programs."""
    with_digits: float
    with_blanks: float


def texts_of(values: pl.Series) -> Texts:
    """Measures distinct texts."""
    stripped = values.str.strip_chars()
    told = pl.select(
        words=(stripped.str.count_matches(r"\s+") + 1).mean(),
        addresses=stripped.str.contains(ADDRESS).mean(),
        lists=stripped.str.contains(LIST).mean(),
        brackets=stripped.str.contains(r"^[\[{]").mean(),
        digits=stripped.str.contains(r"\d").mean(),
        blanks=stripped.str.contains(r"\s").mean(),
    ).row(0)
    return Texts(*(float(x or 0.0) for x in told))


def shape(seen: Seen, told: Texts) -> Shape:
    """What a column of many distinct texts is."""
    if told.addresses >= 0.6:
        return "address"
    if told.brackets >= 0.6 or (told.lists >= 0.6 and told.n_words < 30):
        return "list"
    if told.n_words >= 2.5:
        return "text"
    return "identifier" if told.with_blanks < 0.3 and (told.with_digits > 0.5 or seen.has_id_name) else "text"


def is_mostly_new(seen: Seen) -> bool:
    """Whether nearly all rows have distinct texts, or there are many levels and most occur once."""
    n, distinct = seen.n_values, seen.n_distinct
    if distinct == n:
        return True
    if distinct >= NEARLY_ALL * n and n >= 20:
        return True
    return distinct > MANY and seen.share_once > 0.5


def advice(shape: Shape, name: str) -> str:
    """What to derive from such a column, as a line of Polars."""
    lines = {
        "text": f"df.with_columns(pl.col({name!r}).str.len_chars()) keeps its length",
        "list": f'df.with_columns(pl.col({name!r}).str.count_matches(",") + 1) keeps the number of items',
        "address": f'df.with_columns(pl.col({name!r}).str.extract(r"//([^/]+)")) keeps the site',
    }
    return lines.get(shape, "")
