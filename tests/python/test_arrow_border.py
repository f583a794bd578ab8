"""The Arrow border: random arrays of every type, sliced, chunked, with gaps, against pyarrow's own reading."""

from __future__ import annotations

import datetime
import decimal
import gc
import math
import warnings
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arbornet as an

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
DAY = datetime.timedelta(days=1)
INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
UNITS = ["s", "ms", "us", "ns"]


def as_number(value: Any) -> float:
    """A value on the stated scale: points in time in days, spans and times of day in seconds."""
    match value:
        case datetime.datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
            return (moment - EPOCH) / DAY
        case datetime.date():
            return float((value - EPOCH.date()).days)
        case datetime.timedelta():
            return value / datetime.timedelta(seconds=1)
        case datetime.time():
            return value.hour * 3600 + value.minute * 60 + value.second + value.microsecond / 1e6
        case _:
            return float(value)


@st.composite
def number_arrays(draw: st.DrawFn) -> pa.Array:
    n = draw(st.integers(1, 30))
    kind = draw(st.sampled_from(["int", "f16", "f32", "f64", "decimal", "date", "timestamp", "duration", "time"]))
    whole = st.lists(st.integers(0, 100), min_size=n, max_size=n)
    gaps = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    numbers = [None if gap else value for gap, value in zip(gaps, draw(whole), strict=True)]
    match kind:
        case "int":
            return pa.array(numbers, draw(st.sampled_from(INTS)))
        case "f16":
            return pa.array([None if x is None else np.float16(x / 4) for x in numbers], pa.float16())
        case "f32" | "f64":
            some_nan = [math.nan if x == 50 else (None if x is None else x / 4) for x in numbers]
            return pa.array(some_nan, pa.float32() if kind == "f32" else pa.float64())
        case "decimal":
            width = draw(
                st.sampled_from([pa.decimal32(7, 2), pa.decimal64(12, 2), pa.decimal128(20, 2), pa.decimal256(50, 2)])
            )
            return pa.array([None if x is None else decimal.Decimal(x) / 4 for x in numbers], width)
        case "date":
            return pa.array([None if x is None else x * 86_400_000 for x in numbers], pa.date64()).cast(
                draw(st.sampled_from([pa.date32(), pa.date64()]))
            )
        case "timestamp":
            unit, zone = draw(st.sampled_from(UNITS)), draw(st.sampled_from([None, "UTC", "Europe/Vienna"]))
            return pa.array(numbers, pa.int64()).cast(pa.timestamp(unit, zone))
        case "duration":
            return pa.array(numbers, pa.int64()).cast(pa.duration(draw(st.sampled_from(UNITS))))
        case _:
            wanted = draw(st.sampled_from(TIMES))
            return pa.array(numbers, pa.int32() if wanted.bit_width == 32 else pa.int64()).cast(wanted)


@st.composite
def text_arrays(draw: st.DrawFn) -> pa.Array:
    texts = st.lists(st.none() | st.text(st.sampled_from("aβ\0 "), max_size=15), min_size=1, max_size=30)
    plain = pa.array(draw(texts), pa.string())
    wanted = draw(st.sampled_from([pa.string(), pa.large_string(), pa.string_view(), *DICTIONARIES]))
    return dictionary_of(draw, plain, wanted) if pa.types.is_dictionary(wanted) else plain.cast(wanted)


DICTIONARIES = [pa.dictionary(keys, values) for keys in INTS for values in (pa.string(), pa.large_string())]


def dictionary_of(draw: st.DrawFn, plain: pa.Array, wanted: pa.DictionaryType) -> pa.Array:
    """A dictionary in which values repeat, are null, or do not occur."""
    values = [*draw(st.permutations(sorted({v.as_py() for v in plain if v.is_valid}))), "unused", None]
    values += values[: draw(st.integers(0, 2))]
    places: dict[Any, list[int]] = {}
    for place, value in enumerate(values):
        places.setdefault(value, []).append(place)
    keys = [draw(st.sampled_from([*places[v.as_py()], *([None] if not v.is_valid else [])])) for v in plain]
    return pa.DictionaryArray.from_arrays(pa.array(keys, wanted.index_type), pa.array(values, wanted.value_type))


def sliced(draw: st.DrawFn, array: pa.Array) -> pa.ChunkedArray:
    """Chunks that are slices; some are empty."""
    ends = sorted(draw(st.lists(st.integers(0, len(array)), max_size=4)))
    ends = [*ends, len(array)]
    start = draw(st.integers(0, ends[0]))
    pieces = [array.slice(low, high - low) for low, high in zip([start, *ends], ends, strict=False)]
    return pa.chunked_array(pieces, array.type)


