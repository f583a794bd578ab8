"""What a fit of a table would cost, and how much of the paper's effort a budget allows.

Costs are counted steps of a sample of families, about a nanosecond each, so that every run decides alike.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import uci
from talvitie.kept import Kept
from talvitie.models import SCORES

import arbornet as an
from arbornet.graphs.constraints import resolved
from arbornet.scores.prepare import prepared
from arbornet.step1.sampling import counted, sizes

MOST_PARENTS = 4
#: Steps that are spent on counting what a sample of families costs: sets of many levels differ a thousandfold.
SAMPLE = 1_000_000_000


@dataclass(frozen=True)
class Effort:
    """How much is spent on a table, and what that is less than in the paper."""

    max_parents: int
    repeats: int
    cut: str


@dataclass(frozen=True)
class Size:
    """How large a table is.

    Attributes:
        rows: Its rows.
        variables: Its columns.
        families: Children with sets of up to four parents.
        seconds: Of one core for step 1 by model and most parents, as estimated. Penalised forms share it.
    """

    rows: int
    variables: int
    families: int
    seconds: dict[tuple[str, int], float]

    def all_models(self, max_parents: int) -> float:
        """Seconds of step 1 for all four."""
        return sum(self.seconds[model, max_parents] for model in ("FT", "PCART"))


def size(name: str, results: Path) -> Size:
    """The size of a table of the paper; what was counted is kept with the results."""
    kept = Kept(results / "sizes.json")
    if name not in kept:
        data = uci.prepared(name)
        of = sized(an.Table(data.frame, schema=data.schema))
        seconds = {f"{model} {most}": round(value, 3) for (model, most), value in of.seconds.items()}
        kept[name] = [of.rows, of.variables, of.families, seconds]
    rows, variables, families, seconds = kept[name]
    return Size(rows, variables, families, {(key.split()[0], int(key.split()[1])): seconds[key] for key in seconds})


def sized(table: an.Table) -> Size:
    """The size of a table."""
    rules = resolved(None, table.names)
    seconds: dict[tuple[str, int], float] = {}
    for model in ("FT", "PCART"):
        each = counted(prepared(table, SCORES[model]()), rules, MOST_PARENTS, SAMPLE) or []
        for most in range(1, MOST_PARENTS + 1):
            seconds[model, most] = sum(n * cost for n, cost in zip(sizes(rules, most), each, strict=False))
    return Size(table.n_rows, len(table.names), sum(sizes(rules, MOST_PARENTS)), seconds)


def cheapest_first(names: list[str], results: Path) -> list[str]:
    """Tables by what a fit costs, so that a run that is stopped has done most of them."""
    return sorted(names, key=lambda name: size(name, results).all_models(MOST_PARENTS))


def effort(of: Size, minutes: float, fits: float, most_repeats: int = 1) -> Effort:
    """The most parents, and then the most repeats, that a budget of minutes of one core allows.

    Args:
        of: What is fitted.
        minutes: The budget.
        fits: How often all four models are fitted in one repeat.
        most_repeats: What is wanted.
    """
    if math.isinf(minutes):
        return Effort(MOST_PARENTS, most_repeats, "")
    for most in range(MOST_PARENTS, 0, -1):
        repeats = min(most_repeats, math.floor(60 * minutes / (of.all_models(most) * fits + 1e-9)))
        if repeats >= 1 or most == 1:
            repeats = max(repeats, 1)
            cuts = [f"D={most}"] * (most < MOST_PARENTS) + [f"{repeats} repeats"] * (repeats < most_repeats)
            return Effort(most, repeats, ", ".join(cuts))
    raise AssertionError
