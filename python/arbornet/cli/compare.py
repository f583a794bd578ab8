"""`arbornet compare`: how two networks differ."""

from __future__ import annotations

import argparse

from arbornet.cli.parser import Options, json_option
from arbornet.text.terminal import wrapped
from arbornet.text.visible import visible

HELP = "compare two networks over the same variables"
ABOUT = """\
Compares the arcs of two networks, the first taken as the truth. Prints which
arcs are the same, reversed, missing or extra; the structural Hamming distance
between the graphs and between their equivalence classes; and precision and
recall of adjacencies and arrowheads."""
EXAMPLES = """\
examples:
  arbornet compare truth.bif learned.json
  arbornet compare monday.json tuesday.json --json"""


def options(command: argparse.ArgumentParser) -> None:
    """Adds the options."""
    command.add_argument("first", metavar="TRUE", help="a network: .json, .bif, .xmlbif or .net")
    command.add_argument("second", metavar="LEARNED", help="another over the same variables")
    json_option(command)


def run(asked: Options) -> None:
    """Runs the command."""
    import arbornet as an
    from arbornet.cli import files
    from arbornet.graphs import cpdag
    from arbornet.metrics import compare, differing

    first, second = (files.read_network(path).graph for path in (asked.first, asked.second))
    if set(first) != set(second):
        only = sorted(set(first) ^ set(second))
        raise an.ArbornetError(f"the networks are not over the same variables; only one has {', '.join(only[:10])}")
    missing = sorted(set(first.edges) - set(second.edges))
    extra = sorted(set(second.edges) - set(first.edges))
    turned = [arc for arc in missing if arc[::-1] in extra]
    arcs = {
        "same": sorted(set(first.edges) & set(second.edges)),
        "reversed": turned,
        "missing": [arc for arc in missing if arc not in turned],
        "extra": [arc for arc in extra if arc[::-1] not in turned],
    }
    figures = {"shd": differing(first, second), "shd_of_classes": differing(cpdag(first), cpdag(second))}
    close = compare(first, second)
    if asked.json:
        shares = {key: value for key, value in close.to_dict().items() if key != "shd"}
        files.print_json({**figures, **shares, "arcs": arcs})
        return
    print(f"structural Hamming distance: {figures['shd']} between the graphs,")
    print(f"  {figures['shd_of_classes']} between their equivalence classes")
    for what, precision, recall in (("adjacencies", close.ap, close.ar), ("arrowheads", close.ahp, close.ahr)):
        print(f"{what}: precision {precision:.1%}, recall {recall:.1%}".replace("nan%", "nothing to count"))
    for name, listed in arcs.items():
        line = f"{name} ({len(listed)}): " + (", ".join(f"{u} -> {v}" for u, v in listed) or "none")
        print(wrapped(visible(line)))
