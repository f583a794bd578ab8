"""Random Arrow columns of every type and layout: offsets, garbage under nulls, all sorts of dictionaries and chunks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

INTS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
UNITS = ["s", "ms", "us", "ns"]
ZONES = [None, "UTC", "Europe/Vienna", "+05:30", "Asia/Kathmandu"]
TEXTS = ["a", "b", "A", "", " ", "β", "x" * 12, "x" * 13, "true", "1", "1.0", "01", "\0", "a\0", "NA", "ß" * 40, "1e3"]
NUMERALS = ["1", "2.5", "-3", "1e3", " 7 ", "+.5", "1_0", "٣", "１２", "nan", "inf", "\x1c4", "", "5."]
FLOATS = [0.0, -0.0, 1.0, 2.0, 0.5, -1.5, 3.25, 1e300, 5e-324, 1e16, float("nan"), float("inf")]


class Own(pa.ExtensionType):  # type: ignore[misc]
    """A type of nobody's, over one that can be read."""

    def __init__(self, storage: pa.DataType) -> None:
        super().__init__(storage, "campaign.own")

    def __arrow_ext_serialize__(self) -> bytes:
        return b"\xff\x00"

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, told: bytes) -> Own:
        return cls(storage)


def with_gaps(rng: random.Random, array: pa.Array) -> pa.Array:
    """The array with some of its values declared null; what lies there stays where it is."""
    if pa.types.is_nested(array.type) or pa.types.is_null(array.type):
        return array
    share = rng.choice([0, 0, 0, 0.1, 0.5, 1])
    valid = [rng.random() >= share for _ in range(len(array))]
    if all(valid) or not len(array):
        return array
    bitmap = pa.array(valid, pa.bool_()).buffers()[1]
    if pa.types.is_dictionary(array.type):
        indices = pa.Array.from_buffers(array.indices.type, len(array), [bitmap, array.indices.buffers()[1]])
        return pa.DictionaryArray.from_arrays(indices, array.dictionary, ordered=array.type.ordered)
    return pa.Array.from_buffers(array.type, len(array), [bitmap, *array.buffers()[1:]])


def some(rng: random.Random, of: Sequence[Any], n: int) -> list[Any]:
    """So many values, of few or of many distinct ones."""
    chosen = rng.sample(of, min(len(of), rng.choice([1, 2, 3, 6, 40])))
    return [rng.choice(chosen) for _ in range(n)]


def bits(kind: pa.DataType) -> tuple[int, int]:
    """Smallest and largest integer of a type."""
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**kind.bit_width - 1
    return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1


