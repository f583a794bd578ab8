"""Random frames through the Arrow border, against a literal reading of their values in Python.

    python campaigns/arrow.py 20000 [seed]

Every frame is inferred, made a table with kinds drawn at random, and coded once more by the table's schema. It is a
pyarrow table, record batches, a bare stream or array, a dict, a Polars or pandas frame or a DuckDB relation. Its
classes, kinds, gaps, levels, codes and numbers must be those of `arrow_literal.py`; or it is refused with a typed error
that names a column which that reading refuses too. A frame may take 60 seconds and 64 MB at most.
"""

from __future__ import annotations

import contextlib
import decimal
import faulthandler
import json
import math
import random
import re
import sys
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
from arrow_columns import ANY, READABLE, column
from arrow_literal import (
    REFUSED,
    TIMES,
    Told,
    as_numbers,
    as_whole,
    inferred,
    is_endless,
    levels,
    may_have_levels,
    merged,
    of_arrow,
    of_objects,
)

import arbornet as an
from arbornet.text.visible import visible_name

NAMES = ["a", "b", "c d", "'", "β", "e\tf"]
ROOM_MB = 64
SOURCES = ["table", "table", "table", "batch", "reader", "stream", "array", "dict", "polars", "pandas", "duckdb"]


class Bare:
    """Speaks one of the two interfaces and nothing else."""

    def __init__(self, of: Any, interface: str) -> None:
        setattr(self, interface, getattr(of, interface))


def nulls_among_values(table: pa.Table) -> bool:
    """What pyarrow cannot combine into one chunk."""
    kinds = table.schema.types
    if any(pa.types.is_run_end_encoded(t) for t in kinds):
        return True
    chunks = [
        chunk for t, of in zip(kinds, table.columns, strict=True) if pa.types.is_dictionary(t) for chunk in of.chunks
    ]
    # Half floats it combines to something else: their NaN becomes 32256.
    kinds_of = [(chunk.dictionary, chunk.type.value_type) for chunk in chunks]
    return any(of.null_count or pa.types.is_nested(t) or t == pa.float16() for of, t in kinds_of)


def frame_of(rng: random.Random, table: pa.Table) -> tuple[str, Any, dict[str, Told]]:
    """The table as a frame of some kind, and what its columns say."""
    told = {name: of_arrow(table[name]) for name in table.column_names}
    match rng.choice(SOURCES):
        case "batch" if table.num_rows and not nulls_among_values(table):
            return "batch", table.combine_chunks().to_batches()[0], told
        case "reader":
            return "reader", table.to_reader(max_chunksize=rng.choice([1, 7, 1000])), told
        case "stream":
            return "stream", Bare(table, "__arrow_c_stream__"), told
        case "array" if table.num_rows and not nulls_among_values(table):
            rows = table.combine_chunks().to_struct_array()
            rows = rows.chunk(0) if isinstance(rows, pa.ChunkedArray) else rows
            return "array", Bare(rows, "__arrow_c_array__"), told
        case "dict":
            return "dict", {name: table[name] for name in table.column_names}, told
        case "polars":
            return polars(table, told)
        case "pandas":
            return pandas(rng, table, told)
        case "duckdb" if rng.random() < 0.1:
            return duck(table, told)
    return "table", table, told


Drawn = tuple[str, Any, dict[str, Told]]


def polars(table: pa.Table, told: dict[str, Told]) -> Drawn:
    try:
        frame = pl.DataFrame(pl.from_arrow(table, rechunk=False))
    except BaseException:  # what Polars cannot take, at times by a panic of its own
        return "table", table, told
    columns = {}
    for series in frame:
        plain = series.to_physical() if series.dtype.is_temporal() else series
        if not series.dtype.is_temporal():
            columns[series.name] = of_objects(plain.to_list())
            if series.dtype == pl.Enum:
                columns[series.name].declared = series.cat.get_categories().to_list()
            continue
        unit = getattr(series.dtype, "time_unit", "ns")
        class_ = {pl.Date: "date", pl.Datetime: "datetime", pl.Duration: "duration", pl.Time: "time"}
        word = class_[series.dtype.base_type()]
        second = {"ms": 1e3, "us": 1e6, "ns": 1e9}[unit]
        scale = {"date": 1, "datetime": 86_400 * second, "duration": second, "time": 1e9}[word]
        units = plain.to_list()
        columns[series.name] = Told(word, [None if x is None else float(x) / scale for x in units], units=units)
    return "polars", frame, columns


