"""The linear program of the root bound: HiGHS beside our interior-point rounds, on published instances.

Run: python benches/peers/highs.py benches/data/instances [simplex|ipm] (needs `pip install highspy`). The folder holds
.jkl files.

Both start after the same dual ascents and incumbent, add at most so many violated clusters a round by the same
separation, keep the same number of columns and price the rest, and stop by the same rule. For HiGHS only the time in
the solver is counted; its separation and pricing (NumPy) are not. Ours is counted with everything. The start differs in
one point: HiGHS begins with the clusters of the best ascent, ours with those of all.
"""

from __future__ import annotations

import math
import resource
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import highspy
import numpy as np

from arbornet._core import search_components
from arbornet.io import jkl
from arbornet.search.budget import Budget
from arbornet.search.cuts import Cuts, tighten

HOW = Cuts(block=0)
MOST_VARIABLES = 64
LEAST = 1e-4


def user() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


class Program:
    """One component: its sets as masks, and the clusters so far."""

    def __init__(self, handle: Any, component: Any, unit: float):
        place = {v: i for i, v in enumerate(component.vars)}
        self.n = len(place)
        child, masks, costs = [], [], []
        for v, i in place.items():
            scores, offsets, members = handle.child(v)
            seen: set[int] = set()
            for score, (a, b) in zip(scores, pairwise(offsets), strict=True):
                mask = sum(1 << place[int(p)] for p in members[a:b] if int(p) in place)
                if mask not in seen:
                    seen.add(mask)
                    child.append(i)
                    masks.append(mask)
                    costs.append(scores[0] - score)
        self.child, self.masks, self.costs = np.array(child), np.array(masks, np.uint64), np.array(costs)
        _, priced = component.certificate()
        self.clusters: list[int] = [sum(1 << place[v] for v in cluster) for cluster, *_ in priced]
        prices = np.array([price / unit for _, price, _ in priced])
        bound, reduced = self.reduced(prices)
        self.gap = component.cost / unit - bound
        keep = reduced < self.gap
        self.child, self.masks, self.costs = self.child[keep], self.masks[keep], self.costs[keep]
        reduced = reduced[keep]
        cut = np.partition(reduced, HOW.columns)[HOW.columns] if len(reduced) > HOW.columns else np.inf
        self.active = reduced <= cut

    def satisfied(self, cluster: int) -> Any:
        """Which sets satisfy a cluster."""
        return (np.uint64(cluster) >> self.child.astype(np.uint64) & np.uint64(1) == 1) & (
            self.masks & np.uint64(cluster) == 0
        )

    def reduced(self, prices: Any) -> tuple[float, Any]:
        """The bound under prices, and the sets' costs above their variable's least."""
        costs = self.costs.copy()
        for cluster, price in zip(self.clusters, prices, strict=True):
            if price:
                costs[self.satisfied(cluster)] -= price
        least = np.full(self.n, np.inf)
        np.minimum.at(least, self.child, costs)
        return float(prices.sum() + least.sum()), costs - least[self.child]


def violated(program: Program, columns: Any, x: Any) -> list[int]:
    """Clusters that a fractional choice violates: grown greedily from pairs, then thinned out, as in separate.rs."""
    used = x > LEAST
    child, mass, masks = program.child[columns][used], x[used], program.masks[columns][used]
    has = (masks[:, None] >> np.arange(program.n, dtype=np.uint64)) & np.uint64(1) == 1
    own = np.zeros((program.n, len(mass)))
    own[child, np.arange(len(mass))] = mass
    parents = np.zeros((program.n, program.n), bool)
    np.logical_or.at(parents, child, has)

    def weights(inside: Any) -> tuple[float, Any, Any]:
        """The mass, and what it would be with each variable more, and with each less."""
        hits = has[:, inside].sum(axis=1)
        mine = inside[child]
        free = hits == 0
        now = float(mass[mine & free].sum())
        more = now - (mass * (mine & free)) @ has + own @ free
        only = (mass * (mine & (hits == 1))) @ has
        return now, more, now + only - own @ free

    found: dict[int, float] = {}
    for v in range(program.n):
        for w in np.flatnonzero(parents[v]):
            if w < v and parents[w, v]:
                continue
            inside = np.zeros(program.n, bool)
            inside[[v, w]] = True
            while True:
                now, more, _ = weights(inside)
                more[inside] = np.inf
                if more.min() >= now - 1e-9:
                    break
                inside[more.argmin()] = True
            while inside.sum() > 2:
                now, _, less = weights(inside)
                less[~inside] = np.inf
                if less.min() > now + 1e-9:
                    break
                inside[less.argmin()] = False
            now = weights(inside)[0]
            if now < 0.99:
                found.setdefault(sum(1 << int(u) for u in np.flatnonzero(inside)), now)
    known = set(program.clusters)
    new = sorted((m, c) for c, m in found.items() if c not in known)
    return [c for _, c in new[: HOW.new]]


def solver(method: str) -> Any:
    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.setOptionValue("threads", 1)
    highs.setOptionValue("solver", method)
    if method == "ipm":
        highs.setOptionValue("run_crossover", "off")
    return highs


