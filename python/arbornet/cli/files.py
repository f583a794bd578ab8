"""Tables, networks and JSON in and out."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an
from arbornet.cli import out, words
from arbornet.cli.advice import in_shell
from arbornet.cli.cells import with_replaced, with_replaced_as_before
from arbornet.cli.out import say as say
from arbornet.cli.outputs import network_ending
from arbornet.data.files import ENDINGS, PACKED, found_in
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.data.reading.books import EXCEL
from arbornet.data.scales import Scales
from arbornet.data.told import linear_though_skewed
from arbornet.io import tables
from arbornet.io.json import finite

STANDARD_INPUT = "/dev/stdin"


def write_table(frame: pl.DataFrame, path: str | None, as_json: bool = False) -> None:
    """Writes a table by its ending; without a path to standard output, as CSV or JSON.

    Raises:
        ParameterError: If the ending is not that of a table.
        OSError: If it cannot be written.
    """
    if path is not None:
        tables.write_table(frame, path)
        wrote(path)
    if as_json:
        out.data(out.still(frame.write_json()) + "\n")
    elif path is None:
        out.data(frame.write_csv())


def read_frame(path: str, asked: Any = None, net: Any = None) -> pl.DataFrame:
    """A table of any known format; says how it was read, where that is not as usual.

    Args:
        path: The file.
        asked: Options, which may replace values.
        net: A network that was learned from a table like it: values that were replaced there are replaced here too.
    """
    sheet = getattr(asked, "sheet", None)
    if sheet is not None and Path(path).suffix.lower() not in EXCEL:
        raise an.ParameterError(f"--sheet {sheet}: {path} is no workbook, and has no sheets")
    found = found_in(STANDARD_INPUT if path == "-" else path, **({} if sheet is None else {"sheet_name": sheet}))
    if told := [*found.facts, *found.guesses]:
        out.say_wrapped(in_shell(f"{path}: {'; '.join(told)}"))
    if asked is None:
        return found.frame
    frame, missing, replace = found.frame, asked.missing_values, asked.replace
    if net is not None and (before := net.origin.replaced):
        frame = with_replaced_as_before(frame, before)
        missing, replace = (
            [text for text in own if text not in before.get(name, [])]
            for name, own in (("missing_values", missing), ("replace", replace))
        )
    return with_replaced(frame, missing, replace)


def with_what_was_replaced(net: Any, asked: Any, before: Any = None) -> Any:
    """The network, which keeps the options that replaced values of its table, and those of the network before it."""
    earlier = {} if before is None else before.origin.replaced
    every = {
        name: list(dict.fromkeys([*earlier.get(name, []), *getattr(asked, name)]))
        for name in ("missing_values", "replace")
    }
    replaced = {name: texts for name, texts in every.items() if texts}
    net.origin = dataclasses.replace(net.origin, replaced=replaced)
    return net


def read_network(path: str) -> Any:
    """A network from a file of any known format."""
    return an.read_network(path)


def read_table(asked: Any, frame: pl.DataFrame, like: an.Schema | None = None) -> an.Table:
    """A learning command's table, with its types; those of another schema where no file says them."""
    schema = read_schema(frame, asked.schema)
    schema = words.typed(schema if like is None or asked.schema else _typed_as(schema, like), asked.set)
    return an.Table(
        frame,
        schema,
        missing=asked.missing,
        unseen=asked.unseen,
        n_jobs=asked.jobs,
        weights=asked.weights,
        weights_are=asked.weights_are,
    )


def _typed_as(schema: an.Schema, like: an.Schema) -> an.Schema:
    """The schema with the types of another, where its columns have them; levels without an order are its own."""
    kinds: dict[str, Any] = {}
    for column in like.used:
        if column.name not in schema or schema[column.name].form != column.form:
            continue
        if isinstance(column.kind, an.Binned):
            kinds[column.name] = an.Binned(cuts=column.cuts) if column.cuts else column.kind
        else:
            kinds[column.name] = an.Categorical() if isinstance(column.kind, an.Categorical) else column.kind
    return schema.with_types(kinds) if kinds else schema


def read_rows(asked: Any, frame: pl.DataFrame) -> an.Table | Incomplete:
    """The rows that `learn` takes, with their types; those with missing values are kept as asked for."""
    schema = words.typed(read_schema(frame, asked.schema, asked.scales), asked.set)
    if asked.groups in schema.names:
        schema = schema.without(asked.groups)
    if asked.schema and asked.scales == "auto" and (skewed := linear_though_skewed(frame, schema)) is not None:
        say(
            f"{skewed}; learn takes them otherwise without --schema, "
            "and so does a schema of arbornet schema --scales auto"
        )
    return rows_of(
        frame,
        schema,
        asked.missing,
        asked.unseen,
        n_jobs=asked.jobs,
        weights=asked.weights,
        weights_are=asked.weights_are,
    )


def write_network(net: Any, path: str | Path, bins: int | None = None) -> None:
    """Writes a network by its ending.

    Raises:
        ParameterError: If the ending is not that of a network.
        OSError: If it cannot be written.
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
    writers[network_ending(path)]()


def read_schema(table: Any, path: str | None, scales: Scales = "linear") -> an.Schema:
    """The schema of a file, or of the table itself."""
    return an.Schema.load(path) if path else an.infer_schema(table, scales=scales)


def stem(table: str) -> str:
    """A table's name without the endings that say what it is: `results.2024` of `results.2024.csv.gz`."""
    path = Path("table" if table == "-" else table)
    if path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    return path.stem if path.suffix.lower() in ENDINGS else path.name


def print_json(value: Any) -> None:
    """One JSON value on standard output; null for numbers that JSON cannot hold."""
    out.data(out.as_json(finite(value)) + "\n")


def wrote(path: str | Path) -> None:
    """Prints that a file was written."""
    say(f"wrote {path}")
