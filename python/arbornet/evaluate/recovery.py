"""How well methods find a graph that is known: samples of a network, and the distance of what is learned from them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl

from arbornet._core import ParameterError
from arbornet.data.table import Table
from arbornet.evaluate.hamming import pairs_of, partial_hamming
from arbornet.evaluate.intersection import LearningCurves, learned_pairs, mean_curves, relations
from arbornet.evaluate.journal import campaign
from arbornet.evaluate.methods import Methods, as_methods
from arbornet.evaluate.samples import check_draws, given_back, unlearned
from arbornet.given import Progress, SearchLike
from arbornet.network import BayesNet
from arbornet.step1.effort import Effort
from arbornet.system.cluster import Client

if TYPE_CHECKING:
    from arbornet.graphs.constraints import Constraints


def structure_recovery(
    network: BayesNet,
    methods: Methods,
    sizes: Sequence[int] = (100, 200, 500, 1000, 2000, 5000),
    repeats: int = 10,
    seed: int = 0,
    *,
    search: SearchLike = "exact",
    max_parents: int | Literal["auto"] = "auto",
    constraints: Constraints | None = None,
    resume: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    effort: Effort | None = None,
    client: Client | None = None,
) -> LearningCurves:
    """Learning curves of the structural Hamming distance (SHD) between equivalence classes.

    Args:
        network: The true network, for example from `read_bif`; it is sampled with all its levels declared.
        methods: A score, a `Method`, a function that makes a graph of a Table, or a mapping of names to any of them.
        sizes: Numbers of rows.
        repeats: Samples of each size; all methods see the same ones.
        seed: Random seed of the samples.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        resume: A file that keeps finished results; run again with it, only the rest is computed.
        n_jobs: Threads, -1 for all cores.
        progress: True to show a bar (log lines where there is no terminal).
        effort: As for `learn`, for each network.
        client: A `distributed.Client` whose workers learn the networks, one a thread; `n_jobs` counts no longer then.

    Example:
        >>> an.evaluate.structure_recovery(an.read_bif("alarm.bif"), an.BIC(), search="hill_climb").curves
    """
    if not isinstance(network, BayesNet):
        raise ParameterError(f"network is a {type(network).__name__}: give a BayesNet, such as from read_bif or fit")
    compared = as_methods(methods, search=search, max_parents=max_parents, constraints=constraints, effort=effort)
    check_draws(repeats, seed)
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ParameterError(f"sizes: {size!r} is not a number of rows")
    kinds = unlearned(given_back(network.schema))
    jobs = [(name, size, repeat) for repeat in range(repeats) for size in sizes for name in compared]

    def sample(size: int, repeat: int, n_threads: int) -> Table:
        # A seed of its own for every sample: those of one repeat are not parts of each other.
        own = int(np.random.SeedSequence([seed, repeat, size]).generate_state(1, np.uint64)[0])
        return Table(network.sample(size, seed=own, beyond=True), schema=kinds, n_jobs=n_threads)

    def work(job: tuple[str, int, int], n_threads: int) -> list[int]:
        name, size, repeat = job
        return learned_pairs(on_parts[name], sample(size, repeat, n_threads), n_threads)

    largest = sample(max(sizes, default=1), 0, n_jobs)
    on_parts = {name: method.refusing(largest) for name, method in compared.items()}

    true = pairs_of(network.graph, network.names)
    about = {
        "kind": "structure_recovery",
        "network": sorted(map(list, network.graph.edges)),
        "methods": {name: method.text() for name, method in compared.items()},
        "sizes": list(sizes),
        "repeats": repeats,
        "seed": seed,
    }
    results = campaign("learning from samples", work, jobs, about, resume, n_jobs, progress, client)
    distances = pl.DataFrame(
        [
            {"method": name, "n_rows": size, "repeat": repeat, "distance": partial_hamming(np.array(pairs), true)}
            for (name, size, repeat), pairs in zip(jobs, results, strict=True)
        ]
    )
    known = np.ones(len(true), dtype=bool)
    reference = relations(network.names, true, known)
    return LearningCurves(mean_curves(distances, ["method", "n_rows"], list(compared)), distances, reference, len(true))
