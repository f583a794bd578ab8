"""Fitting on many machines: families in groups as tasks of a Dask cluster.

The score with its table is scattered once to all workers; back come the models with the families' scores. A family's
model is a function of the family and the table, so the network is the one that a single machine fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from arbornet._core import ModelHandle, NetworkHandle, ScoreHandle
from arbornet.system.cluster import Client, Cluster
from arbornet.system.parallel import side_by_side

#: Tasks per thread of the cluster: the last ones should not keep others waiting.
SHARE = 4

#: A child with its parents, by positions.
Family: TypeAlias = tuple[int, list[int]]
#: A parent, its levels and its groups.
InOrder: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A family's model, its scores where they were asked for, and its parents that were searched by groups in order."""

    child: int
    model: ModelHandle
    score: float | None
    without: tuple[float, ...]
    in_order: list[InOrder] | None


@dataclass(frozen=True, slots=True)
class _Work:
    """What every worker needs."""

    score: ScoreHandle
    arc_scores: bool

    def __call__(self, families: Sequence[Family], n_threads: int) -> list[Fitted]:
        return [self._fitted(child, parents) for child, parents in families]

    def _fitted(self, child: int, parents: list[int]) -> Fitted:
        model = ModelHandle.fit(self.score, child, parents)
        in_order = self.score.in_order(child, parents)
        if not self.arc_scores:
            return Fitted(child, model, None, (), in_order)
        whole = self.score.score(child, parents)
        without = (whole - self.score.score(child, parents[:i] + parents[i + 1 :]) for i in range(len(parents)))
        return Fitted(child, model, whole, tuple(without), in_order)


def spread(
    score: ScoreHandle, parents: list[list[int]], arc_scores: bool, client: Client
) -> tuple[NetworkHandle, list[Fitted]]:
    """The network of a graph without cycles, and what the workers fitted, by variable.

    Raises:
        ArbornetError: If a family has no model, or the scheduler is lost.
        ParameterError: If it is no client.
    """
    n_tasks = max(1, min(len(parents), SHARE * Cluster(client).threads))
    families = list(enumerate(parents))
    # Every so many variables to a task: neighbouring columns are often alike, and cost alike.
    jobs = [families[first::n_tasks] for first in range(n_tasks)]
    done: list[Fitted] = []
    for _, fitted in side_by_side(_Work(score, arc_scores), jobs, client=client):
        done += fitted
    done.sort(key=lambda fitted: fitted.child)
    return NetworkHandle.of_models(score.table, [fitted.model for fitted in done]), done
