"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | Path) -> Iterator[Path]:
    """Gives a place beside a file's own to write to, and moves what is there into place at the end.

    A full disk or a kill leaves what was there before. What is no plain file (a pipe, a terminal), or stands in a
    folder where none can be made, is written to as it is.
    """
    if "\0" in str(path):
        raise FileNotFoundError(f"{str(path)!r} is no name of a file: it holds a zero byte")
    path = Path(path).resolve()
    if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
        yield path
        return
    # The name ends as the file's does: by that, some writers know what to write.
    partial = path.with_name(f".partial.{os.getpid()}.{threading.get_ident()}.{path.name[-40:]}")
    try:
        yield partial
        with partial.open("rb+") as file:
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a text or bytes to a file that is there whole or not at all."""
    with whole(path) as place:
        place.write_bytes(content.encode() if isinstance(content, str) else content)
