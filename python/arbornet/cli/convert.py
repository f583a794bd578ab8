"""`arbornet convert`: a file in another format."""

from __future__ import annotations

import argparse
from pathlib import Path

from arbornet.cli.parser import Options, count, json_option

HELP = "convert a network, candidates or a table to another format"
ABOUT = """\
Converts a file; the endings of both names say from what to what:
  networks    .json .bif .xmlbif .net  to the same, or .dot, .graphml
  candidates  .jkl .jkl.gz .parquet    to the same; only .parquet keeps all
  tables      .csv .parquet .arrow ... to the same"""
EXAMPLES = """\
examples:
  # numbers cut into five bins, as BIF holds levels only
  arbornet convert patients.json patients.bif --bins 5
  # for other programs
  arbornet convert asia.bif.gz asia.json
  arbornet convert asia.bif asia.xmlbif
  arbornet convert asia.bif asia.net
  arbornet convert candidates.parquet candidates.jkl
  arbornet convert patients.csv patients.parquet"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("source", metavar="FROM", help="the file to read")
    command.add_argument("target", metavar="TO", help="the file to write")
    command.add_argument(
        "--bins",
        type=count(2, 1000),
        metavar="N",
        help="for .bif, .xmlbif and .net: cut every number into N bins",
    )
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files
    from arbornet.cli.outputs import Output, tried
    from arbornet.network.files import READERS
    from arbornet.step1.candidates import holds_candidates

    source, target = Path(asked.source), Path(asked.target)
    kind = "table"
    if ".jkl" in (*source.suffixes, *target.suffixes) or holds_candidates(source):
        kind = "candidates"
    elif Path(source.name.lower().removesuffix(".gz")).suffix in READERS:
        kind = "network"
    tried([Output("TO", asked.target, kind)])
    if kind == "candidates":
        found = an.Candidates.load(source)
        found.save(target)
        files.wrote(target)
        if target.suffix != ".parquet" and (lost := found.known):
            files.say(f"not kept, as .jkl has no place for it: {', '.join(lost)}; .parquet keeps it")
    elif kind == "network":
        files.write_network(files.read_network(asked.source), target, asked.bins)
        files.wrote(target)
    else:
        files.write_table(files.read_frame(asked.source), asked.target)
    if asked.json:
        files.print_json({"from": str(source), "to": str(target)})
