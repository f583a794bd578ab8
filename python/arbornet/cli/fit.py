"""`arbornet fit`: the models of a given graph, from a table."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import Options, jobs_option, json_option, missing_option, table_options

HELP = "fit a given graph to a table"
ABOUT = """\
Fits a model to every variable of a graph that you have: drawn by hand, learned
from other rows, or written by another program. Nothing is searched; variables
of the table that the graph does not name have no arcs. The columns have the
types of a network in .json, unless --schema or --set say others."""
EXAMPLES = """\
examples:
  # the graph of last year's network, fitted to this year's rows
  arbornet fit patients-2025.csv patients.json -o patients-2025.json
  arbornet fit patients.csv drawn.bif --score 'BDeu(10)' -o patients.json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    table_options(command)
    command.add_argument("network", metavar="NETWORK", help="a network with the graph: .json, .bif, .xmlbif or .net")
    command.add_argument(
        "--score", metavar="SCORE", help="the score whose models are fitted (default: PCART(leaf='linear'))"
    )
    missing_option(command)
    command.add_argument("-o", "--output", metavar="FILE", help="write the network: .json, .bif, .xmlbif or .net")
    command.add_argument("--report", metavar="FILE", help="write one HTML page with everything")
    json_option(command)
    jobs_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files, words
    from arbornet.cli.outputs import Output, Written, fits, tried
    from arbornet.cli.show import as_dict, families
    from arbornet.scores.usual import USUAL
    from arbornet.text.terminal import wrapped

    outputs = [Output("-o", asked.output, "network"), Output("--report", asked.report, "page")]
    tried(outputs, [asked.table, asked.schema])  # the network may be written over by itself
    score = words.score(asked.score) if asked.score else USUAL
    before = files.read_network(asked.network)
    frame = files.read_frame(asked.table, asked, before)
    # What other formats hold are levels, whatever the columns were.
    table = files.read_table(asked, frame, before.schema if asked.network.lower().endswith(".json") else None)
    fits(asked.output, table.schema)
    net = files.with_what_was_replaced(an.fit(table, before.graph, score, n_jobs=asked.jobs), asked, before)
    # Files first: a reader of what is printed, such as `head`, may not wait for its end.
    with Written() as written:
        if asked.output:
            written(asked.output, lambda: files.write_network(net, asked.output))
        if asked.report:
            written(asked.report, lambda: net.report(asked.report, data=frame, title=files.stem(asked.table)))
        if asked.json:
            files.print_json({"n_rows": table.n_rows, "n_dropped": table.n_dropped, **as_dict(net)})
        else:
            weights = f"; {table.weights}" if table.weights else ""
            print(f"rows: {table.n_rows:,} used; {table.dropped}{weights}")
            print(net)
            print(wrapped("arcs, with how much removing each lowers the log score:"))
            for line in families(net):
                print(line)