def pandas(rng: random.Random, table: pa.Table, told: dict[str, Told]) -> Drawn:
    mode = rng.choice(["arrow", "usual", "object", "nullable"])
    if mode == "object" and any(getattr(kind, "unit", "") == "ns" for kind in table.schema.types):
        mode = "usual"  # objects of nanoseconds are read to the microsecond
    if any(
        isinstance(kind, pa.BaseExtensionType) and told[n].class_ in TIMES
        for n, kind in zip(told, table.schema.types, strict=True)
    ):
        return "table", table, told  # pandas aborts the process on moments that it cannot hold
    try:
        frame = table.to_pandas(types_mapper=pd.ArrowDtype if mode == "arrow" else None, date_as_object=True)
        if mode == "object":
            frame = frame.astype(object)
        if mode == "nullable":
            frame = frame.convert_dtypes()
        if mode == "arrow":
            return "pandas arrow", frame, told
        columns = {}
        for name in frame.columns:
            series = frame[name]
            columns[name] = of_objects(series.tolist(), typed=False)
            if isinstance(series.dtype, pd.CategoricalDtype):
                categories = [float(x) if isinstance(x, decimal.Decimal) else x for x in series.cat.categories]
                if any(isinstance(level, float) and math.isinf(level) for level in categories):
                    columns[name] = Told(REFUSED, [None] * len(series))
                elif series.cat.ordered or columns[name].class_ not in TIMES:
                    columns[name].declared = categories
    except Exception:
        return "table", table, told
    return f"pandas {mode}", frame, columns


def duck(table: pa.Table, told: dict[str, Told]) -> Drawn:
    if any(says.class_ == "date" and any(abs(day) >= 2**31 for day in says.present) for says in told.values()):
        return "table", table, told  # days beyond 32 bits it makes others
    connection = duckdb.connect()
    try:
        relation = connection.from_arrow(table)
        rows = relation.fetchall()
        names = relation.columns
        if names != table.column_names:
            return "table", table, told
        # What Python's dates cannot hold comes as text.
        lists = {name: [row[i] for row in rows] for i, name in enumerate(names)}
        moments = TIMES[:2] + TIMES[3:]
        return "duckdb", relation, {n: told[n] if told[n].class_ in moments else of_objects(lists[n]) for n in names}
    except Exception:
        return "table", table, told


def kinds(rng: random.Random, told: dict[str, Told], sound: bool) -> dict[str, Any]:
    """A kind for every column; with `sound` one that it can have, if there is one."""
    chosen: dict[str, Any] = {}
    for name, says in told.items():
        may_be_numbers = as_numbers(says) is not None and not merged(says)
        options: list[Any] = ["continuous", an.Binned(3)] if not sound or may_be_numbers else []
        options += ["categorical", "ordinal"] if not sound or may_have_levels(says) else []
        chosen[name] = rng.choice(options or ["categorical"])
    return chosen


def refusals(told: dict[str, Told], chosen: dict[str, Any]) -> set[str]:
    """The columns that cannot be what they are declared to be."""
    bad = set()
    for name, says in told.items():
        if chosen[name] in ("categorical", "ordinal"):
            if not may_have_levels(says) or not levels(says):
                bad.add(name)
        elif as_numbers(says) is None or merged(says):
            bad.add(name)
    return bad


def same(found: list[float], wanted: list[float], of: str) -> None:
    assert len(found) == len(wanted), f"{of}: {len(found)} values, not {len(wanted)}"
    for row, (x, y) in enumerate(zip(found, wanted, strict=True)):
        assert x == y or math.isclose(x, y, rel_tol=1e-12, abs_tol=1e-9), f"{of}: {x!r} in row {row}, not {y!r}"


def check_schema(schema: an.Schema, told: dict[str, Told], exact: bool) -> None:
    for name, says in told.items():
        says, seen = as_whole(says), schema[name]
        n_missing = len(says.values) - len(says.present)
        assert seen.missing == n_missing, f"{name!r}: {seen.missing} missing, not {n_missing}"
        if exact:
            assert (seen.class_, seen.zone) == (says.class_, says.zone), f"{name!r} is {seen.class_} {seen.zone}"
            wanted = inferred(says)
            assert (seen.word, seen.used) == wanted, f"{name!r}: {seen.word}, used {seen.used}, not {wanted}: {seen}"