def whole(rng: random.Random, kind: pa.DataType, n: int) -> list[int]:
    low, high = bits(kind)
    if rng.random() < 0.1:
        start = rng.choice([0, 1])
        counter = [min(high, start + i) for i in range(n)]
        rng.shuffle(counter) if rng.random() < 0.5 else None
        return counter
    return some(rng, [0, 1, 2, 3, 5, 8, 100, 127, low, low + 1, high, high - 1, high // 2, high // 3], n)


def integers(rng: random.Random, n: int) -> pa.Array:
    kind = rng.choice(INTS)
    return pa.array(whole(rng, kind, n), kind)


def decimals(rng: random.Random, n: int) -> pa.Array:
    make, most = rng.choice([(pa.decimal32, 9), (pa.decimal64, 18), (pa.decimal128, 38), (pa.decimal256, 76)])
    scale = rng.choice([0, 0, 2, -3, most])
    width = make(most, scale).bit_width // 8
    units = some(rng, [0, 1, -1, 7, 250, 10**most - 1, 1 - 10**most, 3 * 10 ** (most // 2)], n)
    data = b"".join(x.to_bytes(width, "little", signed=True) for x in units)
    return pa.Array.from_buffers(make(most, scale), n, [None, pa.py_buffer(data)])


def floats(rng: random.Random, n: int) -> pa.Array:
    of = FLOATS if rng.random() < 0.4 else FLOATS[:7]
    values = some(rng, of, n) if rng.random() < 0.5 else [rng.gauss(0, 1) for _ in range(n)]
    kind = rng.choice([pa.float16(), pa.float32(), pa.float64()])
    with np.errstate(over="ignore"):
        return pa.array(np.array(values, float).astype(kind.to_pandas_dtype()), kind)


def moments(rng: random.Random, n: int) -> pa.Array:
    stamps = [pa.timestamp(unit, rng.choice(ZONES)) for unit in UNITS]
    clocks = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
    kind = rng.choice([pa.date32(), pa.date64(), *stamps, *map(pa.duration, UNITS), *clocks])
    plain = pa.int32() if kind.bit_width == 32 else pa.int64()
    usual = [0, 1, 43_200, 20_000, 86_399] if pa.types.is_time(kind) else [0, 1, 86_400, 20_000, 1_700_000_000, -1]
    extremes = [] if pa.types.is_time(kind) or rng.random() < 0.7 else bits(plain)
    values = some(rng, [*usual, *extremes], n)
    if kind == pa.date64():
        values = [x // 1000 * 86_400_000 if abs(x) < 10**12 else x for x in values]
    return pa.array(values, plain).view(kind)


def texts(rng: random.Random, n: int) -> pa.Array:
    drawn = some(rng, rng.choice([TEXTS, TEXTS, TEXTS, NUMERALS, NUMERALS[:4], [f"id {i}" for i in range(400)]]), n)
    return pa.array(drawn, rng.choice(TEXT_TYPES))


def truths(rng: random.Random, n: int) -> pa.Array:
    return pa.array(some(rng, [True, False], n), pa.bool_())


def dictionary(rng: random.Random, n: int) -> pa.Array:
    """A dictionary in which values repeat, are null, or do not occur."""
    inner = rng.choice([texts, texts, truths, integers, floats, moments, decimals, nested, nothing])
    values = with_gaps(rng, inner(rng, rng.choice([1, 3, 8, 100 if n > 100 else 9])))
    keys = rng.choice(INTS)
    used = min(len(values), bits(keys)[1])
    indices = pa.array([rng.randrange(rng.choice([1, used])) for _ in range(n)], keys)
    return pa.DictionaryArray.from_arrays(indices, values, ordered=rng.random() < 0.3)


def nothing(rng: random.Random, n: int) -> pa.Array:
    return pa.nulls(n)


def extension(rng: random.Random, n: int) -> pa.Array:
    kind = rng.randrange(5)
    if kind == 0:
        return pa.ExtensionArray.from_storage(pa.json_(), pa.array(some(rng, ["{}", "[1]", '"x"'], n), pa.string()))
    if kind == 1:
        return pa.ExtensionArray.from_storage(pa.bool8(), pa.array(some(rng, [0, 1], n), pa.int8()))
    if kind == 2:
        return pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16))] * n, pa.binary(16)))
    inner = rng.choice([texts, truths, integers, floats, moments])(rng, n)
    return pa.ExtensionArray.from_storage(Own(inner.type), inner)


def nested(rng: random.Random, n: int) -> pa.Array:
    """What holds no single values, or none of ours: refused with the column's name."""
    pairs, numbers = [[1, 2]] * n, pa.array(range(n), pa.int32())
    makers: list[Callable[[], pa.Array]] = [
        lambda: pa.array(pairs, pa.list_(pa.int32())),
        lambda: pa.array(pairs, pa.large_list(pa.string() if n == 0 else pa.int64())),
        lambda: pa.array(pairs, pa.list_(pa.int8(), 2)),
        lambda: pa.array(pairs, pa.list_view(pa.int32())),
        lambda: pa.array([{"x": 1, "y": "z"}] * n, pa.struct({"x": pa.int8(), "y": pa.string()})),
        lambda: pa.array([[("k", 1)]] * n, pa.map_(pa.string(), pa.int8())),
        lambda: pa.UnionArray.from_sparse(pa.array([0] * n, pa.int8()), [numbers, pa.nulls(n)]),
        lambda: pa.UnionArray.from_dense(pa.array([0] * n, pa.int8()), numbers, [numbers]),
        lambda: pa.array([b"\xff\x00"] * n, rng.choice([pa.binary(), pa.large_binary(), pa.binary_view()])),
        lambda: pa.array([b"abc"] * n, pa.binary(3)),
        lambda: pa.array([(1, 2, 3)] * n, pa.month_day_nano_interval()),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([n] if n else [], pa.int32()), pa.array([1.5] if n else [])),
    ]
    return rng.choice(makers)()


READABLE = [integers, integers, decimals, floats, floats, moments, texts, texts, truths, dictionary, dictionary]
ANY = [*READABLE, nothing, extension, nested]


def column(rng: random.Random, n: int, kinds: Sequence[Callable[[random.Random, int], pa.Array]]) -> pa.ChunkedArray:
    """A column of n rows: slices of a longer array, or chunks of their own, some of them empty."""
    make = rng.choice(kinds)
    before, after = rng.choice([0, 0, 1, 7, 64]), rng.choice([0, 0, 3])
    long = make(rng, before + n + after)
    if make not in (nothing, extension, nested):
        long = with_gaps(rng, long)
    style = rng.randrange(4)
    ends = {0: [n], 1: list(range(1, n + 1)), 2: sorted(rng.choices(range(n + 1), k=5)), 3: [0, 0, n // 2, n]}[style]
    ends = [*ends, n]
    pieces, low = [], 0
    for high in ends:
        pieces.append(long.slice(before + low, high - low))
        low = high
    if make is dictionary and rng.random() < 0.3:
        pieces = [own_dictionary(rng, piece) for piece in pieces]
    return pa.chunked_array(pieces, long.type)


def own_dictionary(rng: random.Random, piece: pa.Array) -> pa.Array:
    """The same values by a dictionary of its own: turned round, where its order means nothing."""
    untaken = pa.types.is_nested(piece.dictionary.type) or str(piece.dictionary.type).endswith("_view")
    if piece.type.ordered or untaken or len(piece.dictionary) > bits(piece.indices.type)[1]:
        return piece
    last = len(piece.dictionary) - 1
    indices = pa.array([None if i is None else last - i for i in piece.indices.to_pylist()], piece.indices.type)
    return pa.DictionaryArray.from_arrays(indices, piece.dictionary.take(pa.array(range(last, -1, -1))))
