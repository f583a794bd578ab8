"""Styles of random networks: which kinds of variables they have, and by which effects children depend on parents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

from arbornet._core import ParameterError
from arbornet.checks import real
from arbornet.simulate.effects import Pair, Shape
from arbornet.simulate.mechanisms import LevelKind, NumberKind


@dataclass(frozen=True)
class Style:
    """What a random network is made of. A word given twice is drawn twice as often.

    Args:
        effects: Shapes of the effects of one parent: "linear"; "step", at a threshold; "valley", a V; "tanh", a smooth
            step; "bend", flat and then rising; "hill", a bell; "wave", a sine of several periods. Each level of a
            category has its own effect, without a shape.
        numbers: Kinds of the numbers: "normal", "log-normal", "heavy-tails", "count".
        levels: Kinds of the other variables: "category", "ordinal".
        pairs: How two parents act together: "product"; "slope", where one changes the sign of the other's effect;
            "xor", where neither has an effect of its own. Drawn for variables with two parents or more; a third parent
            then has an effect of its own.
        share: With `pairs`, the share of the variables with two parents or more that have one.

    Raises:
        ParameterError: If a word is unknown or missing.

    Example:
        >>> an.simulate.network(10, 500, style=an.simulate.Style(("valley",), numbers=("normal", "count")))
    """

    effects: tuple[Shape, ...] = ("linear",)
    numbers: tuple[NumberKind, ...] = ("normal",)
    levels: tuple[LevelKind, ...] = ("category", "ordinal")
    pairs: tuple[Pair, ...] = ()
    share: float = 1.0

    def __post_init__(self) -> None:
        for name, words in (("effects", Shape), ("numbers", NumberKind), ("levels", LevelKind), ("pairs", Pair)):
            object.__setattr__(self, name, _words(name, getattr(self, name), get_args(words)))
        share = real("share", self.share)
        if not 0 <= share <= 1:
            raise ParameterError(f"share={self.share!r}: give a number from 0 to 1")
        object.__setattr__(self, "share", share)


def _words(name: str, given: Any, known: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(given) if isinstance(given, tuple | list) else (given,)
    for word in words:
        if word not in known:
            raise ParameterError(f"{name}: {word!r} is unknown; there are {', '.join(known)}")
    if not words and name != "pairs":
        raise ParameterError(f"{name}={given!r}: give at least one of {', '.join(known)}")
    return words


STYLES: dict[str, Style] = {
    "linear": Style(),
    "nonlinear": Style(("step", "valley", "tanh"), ("normal", "normal", "log-normal", "count")),
    "smooth": Style(("tanh", "bend", "hill")),
    "products": Style(pairs=("product",)),
    "heavy-tails": Style(("linear", "tanh"), ("heavy-tails", "heavy-tails", "log-normal")),
    "mixed": Style(
        ("linear", "step", "valley", "tanh", "bend", "hill"),
        ("normal", "normal", "log-normal", "heavy-tails", "count"),
        pairs=("product", "slope"),
        share=0.3,
    ),
    "hidden": Style(("wave",), pairs=("xor", "slope")),
}
"""The named styles. In "hidden", no parent is correlated with its child, not even by a simple curve."""


def style_of(given: str | Style) -> Style:
    """The style of a name; a style is returned as it is."""
    if isinstance(given, Style):
        return given
    if not isinstance(given, str) or given not in STYLES:
        raise ParameterError(
            f"style={given!r}: choose {', '.join(map(repr, STYLES))}, or give an an.simulate.Style(...)"
        )
    return STYLES[given]
