"""Anytime search over orders: any number of variables, the best graph so far whenever it is stopped."""

from __future__ import annotations

import math
import time

from arbornet import _core
from arbornet._core import ArbornetError, CandidatesHandle
from arbornet.given import CandidatesLike, Progress
from arbornet.graphs.constraints import Constraints, resolved
from arbornet.search.base import SEEDS, Found, Incumbent, Stopped, count, dag_from_parents, total_of
from arbornet.search.budget import Budget, seconds_of
from arbornet.search.certificate import ClusterCertificate, certified
from arbornet.search.components import ExactSearch
from arbornet.search.greedy import limited
from arbornet.search.registry import registered, run
from arbornet.search.source import handle_of, known, obeying
from arbornet.search.sums import exact_sum, rounding, upward

#: Rounds of each chain where neither rounds nor time are limited.
ROUNDS = 500


@registered("candidates", "suits many variables")
def anytime(
    candidates: CandidatesLike,
    time_limit: float | None = None,
    *,
    constraints: Constraints | None = None,
    max_parents: int | None = None,
    rounds: int | None = None,
    chains: int = 4,
    window: int = 12,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Found:
    """The best graph that a search over orders finds in its time, with an upper bound on the score of any graph.

    Variables move to their best places, windows of consecutive variables are arranged exactly, sets against the order
    are used where no cycle results, and several chains with their own random choices restart where they get stuck.
    With a limit on rounds, or without any limit (then 500 rounds), the result depends on the candidates, the parameters
    and the seed alone; with a limit on time it depends on the machine too.

    Args:
        candidates: what score_parents gave, Candidates.load, or the path of a .jkl file.
        time_limit: wall seconds.
        constraints: constraints on the graph.
        max_parents: the most parents of any variable.
        rounds: perturbations of each chain.
        chains: independent searches, which share the best graph now and then; there may be more than threads.
        window: how many consecutive variables are arranged exactly, at most 20.
        seed: random seed.
        n_jobs: threads; -1 for all cores.
        progress: True to show it: a bar on a terminal, log lines elsewhere.

    Returns:
        Found, with stopped "time", "interrupted", "finished" (all rounds are done) or "proven" (all variables fit in
        one window, or the bound is reached); the certificate proves the bound of the clusters, for the candidates that
        satisfy the constraints.

    Raises:
        ArbornetError: if no graph satisfies the constraints, an arc is required that was not when the candidates were
            scored and sets with it may be missing, or a parameter is outside its range.

    Example:
        >>> an.search.anytime(candidates, time_limit=60).gap
    """
    began = time.perf_counter()
    candidates = known(candidates)
    names = handle_of(candidates).names
    rules = limited(resolved(constraints, names), max_parents)
    spec = rules.spec()
    handle = obeying(candidates, None if constraints is None and max_parents is None else spec)
    if rounds is None and time_limit is None:
        rounds = ROUNDS
    rounds = None if rounds is None else count("rounds", rounds, 1)
    chains, window, seed = count("chains", chains, 1), count("window", window, 1), count("seed", seed, most=SEEDS)
    # A tenth of the time for the bound.
    given = seconds_of(time_limit)
    searching = None if given is None else 0.9 * given
    found = run(
        "anytime",
        handle,
        rules,
        "searching among orders",
        time_limit=searching,
        n_jobs=n_jobs,
        progress=progress,
        rounds=rounds,
        chains=chains,
        window=window,
        seed=seed,
    )
    scores, details = found.scores, {"search": "anytime", **found.details}
    proven = details.pop("proven")
    stopped: Stopped = found.stopped or "finished"
    left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - began))
    left = 0.0 if stopped == "interrupted" else left
    dag, total = dag_from_parents(names, found.parents), total_of(scores)
    best = all(map(float.__ge__, scores, handle.bests))
    if proven and not best:
        # The best by sums of doubles is proved by the exact search, which is quick for one window of variables.
        search = ExactSearch(handle, Budget(left), n_jobs=n_jobs, rules=spec)
        proof = search.run()
        if exact_sum(search.scores) > exact_sum(scores) + rounding(scores):
            dag, total = proof.dag, proof.score
        stopped, certificate = proof.stopped, proof.certificate
        bound = max(total, proof.bound) if proof.gap else total
    else:
        certificate = root_bound(handle, spec, left)
        bound = total if best else max(total, certificate.bound)
        stopped = "proven" if best else stopped
    incumbents = tuple(Incumbent(seconds, score, max(bound, score)) for seconds, score in found.improvements)
    return Found(dag, total, bound, stopped, time.perf_counter() - began, incumbents, certificate, details)


def root_bound(handle: CandidatesHandle, spec: str, seconds: float | None) -> ClusterCertificate:
    """An upper bound for all graphs of the candidates: among the variables of a cycle, one takes a set outside.

    On Ctrl-C, and where a component has too many variables for clusters, the sum of every variable's best score.
    """
    try:
        components = _core.search_components(handle, 1)
        ends = math.inf if seconds is None else time.perf_counter() + seconds
        for component in components:
            component.ascend(2, math.inf, None if seconds is None else max(0.0, ends - time.perf_counter()))
        return certified(components, handle.bests, spec)
    except (KeyboardInterrupt, ArbornetError):
        return ClusterCertificate(upward(exact_sum(handle.bests)), (), 1, spec)