def check_table(table: an.Table, told: dict[str, Told], chosen: dict[str, Any]) -> None:
    numbers = {name: as_numbers(says) for name, says in told.items()}
    of = {name: told[name].values if chosen[name] in ("categorical", "ordinal") else numbers[name] for name in told}
    n_rows = len(next(iter(told.values())).values)
    kept = [row for row in range(n_rows) if all(of[name][row] is not None for name in table.names)]
    assert table.n_rows == len(kept) and table.n_dropped == n_rows - len(kept)
    for var, name in enumerate(table.names):
        wanted = [of[name][row] for row in kept]
        if chosen[name] == "continuous":
            same(table.handle.reals(var).tolist(), wanted, name)
        elif chosen[name] in ("categorical", "ordinal"):
            known = table.handle.levels(var)
            literal = levels(told[name])
            if told[name].class_ == "number":
                same(known or [], literal, name)
            else:
                assert known == literal, f"{name!r}: levels {known}, not {literal}"
            codes = [literal.index(value) for value in wanted]
            assert table.handle.codes(var).tolist() == codes, f"{name!r}: other codes"
        else:
            cuts = table.schema[name].cuts or ()
            bins = [sum(c < x and not math.isclose(c, x, rel_tol=1e-12) for c in cuts) for x in wanted]
            assert table.handle.codes(var).tolist() == bins, f"{name!r}: bins"


def check_rows(table: an.Table, frame: Any, told: dict[str, Told], chosen: dict[str, Any]) -> None:
    """The same frame coded by the table's schema, as it is and as it comes back from JSON."""
    again = an.Schema.from_dict(json.loads(json.dumps(table.schema.to_dict())))
    for schema in (table.schema, again):
        rows = schema.encode(frame)
        for var, name in enumerate(table.names):
            cells = rows.column(var).tolist()
            values = told[name].values
            if chosen[name] == "continuous":
                numbers = as_numbers(told[name]) or []
                same([0.0 if x != x else x for x in cells], [0.0 if x is None else x for x in numbers], name)
            elif chosen[name] in ("categorical", "ordinal"):
                known = levels(told[name])
                wanted = [2**32 - 1 if value is None else known.index(value) for value in values]
                assert cells == wanted, f"{name!r}: other rows"


def says_less(error: Exception, told: dict[str, Told]) -> bool:
    """A pandas categorical without a value still has categories of a type, to which the refusal may be due."""
    empty = [name for name, says in told.items() if not says.present]
    words = ("values, which have no", "has no value in any row")
    return any(f"'{visible_name(name)}'" in str(error) for name in empty) and any(text in str(error) for text in words)


