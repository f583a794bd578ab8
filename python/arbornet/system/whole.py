"""Files that are there whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

LINKS = 40
"""So many links may lead from one to the next before they are taken for a ring."""
DESCRIPTORS = re.compile(r"/proc/[^/]+/(task/[^/]+/)?fd|/dev/fd")
"""Folders that hold what a process has open, as links that no path leads through."""


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Gives a place beside a file's own to write to, and moves what is there into place at the end.

    A full disk or a kill leaves what was there before. What is no plain file (a pipe, a terminal, /dev/stdout whatever
    it leads to), or stands in a folder where none can be made, is written to as it is.

    Raises:
        OSError: If it cannot be written, or is read-only; it names the file.
    """
    file = _file_of(path)
    partial = _beside(file) if file is not None and os.access(file.parent, os.W_OK) else None
    try:
        yield partial or Path(path)
        if partial is not None and file is not None:
            with partial.open("rb+") as written:
                os.fsync(written.fileno())
            if file.exists():
                shutil.copymode(file, partial)
            partial.replace(file)
    except BaseException as error:
        if partial is not None:
            partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename != os.fspath(path):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a text or bytes to a file that is there whole or not at all.

    Raises:
        OSError: As for `whole`.
    """
    data = content.encode() if isinstance(content, str) else content
    with whole(path) as place:
        if place == Path(path) and _file_of(path) is None:
            if sys.stdout is not None:
                sys.stdout.flush()  # it may be /dev/stdout, and that a file that holds what was printed before
            with place.open("ab") as stream:
                stream.write(data)
        else:
            place.write_bytes(data)


def try_to_write(path: str | Path) -> None:
    """Finds out whether a file can be written, before there is anything to write; leaves everything as it was.

    Raises:
        OSError: What writing it would raise.
    """
    file = _file_of(path)
    if file is not None and os.access(file.parent, os.W_OK):
        partial = _beside(file)
        try:
            partial.touch(exist_ok=False)
        finally:
            partial.unlink(missing_ok=True)
    elif file is not None and not file.exists():
        lacking = errno.EACCES if file.parent.is_dir() else errno.ENOENT
        raise OSError(lacking, f"{os.strerror(lacking)}: the folder to write to", os.fspath(path))
    elif not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))


def _file_of(path: str | Path) -> Path | None:
    """The plain file that is meant, there or not, behind all links; None if it is none.

    Raises:
        OSError: If it is a folder, a ring of links or no name of a file, or read-only: whoever made it so meant it,
            though a file can be moved into its place.
    """
    name = os.fspath(path)
    if "\0" in name:
        raise FileNotFoundError(f"{name!r} is no name of a file: it holds a zero byte")
    file = _followed(Path(name))
    if file is None:
        return None
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return file
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), name)
    if not stat.S_ISREG(mode):
        return None
    if not mode & 0o222 or not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only; make it writable, or name another", name)
    return file


def _followed(path: Path) -> Path | None:
    """What a name leads to; None if that is something a process has open, such as /dev/stdout."""
    here = path
    for _ in range(LINKS):
        folder = os.path.realpath(here.parent)
        if DESCRIPTORS.fullmatch(folder):
            return None
        here = Path(folder) / here.name
        if not here.is_symlink():
            return here
        here = here.parent / here.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))


def _beside(file: Path) -> Path:
    # The name ends as the file's does: by that, some writers know what to write.
    return file.with_name(f".partial.{os.getpid()}.{threading.get_ident()}.{file.name[-40:]}")
