"""The candidates given to a search, in whatever form, and those of them that satisfy constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arbornet import _core
from arbornet._core import CandidatesHandle, ParameterError
from arbornet.given import CandidatesLike
from arbornet.step1.candidates import Candidates


def handle_of(candidates: CandidatesLike) -> CandidatesHandle:
    """The core's candidates behind Candidates, a path, or themselves."""
    if isinstance(candidates, str | Path):
        return Candidates.load(candidates).handle
    handle = getattr(candidates, "handle", candidates)
    if not isinstance(handle, CandidatesHandle):
        way = "an.score_parents(table, score) gives Candidates; or give the path of a .jkl file"
        raise ParameterError(f"candidates={type(candidates).__name__}: {way}")
    return handle


def known(candidates: CandidatesLike) -> Any:
    """Candidates with what is known of their scoring, if a path leads to them."""
    return Candidates.load(candidates) if isinstance(candidates, str | Path) else candidates


def obeying(candidates: CandidatesLike, rules: str | None) -> CandidatesHandle:
    """The candidates that satisfy rules (as JSON).

    A set is left out at scoring where a subset scores as much. Where the rules require a parent that was not required
    then, the subset may be of no use and the set be missed.

    Raises:
        ArbornetError: if such a set may be missing, which no search could make up for; it names the arc and what to do.
    """
    candidates = known(candidates)
    handle = handle_of(candidates)
    if rules is None:
        return handle
    if not isinstance(candidates, Candidates):
        return _core.restrict(handle, rules)
    return _core.restrict(handle, rules, candidates.constraints, candidates.max_parents, candidates.pruned)
