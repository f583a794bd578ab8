"""The marks of a column, input of the tree: shares, counts and words of the name, each a number that you can check.

The tree of `tree.json` is used where no rule of `look` decides; `docs/kinds.md` prints it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import cache

import polars as pl

from arbornet.data.looks import numbers_in_text, texts
from arbornet.data.looks.seen import Seen

_NAMES: Mapping[str, str] = {
    "id": (
        r"\b(ids?|identifier|uuid|guid|key|index|idx|rowid|pk|unnamed|number|no|objectid|fid|userid|itemid|"
        r"recordid)\b|^$"
    ),
    "code": (r"\b(codes?|zip|zipcode|postcode|postal|fips|icd|naics|sic|isbn|phone|fax|account|block|lot)\b|code$"),
    "date": (
        r"\b(dates?|day|time|timestamp|datetime|dob|dt|created|updated|modified|start|end|birth|expires?|"
        r"expiration)\b|date|time$"
    ),
    "year": r"\b(years?|yr|yyyy|month|quarter|season|decade)\b|year",
    "label": (
        r"\b(status|class|type|category|group|label|cluster|gender|sex|state|country|region|city|county|flag|"
        r"is|has|kind|level|method|mode|language|currency|color|species|race|grade|q)\b|type$"
    ),
    "figure": (
        r"\b(counts?|total|amount|amt|num|avg|average|mean|median|std|min|max|sum|rates?|ratio|price|cost|value|score|age|"
        r"size|width|height|length|depth|weight|mass|percent|pct|area|volume|population|pop|index|power|speed|temperature|"
        r"temp|level|energy|rank|points|votes|views|likes|sales|revenue|income|x|y|z|pressure|systolic|diastolic|glucose|"
        r"cholesterol|bmi|dose|days|hours|hrs|minutes|seconds|duration|delay|distance|mpg|hp|rpm|horsepower|rings|wt|ht|"
        r"diameter|radius|thickness|concentration|density|humidity|rain|rainfall|wind|snow|precipitation|elevation|"
        r"altitude|gdp|balance|loan|payment|tax|pulse|births|deaths|cases|people|persons|children|visits|clicks|"
        r"followers|shares|wins|losses|goals|runs|wickets|hits|assists|attack|defense|frequency|freq|quantity|qty|units|"
        r"stock|yield|consumption|production|emissions|probability|error|velocity|angle|intensity|mm|cm|kg|km|ms)\b"
        r"|(count|rate|total|mpg)$"
    ),
    "place": (
        r"\b(lat|latitude|lon|long|lng|longitude|geo|geom|location|coordinates?|geometry|point|geocode|"
        r"polygon)\b|latitude|longitude"
    ),
    "text": (
        r"\b(descriptions?|comments?|title|text|notes?|reviews?|summary|body|content|message|tweet|abstract|"
        r"overview|details|reason|question|answer|bio|headline|story|synopsis|plot)\b|desc$|text$"
    ),
    "named": (
        r"\b(name|names|address|street|author|director|company|team|player|user|username|owner|vendor|school|"
        r"department|agency|organization|email)\b|name$"
    ),
    "link": (
        r"\b(url|urls|uri|link|links|website|web|image|img|photo|picture|thumbnail|site|homepage|page|"
        r"video)\b|url"
    ),
    "money": r"[%$€£]|\b(salary|budget|fee|wage|gross|currency|usd|dollars|percentage|percent|pct|share)\b",
    "many": (
        r"\b(genres|tags|keywords|categories|types|actors|cast|languages|countries|companies|topics|"
        r"ingredients|themes|skills|list|items|ids|features)\b"
    ),
}


@cache
def _name_patterns() -> dict[str, re.Pattern[str]]:
    return {word: re.compile(pattern) for word, pattern in _NAMES.items()}


_OTHER_NUMBER = r"^[^\d\s]{0,4}\s?[-+]?\d[\d,. ]*\s?[^\d]{0,12}$"
_DATE = (
    r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}\b|^\d{1,2}:\d{2}|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|"
    r"dec)[a-z]*\b.*\d|^(?:19|20)\d{2}[-/ ]|\d[- ](?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
)


class Marks(Mapping[str, float]):
    """The marks of a column with at least one value; those of its texts are computed when first needed."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._known = _of_names(seen) | _of_counts(seen)
        self._known |= _of_numbers(seen) if seen.class_ in ("integer", "number") else dict.fromkeys(NUMBERS, 0.0)
        if seen.class_ != "text":
            self._known |= dict.fromkeys(TEXTS, 0.0)

    def __getitem__(self, mark: str) -> float:
        if mark not in self._known:
            self._known |= _of_texts(self._seen)
        return self._known[mark]

    def __iter__(self) -> Iterator[str]:
        self["length"]
        return iter(self._known)

    def __len__(self) -> int:
        return len(list(iter(self)))


