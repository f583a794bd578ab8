"""Input files: devices, which may never end, and files above a limit are refused; pipes are read once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from arbornet._core import ArbornetError, FormatError

LARGEST = 4 << 30
"""The largest file that is read as a whole, in bytes."""

_CHUNK = 1 << 20


def is_pipe(path: str | Path) -> bool:
    """Whether a path leads to a pipe, as /dev/stdin and the shell's `<(...)` may, and can be read only once.

    Raises:
        ArbornetError: If it leads to a device or a socket, which may never end.
        OSError: If it does not exist.
    """
    mode = Path(path).stat().st_mode
    if (stat.S_ISCHR(mode) and not _ends(path)) or stat.S_ISBLK(mode) or stat.S_ISSOCK(mode):
        raise ArbornetError(f"{path}: this is a device, not a file, and may never end; give a file or a pipe")
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def bytes_of(path: str | Path, most: int = LARGEST) -> bytes:
    """All bytes of a file or a pipe.

    Raises:
        ArbornetError: If it is a device.
        FormatError: If there are more than `most`.
        OSError: If it cannot be read.
    """
    piped = is_pipe(path)
    chunks, length = [], 0
    with Path(path).open("rb") as file:
        if not piped and os.fstat(file.fileno()).st_size <= most:
            return file.read()
        while length <= most and (chunk := file.read(_CHUNK)):
            chunks.append(chunk)
            length += len(chunk)
    if length > most:
        raise FormatError(f"{path}: more than {most >> 20:,} MB, the limit for files of this kind")
    return b"".join(chunks)


def _ends(path: str | Path) -> bool:
    """Whether a character device has an end: a terminal, at which a person types, and /dev/null."""
    if Path(path).stat().st_rdev == Path(os.devnull).stat().st_rdev:
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return False
    try:
        return os.isatty(descriptor)
    finally:
        os.close(descriptor)
