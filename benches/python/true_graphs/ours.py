"""Our own learners: how each learns a graph, by the names on the page."""

from __future__ import annotations

import resource
import warnings
from collections.abc import Callable
from typing import Any

import arbornet as an
from true_graphs import ways
from true_graphs.tables import Drawn

Learner = Callable[[Drawn], Any]
"""From a table to a graph, or to what a search found."""

#: Wall seconds for one proof; without one, the graph is the best so far.
PROOF = 60.0


def exact(drawn: Drawn) -> Any:
    candidates = an.score_parents(drawn.table, an.PCART(), max_parents=2, n_jobs=1)
    return an.search.exact(candidates, time_limit=PROOF, n_jobs=1)


def boss(score: Any, table: str = "normal_scores") -> Learner:
    return lambda drawn: an.search.boss(getattr(drawn, table), score, restarts=10, n_jobs=1)


def pc(drawn: Drawn) -> Any:
    return an.search.pc(drawn.normal_scores, an.PCART(penalised=False), alpha=0.5, max_given=2, n_jobs=1)


def hybrid(drawn: Drawn) -> Any:
    return an.search.hybrid(drawn.table, n_jobs=1)


def hybrid_pairs(drawn: Drawn) -> Any:
    return an.search.hybrid(drawn.table, interactions=True, n_jobs=1)


def inside(drawn: Drawn) -> Any:
    return an.search.hybrid(drawn.table, an.PCART(), n_jobs=1)


def inside_or_among_levels(drawn: Drawn) -> Any:
    return ways.inside_or_among_levels(drawn.table)


def learners() -> tuple[dict[str, Learner], list[str]]:
    """The learners that this version of the package has, and those that it lacks."""
    one = an.priors.Binomial(1)
    found: dict[str, Learner] = {
        "exact PCART, 2 parents": exact,
        "BOSS ConditionalGaussian": boss(an.ConditionalGaussian(discretise=True, prior=one)),
        "BOSS DegenerateGaussian": boss(an.DegenerateGaussian(prior=one)),
        "BOSS BasisFunctions": boss(an.BasisFunctions(prior=one)),
        "PC PCART": pc,
    }
    missing = []
    if hasattr(an, "BlockGaussian"):
        found["BOSS BlockGaussian"] = boss(an.BlockGaussian(prior=one), "table")
    else:
        missing.append("BOSS BlockGaussian")
    if hasattr(an.search, "hybrid"):
        found |= {"hybrid": hybrid, "hybrid, interactions": hybrid_pairs, "hybrid, exact PCART inside": inside}
        found["hybrid or levels, exact PCART inside"] = inside_or_among_levels
    else:
        missing += ["hybrid", "hybrid, interactions", "hybrid, exact PCART inside"]
        missing.append("hybrid or levels, exact PCART inside")
    return found, missing


def learned(learner: Learner, drawn: Drawn) -> tuple[Any, float]:
    """What a learner finds, and user CPU seconds."""
    drawn.table, drawn.normal_scores  # noqa: B018  (made beforehand: reading is not counted)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.ArbornetWarning)
        found = learner(drawn)
    return found, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