def _of_names(seen: Seen) -> dict[str, float]:
    plain = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", seen.name)
    plain = re.sub(r"[\d_.\-/()\[\]]+", " ", plain).strip().lower()
    told = {f"name says {word}": float(bool(p.search(plain))) for word, p in _name_patterns().items()}
    told["name mixes letters and digits"] = float(bool(re.search(r"[a-z]\d+[a-z]", seen.name.lower())))
    told["words of the name"] = float(len(plain.split()))
    told["name has digits"] = float(bool(re.search(r"\d", seen.name)))
    return told


def _of_counts(seen: Seen) -> dict[str, float]:
    return {
        "missing": seen.n_missing / max(seen.n_rows, 1),
        "distinct": float(min(seen.n_distinct, 400)),
        "distinct per value": seen.n_distinct / max(seen.n_values, 1),
        "once": seen.share_once,
        "most frequent": float(seen.counts.max() or 0) / max(seen.n_values, 1),  # type: ignore[arg-type]
        "numbers": float(seen.class_ in ("integer", "number")),
        "fractions": float(seen.class_ == "number" and not seen.whole),
        "dates": float(seen.class_ in ("date", "datetime", "time")),
    }


NUMBERS = ("smallest", "largest", "steps per value", "digits", "one width", "decimals", "years")


def _of_numbers(seen: Seen) -> dict[str, float]:
    values = seen.values.cast(pl.Float64)
    low, high = float(values.min() or 0), float(values.max() or 0)  # type: ignore[arg-type]
    sizes = pl.select(pl.max_horizontal(values.abs(), 1.0).log10().floor() + 1).to_series()
    shown = values.head(200)
    decimals = max((next((d for d in range(10) if round(x, d) == x), 10) for x in shown), default=0)
    years = ((values >= 1800) & (values <= 2100)).mean()
    return {
        "smallest": max(min(low, 1e9), -1e9),
        "largest": max(min(high, 1e12), -1e12),
        "steps per value": min((high - low + 1) / max(len(values), 1), 1e9),
        "digits": float(sizes.mean() or 0),  # type: ignore[arg-type]
        "one width": float(sizes.n_unique() == 1),
        "decimals": float(decimals),
        "years": float(years or 0),  # type: ignore[arg-type]
    }


TEXTS = (
    "words", "length", "longest", "addresses", "lists", "with digits", "with blanks", "only digits", "capitals",
    "letters and digits", "one length", "date-like", "number-like", "brackets", "commas", "bars",
    "written numbers", "letters only", "words, most", "digits share", "sentences", "at signs", "unlike words",
)  # fmt: skip


def _of_texts(seen: Seen) -> dict[str, float]:
    values = (seen.texts if len(seen.texts) else seen.values).head(2000).str.strip_chars()
    low = values.str.to_lowercase()
    told = texts.texts_of(values)
    row = pl.select(
        length=values.str.len_chars().mean(),
        longest=values.str.len_chars().max(),
        one=values.str.len_chars().n_unique() == 1,
        digits=values.str.contains(r"^[\d.,]+$").mean(),
        capitals=values.str.contains(r"^[^a-z]*[A-Z][^a-z]*$").mean(),
        mixed=values.str.contains(r"^[A-Za-z]*\d+[-_A-Za-z\d.]*[A-Za-z]?[-_A-Za-z\d]*$").mean(),
        date=low.str.contains(_DATE).mean(),
        number=values.str.contains(_OTHER_NUMBER).mean(),
        brackets=values.str.contains(r"[\[\]{}|]|^\(").mean(),
        commas=values.str.count_matches(",").mean(),
        bars=values.str.count_matches(r"[;|]").mean(),
        letters=values.str.contains(r"^[^\d]+$").mean(),
        words=(values.str.count_matches(r"\s+") + 1).max(),
        share=(values.str.count_matches(r"\d") / pl.max_horizontal(values.str.len_chars(), 1)).mean(),
        sentences=values.str.contains(r"[a-z]{2,}[.!?](\s|$)").mean(),
        at=values.str.contains("@").mean(),
    ).row(0)
    told_row = [float(x or 0.0) for x in row]
    written = numbers_in_text.form_of(values) if len(values) > 1 else None
    return {
        "words": told.n_words,
        "length": told_row[0],
        "longest": told_row[1],
        "addresses": told.addresses,
        "lists": told.lists,
        "with digits": told.with_digits,
        "with blanks": told.with_blanks,
        "only digits": told_row[3],
        "capitals": told_row[4],
        "letters and digits": told_row[5],
        "one length": told_row[2],
        "date-like": told_row[6],
        "number-like": told_row[7],
        "brackets": told_row[8],
        "commas": told_row[9],
        "bars": told_row[10],
        "written numbers": float(written is not None),
        "letters only": told_row[11],
        "words, most": told_row[12],
        "digits share": told_row[13],
        "sentences": told_row[14],
        "at signs": told_row[15],
        "unlike words": math.log10(1 + abs(told_row[1] - told_row[0])),
    }