def one(rng: random.Random, seen: Counter[str]) -> str:
    """Draws a frame, tries it, and says in a word what came of it."""
    sound = rng.random() < 0.8
    n = rng.choice([0, 1, 2, 3, 5, 8, 20, 20, 40, 300]) if rng.random() < 0.9 else rng.randrange(70)
    names = rng.sample(NAMES, rng.choice([1, 2, 3]))
    drawn = [column(rng, n, READABLE if sound else ANY) for _ in names]
    fields = [
        pa.field(name, of.type, metadata=METADATA if rng.random() < 0.1 else None)
        for name, of in zip(names, drawn, strict=True)
    ]
    arrow = pa.Table.from_arrays(drawn, schema=pa.schema(fields))
    source, frame, told = frame_of(rng, arrow)
    seen[f"from {source}"] += 1
    one.shown = f"{source} of {n} rows: {dict(zip(names, map(str, arrow.schema.types), strict=True))}"  # type: ignore[attr-defined]
    may_be_unread = {name for name in names if of_arrow(arrow[name]).class_ == REFUSED}
    if source == "duckdb":  # its intervals are months, days and seconds
        may_be_unread |= {name for name in names if of_arrow(arrow[name]).class_ == "duration"}
    if source == "pandas object":  # moments beyond Python's calendar make a column of objects none of moments
        may_be_unread |= {name for name in names if of_arrow(arrow[name]).class_ in TIMES}
    unread = {name for name, says in told.items() if says.class_ == REFUSED or is_endless(says)}
    # Objects of pandas and DuckDB are told to the microsecond.
    merges = {name for name in names if merged(of_arrow(arrow[name]))}
    chosen = kinds(rng, told, sound)
    bad = refusals(told, chosen)
    exact = source in ("table", "batch", "reader", "stream", "array", "dict")
    again = source != "reader"
    try:
        schema = an.infer_schema(arrow if source == "reader" else frame)
    except an.ColumnError as error:
        assert any(f"'{visible_name(name)}'" in str(error) for name in unread | may_be_unread), f"refused: {error}"
        return "refused: type"
    except an.ArbornetError as error:
        if "its producer failed" in str(error):
            return "refused: a panic of Polars"
        assert n == 0 and "no rows" in str(error), f"refused: {error}"
        return "refused: no rows"
    odd = {name for name in unread | may_be_unread if schema[name].left_out and not is_endless(told[name])}
    assert not unread - odd and n, f"taken: {unread - odd}"
    if any(schema[name].left_out.startswith(("holds", "is an array")) for name in odd):
        return "left out: type"
    check_schema(schema, told, exact)
    str(schema)
    numbers = [x for name, says in told.items() if chosen[name] == "continuous" for x in as_numbers(says) or [] if x]
    huge = any(abs(x) > 1e50 for x in numbers)
    try:
        table = an.Table(frame, schema.with_types(chosen), "drop", standardise=False, n_jobs=rng.choice([1, 2]))
    except an.ColumnError as error:
        if says_less(error, told) or ("beyond 64 bits" in str(error) and source.startswith("pandas")):
            return "refused: kind"  # as floats, the largest are rounded up
        named = bad | merges | ({n for n in chosen if chosen[n] == "continuous"} if huge else set())
        assert any(f"'{visible_name(name)}'" in str(error) for name in named), f"refused: {error}"
        return "refused: kind"
    except an.ArbornetError as error:
        incomplete = not any(
            all(v is not None for v in row) for row in zip(*(s.values for s in told.values()), strict=True)
        )
        assert (incomplete and "no row is complete" in str(error)) or bad, f"refused: {error}"
        return "refused: no row complete"
    assert not bad, f"taken: {bad}"
    check_table(table, told, chosen)
    if again:
        check_rows(table, frame, told, chosen)
    with contextlib.suppress(an.ArbornetError):
        an.Table(arrow, schema.with_types(chosen), missing="level")
    table.to_polars()
    return "read"


METADATA = {b"k": b"v", b"\xff": b"\xfe\x00"}


def memory(field: str) -> float:
    """A line of the process's status, in MB."""
    return int(re.search(rf"{field}:\s+(\d+)", Path("/proc/self/status").read_text()).group(1)) / 1024  # type: ignore[union-attr]


def main() -> None:
    times, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    slowest = most = 0.0
    for i in range(seed * 10_000_000, seed * 10_000_000 + times):
        faulthandler.dump_traceback_later(60, exit=True)
        Path("/proc/self/clear_refs").write_text("5")
        before, began = memory("VmRSS"), time.process_time()
        try:
            outcomes[one(random.Random(i), seen)] += 1
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            what = traceback.format_exception_only(error)[0].strip()[:300]
            kind = re.sub(r"\d+|'[^']*'", "#", what)[:60]
            if failed[kind] < 3:
                print(f"frame {i}: {what}\n    {one.shown}", flush=True)  # type: ignore[attr-defined]
                if not isinstance(error, AssertionError):
                    traceback.print_exception(error)
            failed[kind] += 1
        if i % 50 > 0 or i > seed * 10_000_000 + 200:
            rise = memory("VmHWM") - before
            most = max(most, rise)
            if rise > ROOM_MB:
                failed["memory"] += 1
                print(f"frame {i}: {rise:.0f} MB\n    {one.shown}", flush=True)  # type: ignore[attr-defined]
        slowest = max(slowest, time.process_time() - began)
        if i % 1000 == 999:
            print(
                f"{sum(outcomes.values())} frames, {sum(failed.values())} failed, {memory('VmRSS'):.0f} MB", flush=True
            )
    faulthandler.cancel_dump_traceback_later()
    print(f"seed {seed}: {dict(outcomes)}\n{dict(seen)}\nslowest {slowest:.2f} s, most memory a frame {most:.0f} MB")
    print(f"failed: {dict(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
