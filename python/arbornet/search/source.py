"""The candidates that a search is given, in whatever form."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from arbornet._core import CandidatesHandle, ParameterError
from arbornet.io import jkl


def handle_of(candidates: Any) -> CandidatesHandle:
    """The core's candidates behind Candidates, a path, or themselves."""
    if isinstance(candidates, str | Path):
        return jkl.read(candidates)
    handle = getattr(candidates, "handle", candidates)
    if not isinstance(handle, CandidatesHandle):
        raise ParameterError(f"candidates={type(candidates).__name__}: give Candidates or the path of a .jkl file")
    return handle
