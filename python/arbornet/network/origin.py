"""Where a network comes from."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from arbornet.alike import ByContent
from arbornet.text.visible import visible_name


@dataclass(frozen=True, eq=False, repr=False)
class Origin(ByContent):
    """Where a network comes from: what it was fitted to, by which score, found by which search."""

    score: str | None = None
    """The score as JSON."""
    n_rows: int | None = None
    """Rows it was fitted to."""
    family_scores: tuple[float, ...] | None = None
    """The score of every variable given its parents."""
    contributions: tuple[tuple[float, ...], ...] | None = None
    """Per variable and parent (in column order), how much removing that arc lowers the score."""
    search: dict[str, Any] = field(default_factory=dict)
    """Score, bound, seconds and end of the search, if there was one."""
    strengths: dict[str, dict[str, float]] = field(default_factory=dict)
    """Share of bootstrap networks with an arc, by parent and child, if there was a bootstrap."""

    in_order: dict[str, dict[str, tuple[int, int]]] = field(default_factory=dict)
    """Variables whose model was found by groups in order, so that there may be a better one: by parent, its levels
    and the groups that they were merged to."""

    def __repr__(self) -> str:
        parts = [] if self.n_rows is None else [f"{self.n_rows:,} rows"]
        try:
            parts.append(f"score {json.loads(self.score or '')['score']}")
        except (ValueError, KeyError, TypeError):
            parts += [f"score {visible_name(self.score)}"] if self.score else []
        parts += [f"found by {self.search['method']}"] if self.search.get("method") else []
        parts += ["with shares of resampled networks"] if self.strengths else []
        return f"Origin({', '.join(parts) or 'unknown'})"
