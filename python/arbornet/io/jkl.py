"""Candidate parent sets as .jkl text, plain or compressed (.jkl.gz, .jkl.xz)."""

from __future__ import annotations

import gzip
import logging
import lzma
from pathlib import Path

from arbornet._core import CandidatesHandle
from arbornet.io.families import text_of
from arbornet.system.whole import write_whole

log = logging.getLogger("arbornet")


def read(path: str | Path, data: bytes | None = None) -> CandidatesHandle:
    """Reads a .jkl file, compressed or not (told by its first bytes, not its name).

    Args:
        path: The file.
        data: Its bytes, if they were read already.

    Raises:
        FormatError: With file and line, where the text is not of the format.
        OSError: If the file cannot be read.
    """
    text = text_of(path, data)
    handle = CandidatesHandle.from_jkl(text, str(path))
    if not text.endswith("\n"):
        # The last word of the last set may be the half of one: "v1" of "v12".
        log.warning("%s does not end with a line break: if it was cut off, its last set may be wrong", path)
    return handle


def write(handle: CandidatesHandle, path: str | Path) -> None:
    """Writes a .jkl file, compressed if the name ends in .gz or .xz; the same sets give the same bytes."""
    path = Path(path)
    data = handle.to_jkl().encode()
    if path.suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)
    elif path.suffix.lower() == ".xz":
        data = lzma.compress(data)
    write_whole(path, data)
