"""What looks wrong in a table, each with the line of code that fixes it: `schema.findings`.

Values that stand for a missing one (-9, 999, unknown), levels that differ only in case or spaces, columns that are
copies of another or determined by it, mostly missing, or nearly constant, duplicate rows, whole numbers that floats do
not distinguish, texts that are nearly all numbers, ambiguous dates, several rows of one subject or moment after moment.

A finding changes nothing. Copies are searched for in the first rows, then checked on all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import MISSING
from arbornet.data.frames import Raw
from arbornet.data.infer import Profile
from arbornet.data.kinds import Continuous
from arbornet.data.looks import identifiers
from arbornet.data.looks.absent import absent
from arbornet.data.looks.censored import censored
from arbornet.data.looks.counted_rows import counted_rows
from arbornet.data.looks.derived import derived
from arbornet.data.looks.directions import direction
from arbornet.data.looks.edges import Edges, edges_of
from arbornet.data.looks.finding import Finding, listed
from arbornet.data.looks.look import Look, line
from arbornet.data.looks.missing_codes import CODES, missing_codes
from arbornet.data.looks.of_texts import in_pairs, nearly_read, of_codes, of_levels, of_written
from arbornet.data.looks.repeated import SURER, kept_together, repeated
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.sums import added_up
from arbornet.data.looks.together import together
from arbornet.data.looks.totals import totals_of
from arbornet.data.looks.turned import turned
from arbornet.text.terminal import several

MOST_ROWS = 1_000_000
"""Rows are not compared with each other in larger tables."""
SAMPLE = 2_000
LONGEST_NOTE = 60
MOSTLY = 0.5
NEARLY_ONE = 0.99


def findings_of(raw: Raw, profiles: Sequence[Profile], seen: Sequence[Seen], looks: Sequence[Look]) -> list[Finding]:
    """What looks wrong: column by column, then copies of columns and duplicate rows."""
    around = turned(raw, seen)
    if around is not None and seen[-1].class_ == "text":
        return [around]
    found: list[Finding] = [] if around is None else [around]
    edges = edges_of(raw, seen)
    totals = totals_of(raw, seen, len(edges.notes))
    sums = {} if totals is None else totals.sums
    for one, column, look in zip(profiles, seen, looks, strict=True):
        found += _of_column(one, column, look, sums.get(column.name), _explained(edges, column.name))
    found = together(found)
    if raw.n_rows >= 4:
        copies = list(_copies(raw, seen, looks))
        found += copies
        made = list(derived(raw, profiles, looks, {one.column for one in copies}))
        made += added_up(raw, profiles, looks, {one.column for one in (*copies, *made)})
        found += made
        found += _determined(raw, profiles, looks, {one.column for one in copies})
    if 4 <= raw.n_rows <= MOST_ROWS:
        found += _rows_twice(raw, profiles)
        found += absent(raw, profiles, looks)
        counted = counted_rows(raw, profiles, seen, looks)
        found += [] if counted is None else [counted]
        belongs = repeated(raw, profiles, seen, looks, {one.column for one in found if SURER in one.what})
        followed = censored(raw, profiles, seen, looks)
        # First what concerns the whole table: `learn` prints the first few.
        found = [one for one in (belongs, followed) if one is not None] + found
    if totals is not None:
        first, *more = totals.sums
        which = "row above" if edges.notes else "last row"
        told = f"the {which} looks like totals: {totals.word!r} in {totals.column!r}, "
        told += f"the sum of {first!r}" + (f" and of {len(more)} more" if more else "")
        found.insert(0, Finding("", told, 1, f"df.head({-1 - len(edges.notes)}) leaves it out"))
    return [*_of_edges(edges), *found]


def _of_edges(edges: Edges) -> Iterator[Finding]:
    if edges.units:
        shown = [f"{text!r} in {name!r}" for name, text in list(edges.units.items())[:3]]
        more = len(edges.units) - len(shown)
        told = listed([*shown, f"{more} more column{'s' if more != 1 else ''}"] if more else shown)
        yield Finding("", f"the first row looks like units or headings: {told}", 1, "df.slice(1) leaves it out")
    if edges.notes:
        n, first = len(edges.notes), edges.notes[0]
        shown_note = first if len(first) <= LONGEST_NOTE else first[:LONGEST_NOTE] + "…"
        told = "the last row looks like a note" if n == 1 else f"the last {n} rows look like notes"
        them = "it" if n == 1 else "them"
        yield Finding("", f"{told} below the table: {shown_note!r}", n, f"df.head({-n}) leaves {them} out")


def _explained(edges: Edges, name: str) -> frozenset[str]:
    """The texts of a column that are told already."""
    return frozenset((*edges.notes, *([edges.units[name]] if name in edges.units else [])))


def _of_column(
    one: Profile, seen: Seen, look: Look, total: float | None, explained: frozenset[str]
) -> Iterator[Finding]:
    name = seen.name
    if one.merged is not None:
        text = f"df.with_columns(pl.col({name!r}).cast(pl.String))"
        yield Finding(name, f"holds {one.merged[0]} and {one.merged[1]}, which are one number in 64 bits", 2, text)
    if look.n_words_for_missing:
        rows = several(look.n_words_for_missing, "row")
        told = f"holds words for a missing value in {rows}, which are read as missing"
        yield Finding(name, told, look.n_words_for_missing, line(name, '"categorical"') + " keeps them as levels")
    if look.looks_like == "identifier" and identifiers.is_repeated(seen) and look.left_out is not None:
        told = f"has several rows for each of {seen.n_distinct:,} values: {SURER}"
        yield Finding(name, told, seen.n_values, f"{kept_together(name)}, or df.unique({name!r}) keeps one of each")
    if look.undecided is not None and look.form is None:
        yield Finding(
            name, "holds dates whose day and month cannot be distinguished", seen.n_values, _with_form(look, name)
        )
    if look.may_be is not None:
        dotted = seen.texts.filter(seen.texts.str.contains(".", literal=True))
        told = f"holds {dotted[0]!r}, in which the dot is taken for a decimal point; if it stands between thousands"
        yield Finding(name, told, len(dotted), line(name, repr(look.may_be), "with_forms"))
    spoilt = list(nearly_read(seen, explained)) if seen.class_ == "text" and look.form is None and seen.n_values else []
    yield from spoilt
    pairs = in_pairs(seen) if seen.class_ == "text" and look.form is None and not spoilt else None
    if pairs is not None:
        yield pairs
    if (turn := direction(seen, look, one.range_)) is not None:
        yield turn
    if look.left_out is not None or seen.n_values == 0:
        return
    if look.form is None and not one.declared and (why := identifiers.may_identify(seen)) is not None:
        mend = f"if it only identifies rows: schema.without({name!r})"
        if identifiers.is_repeated(seen):
            mend = f"if it identifies subjects, their rows are not independent: {kept_together(name)}; {mend}"
        yield Finding(name, why, seen.n_values, mend)
    missing = seen.n_missing + look.n_words_for_missing
    if missing > MOSTLY * seen.n_rows:
        told = f"is missing in {missing:,} of {several(seen.n_rows, 'row')}"
        yield Finding(name, told, missing, f"schema.without({name!r})")
    most = max(seen.counts.to_list()) if one.values is not None else 0
    if one.values is not None and seen.n_values >= 100 and most >= NEARLY_ONE * seen.n_values:
        value = seen.values[int(seen.counts.arg_max() or 0)]
        told = f"is {value!r} in {most / seen.n_values:.1%} of the rows"
        yield Finding(name, told, most, f"schema.without({name!r})")
    ends = {*(one.range_ or ())}
    if seen.class_ in ("integer", "number") and look.form is None and (ends & CODES or total in ends):
        codes = missing_codes(seen, total)
        if codes is not None:
            yield of_codes(name, codes, [code for code, _ in codes[0]])
    if seen.class_ == "text":
        yield from of_levels(seen, bool(spoilt)) if look.form is None else of_written(seen, look.form)


def _with_form(look: Look, name: str) -> str:
    assert look.undecided is not None
    return " or ".join(line(name, repr(form), "with_forms") for form in look.undecided.forms[:2])


def _column(raw: Raw, at: int, class_: str) -> pl.Series:
    """A column's values by row: numbers, or the ranks of texts."""
    return pl.Series(raw.ranks(at)) if class_ in ("text", "truth") else pl.Series(raw.numbers(at), nan_to_null=True)


