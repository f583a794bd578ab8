"""What is told of a table's columns before anything is learned from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arbornet.data.frames import read_frame
from arbornet.data.kinds import Continuous
from arbornet.data.scales import may_be_chosen, with_scales
from arbornet.data.schema import Schema
from arbornet.given import FrameLike
from arbornet.text.terminal import several

#: Findings that are told before anything is learned.
MOST_FINDINGS = 8
#: Names that are told of one kind, of more than so many the first few; and lines about columns.
MOST_NAMED, FIRST_NAMED = 60, 20
MOST_LINES = 20


def tell_of_columns(schema: Schema, tell: Callable[[str], None]) -> None:
    """Tells the columns by their types, which are left out, how texts are read, and what looks wrong."""
    by_kind: dict[str, list[str]] = {}
    for column in schema.used:
        by_kind.setdefault(column.word, []).append(column.name)
    for word, names in by_kind.items():
        tell(f"{word}: {_first(names)}")
    numbers = [(column.name, column.kind) for column in schema.used if isinstance(column.kind, Continuous)]
    if logs := [name for name, kind in numbers if kind.is_log]:
        tell(f"logarithmic: {_first(logs)}")
    if scored := [name for name, kind in numbers if kind.is_scored]:
        tell(f"normal scores: {_first(scored)}")
    if points := [f"{name} at {kind.point:g}" for name, kind in numbers if isinstance(kind.point, float)]:
        tell(f"point mass: {_first(points)}")
    if counts := [name for name, kind in numbers if kind.leaf == "counts"]:
        tell(f"counts: {_first(counts)}")
    if shapes := [name for name, kind in numbers if kind.leaf == "histogram"]:
        tell(f"histogram: {_first(shapes)}")
    not_used = [column for column in schema.columns if not column.used]
    for column in not_used[:MOST_LINES]:
        tell(f"left out: {column.name} {column.left_out}")
    if len(not_used) > MOST_LINES:
        tell(f"left out: {several(len(not_used) - MOST_LINES, 'more column')}, an.infer_schema(frame) says why")
    read = [column for column in schema.used if column.form is not None and column.hint is not None]
    for column in read[:MOST_LINES]:
        what = "dates" if column.looks_like == "date" else "numbers"
        tell(f"read as {what}: {column.name}, {column.reason}; {column.hint} keeps the text")
    if len(read) > MOST_LINES:
        tell(f"read as numbers or dates: {several(len(read) - MOST_LINES, 'more column')}, an.infer_schema(frame)")
    for found in schema.findings[:MOST_FINDINGS]:
        tell(f"look at: {found}")
    if len(schema.findings) > MOST_FINDINGS:
        more = several(len(schema.findings) - MOST_FINDINGS, "more finding")
        tell(f"look at: {more}, an.infer_schema(frame).findings")


def linear_though_skewed(frame: FrameLike, schema: Schema) -> str | None:
    """Names the columns that a schema keeps on a linear scale and that `learn` would not, had it inferred them itself.

    What was declared is meant. On a linear scale a long tail makes dependences where there are none.
    """
    plain = [column for column in schema.used if may_be_chosen(column) and column.scale is None]
    inferred = [column for column in plain if not column.reason.startswith("as declared")]
    if not inferred:
        return None
    raw = read_frame(frame, [column.name for column in inferred])
    there = [column for column in inferred if column.name in raw.names]
    gain = [one.name for one in with_scales(raw, there) if one.kind != Continuous()]
    return f"linear by the schema, though skewed or with one value in many rows: {_first(gain)}" if gain else None


def _first(names: Sequence[str]) -> str:
    """Names, the first of very many."""
    if len(names) <= MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:FIRST_NAMED])} and {len(names) - FIRST_NAMED:,} more"
