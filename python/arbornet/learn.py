"""`learn`: the whole workflow, from a frame to a network, with every choice printed.

types -> complete rows -> candidate parent sets -> best graph -> a model for every variable
"""

from __future__ import annotations

import dataclasses
import math
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from arbornet._core import ParameterError, threads
from arbornet.data.frames import read_frame
from arbornet.data.incomplete import CompletedTable, Incomplete, rows_of
from arbornet.data.kinds import Continuous
from arbornet.data.looks.findings import marked
from arbornet.data.scales import Scales, check_scales
from arbornet.data.schema import Schema, schema_of_raw
from arbornet.data.table import Table
from arbornet.data.told import linear_though_skewed, tell_of_columns
from arbornet.data.weights import WeightsAre, WeightsLike, of_rows
from arbornet.gaps import Way, learned, with_families
from arbornet.given import FrameLike, Progress, SearchLike
from arbornet.graphs.constraints import Rules, check_constraints
from arbornet.network.fit import fit_used
from arbornet.network.used import found_used
from arbornet.scores.pcart import PCART
from arbornet.scores.prepare import Score, check_score, checked_limit, prepared
from arbornet.scores.usual import usual
from arbornet.search.base import Found
from arbornet.search.budget import seconds_of
from arbornet.search.registry import Search as Named
from arbornet.search.registry import search_of
from arbornet.search.within import within
from arbornet.step1.by_width import for_width
from arbornet.step1.effort import MOST_PARENTS, Budget, Effort, budget_of, next_effort, of_time
from arbornet.step1.features import Selection, selected
from arbornet.step1.planning import Plan, plan
from arbornet.step1.scoring import score_parents
from arbornet.text.notices import LeftOutWarning, reworded
from arbornet.text.terminal import brief, several, wrapped
from arbornet.text.visible import visible
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from distributed import Client

    from arbornet.graphs.constraints import Constraints
    from arbornet.network import BayesNet
    from arbornet.step1.candidates import Candidates

#: What to do with rows that have gaps.
Missing = Literal["learn", "indicator", "drop", "error", "level"]
#: With candidates selected for more variables than this, the search is one that need not end with a proof.
MANY = 100
#: The share of a time limit after which scoring ends.
SCORING = 0.6