def _rows_twice(raw: Raw, profiles: Sequence[Profile]) -> Iterator[Finding]:
    """Duplicate rows, if they are unlikely to be chance: some column has many values, and the row one of them.

    Where such a column is missing, or holds what a twentieth of the rows have (0 of a count), rows agree by chance.
    """
    n_rows = raw.n_rows
    many = [at for at, one in enumerate(profiles) if one.n_distinct is None or one.n_distinct > max(30, n_rows / 10)]
    numbered = any(one.counter or (one.n_distinct == n_rows and one.values is not None) for one in profiles)
    if not many or numbered or n_rows < 20:
        return
    total, of_many = pl.Series(np.zeros(n_rows, dtype=np.uint64)), pl.Series([False]).new_from_index(0, n_rows)
    for at, one in enumerate(profiles):
        column = _column(raw, at, one.class_)
        total = (total * 31 + column.hash(seed=at) // 64).rename("")
        if at in many:
            counts = column.value_counts(name="n")
            often = counts.filter((pl.col("n") > n_rows / 20) | (pl.first() == MISSING))[:, 0]
            of_many |= column.is_not_null() & ~column.is_in(often.implode()).fill_null(False)
    again = int(of_many.sum()) - total.filter(of_many).n_unique()
    if again:
        told = f"{again:,} duplicate row{'s' if again != 1 else ''}"
        yield Finding("", told, again, "df.unique(maintain_order=True) keeps one of each")


def _copies(raw: Raw, seen: Sequence[Seen], looks: Sequence[Look]) -> Iterator[Finding]:
    """Columns that an earlier one determines: strictly monotone numbers, or the same levels under other names."""
    used = [i for i, look in enumerate(looks) if look.left_out is None]
    known: dict[tuple[str, bytes], int] = {}
    told: set[int] = set()
    for at in used:
        column = _column(raw, at, seen[at].class_)
        for key in _keys(column.head(SAMPLE), seen[at].class_):
            first = known.setdefault(key, at)
            if first != at and at not in told:
                earlier = _column(raw, first, seen[first].class_)
                if _same(earlier, column, key[0]):
                    told.add(at)
                    how = "is a monotone function of" if key[0] != "levels" else "matches the levels of"
                    name = seen[at].name
                    what = f"{how} {seen[first].name!r} in every row: one determines the other"
                    mend = f"schema.without({name!r})"
                    yield Finding(name, what, raw.n_rows, mend, seen[first].name, is_mutual=True)


MOST_LEVELS = 200
FEWEST_ROWS = 10
"""A level of the determining column has at least as many rows on average; fewer could be chance."""


def _determined(raw: Raw, profiles: Sequence[Profile], looks: Sequence[Look], copies: set[str]) -> Iterator[Finding]:
    """Columns that a column with more levels determines, as a city its country: judged by first rows, then by all."""
    n_rows, names = raw.n_rows, raw.names
    used = [i for i, look in enumerate(looks) if look.left_out is None and names[i] not in copies]
    counts = {i: profiles[i].n_distinct or 0 for i in used}
    by = [
        i
        for i in used
        if 3 <= counts[i] <= min(MOST_LEVELS, n_rows / FEWEST_ROWS) and _has_levels(profiles[i], looks[i])
    ]
    if not by or n_rows < 2 * FEWEST_ROWS:
        return
    of = [i for i in used if 2 <= counts[i] < max(counts[j] for j in by) and profiles[i].n_missing == 0]
    if not of:
        return
    whole: dict[int, NDArray[Any]] = {}
    first = {i: _ranks_of(_column(raw, i, profiles[i].class_).head(SAMPLE)) for i in {*by, *of}}
    told: set[int] = set()
    for i in by:
        others = [j for j in of if j != i and j not in told and 2 <= counts[j] < counts[i]]
        for j in others:
            if not _determines(first[i], first[j]):
                continue
            for at in (i, j):
                if at not in whole:
                    whole[at] = _ranks_of(_column(raw, at, profiles[at].class_))
            if _determines(whole[i], whole[j]) and _is_clear(whole[i], whole[j]):
                told.add(j)
                what = f"is determined by {names[i]!r} in every row"
                yield Finding(names[j], what, n_rows, f"schema.without({names[j]!r})", names[i])


def _ranks_of(column: pl.Series) -> NDArray[Any]:
    """Values as small whole numbers; a missing one is a value too."""
    return pl.select(column.rank("dense").fill_null(0)).to_series().to_numpy()


def _has_levels(one: Profile, look: Look) -> bool:
    """Whether the values of a column are levels, not measurements that may determine anything by chance."""
    return look.form is None and (one.class_ == "text" or not isinstance(look.kind, Continuous))


def _determines(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether each level of one column has one value of the other."""
    first = np.full(int(a.max()) + 1, -1, dtype=np.int64)
    first[a] = np.arange(len(a))
    return bool((b[first[a]] == b).all())


def _is_clear(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether it can hardly be chance: at least two levels, and ten rows, lie outside of the most frequent value."""
    values, counts = np.unique(b, return_counts=True)
    rest = b != values[counts.argmax()]
    return int(rest.sum()) >= FEWEST_ROWS and len(np.unique(a[rest])) >= 2


def determined_by(findings: Sequence[Finding], target: str) -> list[str]:
    """The columns that determine a target, by what was found."""
    named = [one.of for one in findings if one.of and one.column == target]
    return named + [one.column for one in findings if one.is_mutual and one.of == target]


def marked(findings: Sequence[Finding], arcs: Iterable[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """The arcs that join a column and its copy, or what it determines: parent, child, and why they say little."""
    between = {frozenset((one.column, one.of)): one for one in findings if one.of}
    known = [(u, v, between.get(frozenset((u, v)))) for u, v in arcs]
    return [(u, v, f"{one.column!r} {one.what}") for u, v, one in known if one is not None]


def _keys(head: pl.Series, class_: str) -> Iterator[tuple[str, bytes]]:
    """What two columns share if one is a function of the other, judged by the first rows."""
    if class_ not in ("text", "truth") and head.n_unique() > 10:
        for word, ranks in _ranks(head).items():
            yield word, ranks.to_numpy().tobytes()
    elif 2 <= head.drop_nulls().n_unique() <= max(2, len(head) // 10) and len(head) >= 20:
        yield "levels", _first_places(head).to_numpy().tobytes()


def _ranks(values: pl.Series) -> Mapping[str, pl.Series]:
    up = values.rank("dense").fill_null(0)
    down = values.rank("dense", descending=True).fill_null(0)
    # The order that begins with the smaller rank is the one kept, so that a falling copy has the same key.
    return {"order": up if _first_difference(up, down) else down}


def _first_difference(up: pl.Series, down: pl.Series) -> bool:
    where = (up != down).arg_true()
    return len(where) == 0 or bool(up[int(where[0])] < down[int(where[0])])


def _first_places(values: pl.Series) -> pl.Series:
    """Levels by the order in which they appear: the same for two columns with the same levels under other names."""
    frame = pl.DataFrame({"x": values}).with_row_index("at")
    return frame.select(pl.col("at").min().over("x"))["at"]


def _same(a: pl.Series, b: pl.Series, how: str) -> bool:
    if how == "levels":
        return bool((_first_places(a) == _first_places(b)).all())
    return bool((_ranks(a)["order"] == _ranks(b)["order"]).all())
