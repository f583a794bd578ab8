"""`arbornet example`: a bundled example table."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import Options, output_option

HELP = "write a bundled example table"
ABOUT = """\
Writes one of the tables that come with the package: patients (simulated,
600 rows, 12 columns), penguins (344 rows, 8 columns), survey (simulated, 900
rows, 11 columns) or casualties (555 rows, 18 columns, as published, uncleaned).
The guide uses them."""
EXAMPLES = """\
examples:
  arbornet example patients -o patients.csv
  arbornet example penguins --json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("name", metavar="NAME", help="patients, penguins, survey or casualties")
    output_option(command, "the table")


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files
    from arbornet.cli.outputs import Output, tried

    tried([Output("-o", asked.output, "table")])
    files.write_table(an.example(asked.name), asked.output, asked.json)
