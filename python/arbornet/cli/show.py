"""`arbornet show`: print a network."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from arbornet.cli.parser import Options, cell_options, json_option
from arbornet.text.terminal import wrapped, wrapped_tree

HELP = "show a network: arcs, models, a picture, a report"
ABOUT = """\
Without a variable: the parents of every variable, with how much removing each
arc lowers the log score. With one: its model, in words. Also draws the network
(or the variable's tree) and writes the report."""
EXAMPLES = """\
examples:
  arbornet show patients.json
  arbornet show patients.json readmitted
  # the network, or the tree of one variable, as .svg, .png or .pdf
  arbornet show patients.json --draw patients.svg
  arbornet show patients.json readmitted --draw readmitted.svg
  arbornet show patients.json --data patients.csv --report patients.html
  arbornet show patients.json --json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("network", metavar="NETWORK", help="the network: .json, .bif, .xmlbif or .net")
    command.add_argument("variable", metavar="VARIABLE", nargs="?", help="show the model of this variable")
    command.add_argument("--draw", metavar="FILE", help="draw to .svg, .png or .pdf")
    command.add_argument("--engine", choices=("layered", "dot"), default="layered", help="the layout engine")
    command.add_argument("--report", metavar="FILE", help="write one HTML page with everything")
    command.add_argument(
        "--data", metavar="TABLE", help="the table, so that the report can show each variable's values"
    )
    cell_options(command)
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    from arbornet.cli import files
    from arbornet.cli.outputs import Output, Written, tried

    outputs = [Output("--report", asked.report, "page"), Output("--draw", asked.draw, "picture")]
    tried(outputs, [asked.network, asked.data])
    net = files.read_network(asked.network)
    data = files.read_frame(asked.data, asked, net) if asked.data else None
    title = files.stem(asked.data) if asked.data else Path(asked.network).stem
    with Written() as written:
        if asked.report:
            written(asked.report, lambda: net.report(asked.report, data=data, title=title))
        if asked.draw and asked.variable:
            written(asked.draw, lambda: net[asked.variable].draw(asked.draw))
        elif asked.draw:
            written(asked.draw, lambda: net.draw(asked.draw, engine=asked.engine))
    if asked.json:
        files.print_json(net[asked.variable].to_dict() if asked.variable else as_dict(net))
    elif asked.variable:
        told, blank, model = net.explain(asked.variable).partition("\n\n")
        print("\n".join(wrapped(line, "    ") for line in told.split("\n")) + blank + wrapped_tree(model))
    elif not (asked.draw or asked.report):
        print(net)
        for line in families(net):
            print(line)


MOST_NAME = 30
"""Columns for the names of variables; longer ones push their line to the right."""


def as_dict(net: object) -> dict[str, object]:
    """Variables and arcs with their figures."""
    graph = net.graph  # type: ignore[attr-defined]
    return {
        "variables": [{"name": name, **data} for name, data in graph.nodes(data=True)],
        "arcs": [{"parent": u, "child": v, **data} for u, v, data in graph.edges(data=True)],
    }


def families(net: object) -> list[str]:
    """One line per variable: its parents, the strongest arc first."""
    graph = net.graph  # type: ignore[attr-defined]
    width = min(max(map(len, graph), default=0), MOST_NAME)
    lines = []
    for name in graph:
        arcs = sorted(graph.in_edges(name, data=True), key=_needed)
        told = [u + _figures(data) for u, _, data in arcs]
        line = f"  {name.ljust(width)}  {'<- ' + ', '.join(told) if told else 'no parents'}"
        lines.append(wrapped(line, " " * (width + 7)))
    return lines


def _needed(arc: tuple[str, str, dict[str, float]]) -> float:
    """How arcs are sorted: those first whose removal lowers the score most."""
    figure = arc[2].get("contribution", 0.0)
    return 0.0 if math.isnan(figure) else -figure


def _figures(data: dict[str, float]) -> str:
    data = {key: figure for key, figure in data.items() if figure == figure}  # NaN is not known
    told = [f"{data['contribution']:.4g}"] if "contribution" in data else []
    told += [f"{data['strength']:.0%}"] if "strength" in data else []
    return f" ({', '.join(told)})" if told else ""
