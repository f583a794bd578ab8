"""`arbornet impute`: fill in the missing values of a table."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import MOST_SEED, Options, cell_options, count, jobs_option, output_option, unseen_option

HELP = "fill in missing values given the rest of their rows"
ABOUT = """\
Fills in the missing values of a table given what is observed in each row:
drawn from their distribution, or the best guess of each. For tests, intervals
and models take several draws (-m 20), analyse each, and pool the results."""
EXAMPLES = """\
examples:
  arbornet impute patients.json patients.csv -o whole.csv
  # twenty draws, one below the other, with a column that numbers them
  arbornet impute patients.json patients.csv -m 20 --seed 7 -o many.parquet
  # the most probable level, or the median (--how means: the mean), of each
  arbornet impute patients.json patients.csv --how modes -o guessed.csv"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("network", metavar="NETWORK", help="the network: .json, .bif, .xmlbif or .net")
    command.add_argument("table", metavar="TABLE", help="the rows")
    cell_options(command)
    command.add_argument(
        "--how",
        choices=("draw", "modes", "means"),
        default="draw",
        help="draws, or best guesses (default: %(default)s)",
    )
    command.add_argument(
        "-m", type=count(1, 10_000), default=1, metavar="M", help="how many draws (default: %(default)s)"
    )
    command.add_argument(
        "--seed", type=count(0, MOST_SEED >> 1), default=0, metavar="N", help="random seed (default: 0)"
    )
    unseen_option(command, "a level the network does not know")
    output_option(command, "the table")
    jobs_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    from arbornet.cli import files
    from arbornet.cli.outputs import Output, tried

    tried([Output("-o", asked.output, "table")], [asked.network, asked.table])
    net = files.read_network(asked.network)
    frame = files.read_frame(asked.table, asked, net)
    filled = net.impute(frame, asked.how, asked.m, seed=asked.seed, unseen=asked.unseen, n_jobs=asked.jobs)
    files.write_table(filled, asked.output, asked.json)
