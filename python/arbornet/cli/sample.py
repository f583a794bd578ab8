"""`arbornet sample`: draw rows from a network."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import MOST_SEED, Options, count, jobs_option, output_option

HELP = "draw rows from a network"
ABOUT = """\
Draws rows from a network, in the units and levels of the table it was learned
from. The same seed gives the same rows. --given conditions on an observed
value; --do sets a value by an intervention, so that it says nothing about its
causes. Numbers are drawn within the range of that table, and in tables of text
written as it had them."""
EXAMPLES = """\
examples:
  arbornet sample patients.json -n 1000 --seed 7 -o simulated.parquet
  arbornet sample patients.json -n 5 --given stage=IV
  # one of several levels, and an interval
  arbornet sample patients.json -n 5 --given stage=III,IV --given age=50..60
  arbornet sample patients.json -n 5 --do treatment=surgery"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("network", metavar="NETWORK", help="the network: .json, .bif, .xmlbif or .net")
    command.add_argument(
        "-n", "--rows", type=count(0, 1 << 32), default=10, metavar="N", help="number of rows (default: 10)"
    )
    command.add_argument("--seed", type=count(0, MOST_SEED), default=0, metavar="N", help="random seed (default: 0)")
    command.add_argument("--given", metavar="NAME=VALUE", action="append", default=[], help="an observed value")
    command.add_argument("--do", metavar="NAME=VALUE", action="append", default=[], help="an intervention")
    command.add_argument("--beyond", action="store_true", help="draw numbers beyond the observed range, too")
    output_option(command, "the rows")
    jobs_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    from arbornet.cli import digits, files, words
    from arbornet.cli.outputs import Output, tried

    tried([Output("-o", asked.output, "table")], [asked.network])
    net = files.read_network(asked.network)
    given, do = (words.assignments(net.schema, texts) or None for texts in (asked.given, asked.do))
    rows = net.sample(asked.rows, asked.seed, given, do, beyond=asked.beyond, n_jobs=asked.jobs)
    if digits.as_text(asked.output, asked.json):
        rows = digits.numbers(rows, net.schema, {name: name for name in rows.columns})
        rows = digits.as_in_table(rows, net.schema)
    files.write_table(rows, asked.output, asked.json)
