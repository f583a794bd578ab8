"""The rounds: complete the rows, search a graph, fit it, and again until the score gains no more than noise."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arbornet._core import NetworkHandle
from arbornet.data.incomplete import CompletedTable, Incomplete
from arbornet.gaps.draws import Completion, missing_information
from arbornet.gaps.kept import State, identity, load, save
from arbornet.gaps.last import MOST_ROWS, fitted
from arbornet.gaps.start import start
from arbornet.gaps.supported import only_supported
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.network.fit import fit
from arbornet.scores.prepare import Score, prepared
from arbornet.search.base import dag_from_parents
from arbornet.step1.candidates import scored_sets
from arbornet.step1.effort import BUDGETS, Budget
from arbornet.text.terminal import brief, percent, several

if TYPE_CHECKING:
    from arbornet.network import BayesNet
    from arbornet.search.base import Found
    from arbornet.step1.candidates import Candidates

#: Rounds at most, and draws of each row for the last fit: of many rows fewer, as no more are fitted to, but as many as
#: the missing information needs.
MOST_ROUNDS = 3
LAST_DRAWS, FEWEST_LAST = 10, 4
#: Draws by which the noise of a score is measured.
NOISE_DRAWS = 4
#: With no more than this share of any variable's values missing, rows are counted once.
FEW = 0.1
#: Rows of tables with numbers are counted so many times at most.
MOST_TIMES_OF_NUMBERS = 2
#: Shares of the whole work: of all rounds together, of the start, and of the workflow for the rows as completed last.
OF_ROUNDS, OF_START, OF_LAST = 0.1, 0.15, 0.4
#: The share for judging arcs by observed values.
OF_JUDGING = 0.1
#: The share of a time limit that start and rounds may take.
OF_TIME = 0.5
#: After the first round, a variable keeps so many possible parents, and its neighbours in the graph.
PARENTS_KEPT = 8


@dataclass(frozen=True)
class Way:
    """How a network is learned from a table without gaps.

    Attributes:
        score: The score.
        max_parents: The most parents of a variable, if there is a limit.
        constraints: The constraints.
        find: What is found for a table under rules, within a budget and so many seconds, with the candidates if there
            are any.
        whole: The whole workflow for a table, with the rest of the budget and of the time.
        budget: What the call may take; None without a limit.
        seconds: Its time limit.
        checkpoint: A folder that keeps the last round.
        n_jobs: Threads, -1 for all cores.
        tell: Prints a line.
    """

    score: Score
    max_parents: int | None
    constraints: Constraints | Rules | None
    find: Callable[[CompletedTable, Rules, Budget, float | None], tuple[Found, Candidates | None]]
    whole: Callable[[CompletedTable, Budget | None, float | None], BayesNet]
    budget: Budget | None
    seconds: float | None
    checkpoint: Path | None
    n_jobs: int
    tell: Callable[[str], None]


def learned(gaps: Incomplete, way: Way) -> BayesNet:
    """The network of rows with missing values.

    Ctrl-C ends the rounds with the network of the last one that was finished.

    Raises:
        ArbornetError: If the score has no models to draw from; before the start.
    """
    began = time.perf_counter()
    completion = Completion(gaps, way.n_jobs)
    n_drawn = len(completion.rows)
    drawn = sum(int((~known).sum()) for known in gaps.known)
    way.tell(f"missing values: {drawn:,} in {n_drawn:,} rows, drawn anew in every round given all that their row tells")
    rounds = _Rounds(gaps, way, completion, began)
    try:
        rounds.run()
        rounds.ended = rounds.ended or "rounds"
        left = None if way.seconds is None else max(0.0, way.seconds - (time.perf_counter() - began))
        copies = completion.drawn(rounds.handle, max(FEWEST_LAST, min(LAST_DRAWS, MOST_ROWS // max(1, n_drawn))))
        table = completion.table(copies[0])
        table.families = [rounds.handle.parents(v) for v in range(len(gaps.names))]
        net = rounds.better(table, way.whole(table, _rest(way.budget), left))
        judging = _share(way.budget, OF_JUDGING).scoring
        net = only_supported(gaps, table, net, way.score, rounds.rules, judging, way.n_jobs, way.tell)
        handle = fitted(gaps, completion, net.handle, way.score, copies, way.n_jobs)
    except KeyboardInterrupt:
        if rounds.net is None:
            raise
        way.tell(f"interrupted: the network is that of round {len(rounds.scores)}")
        rounds.ended, net, handle, copies = "interrupted", rounds.net, rounds.net.handle, []
    told: dict[str, Any] = {
        "rounds": len(rounds.scores),
        "ended": rounds.ended,
        "rows": n_drawn,
        "missing": {name: int((~known).sum()) for name, known in zip(gaps.names, gaps.known, strict=True)},
        "information": missing_information(gaps, completion.rows, copies),
    }
    told["missing"] = {name: n for name, n in told["missing"].items() if n}
    if told["information"]:
        worst = sorted(told["information"].items(), key=lambda item: -item[1])[:3]
        shares = ", ".join(f"{name} {percent(share)}" for name, share in worst)
        way.tell(f"missing information: {shares}{' ...' if len(told['information']) > 3 else ''}")
    net.handle = handle
    net.origin = dataclasses.replace(net.origin, gaps=told)
    return net


class _Rounds:
    """What the rounds have come to."""

    def __init__(self, gaps: Incomplete, way: Way, completion: Completion, began: float) -> None:
        self.gaps = gaps
        self.way = way
        self.completion = completion
        self.times = times(gaps)
        self.rich = completion if self.times == 1 else Completion(gaps.counted(self.times), way.n_jobs)
        self.rules = resolved(way.constraints, gaps.names)
        self.deadline = None if way.seconds is None else began + OF_TIME * way.seconds
        self.state = State()
        self.net: BayesNet | None = None
        self.ended = ""

    @property
    def scores(self) -> list[float]:
        return self.state.scores

    @property
    def handle(self) -> NetworkHandle:
        assert self.state.network is not None, "there is a network to start from"
        return self.state.network

    def run(self) -> None:
        """All rounds, or those that are left of an earlier call."""
        way = self.way
        budget = _share(way.budget, OF_ROUNDS / MOST_ROUNDS)
        name = identity(self.gaps, way.score, self.rules, way.max_parents, budget) if way.checkpoint else ""
        if way.checkpoint and (earlier := load(way.checkpoint, name)):
            self.state = earlier
            way.tell(f"checkpoint: going on after round {len(self.scores)}")
        if self.state.network is None:
            most = way.max_parents if way.max_parents is not None else len(self.gaps.names)
            steps, began = _share(way.budget, OF_START).scoring, time.perf_counter()
            self.state = State(start(self.gaps, way.score, self.rules, most, steps, way.n_jobs, self.times))
            way.tell(
                f"start: {several(self._n_arcs(), 'arc')} by available cases, {brief(time.perf_counter() - began)}"
            )
        while not self._over() and len(self.scores) < MOST_ROUNDS:
            began = time.perf_counter()
            self._round(budget)
            if self.rich.n_chained and len(self.scores) == 1:
                way.tell(f"draws: those of {several(self.rich.n_chained, 'row')} are approximate, by a Markov chain")
            if self.times > 1 and len(self.scores) == 1:
                count = "twice" if self.times == 2 else f"{self.times} times"
                way.tell(f"rounds: rows count {count} here, so scores compare only among rounds")
            noise = f", noise {self.state.noise:.2g}" if len(self.scores) == 1 else ""
            spent = brief(time.perf_counter() - began)
            arcs = several(self._n_arcs(), "arc")
            way.tell(f"round {len(self.scores)}: score {self.scores[-1]:.4f}{noise}, {arcs}, {spent}")
            if way.checkpoint:
                save(way.checkpoint, name, self.state)

    def _n_arcs(self) -> int:
        return sum(len(self.handle.parents(v)) for v in range(len(self.gaps.names)))

    def better(self, table: CompletedTable, net: BayesNet) -> BayesNet:
        """The network, or the graph of the last round where that scores higher: it was searched for within less."""
        parents = [self.handle.parents(v) for v in range(len(self.gaps.names))]
        score = _score(table, self.way.score, parents)
        if net.origin.family_scores is None or score <= sum(net.origin.family_scores) + 1e-9 * abs(score):
            return net
        self.way.tell(
            f"kept: the graph of round {len(self.scores)}, as it scores higher: {score:.4f};"
            " the search above did not look at all of its parent sets"
        )
        kept = fit(table, dag_from_parents(self.gaps.names, parents), self.way.score, n_jobs=self.way.n_jobs)
        kept.origin = dataclasses.replace(
            kept.origin, search={"method": "rounds", "score": score, "stopped": "finished"}
        )
        return kept

    def _over(self) -> bool:
        scores = self.scores
        if len(scores) > 1 and scores[-1] - scores[-2] <= self.state.noise:
            self.ended = "settled"
        elif self.deadline is not None and scores and time.perf_counter() > self.deadline:
            self.ended = "time"
        return self.ended != ""

    def _round(self, budget: Budget) -> None:
        way, before = self.way, self.handle
        first = not self.scores
        tables = [self.rich.table(drawn) for drawn in self.rich.drawn(before, NOISE_DRAWS if first else 1)]
        table = tables[0]
        rules = self.rules if self.state.allowed is None else _narrowed(self.rules, self.state.allowed)
        seconds = None if self.deadline is None else max(0.0, self.deadline - time.perf_counter())
        found, candidates = way.find(table, rules, budget, seconds)
        found = dataclasses.replace(found, score=found.score / self.times, bound=found.bound / self.times)
        net = fit(table, found, way.score, arc_scores=False, n_jobs=way.n_jobs)
        noise = self.state.noise
        if first:
            parents = [net.handle.parents(v) for v in range(len(self.gaps.names))]
            noise = float(np.std([_score(each, way.score, parents) for each in tables], ddof=1)) / self.times
        allowed = None if candidates is None else _promising(candidates, net.handle)
        # At once, so that an interruption finds either all of a round or nothing.
        self.net, self.state = net, State(net.handle, [*self.scores, found.score], noise, allowed)
        if found.stopped == "interrupted":
            raise KeyboardInterrupt


def times(gaps: Incomplete) -> int:
    """How many times each row is counted in the rounds: at least ln(rows) / 2, which makes BIC's penalty that of AIC.

    The network that completes the rows is to have the arcs for which they speak, not only those of which they are sure:
    draws keep no dependence that has no arc, and so the next round would not find it either. Where every variable
    misses few values that does not matter, and rows are counted once. Where some are numbers, more than twice takes
    time and gains nothing.
    """
    n = gaps.weight_of(np.ones(gaps.n_rows, dtype=bool))
    if all(gaps.weight_of(~known) <= FEW * n for known in gaps.known):
        return 1
    numbers = any(column.levels is None for column in gaps.schema.used)
    times = max(1, math.ceil(math.log(max(1.0, n)) / 2))
    return min(times, MOST_TIMES_OF_NUMBERS) if numbers else times


def _score(table: CompletedTable, score: Score, parents: list[list[int]]) -> float:
    scored = prepared(table, score)
    return sum(scored.score(v, of) for v, of in enumerate(parents))


def _promising(candidates: Candidates, network: NetworkHandle) -> list[list[int]]:
    """Of every variable the parents that a later round looks at: those of its best sets, and its neighbours."""
    kept = []
    for v in range(len(candidates.names)):
        near = {*network.parents(v), *(c for c in range(len(candidates.names)) if v in network.parents(c))}
        chosen: list[int] = []
        for _, parents in scored_sets(candidates.handle, v):
            chosen += [p for p in parents if p not in chosen]
            if len(chosen) >= PARENTS_KEPT:
                break
        kept.append(sorted(near.union(chosen[:PARENTS_KEPT])))
    return kept


def _narrowed(rules: Rules, allowed: list[list[int]]) -> Rules:
    both = [
        tuple(p for p in own if p in of or p in needed)
        for own, needed, of in zip(rules.allowed, rules.required, allowed, strict=True)
    ]
    return dataclasses.replace(rules, allowed=tuple(both))


def _share(budget: Budget | None, share: float) -> Budget:
    """A share of a budget; without one, each round takes what a quick call takes."""
    if budget is None:
        return BUDGETS["quick"]
    scoring, searching, sampling = (
        max(1, int(share * steps)) for steps in (budget.scoring, budget.searching, budget.sampling)
    )
    return Budget(budget.effort, share * budget.seconds, scoring, searching, sampling)


def _rest(budget: Budget | None) -> Budget | None:
    return None if budget is None else _share(budget, OF_LAST)
