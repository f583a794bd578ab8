"""How certain the arcs are (bootstrap), and the network that most resamples agree on."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

import networkx as nx
import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ParameterError, TableHandle
from arbornet.checks import whole
from arbornet.data.frames import read_frame
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.data.schema import schema_of_raw
from arbornet.data.table import Table
from arbornet.data.weights import WeightsAre, WeightsLike, of_rows, scaled
from arbornet.evaluate.groups import Groups, GroupsLike, apart, of_used
from arbornet.evaluate.methods import Method
from arbornet.evaluate.plots import stacked
from arbornet.evaluate.samples import groups_of
from arbornet.given import FrameLike, Progress, SearchLike, Target
from arbornet.graphs import cpdag
from arbornet.learn import Missing, found_by
from arbornet.scores.prepare import Score
from arbornet.scores.usual import usual
from arbornet.step1.effort import Effort
from arbornet.system.cluster import Client
from arbornet.system.parallel import side_by_side
from arbornet.text.progress import shown
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from arbornet.data.schema import Schema
    from arbornet.graphs.constraints import Constraints

Numbers = NDArray[np.float64]

#: Rows with frequencies are drawn one by one up to so many; beyond, with their weights.
MOST_DRAWN = 1e6
#: So many samples of groups may lack all values of some column before that is an error.
MOST_TRIES = 1_000


class ArcStrengths(pl.DataFrame):
    """Arcs and the share of networks that have them: a Polars frame that draws itself."""

    def plot(self, target: Target = None) -> Axes | None:  # type: ignore[override]
        """A bar per arc: on a matplotlib axis, into a file by its ending, or on a new axis."""
        labels = [f"{parent} → {child}" for parent, child in self.select("parent", "child").iter_rows()]
        return stacked(labels, {"strength": self["strength"].to_list()}, "share of networks with the arc", target)


@helpful
def arc_strength(
    frame: FrameLike | Table | Incomplete,
    score: Score | None = None,
    *,
    n_bootstrap: int = 100,
    seed: int = 0,
    groups: GroupsLike | None = None,
    search: SearchLike = "hill_climb",
    max_parents: int | Literal["auto"] = "auto",
    constraints: Constraints | None = None,
    schema: Schema | None = None,
    missing: Missing | None = None,
    equivalence: bool = False,
    n_jobs: int = -1,
    progress: Progress = None,
    effort: Effort | None = None,
    weights: WeightsLike | None = None,
    weights_are: WeightsAre = "frequency",
    client: Client | None = None,
) -> ArcStrengths:
    """Learns networks from resampled rows and counts how many of them have each arc.

    Args:
        frame: Any frame, or a Table.
        score: The local score; that of `learn` if left out.
        n_bootstrap: How many networks, each from as many rows as there are, drawn with replacement; with frequencies as
            weights, from rows repeated as often as they say.
        seed: Random seed; the same seed gives the same result at any number of threads.
        groups: A column whose rows of one value are drawn together, such as a patient's identifier, or such a value for
            each row: rows of one patient are not independent, and would make arcs look surer than they are. As many
            groups are drawn as there are, with replacement. The column is no variable.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        schema: As for `learn`.
        missing: As for `learn`. With `"learn"` rows are resampled as they are, and their missing values are drawn anew
            for every network: what was drawn once would be taken for evidence.
        equivalence: Count an arc that may point either way in a network's equivalence class as half in each direction.
        n_jobs: Threads, -1 for all cores.
        progress: True to show a bar (log lines where there is no terminal).
        effort: As for `learn`, for each network.
        weights: How often each row counts, as for `Table`.
        weights_are: As for `Table`.
        client: A `distributed.Client` whose workers learn the networks, one a thread; `n_jobs` counts no longer then.

    Returns:
        A frame with a row per arc that any network has, strongest first: `parent`, `child`, `strength` (share of
        networks with the arc), `adjacency` (share with an arc in either direction); `.plot()` draws it.

    Example:
        >>> strengths = an.evaluate.arc_strength(df, n_bootstrap=200)
        >>> net = net.with_strengths(strengths)
        >>> an.evaluate.arc_strength(visits, groups="patient_id")
    """
    n_bootstrap = whole("n_bootstrap", n_bootstrap, 1, 10**9)
    seed = whole("seed", seed, 0, 2**64 - 1)
    rows, together = _rows(frame, schema, missing, n_jobs, weights, weights_are, groups)
    table = rows if isinstance(rows, Table) else rows.as_if_complete()
    score = usual(scale is not None for scale in table.handle.scales) if score is None else score
    method = Method(score, search, max_parents, constraints, effort=effort).refusing(table)
    constraints = method.constraints
    directed: Counter[tuple[str, str]] = Counter()
    adjacent: Counter[frozenset[str]] = Counter()

    def learned(replicate: int, n_threads: int) -> nx.DiGraph[str]:
        draws = np.random.default_rng([seed, replicate])
        if isinstance(rows, Incomplete):
            return method.with_gaps(_with_gaps(rows, draws, together), n_threads).graph
        sample = resampled(table, _drawn(table.handle.weights, _are(table), table.n_rows, draws, together))
        return found_by(search, sample, score, max_parents, constraints, None, n_threads, False, effort).dag

    with shown("learning networks from resampled rows", progress) as tell:
        done = side_by_side(learned, range(n_bootstrap), n_jobs, client)
        for count, (_, dag) in enumerate(done, 1):
            adjacent.update(frozenset(arc) for arc in dag.edges)
            graph = cpdag(dag) if equivalence else dag
            for parent, child in graph.edges:
                # Halves and ones add up without rounding, so the order in which networks come does not matter.
                directed[parent, child] += 1 if not graph.has_edge(child, parent) else 0.5  # type: ignore[assignment]
            if tell is not None:
                tell(count, n_bootstrap)
    place = {name: i for i, name in enumerate(table.names)}
    order = sorted(directed, key=lambda arc: (-directed[arc], place[arc[0]], place[arc[1]]))
    return ArcStrengths(
        {
            "parent": [parent for parent, _ in order],
            "child": [child for _, child in order],
            "strength": [directed[arc] / n_bootstrap for arc in order],
            "adjacency": [adjacent[frozenset(arc)] / n_bootstrap for arc in order],
        },
        schema={"parent": pl.String, "child": pl.String, "strength": pl.Float64, "adjacency": pl.Float64},
    )


@helpful
def averaged(strengths: pl.DataFrame, threshold: float = 0.5) -> nx.DiGraph[str]:
    """The graph of the arcs that enough networks have, strongest first, leaving out what would close a cycle.

    Args:
        strengths: What `arc_strength` returned.
        threshold: The least share of networks an arc must be in.

    Example:
        >>> net = an.fit(table, an.evaluate.averaged(strengths), an.PCART())
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    for parent, child, strength in strengths.select("parent", "child", "strength").iter_rows():
        graph.add_nodes_from((parent, child))
        if strength >= threshold and not nx.has_path(graph, child, parent):
            graph.add_edge(parent, child, strength=strength)
    return graph


