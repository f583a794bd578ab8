"""`arbornet learn`: from a table to a network, a picture, a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arbornet.cli.parser import Options, json_option, learning_options, table_options

HELP = "learn a network from a table"
ABOUT = """\
Learns a network: reads the table, leaves out incomplete rows, scores parent sets (step 1), searches for the best
network they allow (step 2), and puts a small readable model under every variable. Tells what it does, how long it
will take, and whether the result is proved to be the best."""
EXAMPLES = """\
examples:
  arbornet learn patients.csv -o patients.json
  arbornet learn patients.csv --schema patients.schema.json --report patients.html
  arbornet learn patients.csv --tier age,sex --tier stage --forbid 'treatment -> stage' --draw patients.svg
  arbornet learn wide.parquet --max-parents 2 --search anytime --time-limit 60 -o wide.json
  arbornet learn patients.csv --json --quiet -o patients.json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    table_options(command)
    learning_options(command)
    command.add_argument(
        "--search",
        choices=("exact", "anytime", "hill_climb"),
        default="exact",
        help="exact proves the best network; anytime and hill_climb suit very many variables (default: %(default)s)",
    )
    command.add_argument("--time-limit", type=float, metavar="S", help="stop the search after so many seconds")
    command.add_argument("--checkpoint", metavar="DIRECTORY", help="keep scores, and go on from there next time")
    command.add_argument("-o", "--output", metavar="FILE", help="write the network: .json or .bif")
    command.add_argument("--report", metavar="FILE", help="write one HTML page with everything")
    command.add_argument("--draw", metavar="FILE", help="draw the network: .svg, .png or .pdf")
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.cli.show import as_dict, families

    score = words.score(asked.score)
    rules = words.constraints(asked.require, asked.forbid, asked.tier)
    most = words.max_parents(asked.max_parents)
    frame = an.read(asked.table)
    table = files.read_table(asked, frame)

    def tell(line: object) -> None:
        if not asked.json:
            print(line, flush=True)

    tell(f"{Path(asked.table).name}: {_size(table)}")
    if not asked.quiet:
        plan = an.plan(table, score, most, rules, seconds=0.3)
        most = plan.max_parents
        tell(f"step 1: {plan.n_sets:,} parent sets of up to {most} parents, {_about(plan.seconds, asked.jobs)}")
    progress = not asked.quiet
    candidates = an.score_parents(
        table, score, most, rules, n_jobs=asked.jobs, progress=progress, checkpoint=asked.checkpoint
    )
    tell(
        f"        {candidates.n_evaluated:,} scored, {candidates.n_kept:,} worth searching, {candidates.seconds:.1f} s"
    )
    for skipped in candidates.skipped[:3]:
        files.say(f"not scored: {skipped.reason}")
    search = getattr(an.search, asked.search)
    limits = {} if asked.time_limit is None else {"time_limit": asked.time_limit}
    found = search(candidates, **limits)
    tell(f"step 2: {ending(found)}")
    net = an.fit(table, found, score, n_jobs=asked.jobs)
    tell(f"network: {net.graph.number_of_edges()} arcs, with what the score loses without each")
    for line in families(net):
        tell(line)
    if asked.output:
        files.write_network(net, Path(asked.output))
    if asked.draw:
        net.draw(asked.draw)
        files.wrote(asked.draw)
    if asked.report:
        net.report(asked.report, data=frame, title=Path(asked.table).name.split(".")[0])
        files.wrote(asked.report)
    if asked.json:
        told = {"score": found.score, "bound": files.finite(found.bound), "stopped": found.stopped}
        files.print_json({**told, "n_rows": table.n_rows, "n_dropped": table.n_dropped, **as_dict(net)})


def ending(found: Any) -> str:
    """How a search ended, for a person."""
    says = f"score {found.score:,.4f}, {found.seconds:.1f} s"
    if found.stopped == "proven":
        return f"{says}; proved: no network scores higher among all that these parent sets allow"
    why = {"finished": "the search came to its own end", "interrupted": "interrupted"}.get(
        found.stopped, f"stopped by the {found.stopped} limit"
    )
    bound = f"; no network scores more than {found.bound:,.4f}" if found.bound < float("inf") else ""
    return f"{says}; {why}, without a proof{bound}"


def _size(table: Any) -> str:
    words = [column.word for column in table.schema.used]
    kinds = [f"{words.count(word)} {word}" for word in ("continuous", "categorical", "ordinal") if word in words]
    return f"{table.n_rows:,} complete rows of {table.n_rows + table.n_dropped:,}; {', '.join(kinds)}"


def _about(seconds: float, jobs: int) -> str:
    import os

    from arbornet.progress import duration

    cores = os.cpu_count() or 1
    threads = jobs if jobs > 0 else max(1, cores + 1 + jobs)
    return f"about {duration(seconds / min(threads, cores))}" if seconds >= 1 else "less than a second"
