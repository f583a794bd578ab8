"""The tables that graphs are learned from: random networks of every style, any number of rows of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import NormalDist

import numpy as np
import polars as pl

import arbornet as an

STYLES = ("nonlinear", "linear", "smooth", "products", "heavy-tails", "mixed", "hidden")
ROWS = (300, 1000, 5000)
#: New rows whose log density is computed.
FRESH = 2000


@dataclass(frozen=True)
class Task:
    """A table: the same network has the same rows at every size, the first 300, 1,000 or 5,000 of them."""

    style: str
    network: int
    rows: int

    def __str__(self) -> str:
        return f"{self.style} {self.network} {self.rows}"


@dataclass(frozen=True)
class Drawn:
    """A simulated network with its rows, as a learner gets them."""

    made: an.simulate.SimulatedNetwork

    @cached_property
    def table(self) -> an.Table:
        return an.Table(self.made.frame, schema=self.made.schema)

    @cached_property
    def fresh(self) -> pl.DataFrame:
        return self.made.sample(FRESH, seed=1)

    @cached_property
    def kinds(self) -> dict[str, str]:
        words = {"ordinal": "ordinal", "category": "category"}
        return {name: words.get(made.kind, "number") for name, made in self.made.mechanisms.items()}

    @cached_property
    def normal_scores(self) -> an.Table:
        """Numbers as the normal quantiles of their ranks, ties in the middle of their ranks."""
        n = self.made.frame.height
        quantile = np.vectorize(NormalDist().inv_cdf)
        scored = [
            pl.Series(name, quantile((self.made.frame[name].rank("average").to_numpy() - 0.5) / n))
            for name, kind in self.kinds.items()
            if kind == "number"
        ]
        return an.Table(self.made.frame.with_columns(scored), schema=self.made.schema)


@lru_cache(maxsize=2)
def drawn(task: Task) -> Drawn:
    """The table of a task; networks have 20, 22, ... 30 variables in turn."""
    n_variables = 20 + 2 * (task.network % 6)
    seed = 1000 * STYLES.index(task.style) + task.network
    return Drawn(an.simulate.network(n_variables, task.rows, style=task.style, seed=seed))


def tasks(networks: int, rows: tuple[int, ...]) -> Iterator[Task]:
    """All tables; those of a network one after the other, a network of every style before the next."""
    for network in range(networks):
        for style in STYLES:
            for n_rows in rows:
                yield Task(style, network, n_rows)
