"""The labelled columns of benches/data/types as a CSV file would hold them.

Each row of `columns.csv.gz` tells of a column its name, counts, range and five samples. A column is made of it: as
many values as the row says (400 at most), so many of them distinct, within the range, like the samples. What stands
between the samples is invented; the same row gives the same column.
"""

from __future__ import annotations

import csv
import gzip
import random
import string
from collections.abc import Iterator
from pathlib import Path

TYPES = Path(__file__).resolve().parents[1] / "data" / "types"
MISSING = ("", "NA", "nan", "NaN")


def profiles() -> Iterator[dict[str, str]]:
    """The rows, in order."""
    with gzip.open(TYPES / "columns.csv.gz", "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


def _variant(text: str, rng: random.Random) -> str:
    """Like the text: digits no larger, so that dates stay dates, and some letters replaced."""
    out = [str(rng.randint(1, int(c))) if c in "123456789" else c for c in text]
    if not any(c.isdigit() for c in text):
        letters = [i for i, c in enumerate(out) if c.isalpha()]
        for i in rng.sample(letters, min(len(letters), 4)):
            out[i] = rng.choice(string.ascii_uppercase if out[i].isupper() else string.ascii_lowercase)
    return "".join(out)


def _pool(row: dict[str, str], wanted: int, rng: random.Random) -> list[str]:
    samples = [text for text in (row[f"sample_{i}"] for i in range(1, 6)) if text not in MISSING]
    numbers = [_number(text) for text in samples]
    low, high = _number(row["min"]), _number(row["max"])
    known = [x for x in numbers if x is not None]
    if (samples and len(known) == len(samples)) or (not samples and _number(row["sd"]) not in (None, 0.0)):
        low, high = (min(known) if low is None else low), (max(known) if high is None else high)
        decimals = max([len(text.split(".")[1]) for text in samples if "." in text and "e" not in text.lower()] or [0])
        if decimals == 0 and high - low + 1 <= wanted * 1.0001:
            return [str(v) for v in range(int(low), int(high) + 1)]
        mean, sd = _number(row["mean"]) or 0.0, _number(row["sd"]) or 0.0
        pool = dict.fromkeys(samples)
        for _ in range(20 * wanted):
            if len(pool) >= wanted:
                break
            pool[f"{min(max(rng.gauss(mean, sd), low), high):.{decimals}f}"] = None
        return list(pool)[:wanted]
    pool = dict.fromkeys(samples or ["?"])
    for _ in range(20 * wanted):
        if len(pool) >= wanted:
            break
        pool[_variant(rng.choice(list(samples or ["?"])), rng)] = None
    return list(pool)[:wanted]


def column(row: dict[str, str], most: int = 400, seed: int = 0) -> list[str]:
    """Values as text, "" where missing."""
    rng = random.Random(f"{seed} {row['file']} {row['name']} {row['total']}")
    total, missing, distinct = int(row["total"]), int(row["missing"]), int(row["distinct"])
    n = max(1, min(total, most))
    blank = round(n * missing / max(total, 1))
    distinct = max(1, distinct - (missing > 0))
    pool = _pool(row, min(distinct, 4 * most), rng)
    if distinct >= 0.98 * (total - missing):
        values = (pool * n)[: n - blank]
    else:
        values = [rng.choice(pool) for _ in range(n - blank)]
    values += [""] * blank
    rng.shuffle(values)
    return values