def kept(frame: pa.Table, kind: Any) -> an.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        schema = an.infer_schema(frame)
    return an.Table(frame, schema.with_types(a=kind), "drop", standardise=False)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), array=number_arrays())
def test_numbers_of_every_type_are_read_on_their_scale(data: st.DataObject, array: pa.Array) -> None:
    column = sliced(data.draw, array)
    # pyarrow's own Python values know no nanoseconds
    exact = (
        column.cast(pa.timestamp("us", column.type.tz), safe=False) if pa.types.is_timestamp(column.type) else column
    )
    if pa.types.is_duration(column.type):
        exact = column.cast(pa.duration("us"), safe=False)
    if pa.types.is_time64(column.type):
        exact = column.cast(pa.time64("us"), safe=False)
    wanted = [as_number(v.as_py()) for v in exact if v.is_valid and v.as_py() == v.as_py()]
    if not wanted:
        return
    table = kept(pa.table({"a": column}), "continuous")
    assert table.handle.reals(0).tolist() == pytest.approx(wanted, rel=1e-12, abs=1e-6)
    assert table.n_dropped == len(column) - len(wanted)


@settings(max_examples=100, deadline=None)
@given(data=st.data(), array=text_arrays())
def test_texts_of_every_layout_are_read_as_their_values(data: st.DataObject, array: pa.Array) -> None:
    column = sliced(data.draw, array)
    wanted = [value for value in column.to_pylist() if value is not None]
    if not wanted:
        return
    table = kept(pa.table({"a": column}), "categorical")
    levels = sorted(set(wanted))
    assert table.handle.levels(0) == levels
    assert table.handle.codes(0).tolist() == [levels.index(value) for value in wanted]


@settings(max_examples=50, deadline=None)
@given(data=st.data(), values=st.lists(st.sampled_from([None, True, False]), min_size=1, max_size=70))
def test_truth_values_are_read_at_any_bit_offset(data: st.DataObject, values: list[bool | None]) -> None:
    column = sliced(data.draw, pa.array(values, pa.bool_()))
    wanted = [value for value in column.to_pylist() if value is not None]
    if not wanted:
        return
    table = kept(pa.table({"a": column}), "categorical")
    levels = table.handle.levels(0) or []
    assert [levels[code] for code in table.handle.codes(0)] == wanted


def test_rows_that_are_null_as_a_whole_are_null_in_every_column() -> None:
    columns = [pa.array([1.5, 2.5, 3.5, 4.5]), pa.array(["x", "y", "x", "z"])]
    rows = pa.StructArray.from_arrays(columns, ["a", "b"], mask=pa.array([True, False, True, False]))
    table = an.Table(ArrayOnly(rows.slice(1)))
    assert (table.n_rows, table.dropped.by_column) == (2, {"a": 1, "b": 1})
    assert table.to_polars().rows() == [(2.5, "y"), (4.5, "z")]


class ArrayOnly:
    """Speaks the array interface, not the stream one."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.array.__arrow_c_array__(requested_schema)


class StreamOnly:
    """A frame of nobody's: only the stream interface, and it may fail."""

    def __init__(self, table: pa.Table, fail_after: int | None = None) -> None:
        self.table = table
        self.fail_after = fail_after

    def batches(self) -> Any:
        for i, batch in enumerate(self.table.to_batches()):
            if i == self.fail_after:
                raise RuntimeError("the disk is gone")
            yield batch

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self.table.schema, self.batches())
        return reader.__arrow_c_stream__(requested_schema)


def two_chunks() -> pa.Table:
    return pa.concat_tables([pa.table({"a": [0.5, 1.5]}), pa.table({"a": [2.5]})])


def test_any_object_with_a_stream_is_a_frame() -> None:
    assert an.Table(StreamOnly(two_chunks()), standardise=False).handle.reals(0).tolist() == [0.5, 1.5, 2.5]


def test_a_producers_error_is_told_in_its_words() -> None:
    with pytest.raises(an.ArbornetError, match="the disk is gone"):
        an.Table(StreamOnly(two_chunks(), fail_after=1))


def test_nothing_of_the_producers_is_kept() -> None:
    """The buffers go back when the table is made: a table holds copies only."""
    gc.collect()
    before = pa.total_allocated_bytes()
    frame = pa.table({"a": pa.array(np.arange(100_000) / 7), "b": pa.array(["x", "y"] * 50_000).dictionary_encode()})
    table = an.Table(frame)
    del frame
    gc.collect()
    assert pa.total_allocated_bytes() <= before + 1024
    assert table.n_rows == 100_000


