"""Tables, networks and JSON in and out."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an
from arbornet import ParameterError
from arbornet.cli import words
from arbornet.io.whole import whole

_WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    ".csv": lambda frame, path: frame.write_csv(path),
    ".tsv": lambda frame, path: frame.write_csv(path, separator="\t"),
    ".parquet": lambda frame, path: frame.write_parquet(path),
    ".arrow": lambda frame, path: frame.write_ipc(path),
    ".feather": lambda frame, path: frame.write_ipc(path),
    ".ndjson": lambda frame, path: frame.write_ndjson(path),
    ".jsonl": lambda frame, path: frame.write_ndjson(path),
}
TABLES = tuple(_WRITERS)


def write_table(frame: pl.DataFrame, path: str | None, as_json: bool = False) -> None:
    """Writes a table by its ending; to standard output as CSV without a path, or as JSON if that is wanted.

    Raises:
        ParameterError: If the ending is none of a table.
    """
    if as_json:
        sys.stdout.write(frame.write_json() + "\n")
    elif path is None:
        sys.stdout.write(frame.write_csv())
    if path is None:
        return
    writer = _WRITERS.get(Path(path).suffix.lower())
    if writer is None:
        raise ParameterError(f"{path}: a table's name ends in {', '.join(TABLES)}")
    with whole(path) as place:
        writer(frame, place)
    wrote(path)


def read_network(path: str) -> Any:
    """A network from a file of any known format."""
    return an.read_network(path)


def read_table(asked: Any, frame: pl.DataFrame) -> an.Table:
    """A learning command's table, with its types; tells which rows were left out and why."""
    table = an.Table(frame, words.typed(read_schema(frame, asked.schema), asked.set), missing=asked.missing)
    if table.dropped:
        say(str(table.dropped))
    return table


def write_network(net: Any, path: Path, bins: int | None = None) -> None:
    """Writes a network by its ending.

    Raises:
        ParameterError: If the ending is none of a network.
    """
    writers: dict[str, Callable[[], Any]] = {
        ".json": lambda: net.save(path),
        ".bif": lambda: net.to_bif(path, bins=bins),
        ".xmlbif": lambda: net.to_xmlbif(path, bins=bins),
        ".bifxml": lambda: net.to_xmlbif(path, bins=bins),
        ".net": lambda: net.to_net(path, bins=bins),
        ".dot": lambda: net.to_dot(path),
        ".graphml": lambda: net.to_graphml(path),
    }
    writer = writers.get(path.suffix.lower())
    if writer is None:
        raise ParameterError(f"{path}: a network's name ends in {', '.join(writers)}")
    writer()
    wrote(path)


def read_schema(table: Any, path: str | None) -> an.Schema:
    """The schema of a file, or of the table itself."""
    return an.Schema.load(path) if path else an.infer_schema(table)


def print_json(value: Any) -> None:
    """One JSON value on standard output."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")


def wrote(path: str | Path) -> None:
    """Tells that a file was written."""
    say(f"wrote {path}")


def say(text: str) -> None:
    """Tells a person something in passing."""
    print(text, file=sys.stderr)


def finite(value: Any) -> Any:
    """A value JSON can hold: None for an infinite number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