@helpful
def learn(
    frame: FrameLike | Table | Incomplete,
    score: Score | None = None,
    search: SearchLike | None = None,
    max_parents: int | Literal["auto"] = "auto",
    constraints: Constraints | None = None,
    *,
    schema: Schema | None = None,
    missing: Missing | None = None,
    time_limit: float | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    checkpoint: str | os.PathLike[str] | None = None,
    parents: Selection | None = None,
    n_candidates: int = 5,
    child_time_limit: float | None = None,
    client: Client | None = None,
    verbose: bool = True,
    effort: Effort | Budget | None = None,
    weights: WeightsLike | None = None,
    weights_are: WeightsAre = "frequency",
    scales: Scales = "auto",
) -> BayesNet:
    """Learns a network from a frame and prints what it chose: types, rows, parent sets, search, bound.

    Args:
        frame: Any frame (see `Table`), or a Table.
        score: The local score; if left out `PCART(leaf="linear")`, trees whose leaves follow numbers along
            lines (`PCART()` where there are not two columns of numbers). `ConditionalGaussian`, `DegenerateGaussian`,
            `BasisFunctions` and `MixedPolynomial` named without a prior take `priors.Binomial(1)` from 20 variables on,
            as `prior=priors.Uniform()` does not.
        search: How to search: the name of a search over candidates (`"exact"`, `"anytime"`, `"hill_climb"`) or of one
            that scores on demand (`"boss"`, `"fges"`, `"grasp"`, `"chow_liu"`; `"decision_graphs"` grows graph and
            models together; `"hybrid"` proves the best network inside arcs that several scores find; `"pc"` and `"cpc"`
            use tests of independence), or a callable that takes Candidates, or parameters called `table` and `score`,
            and returns Found. If left out `"exact"`, or `"anytime"` where candidates are selected for more than 100
            variables.
        max_parents: The most parents of a variable; `"auto"` for 4, all candidates if they are selected, or no limit if
            the search scores on demand.
        constraints: Constraints on the graph.
        schema: The columns' types; inferred if left out.
        missing: Rows with a missing value: `"learn"` learns from what they have (what is missing is drawn given all
            else, in rounds), `"indicator"` as well, with a variable for each column with gaps that says where they are;
            `"drop"`, `"error"`, or `"level"` to make missing a level of its own. If left out `"learn"` where more than
            a hundredth of the rows have gaps, else they are dropped.
        time_limit: Wall seconds for the whole call (with `checkpoint`, `client` or `child_time_limit` for the search).
            Where they end the work, the result depends on the machine.
        n_jobs: Threads, -1 for all cores.
        progress: Show bars (log lines where there is no terminal): True at once, None after two seconds, False never.
        checkpoint: A folder that keeps scored parent sets, and the rounds of `missing="learn"`, to continue from after
            an interruption.
        parents: `"forest"` to consider, for each variable, only its best few possible parents by a random forest; or a
            frame of ranks, as `rank_parents` makes it.
        n_candidates: How many these are, besides required parents.
        child_time_limit: Seconds for scoring the parent sets of each variable, smaller sets first.
        client: A `distributed.Client` whose workers score the parent sets and fit the network.
        verbose: Print the choices.
        effort: How much work scoring and searching may take: `"quick"` (about 5 s on two ordinary cores), `"normal"`
            (30 s), `"thorough"` (10 min), or `"unlimited"`. Work is counted, not timed: the same network on every
            machine and at every load. What the work does not suffice for is left out by rule (the least promising
            parent sets, the proof) and printed. If left out `"normal"`, or `"unlimited"` with `checkpoint`, `client` or
            `child_time_limit`, where `max_parents="auto"` is the most up to 4 that are affordable.
        weights: How often each row counts: a column, or a number for each row; as for `Table`.
        weights_are: As for `Table`.
        scales: Of columns whose types are inferred: `"auto"` takes skewed ones by their logarithm, see `infer_schema`;
            `"linear"` takes none.

    Example:
        >>> net = an.learn(an.example("penguins"))
        >>> net.explain("species")
    """
    began = time.perf_counter()
    tell = _said if verbose else _silent
    progress = "late" if progress is None else progress
    waits = {"checkpoint": checkpoint, "client": client, "child_time_limit": child_time_limit}
    budget = budget_of(effort, [name for name, value in waits.items() if value is not None])
    if time_limit is not None and budget is not None and effort is None:
        budget = None if seconds_of(time_limit) == math.inf else of_time(time_limit, threads(n_jobs))
    time_limit = None if time_limit == math.inf else time_limit
    if max_parents not in (None, "auto"):
        checked_limit(max_parents)
    check_constraints(constraints)
    if score is not None:
        check_score(score)
    if search is not None:
        search_of(search)
    rows = _rows(frame, schema, missing, n_jobs, tell, weights, weights_are, scales)
    if score is None:
        own = None if search is None else search_of(search).score
        score = usual(isinstance(column.kind, Continuous) for column in rows.schema.used) if own is None else own()
    score, why = for_width(score, len(rows.names))
    if not isinstance(frame, CompletedTable):  # of which it was told
        tell(f"score: {score!r}{' (' + why + ')' if why else ''}")
    if isinstance(rows, Incomplete):

        def whole(table: CompletedTable, rest: Budget | None, seconds: float | None) -> BayesNet:
            return learn(
                table,
                score,
                search,
                max_parents,
                constraints,
                time_limit=seconds,
                n_jobs=n_jobs,
                progress=progress,
                checkpoint=checkpoint,
                parents=parents,
                n_candidates=n_candidates,
                child_time_limit=child_time_limit,
                client=client,
                verbose=verbose,
                effort=rest or "unlimited",
            )

        finder = _finder(score, search, max_parents, parents, n_candidates, n_jobs)
        most = None if max_parents == "auto" else max_parents
        folder = None if checkpoint is None else Path(checkpoint)
        return learned(rows, Way(score, most, constraints, finder, whole, budget, time_limit, folder, n_jobs, tell))
    table = rows
    rules: Constraints | Rules | None = constraints
    if parents is not None:
        rules = selected(table, parents, n_candidates, constraints, n_jobs=n_jobs, progress=progress)
        tell(f"parents: the {n_candidates} best of each variable by {_chosen_by(parents)}")
    if search is None:
        search = "anytime" if parents is not None and len(table.names) > MANY else "exact"
    chosen = search_of(search)
    if chosen.scores_on_demand:
        not_used: list[tuple[str, str]] = []
        found = found_by(search, table, score, max_parents, rules, time_limit, n_jobs, progress)
    else:
        if isinstance(rules, Rules) and max_parents == "auto":
            max_parents = max(map(len, rules.allowed), default=0)
        if verbose:
            planned = plan(table, score, max_parents, rules, seconds=0.3, effort=budget or "unlimited")
            tell(_planned(planned, threads(n_jobs)))
        candidates = score_parents(
            table,
            score,
            max_parents,
            rules,
            n_jobs,
            progress,
            checkpoint,
            client,
            child_time_limit=child_time_limit,
            effort=budget,
            time_limit=None if time_limit is None or budget is None else SCORING * time_limit,
        )
        tell(f"candidates: {_kept(candidates)}")
        if isinstance(table, CompletedTable) and table.families is not None:
            candidates = with_families(candidates, table, score, table.families)
        for told in candidates.given_up:
            tell(f"left out: {told}")
        if candidates.given_up and time_limit is not None:
            tell("with a time limit the result depends on the machine")
        elif budget is not None and candidates.given_up:
            tell(f'to look at more: {next_effort(budget.effort)}, or fewer columns, or parents="forest"')

        def search_among(sets: Candidates) -> Found:
            left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - began))
            return _searched(chosen, sets, budget, constraints, left, n_jobs, progress)

        required = frozenset() if constraints is None else frozenset(constraints.required)
        found, not_used = found_used(search_among, candidates, prepared(table, score), required)
    name = found.details.get("search", "exact") if chosen is search_of("exact") else chosen.name
    tell(f"search: {name}, {_ended(found)}")
    if line := _in_order(found):
        tell(line)
    if proof := _proof(found, chosen.best_of, constraints is not None, parents is not None, bool(not_used)):
        tell(proof + (", for the rows as they were completed last" if isinstance(table, CompletedTable) else ""))
    net, unused, lower = fit_used(table, found, score, constraints, n_jobs=n_jobs, client=client)
    about = {"method": name, **net.origin.search}
    unused = [*not_used, *unused]
    if unused:
        about["unused"] = [f"{parent} -> {child}" for parent, child in unused]
        tell(f"left out: {', '.join(about['unused'])}, as the fitted models do not use {_them(unused)}")
    if lower:
        about["lower"] = [f"{parent} -> {child}" for parent, child in lower]
        tell(f"left out: {', '.join(about['lower'])}, as the score is then higher without {_them(lower)}")
    net.origin = dataclasses.replace(net.origin, search=about)
    if told := _leaves_told(table, score):
        tell(told)
    tell(f"network: {net!r}")
    for parent, child, why in marked(table.schema.findings, net.graph.edges):
        tell(f"says little: {parent} -> {child}, as {why}")
    return net


