"""The commands, their options, and the help that teaches them."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable
from importlib import import_module
from typing import Any

from arbornet.text import terminal

COMMANDS = (
    "example", "schema", "score", "learn", "fit", "show", "query", "predict", "impute", "sample", "evaluate", "compare",
    "convert",
)  # fmt: skip

MOST_JOBS = 1 << 16
"""More threads than any machine has cores: a typing error."""
MOST_SEED = (1 << 64) - 1

ABOUT = """\
Learns Bayesian networks from tables that mix categories, ordered levels and
numbers, with a small, readable model for every variable; shows them, predicts
with them and draws them."""

EXAMPLES = """\
a first session:
  # a bundled example table
  arbornet example patients -o patients.csv
  # the type of each column, and why
  arbornet schema patients.csv
  # correct one type, and keep all types in patients.schema.json
  arbornet schema patients.csv --set stage=ordinal:I,II,III,IV --write
  # learn a network; write it, and a report for any browser
  arbornet learn patients.csv --schema patients.schema.json -o patients.json
  arbornet show patients.json --data patients.csv --report patients.html
  # the model of one variable, a question, and predictions for other rows
  arbornet show patients.json readmitted
  arbornet query patients.json readmitted --given stage=IV --given age=50..60
  arbornet predict patients.json new.csv readmitted -o predicted.csv

