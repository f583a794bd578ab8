"""`arbornet query`: what is probable, given what is known."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from arbornet.cli.parser import MOST_SEED, Options, count, output_option

HELP = "ask what is probable, given what is known"
ABOUT = """\
Prints the probability of each level of a variable (quantiles of a number), or
of all combinations of several variables. NAME=VALUE instead of a name asks for
the probability of that event. What is neither asked nor given is marginalised.
--given conditions on an observed value; --do sets a value by an intervention,
so that it says nothing about its causes."""
EXAMPLES = """\
examples:
  arbornet query patients.json readmitted
  # one of several levels; an interval
  arbornet query patients.json readmitted --given stage=III,IV
  arbornet query patients.json readmitted --given age=50..60
  # the probability of an event
  arbornet query patients.json readmitted=yes crp=20.. --given stage=IV
  arbornet query patients.json readmitted --do treatment=surgery
  # two variables together, the number in classes
  arbornet query patients.json treatment age --bins age=40,60"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("network", metavar="NETWORK", help="the network: .json, .bif, .xmlbif or .net")
    command.add_argument("targets", metavar="VARIABLE", nargs="+", help="what is asked for: NAME, or NAME=VALUE")
    command.add_argument("--given", metavar="NAME=VALUE", action="append", default=[], help="an observed value")
    command.add_argument("--do", metavar="NAME=VALUE", action="append", default=[], help="an intervention")
    command.add_argument(
        "--bins", metavar="NAME=A,B", action="append", default=[], help="ends of classes of a number that is asked for"
    )
    command.add_argument(
        "--method",
        choices=("auto", "exact", "sampling"),
        default="auto",
        help="exact where affordable, otherwise sampling (default), or always one of them",
    )
    command.add_argument("--seed", type=count(0, MOST_SEED), default=0, metavar="N", help="random seed of sampling")
    output_option(command, "the probabilities")


def run(asked: Options) -> None:
    """Runs the command."""
    import polars as pl

    import arbornet as an
    from arbornet.cli import digits, files, words
    from arbornet.cli.outputs import Output, tried

    tried([Output("-o", asked.output, "table")], [asked.network])
    net = files.read_network(asked.network)
    given, do = (words.assignments(net.schema, texts) or None for texts in (asked.given, asked.do))
    how = {"given": given, "do": do, "method": asked.method, "seed": asked.seed}
    events = [text for text in asked.targets if text not in net.schema]
    if events and len(events) < len(asked.targets):
        known = next(text for text in asked.targets if text in net.schema)
        raise an.ParameterError(f"{known!r} is a variable and {events[0]!r} an event; ask for one or the other")
    if events:
        answer = pl.DataFrame({"probability": [net.query(words.assignments(net.schema, events), **how)]})
    else:
        answer = net.query(asked.targets, bins=_bins(net.schema, asked.bins) or None, **how)
    if digits.as_text(asked.output, asked.json):
        figures = [name for name in answer.columns if name not in net.schema]
        own = [name for name in answer.columns if name in net.schema]
        numbers = digits.numbers(answer.select(own), net.schema, {name: name for name in own})
        shares = digits.probabilities(answer.select(figures))
        answer = pl.DataFrame([*numbers.get_columns(), *shares.get_columns()]).select(answer.columns)
    files.write_table(answer, asked.output, asked.json)


def _bins(schema: Any, texts: Sequence[str]) -> dict[str, list[Any]]:
    """Ends of classes written `NAME=A,B`.

    Raises:
        ParameterError: If a text is not of this form.
    """
    from arbornet.cli import words

    out: dict[str, list[Any]] = {}
    for text in texts:
        name, _, ends = text.rpartition("=")
        out[name] = [words.assignments(schema, [f"{name}={end.strip()}"])[name] for end in ends.split(",")]
    return out
