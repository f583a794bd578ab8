"""The encoding of a text file, told by its bytes: a byte order mark, valid UTF-8, the zero bytes of UTF-16.

What is none of these is taken for Windows-1252, or Latin-1 where Windows-1252 has no letter. Both are guesses: other
encodings of one byte, such as those of Eastern Europe, cannot be distinguished from them without reading the words.
"""

from __future__ import annotations

import codecs

UTF8 = "utf-8"
_MARKS = ((codecs.BOM_UTF8, UTF8), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
GUESSED = {"cp1252": "Windows-1252", "latin-1": "Latin-1"}
"""Encodings that are guesses, with their usual names."""


def encoding_of(data: bytes, is_whole: bool = True) -> str:
    """The encoding of a text's bytes, as Python calls it.

    Args:
        data: The bytes, or the first ones.
        is_whole: Whether these are all; otherwise the last letter may be cut.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    zeros = _zeros(data[:1000])
    if zeros is not None:
        return zeros
    try:
        codecs.getincrementaldecoder(UTF8)().decode(data, final=is_whole)
    except UnicodeDecodeError:
        return "latin-1" if any(byte in data for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)) else "cp1252"
    return UTF8


def _zeros(data: bytes) -> str | None:
    """UTF-16 without a mark: nearly every second byte of Western text is zero."""
    even, odd = data[0::2].count(0), data[1::2].count(0)
    most = len(data) // 2
    if most < 4 or min(even, odd) > 0.1 * most or max(even, odd) < 0.7 * most:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def decoded(data: bytes, encoding: str) -> str:
    """The text of bytes; what the encoding lacks becomes a question mark in a box, as from a cut last letter."""
    return data.decode(encoding, errors="replace").removeprefix("\ufeff")
