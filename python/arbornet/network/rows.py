"""Answers for the rows of a frame: densities, predictions, intervals.

Every query goes to the core with the rows coded by the network's schema; its answer comes back in the user's values.
Exact inference or sampling is decided per query: a target whose neighbourhood is known, and any query to a network of
levels or of trees, is answered exactly where that is affordable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import MISSING, ColumnError, ParameterError
from arbornet.data.frames_out import Output, as_frame, beside, family_of
from arbornet.data.question import Method, Question
from arbornet.data.support import bounded, supported
from arbornet.data.values import codes_to_series, numbers_to_series
from arbornet.given import FrameLike
from arbornet.network.asked import how_to, tell
from arbornet.network.evidence import Unseen, encode
from arbornet.network.structure import Structure
from arbornet.text.wrong_calls import helpful


class RowAnswers(Structure):
    """The part of `BayesNet` that reads rows."""

    @helpful
    def log_likelihood(
        self,
        frame: FrameLike,
        by: Literal["node"] | None = None,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: Unseen = "error",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """Natural log density of every row in the user's units: the posterior predictive given graph and data.

        Args:
            frame: Rows, or one row as a dict of single values; missing values, and variables without a column, are
                marginalised.
            by: `"node"` for a frame with one column per variable, given its parents; null where one of them is missing.
            method: See `predict_proba`.
            particles: Weighted draws for a row that needs sampling.
            seed: Random seed.
            unseen: A level the training table did not have: `"error"`, or `"missing"` to treat it as missing.
            output: `"polars"` or `"pandas"`; if left out, the family of the frame that came in.
            n_jobs: Threads, -1 for all cores.

        Returns:
            A float array with one value per row (of one row its value), or a frame if `by="node"`.

        Example:
            >>> improbable = df.filter(net.log_likelihood(df) < -40)
        """
        if by not in (None, "node"):
            raise ParameterError(f"by={by!r}: leave it out, or give by='node'")
        family = family_of(frame, output)
        asked = self._asked(frame, method, particles, seed, unseen, n_jobs)
        if by is None:
            answer = self.handle.log_likelihood(asked)
            tell(answer, len(answer.values), asked, "log densities have a standard error of")
            return float(answer.values[0]) if family.is_one else answer.values
        densities = self.handle.log_densities(asked)
        return family.frame(
            beside(
                pl.Series(name, column, nan_to_null=True) for name, column in zip(self.names, densities, strict=True)
            )
        )

    @helpful
    def predict_proba(
        self,
        frame: FrameLike,
        target: str,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: Unseen = "error",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """Probabilities of a variable's levels in every row, given the other values of the row.

        Args:
            frame: Rows, or one row as a dict of single values; the target's own column is not used. Any values may be
                missing, any columns absent.
            target: A variable with levels.
            method: `"auto"`: exact where affordable, else likelihood weighting; `"exact"`: an error instead of it;
                `"sampling"`: always weighting. Sampled answers are logged with their standard error.
            particles: Weighted draws for a row that needs sampling.
            seed: Random seed.
            unseen: A level the training table did not have: `"error"`, or `"missing"` to treat it as missing.
            output: `"polars"` or `"pandas"`; if left out, the family of the frame that came in.
            n_jobs: Threads, -1 for all cores.

        Returns:
            A frame with one column per level in level order, summing to one; null where the evidence is impossible.

        Raises:
            ColumnError: If the target is continuous, or a value cannot be coded.
        """
        at = self._position(target)
        levels = self.handle.levels(at)
        if levels is None:
            raise ColumnError(f"column '{target}' is continuous and has no levels; use predict_interval or query")
        family = family_of(frame, output)
        probabilities = self._probabilities(self._asked(frame, method, particles, seed, unseen, n_jobs), at)
        names = unique_texts(levels)
        return family.frame(
            beside(pl.Series(name, probabilities[:, code], nan_to_null=True) for code, name in enumerate(names))
        )

    @helpful
    def predict(
        self,
        frame: FrameLike,
        target: str,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: Unseen = "error",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """The most probable level of a variable, or the median of a number, in every row, given its other values.

        The parameters are those of `predict_proba`. Ties go to the earlier level.

        Returns:
            A series in the user's values, null where the evidence is impossible; of one row its value.
        """
        at = self._position(target)
        family = family_of(frame, output)
        asked = self._asked(frame, method, particles, seed, unseen, n_jobs)
        column = self.schema.used[at]
        if self.handle.levels(at) is None:
            medians = bounded(column, self._quantiles(asked, at, (0.5,))[:, 0])
            return family.column(numbers_to_series(column, medians).alias(target))
        probabilities = self._probabilities(asked, at)
        known = ~np.isnan(probabilities[:, 0])
        best = np.argmax(np.where(known[:, None], probabilities, 0.0), axis=1).astype(np.uint32)
        return family.column(codes_to_series(column, np.where(known, best, MISSING).astype(np.uint32)).alias(target))

    @helpful
    def predict_interval(
        self,
        frame: FrameLike,
        target: str,
        mass: float = 0.9,
        *,
        method: Method = "auto",
        particles: int = 2000,
        seed: int = 0,
        unseen: Unseen = "error",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """The central interval that holds a number with a given probability, in every row.

        Args:
            frame: Rows, as for `predict_proba`.
            target: A continuous variable.
            mass: The probability inside; the rest is split evenly.
            method: As for `predict_proba`.
            particles: As for `predict_proba`.
            seed: As for `predict_proba`.
            unseen: As for `predict_proba`.
            output: As for `predict_proba`.
            n_jobs: As for `predict_proba`.

        Returns:
            A frame with columns `lower` and `upper` in the user's units.
        """
        at = self._position(target)
        if self.handle.levels(at) is not None:
            raise ColumnError(f"column '{target}' has levels; predict_proba gives the probability of each")
        if not 0.0 < mass < 1.0:
            raise ParameterError(f"mass={mass}: must lie between 0 and 1")
        outside = (1.0 - mass) / 2.0
        asked = self._asked(frame, method, particles, seed, unseen, n_jobs)
        ends = self._quantiles(asked, at, (outside, 1.0 - outside))
        column = self.schema.used[at]
        ends = supported(column, ends)
        found = pl.DataFrame([numbers_to_series(column, ends[:, i]).alias(("lower", "upper")[i]) for i in (0, 1)])
        return family_of(frame, output).frame(found)

    def _asked(self, frame: Any, method: Method, particles: int, seed: int, unseen: Unseen, n_jobs: int) -> Question:
        how = how_to(method, particles, seed, n_jobs)
        return replace(how, rows=encode(self.schema, as_frame(frame), unseen, n_jobs))

    def _probabilities(self, asked: Question, target: int) -> NDArray[np.float64]:
        """A column per level of a target."""
        answer = self.handle.predict_levels(asked, target)
        tell(answer, len(answer.values), asked, "probabilities have a standard error of")
        return answer.values

    def _quantiles(self, asked: Question, target: int, probabilities: Sequence[float]) -> NDArray[np.float64]:
        """A column per quantile of a continuous target, in the user's units."""
        answer = self.handle.predict_quantiles(asked, target, probabilities)
        tell(answer, len(answer.values), asked, "the probabilities of the quantiles have a standard error of")
        return answer.values


def unique_texts(levels: Iterable[Any]) -> list[str]:
    """Levels as column names; where two read alike, as Python writes them."""
    listed = list(levels)
    texts = [str(level) for level in listed]
    return texts if len(set(texts)) == len(texts) else [repr(level) for level in listed]
