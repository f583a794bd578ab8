"""The report as one HTML page that needs nothing else: no network, no installation.

The page is `template.html` with the style and the script of this folder inside. What it shows stands in it twice: the
picture as SVG, and everything else as JSON in a script element that is data, not code; the script builds its elements
from text only. A content security policy with the checksums of style and script forbids everything else, so a page
can neither load nor send anything, and a hostile name can run nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

from arbornet._core import ParameterError
from arbornet.show import arrows
from arbornet.show.draw.network import network_scene
from arbornet.show.draw.parts import Graph
from arbornet.show.draw.scene import PAINTS
from arbornet.show.draw.spline import spline_scene
from arbornet.show.draw.svg import FONT, svg, text
from arbornet.show.draw.tree import tree_scene
from arbornet.show.draw.values import values_scene
from arbornet.show.report.outline import outline
from arbornet.show.report.parts import Report, Variable
from arbornet.system.whole import write_whole
from arbornet.text.terminal import several

DESK = (1200.0, 540.0)
"""The canvas for the network in a window of about 1280 by 800 pixels."""
HAND = (345.0, 600.0)
"""The same on a telephone; where there are many nodes it may be longer than the screen."""
FEW = 60


def check_name(path: str | Path) -> None:
    """Checks that a file's name is that of a page.

    Raises:
        ParameterError: If it has another ending than .html.
    """
    ending = Path(path).suffix
    if ending and ending.lower() not in (".html", ".htm"):
        raise ParameterError(f"{path}: a report is a page of HTML; name it {Path(path).with_suffix('.html')}")


def write(report: Report, path: str | Path) -> None:
    """Writes the page.

    Raises:
        ParameterError: If its name has another ending than .html.
    """
    check_name(path)
    write_whole(path, page(report))


def page(report: Report) -> str:
    """The page's text."""
    style, script = _style(), _file("report.js")
    graph = Graph(tuple(variable.node for variable in report.variables), report.arcs)
    policy = f"default-src 'none'; style-src {_checksum(style)}; script-src {_checksum(script)}; base-uri 'none'"
    blanks = {
        "title": text(report.title),
        "policy": policy,
        "style": style,
        "script": script,
        "lede": text(_lede(report)),
        "graph": svg(network_scene(graph, legend=False, room=DESK), style=False),
        "causes": text(arrows.NOT_CAUSES),
        "dashed": text(arrows.DASHED if any(arc.either_way for arc in report.arcs) else ""),
        "data": embedded(_data(report)),
    }
    # One pass, so that nothing filled in is taken for a blank.
    return re.sub(r"\{\{(\w+)\}\}", lambda blank: blanks[blank[1]], _file("template.html"))


def embedded(data: object) -> str:
    """JSON that may stand in a script element: no character of it means anything to an HTML parser."""
    plain = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _lede(report: Report) -> str:
    says = f"{several(len(report.variables), 'variable')}, {several(len(report.arcs), 'arc')}"
    if report.rows:
        read, used = report.rows.read, report.rows.used
        says += f", learned from {f'{used:,} of {read:,}' if used < read else f'all {read:,}'} rows"
    if report.search.stopped == "proven":
        says += f"; {report.search.proved}"
    return says + "."


def _data(report: Report) -> dict[str, Any]:
    place = {variable.node.name: i for i, variable in enumerate(report.variables)}
    facts = []
    if report.search.stopped:
        facts.append(("Search", report.search.ending))
    if report.search.n_in_order:
        many = f"{report.search.n_in_order:,} parent sets with categories of many levels"
        facts.append(("Scores", f"Those of {many} are lower bounds: their levels were grouped in order."))
    if report.rows:
        rows = report.rows
        facts.append(
            (
                "Rows",
                f"{rows.used:,} used of {rows.read:,} read" if rows.used < rows.read else f"all {rows.read:,} used",
            )
        )
        facts += [("Left out", f"{count:,} {'row' if count == 1 else 'rows'}: {why}") for why, count in rows.dropped]
    return {
        "title": report.title,
        "variables": [_variable(variable) for variable in report.variables],
        "arcs": [
            {
                "parent": place[arc.parent],
                "child": place[arc.child],
                "strength": _finite(arc.strength),
                "contribution": _finite(arc.contribution),
                "word": "" if arc.contribution is None else arrows.strength(arc.contribution),
                "either": arc.either_way,
            }
            for arc in report.arcs
        ],
        "facts": [*facts, *report.notes],
        "technical": [*report.search.facts(), *report.technical],
        "advice": report.rows.advice if report.rows and report.rows.used < report.rows.read else "",
        "findings": [list(both) for both in report.findings],
        "scale": report.scale,
        "hand": _in_hand(report),
    }


def _in_hand(report: Report) -> str:
    """The network for a narrow screen: few nodes beside one another, as long as it takes."""
    graph = Graph(tuple(variable.node for variable in report.variables), report.arcs)
    n = len(graph.nodes)
    room = (HAND[0], max(HAND[1], 60.0 * n))
    tried = [network_scene(graph, legend=False, room=room, most=most) for most in ((1, 2, 3, 6) if n <= FEW else (3,))]
    # Texts large enough first, then the shorter one.
    best = max(tried, key=lambda scene: (min(HAND[0] / scene.width, 1.0), -scene.height))
    return svg(best, style=False)


def _variable(variable: Variable) -> dict[str, Any]:
    node = variable.node
    return {
        "name": node.name,
        "kind": node.kind,
        "levels": node.levels,
        "reason": variable.reason,
        "missing": variable.missing,
        "gaps": variable.gaps,
        "score": _finite(variable.score),
        "model": variable.model,
        "text": variable.text,
        "tree": svg(tree_scene(variable.tree), style=False) if variable.tree else None,
        "outline": outline(variable.tree) if variable.tree else None,
        "range": variable.range_,
        "spline": svg(spline_scene(variable.spline, per_row=2), style=False) if variable.spline else None,
        "values": svg(values_scene(node, variable.values), style=False) if variable.values else None,
    }


def _finite(figure: float | None) -> float | None:
    """A figure that JSON can hold; others are shown as if they were not known."""
    return figure if figure is not None and math.isfinite(figure) else None


def _style() -> str:
    """The style sheet, with the colours of the pictures as variables."""
    light, dark = ("".join(f"--{name}:{both[shade]};" for name, both in PAINTS.items()) for shade in (0, 1))
    paints = "".join(f".an-f-{name}{{fill:var(--{name})}}.an-s-{name}{{stroke:var(--{name})}}" for name in PAINTS)
    return (
        f":root{{{light}color-scheme:light}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{dark}color-scheme:dark}}}}\n"
        f"@media screen{{:root[data-theme=dark]{{{dark}color-scheme:dark}}}}\n"
        f".an-picture{{fill:none;font-family:{FONT}}}{paints}\nbody{{font-family:{FONT}}}\n{_file('report.css')}"
    )


def _checksum(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"


def _file(name: str) -> str:
    return files("arbornet.show.report").joinpath(name).read_text(encoding="utf-8")
