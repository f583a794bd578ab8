"""Queries to a network: distributions given a few values, probabilities of events, and samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from arbornet._core import ParameterError
from arbornet.checks import whole
from arbornet.data.column import Column
from arbornet.data.frames_out import Output, beside, family_of
from arbornet.data.question import Limit, Method
from arbornet.data.support import EVERYTHING, as_drawn, drawn_range, within_observed
from arbornet.data.units import to_stored
from arbornet.data.values import codes_to_series, numbers_to_series
from arbornet.given import Evidence
from arbornet.network import evidence
from arbornet.network.asked import how_to, tell
from arbornet.network.query import query
from arbornet.network.structure import Structure
from arbornet.system.memory import afford
from arbornet.text.wrong_calls import helpful

PARTICLES = 10_000
"""Weighted draws from which a block of conditional draws is resampled, where exact draws are not affordable."""


NUMBER, LEVEL, CONVERTED = 16, 20, 32
"""Bytes of a drawn number, of a drawn level (as drawn and in the frame), and of a row of the column being converted."""


class GeneralAnswers(Structure):
    """The part of `BayesNet` that needs no rows."""

    @helpful
    def query(
        self,
        targets: str | Iterable[str] | Evidence,
        given: Evidence | None = None,
        do: Evidence | None = None,
        *,
        bins: Mapping[str, Sequence[float]] | None = None,
        method: Method = "auto",
        particles: int = 100_000,
        seed: int = 0,
    ) -> Any:
        """The distribution of one or several variables, or the probability of an event.

        Args:
            targets: A name or names (a dict with `...` as every value means the same) for a distribution; a dict of
                values for the probability that all of them hold: a level, a list of levels, or for a number an interval
                `(low, high)` with None for an open end; `low` is in it, `high` is not.
            given: Observed values (evidence). Where the exact value is not known: the possible levels, as a list, or
                for a number an interval `(low, high)`. Of a number cut into bins, bins that an interval covers in part
                count by the share it covers.
            do: Interventions: values that are set, so that they say nothing about their causes.
            bins: For each continuous variable among several targets, the ends of its classes.
            method: As for `predict_proba`.
            particles: Weighted draws, if sampling is needed.
            seed: Random seed.

        Returns:
            For levels a frame with a column per target and `probability` (and `standard_error` if sampled); for one
            number without bins a frame of `quantile` and the value below which this share of the probability lies; for
            an event a float. Where a target is called `probability` itself, the figures' column is called
            `probability_`.

        Example:
            >>> net.query("rain", given={"wet": "yes"})
            >>> net.query({"rain": "yes"}, given={"wet": "yes"}, do={"sprinkler": "on"})
            >>> net.query("stage", given={"age": (50, 60), "site": ["lung", "skin"]})
        """
        return query(self, targets, given, do, bins, how_to(method, particles, seed))

    @helpful
    def sample(
        self,
        n: int,
        seed: int = 0,
        given: Evidence | None = None,
        do: Evidence | None = None,
        *,
        beyond: bool = False,
        method: Method = "auto",
        output: Output | None = None,
        n_jobs: int = -1,
    ) -> Any:
        """Draws rows from the network, the same for the same seed at any number of threads.

        Numbers are drawn within the range of the table that the network was learned from: what is known of leaves with
        few rows leaves room for values far beyond it. A draw outside is drawn again, so no end of the range is more
        frequent for it; values that you give may lie outside. Numbers are of the column's step, and heaped at round
        numbers as often as the rows of that table are.

        Args:
            n: Number of rows.
            seed: Random seed.
            given: Observed values, as for `query`; rows are drawn from the distribution given them.
            do: Interventions, as for `query`.
            beyond: Whether numbers may also lie beyond the observed range, as far as the densities of
                `log_likelihood` reach.
            method: `"exact"` raises an error where exact draws given the evidence are not affordable, instead of
                resampling weighted draws.
            output: `"polars"`, which is the default, or `"pandas"`.
            n_jobs: Threads, -1 for all cores.

        Returns:
            A frame of all columns in the user's values.

        Raises:
            MemoryError: If so many rows would not fit; draw them in parts then, each with a seed of its own.
        """
        if isinstance(n, int) and n < 0:
            raise ParameterError(f"n={n}: must not be negative")
        family = family_of(None, output)
        n = whole("n", n, 0, 2**32)
        numeric = [self.handle.levels(v) is None for v in range(len(self))]
        afford(
            f"drawing {n:,} rows of {len(numeric)} variables",
            n * (sum(NUMBER if number else LEVEL for number in numeric) + CONVERTED),
            "draw them in parts, each with a seed of its own",
        )
        question = evidence.known(self.schema, given, do, how_to(method, PARTICLES, seed, n_jobs))
        known, limits = dict(question.known), dict(question.limits)
        ranges = [
            EVERYTHING if beyond else _range(column, limits.get(v), v in known)
            for v, column in enumerate(self.schema.used)
        ]
        drawn = self.handle.sample(question, n, None if beyond else ranges)
        tell(drawn, n, question, "shares have a standard error of")
        series = []
        for v, (column, values) in enumerate(zip(self.schema.used, drawn.columns, strict=True)):
            if not numeric[v]:
                series.append(codes_to_series(column, values))
                continue
            if v not in known:
                limit = limits.get(v)
                values = as_drawn(column, values, limit if isinstance(limit, tuple) else None)
            series.append(
                numbers_to_series(column, values if ranges[v] == EVERYTHING else within_observed(column, values))
            )
        return family.frame(beside(series))


def _range(column: Column, limit: Limit | None, is_known: bool) -> tuple[float, float]:
    """The range of a variable's draws; none of what is given, be it beyond what was observed."""
    if is_known or column.range_ is None:
        return EVERYTHING
    if isinstance(limit, tuple):
        low, high = to_stored(column.scale, np.array(column.range_))
        if not (limit[0] <= high and low < limit[1]):
            return EVERYTHING
    return drawn_range(column)
