"""How a question is to be answered, checked, and how well it was."""

from __future__ import annotations

import logging

from arbornet._core import Answer, Drawn
from arbornet.checks import whole
from arbornet.data.question import Method, Question

log = logging.getLogger("arbornet")


def how_to(method: Method, particles: int, seed: int, n_jobs: int = 1) -> Question:
    """A question that says nothing yet but how it is to be answered.

    Raises:
        ParameterError: If the seed or the number of particles is out of range.
    """
    particles, seed = whole("particles", particles, 1, 2**32), whole("seed", seed, 0, 2**64 - 1)
    return Question(method=method, particles=particles, seed=seed, n_jobs=n_jobs)


def tell(answer: Answer | Drawn, n_rows: int, question: Question, what: str) -> None:
    """Logs how many rows were answered by sampling, and how well."""
    if answer.n_sampled:
        text = "%d of %d rows answered by likelihood weighting with %d draws each; %s up to %.2g"
        log.info(text, answer.n_sampled, n_rows, question.particles, what, answer.standard_error)
