"""Draws `docs/penguins.svg`, the picture at the top of README: a learned network and the tree of one variable.

The table is `an.example("penguins")` (Horst, Hill and Gorman 2020, CC0). The picture paints its own background, so it
is readable on a light and on a dark page, and it is the same bytes every time.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

import arbornet as an
from arbornet.show.draw.network import network_scene
from arbornet.show.draw.parts import Graph, Tree
from arbornet.show.draw.scene import Scene
from arbornet.show.draw.svg import svg
from arbornet.show.draw.tree import tree_scene

PICTURE = Path(__file__).parents[1] / "docs" / "penguins.svg"
SHOWN = "body_mass_g"
"""The variable whose tree stands beside the network."""
ROOM, ABREAST = (320.0, 420.0), 2
"""The canvas of the network, and its nodes beside one another: README's column is some 830 pixels wide."""
CHART = 84.0
"""Width of the charts at the tree's leaves."""
MARGIN = 14.0
CAPTION = 40.0
"""Height of the line above each drawing."""
LEAST = 12.8
"""The smallest size of letters: 11 pixels in that column, which shrinks what is wider."""


def picture() -> str:
    """The network and the tree side by side, what the signs mean below, as SVG."""
    net = an.learn(an.example("penguins"), verbose=False)
    graph = Graph.of(net.graph)
    left = network_scene(graph, legend=False, room=ROOM, most=ABREAST)
    right = tree_scene(Tree.of(net[SHOWN].description), CHART)
    below = key(network_scene(graph))
    beside = left.width + MARGIN / 2
    width = beside + right.width
    height = CAPTION + max(left.height, right.height) + below.height
    middle = CAPTION + (height - CAPTION - below.height) / 2
    says = f"A Bayesian network learned from 333 penguins, and the decision tree of {SHOWN}"
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="an-picture" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" aria-label="{says}">',
        f"<title>{says}</title>",
        f'<rect class="an-f-paper an-s-grid" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>',
        f'<path class="an-s-grid" d="M{beside:g} {MARGIN:g}V{height - below.height - MARGIN:g}"/>',
        caption(MARGIN, "The network"),
        placed(left, 0, middle - left.height / 2),
        caption(beside + MARGIN, f"The tree of {SHOWN}"),
        placed(right, beside, middle - right.height / 2),
        placed(below, 0, height - below.height),
        "</svg>\n",
    )
    return "\n".join(parts)


def key(scene: Scene) -> Scene:
    """What shapes and arrows mean, without the network."""
    signs = tuple(group for group in scene.groups if group.role == "key")
    return replace(scene, height=64.0, title="Key", description="", groups=signs)


def placed(scene: Scene, x: float, y: float) -> str:
    """The drawing as a part of a larger one, no text of it too small."""
    drawn = svg(scene).strip()
    tops = [float(found) for found in re.findall(r' y="([\d.]+)"', drawn)]
    # What was cut out of a drawing begins where its first mark stands.
    start = max(0.0, min(tops) - 8)
    if start > scene.height:
        drawn = drawn.replace('viewBox="0 0 ', f'viewBox="0 {start:g} ', 1)
    texts = re.sub(r'font-size="([\d.]+)"', lambda found: f'font-size="{max(float(found[1]), LEAST):.3g}"', drawn)
    return texts.replace("<svg ", f'<svg x="{x:g}" y="{y:g}" ', 1)


def caption(x: float, says: str) -> str:
    """The line above a drawing."""
    return f'<text class="an-f-ink" x="{x:g}" y="28" font-size="17" font-weight="600">{says}</text>'


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else PICTURE
    target.write_text(picture(), encoding="utf-8", newline="\n")
    print(f"wrote {target}")
