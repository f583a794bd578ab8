"""Candidate parent sets as .jkl text, plain or compressed (.jkl.gz, .jkl.xz)."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

from arbornet._core import CandidatesHandle, FormatError


def read(path: str | Path) -> CandidatesHandle:
    """Reads a .jkl file, compressed or not (told by its first bytes, not its name).

    Raises:
        FormatError: With file and line, where the text is not of the format.
        OSError: If the file cannot be read.
    """
    path = Path(path)
    data = path.read_bytes()
    try:
        if data.startswith(b"\x1f\x8b"):
            data = gzip.decompress(data)
        elif data.startswith(b"\xfd7zXZ\x00"):
            data = lzma.decompress(data)
        text = data.decode("utf-8")
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as problem:
        raise FormatError(f"{path}: not a readable text or a damaged archive ({problem})") from problem
    return CandidatesHandle.from_jkl(text, str(path))


def write(handle: CandidatesHandle, path: str | Path) -> None:
    """Writes a .jkl file, compressed if the name ends in .gz or .xz; the same sets give the same bytes."""
    path = Path(path)
    data = handle.to_jkl().encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix == ".xz":
        data = lzma.compress(data)
    path.write_bytes(data)