def loaded(highs: Any, program: Program, columns: Any) -> None:
    """Builds the program anew: one row a variable, one a cluster."""
    rows = [[int(v)] for v in program.child[columns]]
    for i, cluster in enumerate(program.clusters):
        for j in np.flatnonzero(program.satisfied(cluster)[columns]):
            rows[j].append(program.n + i)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(columns), program.n + len(program.clusters)
    model.col_cost_ = program.costs[columns]
    model.col_lower_, model.col_upper_ = np.zeros(len(columns)), np.full(len(columns), highspy.kHighsInf)
    model.row_lower_ = np.ones(model.num_row_)
    model.row_upper_ = np.r_[np.ones(program.n), np.full(len(program.clusters), highspy.kHighsInf)]
    model.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.cumsum([0, *map(len, rows)]).astype(np.int32)
    model.a_matrix_.index_ = np.concatenate(rows).astype(np.int32)
    model.a_matrix_.value_ = np.ones(model.a_matrix_.start_[-1])
    highs.passModel(model)


def highs_rounds(program: Program, cost: float, method: str) -> tuple[float, float, int]:
    """Gap left, user seconds within HiGHS, rounds."""
    highs, seconds, gaps = solver(method), 0.0, [program.gap]
    best = program.gap
    basis = None
    for _ in range(HOW.rounds):
        columns = np.flatnonzero(program.active)
        loaded(highs, program, columns)
        if basis is not None and method == "simplex":
            extended(highs, basis, columns, len(program.clusters) + program.n)
        before = user()
        highs.run()
        seconds += user() - before
        if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            break
        solution = highs.getSolution()
        state = highs.getBasis()
        basis = (columns, list(state.col_status), list(state.row_status))
        prices = np.maximum(np.array(solution.row_dual[program.n :]), 0.0)
        bound, reduced = program.reduced(prices)
        best = min(best, cost - bound)
        if best <= 1e-9:
            break
        gaps.append(best)
        outside = ~program.active
        inside = np.full(program.n, np.inf)
        np.minimum.at(inside, program.child[columns], reduced[columns])
        cheap = np.flatnonzero(outside & (reduced < inside[program.child] - 1e-9))
        for v in range(program.n):
            mine = cheap[program.child[cheap] == v]
            program.active[mine[np.argsort(reduced[mine], kind="stable")][:60]] = True
        if len(gaps) > HOW.window and gaps[-1] > (1 - HOW.progress) * gaps[-1 - HOW.window]:
            break
        new = [] if len(cheap) > 0.05 * len(columns) else violated(program, columns, np.array(solution.col_value))
        if not new and not len(cheap):
            break
        program.clusters += new
    return best, seconds, len(gaps) - 1


def extended(highs: Any, basis: Any, columns: Any, n_rows: int) -> None:
    """The last basis, with what joined since: columns at their bound, rows basic."""
    old, col_status, row_status = basis
    new = highspy.HighsBasis()
    status = dict(zip(old.tolist(), col_status, strict=True))
    lower, basic = highspy.HighsBasisStatus.kLower, highspy.HighsBasisStatus.kBasic
    new.col_status = [status.get(int(c), lower) for c in columns]
    new.row_status = row_status + [basic] * (n_rows - len(row_status))
    highs.setBasis(new)


def ours(component: Any, unit: float) -> tuple[float, float]:
    """Gap left, and user seconds of the whole sharpening."""
    before = user()
    component.improve(HOW.patience, None)
    component.ascend(HOW.ascents, math.inf, None)
    tighten(component, HOW, Budget(), lambda: None)
    return (component.cost - component.bound) / unit, user() - before


def main() -> None:
    folder, method = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "simplex"
    print(
        f"{'instance':22} {'start':>9} {'ours':>9} {'user s':>7} {'HiGHS':>9} {'user s':>7} {'rounds':>6}  ({method})"
    )
    for path in sorted(p for p in folder.iterdir() if ".jkl" in p.suffixes):
        handle = jkl.read(path)
        totals = np.zeros(5)
        for ours_is, theirs in zip(search_components(handle, 1), search_components(handle, 1), strict=True):
            unit = 2.0**ours_is.exponent
            gap, seconds = ours(ours_is, unit)
            theirs.improve(HOW.patience, None)
            theirs.ascend(HOW.ascents, math.inf, None)
            if theirs.bound >= theirs.cost or len(theirs.vars) > MOST_VARIABLES:
                totals += (0, gap, seconds, 0, 0)
                continue
            program = Program(handle, theirs, unit)
            # The better incumbent for both, so that the gaps tell the bounds alone.
            cost = ours_is.cost / unit
            start = program.gap - theirs.cost / unit + cost
            program.gap = start
            left, inside, rounds = highs_rounds(program, cost, method)
            totals += (start, gap, seconds, left, inside)
            last = rounds
        print(
            f"{path.name:22} {totals[0]:9.3f} {totals[1]:9.3f} {totals[2]:7.2f} {totals[3]:9.3f} {totals[4]:7.2f} "
            f"{last if totals[4] else 0:6}",
            flush=True,
        )


if __name__ == "__main__":
    main()
