"""What an arc means and does not mean, and how strong it is: one wording for pictures, reports and texts."""

from __future__ import annotations

import math

from arbornet.scores.base import log_probability

NOT_CAUSES = "Arrows are not causes: they say what helps to predict what."
EITHER_WAY = "may point either way"
DASHED = "A dashed arc may point either way: independence alone does not orient it."

STRENGTHS = ((2.0, "weak"), (6.0, "moderate"), (10.0, "strong"), (math.inf, "decisive"))
"""Upper ends of 2 ln B (Kass and Raftery 1995), with the word used here."""
SCALE = (
    "The words follow Kass and Raftery's scale for Bayes factors (1995). B is how many times more probable the data "
    "are with the arc than without it; 2 ln B is twice the amount by which removing the arc lowers the log score. "
    "Below 2 is weak (not worth more than a bare mention), 2 to 6 moderate (positive), 6 to 10 strong, above 10 "
    "decisive (very strong)."
)


def strength(contribution: float) -> str:
    """How strong the evidence for an arc is, by how much removing it lowers the log score: `moderate`.

    Example:
        >>> strength(14.92)
        'decisive'
    """
    if math.isnan(contribution):
        return ""
    if contribution <= 0:
        return "none"
    return next(word for end, word in STRENGTHS if 2 * contribution < end or end == math.inf)


def without(contribution: float) -> str:
    """How the log score changes without an arc, in words.

    Example:
        >>> without(14.92), without(-5.066)
        ('removing this arc lowers the log score by 14.92', 'removing this arc raises the log score by 5.066')
    """
    lower = "raises" if contribution < 0 else "lowers"
    return f"removing this arc {lower} the log score by {abs(contribution):.4g}"


def scale_of(score: str | None) -> str:
    """The scale, and how to read it for a score, given as its JSON text or its name."""
    kind = log_probability(score)
    if kind == "exact":
        return SCALE
    if kind == "approximate":
        return f"{SCALE} This score approximates that log probability, as the BIC does, so the words hold roughly."
    return (
        f"{SCALE} This score is not a log probability of the data: the words only order the arcs by what each adds to "
        "the score; they are not odds."
    )