def resampled(table: Table, rows: NDArray[np.intp]) -> Table:
    """The table of some of a table's rows, in stored units, any row any number of times."""
    handle = table.handle
    variables = range(len(handle.names))
    levels = [handle.levels(v) for v in variables]
    columns = [(handle.reals(v) if levels[v] is None else handle.codes(v))[rows] for v in variables]
    scales = [handle.scale(v) or (0.0, 1.0) for v in variables]
    kinds = [handle.kind(v) for v in variables]
    weights = handle.weights
    if weights is not None:
        are = _are(table)
        # Repeated rows stand for their weights already.
        weights = None if _is_of_counts(weights, are) else scaled(weights[rows], are)
    told = handle.points, handle.leaves
    made = TableHandle.from_columns(handle.names, kinds, levels, columns, scales, weights, *told)
    return Table.from_handle(made, table.schema)


def _rows(
    frame: FrameLike | Table | Incomplete,
    schema: Schema | None,
    missing: Missing | None,
    n_jobs: int,
    weights: WeightsLike | None,
    weights_are: WeightsAre,
    groups: GroupsLike | None,
) -> tuple[Table | Incomplete, Groups | None]:
    """The rows to draw from, and those that are drawn together."""
    if isinstance(frame, Table | Incomplete):
        if weights is not None:
            raise ParameterError("weights: the frame is a Table already; make it with an.Table(frame, weights=...)")
        if groups is None:
            return frame, None
        rows, of_rows_used = apart(frame, groups)
        return rows, Groups(of_rows_used)
    if hasattr(frame, "collect"):
        frame = frame.collect()
    numbers = None if groups is None else groups_of(frame, groups, read_frame(frame, n_jobs=n_jobs).n_rows)
    if schema is None:
        raw = read_frame(frame, n_jobs=n_jobs)
        own, named = (None, None) if weights is None else of_rows(raw, weights)
        schema = schema_of_raw(raw, weights=named, scales="auto", own=own)
    if isinstance(groups, str) and groups in schema.names:
        schema = schema.without(groups)
    rows = rows_of(frame, schema, missing, n_jobs=n_jobs, weights=weights, weights_are=weights_are)
    return rows, None if numbers is None else Groups(of_used(frame, numbers, rows, weights, n_jobs))


def _with_gaps(rows: Incomplete, draws: np.random.Generator, together: Groups | None) -> Incomplete:
    """As many rows (or groups) as there are, with replacement, with a value in every column.

    Raises:
        ArbornetError: If that does not come about, as some columns have values in few groups.
    """
    are: WeightsAre = rows.weights.are if rows.weights else "frequency"
    tries = 0
    while together is None or tries < MOST_TRIES:
        tries += 1
        at = _drawn(rows.own_weights, are, rows.n_rows, draws, together)
        made = rows.taken(at)
        if made.own_weights is not None and rows.own_weights is not None:
            # Rows were repeated as their weights say, or they keep these: never both.
            made.own_weights = None if _is_of_counts(rows.own_weights, are) else scaled(made.own_weights, are)
        if all(known.any() for known in made.known):
            return made
    raise ArbornetError("groups: some columns have values in so few groups that no sample has values in all columns")


def _are(table: Table) -> WeightsAre:
    return table.weights.are if table.weights else "frequency"


def _drawn(
    weights: Numbers | None, are: WeightsAre, n_rows: int, draws: np.random.Generator, together: Groups | None = None
) -> NDArray[np.intp]:
    """As many rows (or groups) as there are, with replacement: of whole frequencies, rows repeated as they say."""
    of_counts = weights is not None and _is_of_counts(weights, are)
    if together is not None:
        rows = together.drawn(draws)
        return np.repeat(rows, weights[rows].astype(np.int64)) if weights is not None and of_counts else rows
    if weights is not None and of_counts:
        total = int(weights.sum())
        return np.repeat(np.arange(n_rows), draws.multinomial(total, weights / total))
    return draws.integers(0, n_rows, n_rows)


def _is_of_counts(weights: Numbers, are: WeightsAre) -> bool:
    """Whether rows can be drawn one by one: whole frequencies of a million rows at most."""
    whole: bool = bool((weights == weights.round()).all())
    return are == "frequency" and whole and float(weights.sum()) <= MOST_DRAWN
