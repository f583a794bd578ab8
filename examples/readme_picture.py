"""Draws `docs/penguins.svg`, the picture at the top of README: a learned network and the tree of one variable.

The table is `an.example("penguins")` (Horst, Hill and Gorman 2020, CC0). The picture paints its own background, so it
is readable on a light and on a dark page, and it is the same bytes every time.
"""

import re
import sys
from pathlib import Path

import arbornet as an

PICTURE = Path(__file__).parents[1] / "docs" / "penguins.svg"
SHOWN = "body_mass_g"
"""The variable whose tree stands beside the network."""
MARGIN = 16.0
CAPTION = 36.0
"""Height of the line above each drawing."""
LARGER = 1.05
"""README shows the picture at about two thirds of its size: texts fill the room their boxes leave."""


def picture() -> str:
    """The network and the tree side by side, as SVG."""
    net = an.learn(an.example("penguins"), verbose=False)
    left, right = str(net.draw()), str(net[SHOWN].draw())
    (left_width, left_height), (right_width, right_height) = size(left), size(right)
    beside = left_width + MARGIN
    width = beside + right_width + MARGIN
    height = CAPTION + max(left_height, right_height)
    says = f"A Bayesian network learned from 333 penguins, and the decision tree of {SHOWN}"
    parts = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="an-picture" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" aria-label="{says}">',
        f"<title>{says}</title>",
        f'<rect class="an-f-paper an-s-grid" x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="8"/>',
        f'<path class="an-s-grid" d="M{beside:g} {MARGIN:g}V{height - MARGIN:g}"/>',
        caption(MARGIN, "The network"),
        placed(left, 0, CAPTION + (height - CAPTION - left_height) / 2),
        caption(beside + MARGIN, f"The tree of {SHOWN}: a distribution at every leaf"),
        placed(right, beside, CAPTION + (height - CAPTION - right_height) / 2),
        "</svg>\n",
    )
    return "\n".join(parts)


def size(svg: str) -> tuple[float, float]:
    """Width and height of an SVG element."""
    found = re.search(r'width="([\d.]+)" height="([\d.]+)"', svg)
    if found is None:
        raise ValueError("the drawing has no size")
    return float(found[1]), float(found[2])


def placed(svg: str, x: float, y: float) -> str:
    """The drawing as a part of a larger one, its texts larger."""
    texts = re.sub(r'font-size="([\d.]+)"', lambda found: f'font-size="{float(found[1]) * LARGER:.3g}"', svg.strip())
    return texts.replace("<svg ", f'<svg x="{x:g}" y="{y:g}" ', 1)


def caption(x: float, says: str) -> str:
    """The line above a drawing."""
    return f'<text class="an-f-ink" x="{x:g}" y="28" font-size="17" font-weight="600">{says}</text>'


if __name__ == "__main__":
    target = Path(sys.argv[1]) if sys.argv[1:] else PICTURE
    target.write_text(picture(), encoding="utf-8", newline="\n")
    print(f"wrote {target}")