def test_a_dictionary_may_differ_from_chunk_to_chunk() -> None:
    chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "b"]).dictionary_encode()]
    table = an.Table(pa.table({"a": pa.chunked_array(chunks)}))
    assert (table.handle.levels(0), table.handle.codes(0).tolist()) == (["a", "b", "c"], [1, 0, 2, 1])


def test_ordered_dictionaries_that_contradict_each_other_are_refused() -> None:
    def chunk(values: list[str], keys: list[int]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(pa.array(keys, pa.int8()), pa.array(values), ordered=True)

    longer = pa.table({"a": pa.chunked_array([chunk(["lo", "hi"], [0, 1]), chunk(["lo", "mid", "hi"], [1, 2])])})
    assert an.Table(longer).handle.levels(0) == ["lo", "mid", "hi"]
    against = pa.table({"a": pa.chunked_array([chunk(["lo", "hi"], [0, 1]), chunk(["hi", "lo"], [0, 1])])})
    with pytest.raises(an.ColumnError, match="'a' is an ordered dictionary whose chunks disagree"):
        an.Table(against)


def test_integers_of_128_bits_are_read() -> None:
    frame = pl.DataFrame({"a": pl.Series([1, 2, 40] * 4, dtype=pl.Int128)})
    assert an.Table(frame, standardise=False).handle.levels(0) == [1, 2, 40]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (pa.array([[1, 2], [3]]), "holds lists"),
        (pa.array([{"x": 1}, {"x": 2}]), "holds structs"),
        (pa.array([b"x", b"y"]), "holds bytes"),
        (pa.array([(1, 2, 3)], pa.month_day_nano_interval()), "Interval|Interval"),
    ],
)
def test_a_column_that_holds_no_single_values_is_named(array: pa.Array, words: str) -> None:
    frame = pa.table({"a": array, "b": [0.5] * len(array)})
    with pytest.warns(an.LeftOutWarning, match=f"'a' .*({words})"):
        schema = an.infer_schema(frame)
    with pytest.raises(an.ColumnError, match=f"'a' .*({words})"):
        an.Table(frame, schema.with_types(a="categorical"))


def test_a_nested_column_that_is_not_used_does_no_harm() -> None:
    table = an.Table({"b": [0.5, 1.5]})
    frame = pa.table({"a": [[1], [2]], "b": [1.0, 2.0]})
    assert table.schema.encode(frame).n_rows == 2


def test_metadata_that_is_no_text_does_no_harm() -> None:
    fields = pa.schema([pa.field("a", pa.float64(), metadata={b"\xff": b"\xfe\x00"})])
    table = an.Table(pa.Table.from_arrays([pa.array([0.5, 1.5])], schema=fields), standardise=False)
    assert table.handle.reals(0).tolist() == [0.5, 1.5]


def test_a_name_that_is_no_text_is_refused() -> None:
    rows = pa.StructArray.from_arrays([pa.array([0.5, 1.5])], fields=[pa.field(b"\xff", pa.float64())])
    with pytest.raises(an.ArbornetError, match="name is not UTF-8"):
        an.infer_schema(ArrayOnly(rows))


def test_a_zero_byte_in_a_name_of_polars_is_refused() -> None:
    with pytest.raises(an.ColumnError, match="zero byte"):
        an.infer_schema(pl.DataFrame({"a\0b": [1.5, 2.5]}))


@pytest.mark.parametrize("kind", [pa.decimal64(18, 0), pa.decimal128(38, 0), pa.decimal256(76, 0)])
def test_decimals_are_levels_to_the_last_digit(kind: pa.DataType) -> None:
    values = [-(10**17) - 1, -1, 0, 10**17 + 1, 10**17 + 2] * 4
    table = kept(pa.table({"a": pa.array(map(decimal.Decimal, values), kind)}), "categorical")
    assert table.handle.levels(0) == sorted(set(values))
    assert [sorted(set(values))[code] for code in table.handle.codes(0)] == values


def test_negative_decimals_of_256_bits_keep_their_size() -> None:
    values = [-1.25, 3.5, -(10.0**40), 10.0**60]
    column = pa.array([decimal.Decimal(x) for x in values], pa.decimal256(76, 4))
    assert an.infer_schema({"a": column})["a"].range_ == (min(values), max(values))


def test_levels_beyond_64_bits_are_refused_by_name() -> None:
    values = pa.array([decimal.Decimal(10) ** 30, decimal.Decimal(1)], pa.decimal128(38, 0))
    declared = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), values, ordered=True)
    for column, kind in ((declared, "ordinal"), (values, "categorical")):
        with pytest.raises(an.ColumnError, match=r"'a' .*beyond 64 bits"):
            kept(pa.table({"a": column}), kind)


