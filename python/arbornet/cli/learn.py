"""`arbornet learn`: from a table to a network, a picture, a report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from arbornet.cli.parser import (
    MOST_SEED,
    Options,
    count,
    effort_option,
    json_option,
    learning_options,
    seconds,
    table_options,
)
from arbornet.search.registry import searches

HELP = "learn a network from a table"
ABOUT = """\
Learns a network: reads the table, draws what is missing in incomplete rows
(--missing), scores parent sets (step 1), searches for the best network
(step 2), and fits a small, readable model for every variable. Prints what it
does, how long it will take, and whether no other network scores higher
(proved)."""
EXAMPLES = """\
examples:
  arbornet learn patients.csv -o patients.json
  arbornet learn patients.csv --schema patients.schema.json --report out.html
  # arcs that cannot be, by order in time and by name
  arbornet learn patients.csv --tier age,sex --tier stage --draw patients.svg
  arbornet learn patients.csv --forbid 'treatment -> stage' -o patients.json
  # how certain is each arc
  arbornet learn patients.csv --bootstrap 100 --report patients.html
  # several rows of each patient, which are resampled together
  arbornet learn visits.csv --bootstrap 100 --groups patient_id
  # a missing value may carry information
  arbornet learn patients.csv --missing level
  # many columns
  arbornet learn wide.parquet --search anytime --time-limit 60 -o wide.json
  arbornet learn genes.csv --score 'MARS()' --parents forest -o genes.json
  # for a script
  arbornet learn patients.csv --json --quiet -o patients.json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    table_options(command)
    learning_options(command, gaps=True)
    command.add_argument(
        "--parents",
        choices=("forest",),
        help="forest: consider, for each variable, its best few parents by a random forest; for hundreds of columns",
    )
    command.add_argument(
        "--search",
        choices=tuple(searches()),
        metavar="METHOD",
        help="; ".join(f"{name} {one.told}" for name, one in searches().items())
        + " (default: exact; anytime with --parents forest and more than 100 columns)",
    )
    effort_option(command, "default: normal; unlimited with --checkpoint or --child-time-limit")
    command.add_argument(
        "--time-limit",
        type=seconds,
        metavar="S",
        help="end after about S seconds; what is found depends on the machine",
    )
    command.add_argument(
        "--checkpoint", metavar="DIRECTORY", help="keep scores in this folder, and continue from it next time"
    )
    command.add_argument(
        "--bootstrap",
        type=count(0, 1_000_000),
        metavar="N",
        help="also learn N networks from resampled rows (by hill climbing) and print how many have each arc",
    )
    command.add_argument(
        "--groups",
        metavar="COLUMN",
        help="resample rows with the same value of this column together; it is no variable",
    )
    command.add_argument(
        "--seed", type=count(0, MOST_SEED), default=0, metavar="N", help="random seed of the resampling (default: 0)"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write the network: .json, .bif, .xmlbif or .net")
    command.add_argument("--report", metavar="FILE", help="write one HTML page with everything")
    command.add_argument("--draw", metavar="FILE", help="draw the network: .svg, .png or .pdf")
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.cli.outputs import Output, Written, fits, tried
    from arbornet.cli.show import as_dict, families
    from arbornet.evaluate.groups import of_used
    from arbornet.evaluate.samples import groups_of
    from arbornet.step1.by_width import for_width
    from arbornet.text.terminal import wrapped

    tried(
        [
            Output("-o", asked.output, "network"),
            Output("--report", asked.report, "page"),
            Output("--draw", asked.draw, "picture"),
            Output("--checkpoint", asked.checkpoint, "folder"),
        ],
        [asked.table, asked.schema],
    )
    if asked.groups is not None and not asked.bootstrap:
        raise an.ParameterError("--groups says which rows --bootstrap resamples together; add --bootstrap 100")
    score = words.chosen(asked.score, asked.leaf)
    rules = words.constraints(asked.require, asked.forbid, asked.tier)
    most = words.max_parents(asked.max_parents)
    frame = files.read_frame(asked.table, asked)
    groups = None if asked.groups is None else groups_of(frame, asked.groups, frame.height)
    table = files.read_rows(asked, frame)
    groups = None if groups is None else of_used(frame, groups, table, asked.weights, asked.jobs)
    fits(asked.output, table.schema)
    net = an.learn(
        table,
        score,
        asked.search,
        most,
        rules,
        time_limit=asked.time_limit,
        n_jobs=asked.jobs,
        progress=not asked.quiet,
        checkpoint=asked.checkpoint,
        parents=asked.parents,
        n_candidates=asked.n_candidates,
        child_time_limit=asked.child_time_limit,
        verbose=not asked.json,
        effort=asked.effort,
    )
    files.with_what_was_replaced(net, asked)
    failure: BaseException | None = None
    if asked.bootstrap:
        try:
            strengths = an.evaluate.arc_strength(
                table,
                None if score is None else for_width(score, len(table.names))[0],
                n_bootstrap=asked.bootstrap,
                seed=asked.seed,
                groups=groups,
                max_parents=most,
                constraints=rules,
                n_jobs=asked.jobs,
                progress=not asked.quiet,
            )
            net = net.with_strengths(strengths)
        except (an.ArbornetError, MemoryError, KeyboardInterrupt) as error:
            files.say("the bootstrap did not finish; the network is shown without the strengths of its arcs")
            failure = error
    if not asked.json:
        shares = f", and the share of {asked.bootstrap} resampled networks that have it" if net.origin.strengths else ""
        print(wrapped(f"arcs, with how much removing each lowers the log score{shares}:"))
        for line in families(net):
            print(line)
        sys.stdout.flush()
    with Written(failure) as written:
        if asked.output:
            written(asked.output, lambda: _write(net, asked.output))
        if asked.draw:
            written(asked.draw, lambda: net.draw(asked.draw))
        if asked.report:
            written(asked.report, lambda: net.report(asked.report, data=frame, title=files.stem(asked.table)))
        if asked.json:
            told = {**net.origin.search, "n_rows": table.n_rows, "n_dropped": table.n_dropped}
            files.print_json({**told, **as_dict(net)})


def _write(net: Any, path: str) -> None:
    """Writes the network; as JSON beside it, if the chosen format cannot hold it."""
    import arbornet as an
    from arbornet.cli import files

    try:
        files.write_network(net, path)
    except an.ArbornetError:
        instead = Path(f"{path}.json")
        if not instead.exists():
            net.save(instead)
            files.wrote(instead)
        raise
