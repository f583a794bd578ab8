"""The structure prior that suits a table's width, for scores that were named without one.

Without a prior over parent sets a wide table yields arcs that are not there. `docs/structure/priors.md` has the table
of simulated networks that this choice was made by.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from arbornet.priors import Binomial
from arbornet.scores.mixed import BasisFunctions, ConditionalGaussian, DegenerateGaussian, MixedPolynomial

if TYPE_CHECKING:
    from arbornet.scores.prepare import Score

WIDE = 20
"""Variables from which the prior is taken."""
SCORES = (ConditionalGaussian, DegenerateGaussian, BasisFunctions, MixedPolynomial)


def for_width(score: Score, n_variables: int) -> tuple[Score, str]:
    """The score with the prior that suits a table's width, and why in words; a score as it is, and nothing.

    Args:
        score: A score as it was named.
        n_variables: Variables of the table.
    """
    if not isinstance(score, SCORES) or score.prior is not None or score.published or n_variables < WIDE:
        return score, ""
    told = f"its prior chosen for {n_variables} variables; prior=an.priors.Uniform() for none"
    return score.replace(prior=Binomial(1)), told