def test_infinity_is_no_level() -> None:
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array([1.0, math.inf]), ordered=True)
    with pytest.raises(an.ColumnError, match="'a' declares the level inf"):
        an.infer_schema(pa.table({"a": ordered}))
    with pytest.raises(an.ColumnError, match="'a' is infinite in row 1"):
        kept(pa.table({"a": [1.0, math.inf, 1.0]}), "categorical")
    with pytest.raises(an.ParameterError, match="inf is not a level"):
        an.Ordinal([1.0, math.inf])


def test_an_infinite_value_is_refused_when_kinds_are_inferred_as_when_a_table_is_made() -> None:
    for make in (an.infer_schema, an.Table):
        with pytest.raises(an.ColumnError, match="'a' is infinite in row 1; replace such values"):
            make({"a": [1.0, math.inf, 1.0]})


def test_more_rows_than_a_table_may_have_are_refused_before_they_take_memory() -> None:
    with pytest.raises(an.ArbornetError, match="more than 4294967295 rows"):
        an.infer_schema(pa.table({"a": pa.nulls(10**10)}))


def test_what_a_producer_written_in_rust_panics_with_is_an_error_of_ours() -> None:
    class PanicException(BaseException):
        pass

    class Producer:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise PanicException("index out of bounds")

    with pytest.raises(an.ArbornetError, match="its producer failed: index out of bounds"):
        an.infer_schema(Producer())


def test_moments_come_back_whatever_their_zone_and_hour() -> None:
    stamps = pa.array([0, 86_400, 200_000], pa.int64()).cast(pa.timestamp("s", "+05:30"))
    clocks = pa.array([0, 3_600, 86_399], pa.int32()).cast(pa.time32("s"))
    whole = an.Table(pa.table({"at": stamps, "clock": clocks}))
    frame = whole.to_polars()
    assert frame["at"].to_list() == [EPOCH, EPOCH + DAY, EPOCH + datetime.timedelta(seconds=200_000)]
    assert frame["clock"].to_list() == [datetime.time(0), datetime.time(1), datetime.time(23, 59, 59)]
    # Drawn times of day may lie beyond midnight, and go round the clock then.
    drawn = an.learn(whole, an.DegenerateGaussian(), verbose=False).sample(200, seed=1)
    assert drawn.schema["clock"] == pl.Time and drawn["clock"].null_count() == 0


def test_numbers_beyond_a_type_stay_numbers() -> None:
    huge = pa.array([decimal.Decimal(10) ** 30, decimal.Decimal(-1), decimal.Decimal(5)], pa.decimal128(38, 0))
    assert an.Table(pa.table({"a": huge}), standardise=False).to_polars()["a"].to_list() == pytest.approx([1e30, -1, 5])


@pytest.mark.parametrize("text", ["１２", "٣", "1_000", "\x1c4", "infinity"])
def test_a_text_that_only_python_reads_as_a_number_is_not_silently_missing(text: str) -> None:
    with pytest.raises(an.ColumnError, match="'a' holds text that is not a number"):
        kept(pa.table({"a": ["1", "2.5", text]}), "continuous")


def test_objects_that_cannot_be_compared_are_left_out_by_name() -> None:
    import pandas as pd

    for values in ([np.array([1, 2]), np.array([3])], [pd.NA, np.array([3])]):
        with pytest.warns(an.LeftOutWarning, match=r"'a' holds .*ndarray"):
            an.infer_schema(pd.DataFrame({"a": pd.Series(values, dtype=object), "b": [0.5, 1.5]}))


def test_moments_among_objects_may_lack_values() -> None:
    import pandas as pd

    stamps = [pd.NaT, pd.Timestamp("2020-01-01", tz="Asia/Kathmandu"), pd.NA, pd.Timestamp("2020-01-02", tz="UTC")]
    schema = an.infer_schema(pd.DataFrame({"a": pd.Series(stamps, dtype=object)}))
    assert (schema["a"].class_, schema["a"].missing) == ("datetime", 2)
    days = pd.Categorical(pd.to_datetime(["2020-01-01", "2020-01-03", None]))
    assert an.infer_schema(pd.DataFrame({"a": days}))["a"].range_ == (18262.0, 18264.0)


def test_moments_beyond_all_calendars_are_refused_by_name() -> None:
    import pandas as pd

    late = pd.Series([pd.Timestamp("2020-01-01"), pd.Timestamp(np.datetime64(2**63 - 1, "us"))], dtype=object)
    with pytest.raises(an.ColumnError, match="'a' holds"):
        an.infer_schema(pd.DataFrame({"a": late}))
