"""Frames to files, by their ending, through Polars."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from arbornet._core import ParameterError
from arbornet.system.whole import whole

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".arrow": lambda frame, path: frame.write_ipc(path),
    ".feather": lambda frame, path: frame.write_ipc(path),
    ".ndjson": lambda frame, path: frame.write_ndjson(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}
ENDINGS = tuple(_WRITERS)


def check_ending(path: str | Path) -> str:
    """The ending of a table's name.

    Raises:
        ParameterError: If it is not that of a table.
    """
    ending = Path(path).suffix.lower()
    if ending not in _WRITERS:
        raise ParameterError(f"{path}: a table's name ends in {', '.join(ENDINGS)}")
    return ending


def write_table(frame: pl.DataFrame, path: str | Path) -> None:
    """Writes a frame by the ending of the name, whole or not at all.

    Raises:
        ParameterError: If the ending is none of a table.
        OSError: If the file cannot be written.
    """
    writer = _WRITERS[check_ending(path)]
    write_by(lambda place: writer(frame, place), path)


def write_by(writer: Callable[[Path], Any], path: str | Path) -> None:
    """Writes a file with one of Polars' writers, whole or not at all.

    Raises:
        OSError: If the file cannot be written, also where Polars raises another exception.
    """
    with whole(path) as place:
        try:
            writer(place)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
            known = re.search(r"\(os error (\d+)\)", str(error))  # as Rust tells what the system said
            number = int(known[1]) if known else getattr(error, "errno", None) or errno.EIO
            raise OSError(number, os.strerror(number) if known else str(error), str(path)) from error
