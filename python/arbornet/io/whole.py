"""Files that are there whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def write_whole(path: str | Path, content: str | bytes) -> None:
    """Writes a file beside its place and then moves it there: a full disk or a kill leaves what was there before.

    What is no plain file (a pipe, a terminal), or stands in a folder where none can be made, is written to as it is.
    """
    data = content.encode() if isinstance(content, str) else content
    path = Path(path).resolve()
    if (path.exists() and not path.is_file()) or not os.access(path.parent, os.W_OK):
        path.write_bytes(data)
        return
    partial = path.with_name(f".{path.name[:100]}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, partial)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
