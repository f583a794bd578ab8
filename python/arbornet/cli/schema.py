"""`arbornet schema`: the type of every column, and why."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from arbornet.cli.parser import Options, cell_options, json_option, set_option

if TYPE_CHECKING:
    from arbornet.data.schema import Schema

HELP = "show the type of each column, and why; correct types"
ABOUT = """\
Shows the type of each column (continuous, categorical, ordinal), its levels or
range, how many values are missing, and the reason for the type. Correct a type
with --set and keep the types with --write; `learn` and `score` read them with
--schema. The file is JSON and may be edited by hand."""
EXAMPLES = """\
examples:
  arbornet schema patients.csv
  arbornet schema patients.csv --set stage=ordinal:I,II,III,IV --write
  arbornet schema patients.csv --set bmi=leave-out --write other.schema.json
  arbornet schema patients.csv --scales auto --write
  arbornet schema patients.csv --json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument(
        "table", metavar="TABLE", help="the table: .csv, .tsv, .xlsx, .parquet, .arrow, .ndjson, .dta, .sav, .xpt"
    )
    command.add_argument("--schema", metavar="FILE", help="start from these types instead of the inferred ones")
    command.add_argument(
        "--scales",
        choices=("auto", "linear"),
        default="linear",
        help="take skewed numbers as learn does by itself (by logarithms, normal scores, counts, histograms), or none "
        "(default: %(default)s)",
    )
    set_option(command)
    cell_options(command)
    command.add_argument(
        "--write", metavar="FILE", nargs="?", const="", help="keep the types (default name: TABLE.schema.json)"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="the same as --write FILE")
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.cli.advice import in_shell
    from arbornet.cli.outputs import Output, tried
    from arbornet.data.schema_text import as_text
    from arbornet.text.terminal import wrapped

    target = schema_path(asked.table) if asked.write == "" else asked.write
    if asked.output and target is not None:
        raise an.ParameterError("-o and --write both name the file to write; give one of them")
    target = asked.output or target
    default = schema_path(asked.table)
    tried([Output("-o" if asked.output else "--write", target, "types")], [asked.table])
    frame = files.read_frame(asked.table, asked)
    schema = words.typed(files.read_schema(frame, asked.schema, asked.scales), asked.set)
    if target == default:
        _check_same_table(target, schema)
    if asked.json:
        files.print_json(schema.to_dict())
    else:
        print(as_text(schema, in_shell))
    if target is not None:
        schema.save(target)
        files.wrote(target)
    elif not asked.json:
        files.say("\n" + wrapped(f"To keep these types, add --write; then learn with --schema {default}", ""))


def schema_path(table: str) -> Path:
    """`patients.schema.json` beside `patients.csv`."""
    from arbornet.cli.files import stem

    return Path(table).with_name(stem(table) + ".schema.json")


def _check_same_table(path: Path, schema: Schema) -> None:
    """Refuses to overwrite a file that holds the types of another table.

    Raises:
        ParameterError: If it does.
    """
    from arbornet import ArbornetError, ParameterError
    from arbornet.data.schema import Schema

    if not path.exists():
        return
    try:
        there = set(Schema.load(path))
    except ArbornetError:
        there = set()
    if not there & set(schema):
        raise ParameterError(f"{path} exists and is not of this table; name another file with --write FILE")