def _leaves_told(table: Table, score: Score) -> str:
    """Which columns have lines in their leaves, where the score chose that."""
    if not (isinstance(score, PCART) and score.leaf == "auto"):
        return ""
    handle = prepared(table, score)
    by_leaf: dict[str, list[str]] = {}
    for child, column in enumerate(table.schema.used):
        if (leaf := handle.leaf(child)) in ("linear", "normal"):
            by_leaf.setdefault(leaf, []).append(column.name)
    return "leaves: " + "; ".join(f"{leaf} of {', '.join(names)}" for leaf, names in sorted(by_leaf.items()))


def _them(arcs: list[tuple[str, str]]) -> str:
    return "this arc" if len(arcs) == 1 else "these arcs"


def _chosen_by(parents: Selection) -> str:
    return "a random forest" if isinstance(parents, str) else "the ranks given"


def _said(text: str) -> None:
    print(wrapped(visible(reworded(text))))


def _silent(_: str) -> None:
    pass


def _rows(
    frame: Any,
    schema: Schema | None,
    missing: Missing | None,
    n_jobs: int,
    tell: Callable[[str], None],
    weights: WeightsLike | None,
    weights_are: WeightsAre,
    scales: Scales,
) -> Table | Incomplete:
    check_scales(scales)
    if isinstance(frame, Table | Incomplete) and weights is not None:
        raise ParameterError("weights: the frame is a Table already; make it with an.Table(frame, weights=...)")
    if isinstance(frame, CompletedTable):
        return frame
    table: Table | Incomplete
    given: Schema | None = None
    if isinstance(frame, Table | Incomplete):
        table = frame
    else:
        if hasattr(frame, "collect"):
            frame = frame.collect()
        with warnings.catch_warnings():
            if tell is _said:  # what is left out is printed below
                warnings.simplefilter("ignore", LeftOutWarning)
            if schema is None:
                raw = read_frame(frame, n_jobs=n_jobs)
                own, named = (None, None) if weights is None else of_rows(raw, weights)
                schema = schema_of_raw(raw, find=True, weights=named, scales=scales, own=own)
            elif scales == "auto" and tell is _said:
                given = schema
        table = rows_of(frame, schema, missing, n_jobs=n_jobs, weights=weights, weights_are=weights_are)
    tell_of_columns(table.schema, tell)
    if given is not None and (skewed := linear_though_skewed(frame, given)) is not None:
        tell(f'{skewed}; an.infer_schema(frame, scales="auto") takes them as learn does without a schema')
    weighted = f"; {table.weights}" if table.weights else ""
    tell(f"rows: {table.n_rows:,} used; {table.dropped if isinstance(table, Table) else table.told()}{weighted}")
    return table


