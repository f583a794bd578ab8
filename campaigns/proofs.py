"""Every proof of a best graph held against all graphs of four and five variables, by exact sums of the given doubles.

    python campaigns/proofs.py 2000 1        # so many tables of scores, from this seed on

A table gives every family a score: ordinary ones, ties, sentinels (-1e9 to -1e300) that may or must be used, sizes from
1e-300 to 1e300 in one table. `score_parents` scores it under random constraints, and leaves sets out or keeps all; the
searches are given others, the same or none. Sums are of whole numbers without rounding, so what is compared knows no
tolerance but that which a sum of doubles has: the number of variables times 2^-52 of the sizes added up, of the graphs
compared.

Held against all graphs: what is proved best, by every strategy of the exact search, with and without the last word of
exact sums; bounds of whatever kind; certificates, and that none passes on candidates which may lack a set; the k best
and what they say of being all; anytime search, hill climbing and trees over candidates; and refusals, which have to be
called for.
"""

from __future__ import annotations

import itertools
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np

import arbornet as an
from arbornet.search.branch_and_bound import BranchAndBound
from arbornet.search.budget import Budget
from arbornet.search.cuts import Cuts
from arbornet.search.exact import by_strategy

#: The module; the package shows the function of that name.
k_best = sys.modules["arbornet.search.k_best"]

Masks = np.ndarray[Any, Any]

NONE = Cuts(ascents=0, rounds=0)
STRATEGIES = {
    "default": BranchAndBound(),
    "program": BranchAndBound(small=math.inf),
    "branching": BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf),
    "bare branching": BranchAndBound(
        cuts=NONE, small=0, looks=0, affordable=0, patience=math.inf, beam=0, max_live=0, batch=3
    ),
    "patterns": BranchAndBound(cuts=NONE, small=0, looks=0, affordable=0, patience=math.inf, pattern=3, batch=1),
    "halves": BranchAndBound(
        cuts=NONE,
        hard=Cuts(block=4, scarce=100, rounds=1),
        small=0,
        looks=0,
        affordable=0,
        patience=math.inf,
        states=0,
        part_looks=0,
    ),
}


def all_graphs(n: int) -> Masks:
    """A row per acyclic graph: each variable's parents as bits."""
    rows = [[0] * n]
    for v, u in itertools.combinations(range(n), 2):
        grown = []
        for row in rows:
            grown.append(row)
            grown.append([m | (1 << u if i == v else 0) for i, m in enumerate(row)])
            grown.append([m | (1 << v if i == u else 0) for i, m in enumerate(row)])
        rows = grown
    masks = np.array(rows)
    placed = np.zeros(len(masks), dtype=int)
    for _ in range(n):
        for v in range(n):
            ready = (masks[:, v] & ~placed) == 0
            placed[ready] |= 1 << v
    return masks[placed == (1 << n) - 1]


GRAPHS = {n: all_graphs(n) for n in (1, 2, 3, 4, 5)}


@dataclass(frozen=True)
class Problem:
    """Scores of all families, and what was asked for when they were scored."""

    scores: list[list[float]]
    most: int
    at_scoring: an.Constraints | None
    pruned: bool

    @property
    def n(self) -> int:
        return len(self.scores)

    @property
    def names(self) -> list[str]:
        return [f"v{i}" for i in range(self.n)]

    def candidates(self) -> an.Candidates:
        """What Step 1 makes of them."""
        place = {name: i for i, name in enumerate(self.names)}

        def score(_: Any, child: str, parents: list[str]) -> float:
            return self.scores[place[child]][sum(1 << place[p] for p in parents)]

        table = an.Table({name: ["a", "b"] for name in self.names})
        return an.score_parents(table, an.CustomScore(score), self.most, self.at_scoring, n_jobs=1, prune=self.pruned)

    def permitted(self, *constraints: an.Constraints | None) -> Masks:
        """The graphs that were scored and obey."""
        rules = [c.resolve(self.names) for c in constraints if c is not None]
        graphs = GRAPHS[self.n]
        fits = np.ones(len(graphs), dtype=bool)
        for v in range(self.n):
            ok = np.array([self._ok(v, mask, rules) for mask in range(1 << self.n)])
            fits &= ok[graphs[:, v]]
        return graphs[fits]

    def _ok(self, v: int, mask: int, rules: list[Any]) -> bool:
        parents = [name for i, name in enumerate(self.names) if mask >> i & 1]
        if mask >> v & 1 or len(parents) > self.most or self.scores[v][mask] == -math.inf:
            return False
        return all(rule.permits(self.names[v], parents) for rule in rules)


