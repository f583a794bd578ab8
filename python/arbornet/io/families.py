"""Networks of levels as plain tables, the content of every interchange format.

A reader makes `Family` objects and `network` checks them all; a writer gets them from `families`, with numbers binned
where bins are given.
"""

from __future__ import annotations

import codecs
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ArbornetError, FormatError, NetworkHandle
from arbornet.io.bins import MOST_NUMBERS, Bins, binned
from arbornet.io.parts import Parts
from arbornet.system.sources import bytes_of

if TYPE_CHECKING:
    from arbornet.network import BayesNet

LARGEST = 1 << 30
"""The most bytes of text a file may have, unpacked if it is packed."""
UNPACKED = 100
"""A packed file may be so many times as large unpacked: texts of numbers pack to a tenth, rarely to a fiftieth."""
ALWAYS = 8 << 20
"""Bytes that any packed file may unpack to."""
PACKED: dict[bytes, Callable[[BytesIO], Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open}
"""How packed files start, and what opens them."""
TOLERANCE = 0.02
"""How far the probabilities of a configuration may be from summing to one, by rounding."""


@dataclass(frozen=True)
class Family:
    """A variable, its levels, its parents, and a row of probabilities per configuration (first parent slowest)."""

    name: str
    levels: Sequence[str]
    parents: Sequence[str]
    rows: NDArray[np.float64]


def text_of(path: str | Path, data: bytes | None = None) -> str:
    """The text of a file, which may be packed by gzip or xz (told by its first bytes, not its name).

    Args:
        path: The file.
        data: Its bytes, if they were read already.

    Raises:
        FormatError: If it is not UTF-8 text, or has more than a gigabyte of it; if it is packed and unpacks to more
            than 100 times its size, beyond 8 MB.
        OSError: If the file cannot be read.
    """
    data = bytes_of(path, LARGEST) if data is None else data
    for magic, opened in PACKED.items():
        if data.startswith(magic):
            most = min(LARGEST, max(ALWAYS, UNPACKED * len(data)))
            try:
                with opened(BytesIO(data)) as packed:
                    text = packed.read(most + 1)
            except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
                raise FormatError(f"{path}: a damaged archive ({error})") from error
            if most < min(len(text), LARGEST):
                raise FormatError(
                    f"{path}: {len(data):,} bytes that unpack to more than {most:,}, which no network or list of "
                    "parent sets does; if you trust the file, unpack it and read what comes out"
                )
            data = text
            break
    if len(data) > LARGEST:
        raise FormatError(f"{path}: more than {LARGEST >> 20:,} MB of text, the limit for files of this kind")
    return _decoded(data, path)


def _decoded(data: bytes, path: str | Path) -> str:
    """Text in UTF-8, or in UTF-16 with a byte order mark."""
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FormatError(f"{path}, line {line}: not a readable text in UTF-8 ({error})") from error


def numbers(words: Sequence[str], name: str, k: int, parents: Sequence[int], origin: str) -> NDArray[np.float64]:
    """The table of a variable of k levels, from words with the variable itself varying fastest, rows summing to one.

    Raises:
        FormatError: If there are too few or too many, or they are not probabilities.
    """
    expected = prod(parents) * k
    if len(words) != expected:
        raise FormatError(
            f"{origin}: '{name}' has {k} levels and {prod(parents)} configurations of parents, which makes {expected} "
            f"numbers; there are {len(words)}"
        )
    try:
        table = np.array(words, dtype=np.float64).reshape(-1, k)
    except ValueError as error:
        raise FormatError(f"{origin}: '{name}' has something else than a number in its table: {error}") from None
    sums = table.sum(axis=1)
    if not np.isfinite(table).all() or (table < 0).any() or (np.abs(sums - 1.0) > TOLERANCE).any():
        raise FormatError(f"{origin}: '{name}' has a row in its table that is not a distribution: it must sum to one")
    exact = np.abs(sums - 1.0) <= 1e-12
    return np.where(exact[:, None], table, table / sums[:, None])


def network(families: Sequence[Family], origin: str) -> Parts:
    """The parts of the network of families of levels.

    Raises:
        FormatError: If names repeat, parents are unknown, or the arcs form a cycle.
    """
    if not families:
        raise FormatError(f"{origin}: there is no variable in it")
    place = {family.name: v for v, family in enumerate(families)}
    if len(place) < len(families):
        twice = next(f.name for v, f in enumerate(families) if place[f.name] != v)
        raise FormatError(f"{origin}: the variable '{twice}' is there twice")
    parents, tables = [], []
    for family in families:
        unknown = [p for p in family.parents if p not in place]
        if unknown or len({*family.parents, family.name}) <= len(family.parents):
            problem = f"the parent '{unknown[0]}', which is not a variable" if unknown else "a parent twice, or itself"
            raise FormatError(f"{origin}: '{family.name}' has {problem}")
        of = [place[p] for p in family.parents]
        shape = [len(families[p].levels) for p in of]
        # The file's order of parents to the order of columns; NumPy has 64 axes at most, and one level needs none.
        order = sorted(range(len(of)), key=of.__getitem__)
        axes = [i for i, levels in enumerate(shape) if levels > 1]
        turned = [axes.index(i) for i in order if shape[i] > 1]
        k = len(family.levels)
        rows = family.rows.reshape(*(shape[i] for i in axes), k).transpose(*turned, len(axes)).reshape(-1, k)
        parents.append(sorted(of))
        tables.append(rows)
    levels = [list(family.levels) for family in families]
    try:
        kinds = ["categorical"] * len(families)
        return Parts.of_levels(NetworkHandle.from_tables(list(place), kinds, levels, parents, tables))
    except ArbornetError as error:
        raise FormatError(f"{origin}: {error}") from error


def families(net: BayesNet, bins: Bins, what: str) -> list[Family]:
    """The families of a network, its numbers in classes of equal probability.

    Raises:
        ColumnError: If a variable is continuous and has no bins.
        ArbornetError: If a table would be too large.
    """
    handle = net.handle
    if any(handle.levels(v) is None for v in range(len(net.names))):
        handle = binned(net, bins, what)
    names = net.names
    levels = [handle.levels(v) or [] for v in range(len(names))]
    out = []
    for v, name in enumerate(names):
        parents = handle.parents(v)
        of = [levels[p] for p in parents]
        if prod(map(len, of)) * len(levels[v]) > MOST_NUMBERS:
            raise ArbornetError(
                f"the table of '{name}' would have more than {MOST_NUMBERS:,} numbers; save the network as JSON, which "
                "keeps its trees"
            )
        model = handle.model(v)
        rows = [json.loads(model.predictive(list(values)))["probabilities"] for values in product(*of)]
        texts = [str(level) for level in levels[v]]
        out.append(Family(name, texts, [names[p] for p in parents], np.array(rows)))
    return out