def _finder(
    score: Score,
    search: SearchLike | None,
    max_parents: int | Literal["auto"],
    parents: Selection | None,
    n_candidates: int,
    n_jobs: int,
) -> Callable[..., tuple[Found, Candidates | None]]:
    """What a round of rows with gaps finds for a table, and the candidates, if the search takes any."""
    selection: list[Rules] = []

    def find(table: Table, rules: Rules, budget: Budget, seconds: float | None) -> tuple[Found, Candidates | None]:
        if parents is not None:
            selection[:] = selection or [selected(table, parents, n_candidates, None, n_jobs=n_jobs, progress=False)]
            both = zip(rules.allowed, rules.required, selection[0].allowed, strict=True)
            allowed = tuple(tuple(p for p in own if p in of or p in needed) for own, needed, of in both)
            rules = dataclasses.replace(rules, allowed=allowed)
        chosen = search_of("exact" if search is None else search)
        if chosen.scores_on_demand:
            wanted = {"constraints": rules, "time_limit": seconds, "n_jobs": n_jobs, "progress": False}
            most = None if max_parents == "auto" else max_parents
            return chosen.of_a_round()(table, score, max_parents=most, **wanted), None
        limit = SCORING * seconds if seconds is not None else None
        candidates = score_parents(table, score, max_parents, rules, n_jobs, False, effort=budget, time_limit=limit)
        return _searched(chosen, candidates, budget, None, seconds, n_jobs, False), candidates

    return find


