"""`arbornet schema`: as what every column is read, and why."""

from __future__ import annotations

import argparse
from pathlib import Path

from arbornet.cli.parser import Options, json_option, set_option

HELP = "show as what each column of a table is read, and why; correct it; keep it"
ABOUT = """\
Shows the type of each column (continuous, categorical, ordinal), its levels or range, how many values are missing,
and the reason for the type. Correct a type with --set and keep the result with --write; `learn` and `score` take it
with --schema. The file is JSON and may be edited by hand."""
EXAMPLES = """\
examples:
  arbornet schema patients.csv
  arbornet schema patients.csv --set stage=ordinal:I,II,III,IV --set site=categorical --write
  arbornet schema patients.csv --set 'patient id=leave-out' --write other.schema.json
  arbornet schema patients.csv --json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("table", metavar="TABLE", help="the table: .csv, .tsv, .parquet, .arrow, .ndjson")
    command.add_argument("--schema", metavar="FILE", help="start from these types instead of the inferred ones")
    set_option(command)
    command.add_argument(
        "--write", metavar="FILE", nargs="?", const="", help="keep the types (default name: TABLE.schema.json)"
    )
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words

    frame = an.read(asked.table)
    schema = words.typed(files.read_schema(frame, asked.schema), asked.set)
    if asked.json:
        files.print_json(schema.to_dict())
    else:
        print(schema)
    default = schema_path(asked.table)
    if asked.write is not None:
        path = Path(asked.write or default)
        schema.save(path)
        files.wrote(path)
    elif not asked.json:
        files.say(f"\nTo keep these types, add --write; then learn with --schema {default}")


def schema_path(table: str) -> Path:
    """`patients.schema.json` beside `patients.csv`."""
    path = Path(table)
    return path.with_name(path.name.split(".")[0] + ".schema.json")
