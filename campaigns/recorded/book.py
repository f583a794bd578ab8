"""A record of one table: a line for every result, kept so that it can be compared later.

A line holds a key and a digest of the result's text. Where the text has numbers with a fraction, it holds besides the
digest of the text without them, how many they are, and a sum that moves if one of them does: by these two records can
be compared up to rounding where the texts themselves were not kept.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import arbornet as an
from recorded.told import text_of

#: Numbers that rounding can touch, wherever they stand: in JSON, in a drawn tree, in a file of another program.
FRACTION = re.compile(r"(?<![\w.])-?(?:\d+\.\d+(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?![\w.]*\w)")
#: Bytes of a digest: enough to tell apart what nobody forges, and a record stays small.
DIGEST = 5


class Line(NamedTuple):
    """What is kept of a result."""

    bytes: str
    """Digest of the text."""
    shape: str = ""
    """Digest of the text without its numbers; empty if it has none."""
    n: int = 0
    """How many numbers there are."""
    sum: float = 0.0
    """Their weighted sum, on a scale on which each moves it by about its relative change."""


@dataclass
class Book:
    """The lines of a table, with their texts as long as they are at hand."""

    lines: dict[str, Line] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def put(self, key: str, make: Callable[[], object]) -> None:
        """Writes down what a call returns, what it warns of, or how it refuses."""
        if key in self.lines:
            raise ValueError(f"{key} is recorded twice")
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                text = text_of(make())
            except an.ArbornetError as refusal:
                text = f"refused: {type(refusal).__name__}: {refusal}"
            except Exception as failure:
                text = f"failed: {type(failure).__name__}: {failure}"
                self.failed.append(f"{key}: {text}")
        ours = sorted(str(w.message) for w in told if issubclass(w.category, an.ArbornetWarning))
        self.texts[key] = "\n".join([text, *(f"warned: {message}" for message in ours)])
        self.lines[key] = line_of(self.texts[key])


def each(made: Mapping[str, Callable[[], object]]) -> dict[str, object]:
    """What several calls return, or how each refuses."""
    told: dict[str, object] = {}
    for name, make in made.items():
        try:
            told[name] = make()
        except an.ArbornetError as refusal:
            told[name] = f"refused: {type(refusal).__name__}: {refusal}"
    return told


def line_of(text: str) -> Line:
    """What is kept of a text."""
    numbers = [float(number) for number in FRACTION.findall(text)]
    if not numbers:
        return Line(digest(text))
    # Weights tell an exchange of two numbers; the logarithm keeps a large number from hiding a small one.
    moved = (math.copysign((1 + i % 7) * math.log1p(abs(x)), x) for i, x in enumerate(numbers) if math.isfinite(x))
    return Line(digest(text), digest(FRACTION.sub("#", text)), len(numbers), round(math.fsum(moved), 9))


def digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=DIGEST).hexdigest()


def write(book: Book, path: Path) -> None:
    """Writes `path` (lines) and, before it, the texts beside it: where there are lines, the table is finished."""
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = "".join(json.dumps([key, text], ensure_ascii=False) + "\n" for key, text in book.texts.items())
    _put(_beside(path), gzip.compress(texts.encode(), compresslevel=4, mtime=0))
    lines = (json.dumps([key, *(line if line.shape else line[:1])]) + "\n" for key, line in book.lines.items())
    _put(path, "".join(lines).encode())


def read(path: Path) -> Book:
    """Reads a table's lines, and its texts if they were kept."""
    book = Book()
    for text in path.read_text(encoding="utf-8").splitlines():
        key, *line = json.loads(text)
        book.lines[key] = Line(*line)
    if _beside(path).exists():
        with gzip.open(_beside(path), "rt", encoding="utf-8", newline="\n") as file:
            book.texts = dict(json.loads(text) for text in file)
    return book


def _beside(path: Path) -> Path:
    return path.with_suffix(".texts.gz")


def _put(path: Path, content: bytes) -> None:
    # Written whole, then renamed: a kill leaves the old file or the new one.
    part = path.with_suffix(".part")
    part.write_bytes(content)
    part.replace(path)