`arbornet COMMAND --help` explains one command. Tables are read and written as
.csv, .tsv, .parquet, .arrow or .ndjson, by their ending; .xlsx, .dta, .sav, .xpt, .sas7bdat are read. Exit
codes: 0 success, 1 failure, 2 wrong usage, 130 interrupted."""


class Help(argparse.RawDescriptionHelpFormatter):
    """Fills paragraphs to the width of the terminal, keeps indented lines, and leaves room for long options."""

    def __init__(self, prog: str):
        super().__init__(prog, max_help_position=28, width=terminal.width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines: list[str] = []
        paragraph: list[str] = []
        for line in [*text.splitlines(), ""]:
            if line.endswith(":") or line.startswith(" ") or not line:
                lines += textwrap.wrap(" ".join(paragraph), width, break_on_hyphens=False)
                lines.append(line)
                paragraph = []
            else:
                paragraph.append(line)
        return "\n".join(indent + line for line in lines).rstrip()


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from arbornet._core import __version__

    top = argparse.ArgumentParser("arbornet", description=ABOUT, epilog=EXAMPLES, formatter_class=Help)
    top.add_argument("--version", action="version", version=f"arbornet {__version__}")
    top.set_defaults(run=None, verbose=0)
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    for name in COMMANDS:
        module = import_module(f"arbornet.cli.{name}")
        command = commands.add_parser(
            name, help=module.HELP, description=module.ABOUT, epilog=module.EXAMPLES, formatter_class=Help
        )
        module.options(command)
        command.add_argument("-v", "--verbose", action="count", default=0, help="print what is done; -vv prints more")
        command.set_defaults(run=module.run)
    return top


def table_options(command: argparse.ArgumentParser) -> None:
    """Options of the commands that learn from a table."""
    command.add_argument(
        "table",
        metavar="TABLE",
        help="the table: .csv, .tsv, .xlsx, .parquet, .arrow, .ndjson, .dta, .sav, .xpt; - for text on standard input",
    )
    command.add_argument("--schema", metavar="FILE", help="types as written by `arbornet schema --write`")
    set_option(command)
    cell_options(command)
    unseen_option(command, "a level that the types do not list")
    command.add_argument("--weights", metavar="NAME", help="a column that says how often each row counts")
    command.add_argument(
        "--weights-are",
        choices=("frequency", "survey"),
        default="frequency",
        help="what weights say: how many equal rows a row stands for, or how many people who were not asked "
        "(default: %(default)s)",
    )


def unseen_option(command: argparse.ArgumentParser, what: str) -> None:
    """What to do with unknown levels."""
    command.add_argument(
        "--unseen",
        choices=("error", "missing"),
        default="error",
        help=f"{what}: refuse it, or treat it as missing (default: %(default)s)",
    )


def set_option(command: argparse.ArgumentParser) -> None:
    """The option that corrects types."""
    command.add_argument(
        "--set",
        metavar="NAME=TYPE",
        action="append",
        default=[],
        help="a type: NAME=continuous, NAME=logarithmic, NAME=normal-scores, NAME=categorical, "
        "NAME=ordinal:low,middle,high, NAME=point-mass:0, NAME=binned:5 or NAME=leave-out; may be given several times",
    )


def cell_options(command: argparse.ArgumentParser) -> None:
    """The options that say which table of a file is meant, and change its values before it is used."""
    command.add_argument("--sheet", metavar="NAME", help="the sheet of a workbook (default: the first with a table)")
    command.add_argument(
        "--missing-values",
        metavar="NAME=A,B",
        action="append",
        default=[],
        help="values of a column that stand for a missing one, such as 'age=88,99'; may be given several times",
    )
    command.add_argument(
        "--replace",
        metavar="NAME=A->B",
        action="append",
        default=[],
        help="a value of a column to read as another, such as 'colour=Red->red'; may be given several times",
    )


def learning_options(command: argparse.ArgumentParser, gaps: bool = False) -> None:
    """Options of the commands that score parent sets; with `gaps` those that learn from incomplete rows."""
    command.add_argument(
        "--score",
        metavar="SCORE",
        help="the local score, as in Python: PCART(), 'BDeu(10)', 'BIC(prior=EBIC(0.5))' (default: "
        + ("PCART(leaf='linear'); DecisionGraph() with --search decision_graphs)" if gaps else "PCART())"),
    )
    command.add_argument(
        "--leaf",
        choices=["normal", "linear", "auto"],
        help="what stands in the leaves of numbers, with trees (PCART): normal distributions, lines in the "
        "numeric parents where these are worth more, or for each column the one of both that makes it more probable",
    )
    command.add_argument(
        "--max-parents",
        default="auto",
        metavar="N",
        help="most parents of a variable (default: as many as are affordable, at most 4)",
    )
    command.add_argument(
        "--n-candidates",
        type=count(0, 1_000_000),
        default=5,
        metavar="N",
        help="how many parents the random forest selects for a variable (default: %(default)s)",
    )
    command.add_argument(
        "--child-time-limit",
        type=seconds,
        metavar="S",
        help="seconds for the parent sets of each variable, small sets first",
    )
    command.add_argument("--require", metavar="'A -> B'", action="append", default=[], help="an arc that must be there")
    command.add_argument("--forbid", metavar="'A -> B'", action="append", default=[], help="an arc that must not")
    command.add_argument(
        "--tier",
        metavar="A,B",
        action="append",
        default=[],
        help="variables of one point in time, earliest tier first: no arc points to an earlier tier",
    )
    missing_option(command, gaps)
    jobs_option(command)
    command.add_argument("--quiet", action="store_true", help="no progress bar")


def missing_option(command: argparse.ArgumentParser, gaps: bool = False, learned: bool = False) -> None:
    """What to do with missing values; `gaps` and `learned` where rows with some can be learned from."""
    if gaps:
        command.add_argument(
            "--missing",
            choices=("learn", "indicator", "drop", "level", "error"),
            help="rows with missing values: learn from what they have, the same with variables that say what is "
            "missing, leave them out, make missing a level of its own, or refuse (default: learn from them, unless "
            "they are less than a hundredth, which are left out)",
        )
        command.add_argument(
            "--scales",
            choices=("auto", "linear"),
            default="auto",
            help="take skewed numbers by logarithms, normal scores, counts, histograms, or none (default: %(default)s)",
        )
        return
    learn = ("learn",) if learned else ()
    command.add_argument(
        "--missing",
        choices=("drop", "level", "error", *learn),
        help="rows with missing values: leave them out, make missing a level of its own, "
        + ("refuse, or learn from what they have and predict it" if learned else "or refuse")
        + " (default: leave them out, unless that were more than half of the rows)",
    )


def effort_option(command: argparse.ArgumentParser, more: str) -> None:
    """How much work a network may take; `more` says of what, and what is usual."""
    command.add_argument(
        "--effort",
        choices=("quick", "normal", "thorough", "unlimited"),
        help="how much work scoring and searching may take: 5 s, 30 s, 10 min on two cores, or no limit; counted,"
        f" not timed ({more})",
    )


def jobs_option(command: argparse.ArgumentParser) -> None:
    """How many threads."""
    command.add_argument(
        "--jobs", type=count(-1, MOST_JOBS), default=-1, metavar="N", help="threads (default: all cores)"
    )


def count(low: int, high: int) -> Callable[[str], int]:
    """A whole number within bounds, as a type of options."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {low:,} to {high:,}")
        return number

    return read


def seconds(text: str) -> float:
    """A length of time, as a type of options."""
    try:
        length = float(text)
    except ValueError:
        length = -1.0
    if not length >= 0.0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return length


def json_option(command: argparse.ArgumentParser) -> None:
    """Output for scripts."""
    command.add_argument("--json", action="store_true", help="print one JSON value, for scripts")


def output_option(command: argparse.ArgumentParser, what: str) -> None:
    """Where a table goes."""
    command.add_argument("-o", "--output", metavar="FILE", help=f"{what}; without it, CSV on standard output")
    command.add_argument("--json", action="store_true", help="print a JSON list of rows instead of CSV, for scripts")


Options = Any
"""An argparse namespace; each command knows its own options."""
