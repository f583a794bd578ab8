"""What a report says, as plain data: whoever has a network fills these in, whoever writes the page reads them."""

from __future__ import annotations

from dataclasses import dataclass, field

from arbornet.show.draw.parts import Arc, Node, Tree
from arbornet.show.draw.spline import Spline
from arbornet.show.draw.values import Bars, Histogram

STOPPED = {
    "finished": "The search finished, without a proof that no network scores higher.",
    "time": "The search stopped at its time limit; another network could score up to the upper bound.",
    "memory": "The search stopped at its memory limit; another network could score up to the upper bound.",
    "interrupted": "The search was interrupted; another network could score up to the upper bound.",
}


@dataclass(frozen=True)
class Variable:
    """One variable and the model under it; what is not known stays empty.

    Attributes:
        node: Name, kind and levels.
        reason: Why it has this kind, in a sentence.
        missing: Number of missing values in the table.
        values: Its values in the table.
        model: The kind of its local model, such as "tree with 4 leaves".
        tree: The tree under it.
        text: The model as text.
        score: Its local score.
        spline: The spline under it, if it is one.
        range_: Its smallest and largest value, such as `0.2 to 1.4`, if it is a number.
        gaps: How much is missing, if the network was learned from rows with missing values.
    """

    node: Node
    reason: str = ""
    missing: int | None = None
    values: Histogram | Bars | None = None
    model: str = ""
    tree: Tree | None = None
    text: str = ""
    score: float | None = None
    spline: Spline | None = None
    range_: str = ""
    gaps: str = ""


@dataclass(frozen=True)
class Search:
    """How the network was found."""

    method: str = ""
    score: float | None = None
    bound: float | None = None
    gap: float | None = None
    stopped: str = ""
    seconds: float | None = None
    n_in_order: int = 0
    """Families whose scores are lower bounds, since levels were grouped in order."""
    left_out: tuple[str, ...] = ()
    """Parent sets that were not looked at, in words."""

    @property
    def proved(self) -> str:
        """What is proved if the search ended with a proof."""
        which = "network of the parent sets looked at" if self.left_out else "network within the parent limit"
        by = ", by scores of which some are lower bounds" if self.n_in_order else ""
        return f"no {which} scores higher (proved{by})"

    @property
    def ending(self) -> str:
        """Why the search ended, as a sentence."""
        if self.stopped == "proven":
            return self.proved.capitalize() + "."
        return STOPPED.get(self.stopped, self.stopped)

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as pairs of a label and a text."""
        out = []
        if self.method:
            out.append(("Method", self.method))
        if self.score is not None:
            out.append(("Score", f"{self.score:,.4f}"))
        if self.bound is not None:
            which = "network of the parent sets looked at" if self.left_out else "network"
            out.append(("Upper bound", f"{self.bound:,.4f}: no {which} scores higher"))
        if self.gap is not None:
            out.append(("Gap", "none, score and bound meet" if self.gap <= 0 else f"{_gap(self.gap)} to the bound"))
        if self.stopped:
            out.append(("Stopped", f"{self.stopped}. {self.ending}".removesuffix(f". {self.stopped}")))
        out += [("Left out", text) for text in self.left_out]
        if self.seconds is not None:
            out.append(("Time", f"{self.seconds:,.2g} s" if self.seconds < 10 else f"{self.seconds:,.0f} s"))
        if self.n_in_order:
            out.append(
                ("Groups in order", f"{self.n_in_order:,} parent sets scored: categories of many levels, lower bounds")
            )
        return out


def _gap(gap: float) -> str:
    return f"{gap:,.0f}" if gap >= 1000 else f"{gap:.3g}"


@dataclass(frozen=True)
class Rows:
    """Rows read and used, and the reasons for which the others were left out, with their numbers."""

    read: int
    used: int
    dropped: tuple[tuple[str, int], ...] = ()
    advice: str = ""
    """Which column costs most rows, and how many would be kept without it, in a sentence."""


@dataclass(frozen=True)
class Report:
    """All of a report."""

    title: str
    variables: tuple[Variable, ...]
    arcs: tuple[Arc, ...]
    rows: Rows | None = None
    search: Search = field(default_factory=Search)
    notes: tuple[tuple[str, str], ...] = ()
    """More facts for the summary: pairs of a label and a text."""
    technical: tuple[tuple[str, str], ...] = ()
    """Facts for specialists, such as the parameters of the score."""
    scale: str = ""
    """What the words for the strengths of arcs mean."""
    findings: tuple[tuple[str, str], ...] = ()
    """What looks wrong in the table, and the line of code that mends it, empty if there is none."""