def _planned(step: Plan, cores: int) -> str:
    sets = f"{several(step.n_sets, 'parent set')} of up to {several(step.max_parents, 'parent')}"
    if step.effort is not None:
        which = f", {step.why}" if step.why else ""
        return f"to score: {sets}{which}, {step.time(cores)}"
    why = f" (automatic: {step.why})" if step.why and step.max_parents != MOST_PARENTS else ""
    return f"to score: {sets}{why}, {step.time(cores)}"


def _kept(candidates: Candidates) -> str:
    spent = "" if candidates.seconds is None else f" in {brief(candidates.seconds)}"
    evaluated = "" if candidates.n_evaluated is None else f" of {candidates.n_evaluated:,} scored"
    return f"{several(candidates.n_kept, 'parent set')} kept{evaluated}{spent}"


def _searched(
    chosen: Named,
    candidates: Candidates,
    budget: Budget | None,
    constraints: Constraints | Rules | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
) -> Found:
    """What a search over candidates finds; the exact one within a budget, if there is one."""
    settings: dict[str, Any] = {
        "constraints": constraints,
        "time_limit": time_limit,
        "n_jobs": n_jobs,
        "progress": progress,
    }
    if budget is not None and chosen is search_of("exact"):
        return within(candidates, budget.searching, **settings)
    return chosen(candidates, **settings)


def found_by(
    search: SearchLike,
    table: Table,
    score: Score,
    max_parents: int | Literal["auto"],
    constraints: Constraints | Rules | None,
    time_limit: float | None,
    n_jobs: int,
    progress: Progress,
    effort: Effort | None = "unlimited",
) -> Found:
    """What a search of either kind finds for a table: candidates are scored for it where it takes them.

    Raises:
        ParameterError: If there is no such search, or it returns something else than Found.
    """
    chosen = search_of(search)
    if not chosen.scores_on_demand:
        budget = budget_of(effort)
        candidates = score_parents(table, score, max_parents, constraints, n_jobs, progress, effort=budget)
        return _searched(chosen, candidates, budget, constraints, time_limit, n_jobs, progress)
    wanted = {"constraints": constraints, "time_limit": time_limit, "n_jobs": n_jobs, "progress": progress}
    return chosen(table, score, max_parents=None if max_parents == "auto" else max_parents, **wanted)


def _ended(found: Found) -> str:
    arcs = found.dag.number_of_edges()
    endings = {
        "proven": "finished",
        "finished": "finished, without a proof,",
        "time": "stopped by its time limit",
        "memory": "stopped by its memory limit",
        "interrupted": "interrupted",
    }
    return f"{endings[found.stopped]} in {brief(found.seconds)}: {several(arcs, 'arc')}, score {found.score:.4f}"


def _in_order(found: Found) -> str:
    """How many scores are lower bounds, as a line."""
    n, scored = found.details.get("n_in_order", 0), found.details.get("n_scored")
    if not n:
        return ""
    of = f"{n:,} parent sets" if scored is None else f"{n:,} of {several(scored, 'parent set')}"
    which = "has a score that is a lower bound" if n == 1 else "have scores that are lower bounds"
    return f"lower bounds: {of} {which}, as levels were grouped in one order only"


def _proof(found: Found, best_of: str, constrained: bool, selected: bool, used: bool) -> str:
    """What is known about other networks, as a line; nothing where there is no bound."""
    looked_at = bool(found.details.get("left_out"))
    if found.stopped != "proven":
        which = "network of these parent sets" if looked_at else "network"
        return f"upper bound for any {which}: {found.bound:.4f}" if found.bound < float("inf") else ""
    if best_of != "network":
        return f"proved: no other {best_of} scores higher"
    limits = [found.details.get("within", "the parent limit"), *(["the selected parents"] if selected else [])]
    limits += ["the parent sets that were looked at"] if looked_at else []
    limits += ["the kept parent sets that the models use"] if used else []
    within = " and ".join([*limits, *(["the constraints"] if constrained else [])])
    if found.details.get("n_in_order"):
        within += ", by these scores,"
    higher = f"more than {found.gap:.2g} higher" if found.gap else "higher"
    return f"proved: no network within {within} scores {higher}"
