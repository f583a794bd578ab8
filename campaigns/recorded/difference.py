"""Two records beside each other: the same bytes, the same up to rounding, or different, by table and room."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from recorded.book import FRACTION, Book, Line, read

Verdict = Literal["same", "rounding", "different"]
#: Below this a number is as good as zero: what is left where large numbers cancel.
ZERO = 1e-12
SHOWN = 60
MOST_SHOWN = 5


def compared(a: Path, b: Path, rel: float, most: int = MOST_SHOWN) -> bool:
    """Prints what two records have in common and in what they differ; true if they differ in more than rounding."""
    first, second = tables(a), tables(b)
    both = [name for name in first if name in second]
    total: Counter[Verdict] = Counter()
    rooms: dict[str, Counter[Verdict]] = {}
    for name in both:
        ours, theirs = read(first[name]), read(second[name])
        verdicts = dict(judged(ours, theirs, rel))
        by_room: dict[str, Counter[Verdict]] = {}
        for key, verdict in verdicts.items():
            by_room.setdefault(key.split("/")[0], Counter())[verdict] += 1
        for room, counts in by_room.items():
            rooms.setdefault(room, Counter()).update(counts)
            total.update(counts)
        worse = {room: counts for room, counts in by_room.items() if counts["rounding"] or counts["different"]}
        print(f"{name}: {told(sum(by_room.values(), Counter()))}", flush=True)
        for room, counts in worse.items():
            print(f"  {room}: {told(counts)}")
        different = [key for key, verdict in verdicts.items() if verdict == "different"]
        for key in different[:most]:
            print(f"  {key}: {place(ours, theirs, key, rel)}")
        if len(different) > most:
            print(f"  ... and {len(different) - most} more that differ")
    for record, names in ((a, first.keys() - second.keys()), (b, second.keys() - first.keys())):
        if names:
            few = ", ".join(sorted(names)[:5]) + (", ..." if len(names) > 5 else "")
            print(f"only in {record}, not compared: {len(names)} tables ({few})")
    print(f"{len(both)} tables compared")
    for room, counts in rooms.items():
        print(f"  {room}: {told(counts)}")
    print(f"in all: {told(total)}")
    return total["different"] > 0 or not both


def tables(record: Path) -> dict[str, Path]:
    """The finished tables of a record."""
    return {str(path.relative_to(record).with_suffix("")): path for path in sorted(record.rglob("*.jsonl"))}


def told(counts: Counter[Verdict]) -> str:
    words = {"same": "the same bytes", "rounding": "the same but for rounding", "different": "DIFFERENT"}
    return ", ".join(f"{counts[verdict]} {words[verdict]}" for verdict in words if counts[verdict]) or "nothing"


def judged(a: Book, b: Book, rel: float) -> Iterator[tuple[str, Verdict]]:
    """How every result compares; one that only one record has is different."""
    for key in dict.fromkeys([*a.lines, *b.lines]):
        if key not in a.lines or key not in b.lines:
            yield key, "different"
        elif a.lines[key].bytes == b.lines[key].bytes:
            yield key, "same"
        elif key in a.texts and key in b.texts:
            yield key, "different" if first_difference(a.texts[key], b.texts[key], rel) else "rounding"
        else:
            yield key, "rounding" if alike(a.lines[key], b.lines[key], rel) else "different"


def alike(a: Line, b: Line, rel: float) -> bool:
    """Whether two results differ by no more than rounding, as far as their sums tell."""
    # A number moves the sum by its relative change times its weight, 7 at most; sums are kept to nine decimals.
    return bool(a.shape) and a.shape == b.shape and a.n == b.n and abs(a.sum - b.sum) <= 7 * rel * a.n + 2e-9


def near(a: str, b: str, rel: float) -> bool:
    x, y = float(a), float(b)
    return x == y or (math.isclose(x, y, rel_tol=rel, abs_tol=ZERO))


def first_difference(a: str, b: str, rel: float) -> tuple[int, int] | None:
    """Where two texts first differ in more than the rounding of a number, as positions in each."""
    at_a = at_b = 0
    numbers_a, numbers_b = FRACTION.finditer(a), FRACTION.finditer(b)
    while True:
        x, y = next(numbers_a, None), next(numbers_b, None)
        words_a = a[at_a : x.start() if x else len(a)]
        words_b = b[at_b : y.start() if y else len(b)]
        if words_a != words_b:
            same = next((i for i, (p, q) in enumerate(zip(words_a, words_b, strict=False)) if p != q), None)
            same = min(len(words_a), len(words_b)) if same is None else same
            return at_a + same, at_b + same
        if x is None or y is None:
            return None if x is y else (at_a + len(words_a), at_b + len(words_b))
        if not near(x.group(), y.group(), rel):
            return x.start(), y.start()
        at_a, at_b = x.end(), y.end()


def place(a: Book, b: Book, key: str, rel: float) -> str:
    """The first place in which two results differ, in words."""
    if key not in a.lines or key not in b.lines:
        return f"only in the {'second' if key in b.lines else 'first'} record"
    if key not in a.texts or key not in b.texts:
        x, y = a.lines[key], b.lines[key]
        if x.shape and x.shape == y.shape:
            return f"its {x.n} numbers differ (sums {x.sum!r} and {y.sum!r}); the texts were not kept"
        return "other words or another number of them; the texts were not kept"
    at = first_difference(a.texts[key], b.texts[key], rel)
    assert at is not None
    return f"at character {at[0]}\n    {_around(a.texts[key], at[0])}\n    {_around(b.texts[key], at[1])}"


def _around(text: str, at: int) -> str:
    return repr(text[max(0, at - SHOWN) : at + SHOWN])