class Judge:
    """Exact sums over graphs."""

    def __init__(self, problem: Problem, graphs: Masks):
        self.scores = problem.scores
        ratios = [[s.as_integer_ratio() if math.isfinite(s) else (0, 1) for s in own] for own in problem.scores]
        self.unit = max(down for own in ratios for _, down in own)
        whole = [np.array([up * (self.unit // down) for up, down in own], dtype=object) for own in ratios]
        self.graphs = graphs
        self.sums = sum(own[graphs[:, v]] for v, own in enumerate(whole))
        self.sizes = sum(abs(own)[graphs[:, v]] for v, own in enumerate(whole))
        self.order = sorted(range(len(graphs)), key=lambda i: -self.sums[i])
        self.place = {tuple(row): i for i, row in enumerate(graphs.tolist())}

    def of(self, dag: nx.DiGraph[str]) -> int:
        """Which graph it is."""
        names = [f"v{i}" for i in range(len(self.scores))]
        row = tuple(sum(1 << names.index(p) for p in dag.predecessors(name)) for name in names)
        assert row in self.place, f"{sorted(dag.edges)} is not among the graphs"
        return self.place[row]

    def rounding(self, *which: int) -> Fraction:
        """What sums of doubles may come to for these graphs."""
        return Fraction(sum(self.sizes[i] for i in which) * len(self.scores), self.unit << 52)

    def short(self, i: int, of: int) -> Fraction:
        """How much less than another one a graph scores, beyond rounding."""
        return Fraction(self.sums[of] - self.sums[i], self.unit) - self.rounding(i, of)

    def score(self, i: int) -> Fraction:
        return Fraction(self.sums[i], self.unit)


def some_scores(n: int, rng: random.Random) -> list[list[float]]:
    """A score for every family (those with the child among its parents are never asked for)."""
    kind = rng.choice(
        ["ordinary", "ties", "sentinels", "forced", "mixtures", "wide", "tiny", "huge", "near", "unusable"]
    )
    unit = 10.0 ** rng.uniform(-3, 4)
    base = [-unit * rng.random() for _ in range(n)]

    def ordinary(v: int, mask: int) -> float:
        return base[v] + unit * (rng.random() - 0.2 * mask.bit_count()) * 0.5

    def sized(least: float, most: float) -> float:
        return rng.choice([-1, 1]) * rng.uniform(1, 10) * 10.0 ** rng.uniform(least, most)

    never = rng.choice([-1e9, -1e12, -1e15, -1e16, -1e100, -1e300])
    stuck = rng.sample(range(n), rng.randint(1, 2))
    near = 10.0 ** rng.uniform(-14, -8)

    def one(v: int, mask: int) -> float:
        match kind:
            case "ties":
                return rng.randint(-12, 4) / 4
            case "sentinels":
                return never if rng.random() < 0.4 else ordinary(v, mask)
            case "forced":
                if v in stuck:
                    return max(never, -1e16) + (ordinary(v, mask) if rng.random() < 0.7 else 0.0)
                return ordinary(v, mask)
            case "mixtures":
                return sized(-300, 299)
            case "wide":
                return sized(-12, 12)
            case "tiny":
                return ordinary(v, mask) * 1e-303
            case "huge":
                return ordinary(v, mask) / unit * 1e299
            case "near":
                return round(ordinary(v, mask) / unit * 3) + near * rng.randint(-3, 3)
            case "unusable":
                return sized(10, 17) if rng.random() < 0.15 else ordinary(v, mask)
            case _:
                return ordinary(v, mask)

    return [[one(v, mask) for mask in range(1 << n)] for v in range(n)]


def some_constraints(n: int, rng: random.Random, much: float) -> an.Constraints | None:
    """Random constraints; None where they contradict themselves."""
    names = [f"v{i}" for i in range(n)]
    order = rng.sample(names, n)
    arcs = list(itertools.combinations(order, 2))
    required = [arc for arc in arcs if rng.random() < much / 8]
    others = [arc for arc in itertools.permutations(names, 2) if arc not in required]
    limits = None if rng.random() < 0.7 else {rng.choice(names): rng.randint(0, 2)}
    tiers = [order[:2], order[2:]] if rng.random() < 0.2 else []
    made = an.Constraints(
        required=required,
        forbidden=[arc for arc in others if rng.random() < much / 10],
        tiers=tiers,
        max_parents=limits,
    )
    try:
        made.resolve(names)
    except an.ParameterError:
        return None
    return made


def problems(times: int, seed: int) -> Iterator[tuple[int, Problem, an.Constraints | None, random.Random]]:
    """Tables of scores, with constraints at scoring and at searching."""
    for at in range(times):
        rng = random.Random(1_000_003 * seed + at)
        n = 5 if rng.random() < 0.3 else 4
        first = some_constraints(n, rng, 1.0) if rng.random() < 0.5 else None
        second = first if rng.random() < 0.25 else some_constraints(n, rng, 1.5) if rng.random() < 0.7 else None
        problem = Problem(some_scores(n, rng), rng.choice([1, 2, 3, n - 1]), first, rng.random() < 0.75)
        yield at, problem, second, rng


def called_for(problem: Problem, rules: an.Constraints | None, feasible: bool) -> bool:
    """Whether a refusal is: there is no graph, or a required arc was not required when sets were left out."""
    if not feasible:
        return True
    before = set() if problem.at_scoring is None else set(problem.at_scoring.required)
    return problem.pruned and rules is not None and not set(rules.required) <= before


def campaign(times: int, seed: int) -> Counter[str]:
    """Counts of what was compared; AssertionError at the first difference."""
    counts: Counter[str] = Counter()
    for at, problem, rules, rng in problems(times, seed):
        try:
            one(problem, rules, rng, counts)
        except Exception as error:
            error.add_note(f"table {at} of seed {seed}: {problem}\nsearched under {rules}")
            raise
    return counts


def one(problem: Problem, rules: an.Constraints | None, rng: random.Random, counts: Counter[str]) -> None:
    """Everything about one table."""
    under = problem.permitted(problem.at_scoring)
    if not len(under):
        counts["tables without a graph"] += 1
        return
    try:
        candidates = problem.candidates()
    except an.ParameterError:  # more required than max_parents
        counts["tables refused"] += 1
        return
    counts["tables"] += 1
    graphs = problem.permitted(problem.at_scoring, rules)
    judge = Judge(problem, graphs) if len(graphs) else None
    refused = Counter[str]()

    def run(name: str, search: Callable[[], Any]) -> Any:
        try:
            return search()
        except an.ArbornetError as error:
            assert called_for(problem, rules, judge is not None), f"{name} refused: {error}"
            refused[name] += 1
            counts["refusals"] += 1
            return None

    strategy = rng.choice(list(STRATEGIES))
    searches: dict[str, Callable[[], Any]] = {
        "exact": lambda: an.search.exact(candidates, constraints=rules),
        strategy: lambda: by_strategy(candidates, STRATEGIES[strategy], constraints=rules),
        "anytime": lambda: an.search.anytime(candidates, constraints=rules, rounds=2, chains=1, n_jobs=1),
        "anytime, small window": lambda: an.search.anytime(
            candidates, constraints=rules, rounds=1, chains=1, window=2, n_jobs=1
        ),
        "hill climbing": lambda: an.search.hill_climb(candidates, constraints=rules, n_jobs=1),
        "a gap allowed": lambda: an.search.exact(candidates, constraints=rules, gap=rng.choice([1e-9, 0.1, 1e3])),
        "no time": lambda: by_strategy(candidates, STRATEGIES["bare branching"], budget=Budget(0.0), constraints=rules),
    }
    certificate = None
    for name, search in searches.items():
        found = run(name, search)
        if found is None:
            continue
        assert judge is not None, f"{name} found a graph where there is none"
        compared(name, found, judge, candidates, counts)
        certificate = found.certificate or certificate
    with mock.patch("arbornet.search.components.MOST", 0):
        found = run("grid", lambda: by_strategy(candidates, STRATEGIES[strategy], constraints=rules))
        if found is not None and judge is not None:
            compared("grid", found, judge, candidates, counts, Fraction(1, 10**7))
    assert not refused or len(refused) == len(searches) + 1, f"only some refuse: {refused}"
    if judge is not None and not refused:
        ranked(problem, rules, rng, candidates, judge, counts)
    if judge is not None and refused:
        anew(problem, rules, candidates, counts)
    trees(problem, rules, candidates, counts)


def compared(
    name: str, found: Any, judge: Judge, candidates: an.Candidates, counts: Counter[str], fine: Fraction = Fraction(0)
) -> None:
    """A result of a search held against all graphs."""
    mine, best = judge.of(found.dag), judge.order[0]
    assert abs(Fraction(found.score) - judge.score(mine)) <= judge.rounding(mine), f"{name}: its score is another"
    assert judge.score(best) <= Fraction(found.bound) + judge.rounding(best, mine) + fine, f"{name}: above its bound"
    if found.stopped == "proven" and not found.gap:
        short = judge.short(mine, best)
        assert short <= fine, f"{name}: proved best, and {float(short):g} less than the best"
        counts[f"proofs ({'grid alone' if name == 'grid' else 'exact' if name in STRATEGIES else name})"] += 1
    elif found.stopped == "proven":
        assert name in ("grid", "a gap allowed"), f"{name}: proved within {found.gap:g} alone"
        counts["proofs within a gap"] += 1
    if found.certificate is not None:
        assert found.certificate.check(candidates), f"{name}: its certificate does not pass"
        assert judge.score(best) <= Fraction(found.certificate.bound), f"{name}: a certificate of too little"
        counts["certificates"] += 1


def ranked(
    problem: Problem,
    rules: an.Constraints | None,
    rng: random.Random,
    candidates: an.Candidates,
    judge: Judge,
    counts: Counter[str],
) -> None:
    """The k best, by tables and one after the other."""
    kept = [
        {sum(1 << int(p) for p in flat[offsets[i] : offsets[i + 1]]) for i in range(len(scores))}
        for scores, offsets, flat in (candidates.handle.child(v) for v in range(problem.n))
    ]
    made = np.array([all(mask in own for mask, own in zip(row, kept, strict=True)) for row in judge.graphs.tolist()])
    order = [i for i in judge.order if made[i]]
    k = rng.choice([1, 3, 20, 100, 40_000] if problem.n == 4 else [1, 3, 20])
    # No memory for the tables leaves the exact searches, one after the other.
    tables = 1.0 if k <= 3 and rng.random() < 0.3 else k_best.MEMORY
    with mock.patch.object(k_best, "MEMORY", tables):
        best = an.search.k_best(candidates, k, constraints=rules)
    assert best.pruned == problem.pruned
    mine = [judge.of(found.dag) for found in best]
    assert len(set(mine)) == len(mine), "a graph twice"
    assert best.complete == (len(order) <= k), "what there is more"
    assert len(mine) == min(k, len(order)), f"{len(mine)} graphs of {min(k, len(order))}"
    for i, of in zip(mine, order, strict=False):
        assert judge.short(i, of) <= 0, f"a place in the list {float(judge.short(i, of)):g} short"
    if best.complete and not problem.pruned:
        assert len(mine) == len(judge.graphs), "not all there are"
    assert judge.short(mine[0], judge.order[0]) <= 0, "the first is not the best of all"
    counts["places among the k best"] += len(mine)


def anew(problem: Problem, rules: an.Constraints | None, candidates: an.Candidates, counts: Counter[str]) -> None:
    """The way out of a refusal: all sets are kept. Its certificate holds for these alone."""
    whole = Problem(problem.scores, problem.most, problem.at_scoring, pruned=False)
    judge = Judge(problem, problem.permitted(problem.at_scoring, rules))
    found = an.search.exact(whole.candidates(), constraints=rules)
    compared("scored anew", found, judge, whole.candidates(), counts)
    assert found.certificate is not None
    assert not found.certificate.check(candidates), "a certificate passes where sets may be missing"
    counts["certificates refused"] += 1


def trees(problem: Problem, rules: an.Constraints | None, candidates: an.Candidates, counts: Counter[str]) -> None:
    """The best forest over candidates, where no arc is required."""
    if any(c is not None and c.required for c in (rules, problem.at_scoring)):
        return
    graphs = problem.permitted(problem.at_scoring, rules)
    single = np.bitwise_count(graphs).max(axis=1) <= 1
    judge = Judge(problem, graphs[single])
    found = an.chow_liu(candidates, constraints=rules)
    mine, best = judge.of(found.dag), judge.order[0]
    assert judge.short(mine, best) <= 0, f"the best forest, and {float(judge.short(mine, best)):g} less than the best"
    counts["forests"] += 1


def main() -> None:
    times, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    began = time.perf_counter()
    counts = campaign(times, seed)
    print(f"seed {seed}, {time.perf_counter() - began:.0f} s: no proof that is not one")
    for what, count in sorted(counts.items()):
        print(f"{count:>9,} {what}")


if __name__ == "__main__":
    main()
