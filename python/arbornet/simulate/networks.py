"""Random networks with named styles of effects, and any number of rows drawn from them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
import polars as pl

from arbornet._core import ParameterError
from arbornet.alike import ByContent
from arbornet.checks import real, whole
from arbornet.data.kinds import Categorical, Continuous, Kind, Ordinal
from arbornet.data.schema import Schema, infer_schema
from arbornet.simulate.draws import Draws
from arbornet.simulate.effects import Effect, effect, reading
from arbornet.simulate.mechanisms import Mechanism, mechanism
from arbornet.simulate.styles import Style, style_of
from arbornet.system.memory import afford
from arbornet.text.notices import LeftOutWarning
from arbornet.text.terminal import several

#: Rows from which a network's constants are estimated.
FITTED = 4000
#: Streams of random numbers: the graph and its mechanisms, the rows that these are fitted to, `frame`, `sample`.
STRUCTURE, FITTING, ROWS, FRESH = range(4)
#: Names of the levels of categories.
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, eq=False)
class SimulatedNetwork(ByContent):
    """A random network and rows drawn from it. It unpacks: `dag, frame, schema = network`.

    Attributes:
        dag: The true graph, over all variables.
        frame: The rows: numbers with six decimals, counts as integers, categories as letters, ordered levels as
            integers from 1.
        schema: The columns' types, with all levels declared, observed or not.
        mechanisms: By variable, how it is generated from its parents.
        seed: Its random seed.
    """

    dag: nx.DiGraph[str]
    frame: pl.DataFrame
    schema: Schema
    mechanisms: dict[str, Mechanism]
    seed: int

    def sample(self, n_rows: int, *, seed: int = 0) -> pl.DataFrame:
        """New rows of the same network, independent of those of `frame`.

        Args:
            n_rows: Number of rows. With the same seed, fewer rows are the first of more.
            seed: Random seed of these rows.

        Raises:
            ParameterError: If a parameter is outside its range.
            MemoryError: If the rows would not fit.

        Example:
            >>> train, test = network.frame, network.sample(10_000)
        """
        return _rows(
            self.mechanisms, list(self.dag), whole("n_rows", n_rows, 1, 2**32 - 1), self.seed, FRESH, _seed(seed)
        )

    def __iter__(self) -> Iterator[Any]:
        return iter((self.dag, self.frame, self.schema))

    def __str__(self) -> str:
        arcs = self.dag.number_of_edges()
        lines = [
            f"SimulatedNetwork({several(len(self.dag), 'variable')}, {several(arcs, 'arc')}, "
            f"{several(self.frame.height, 'row')}, seed {self.seed})"
        ]
        return "\n".join(lines + [f"  {name}: {made}" for name, made in self.mechanisms.items()])

    __repr__ = __str__


def network(
    n_variables: int = 20,
    n_rows: int = 1000,
    *,
    style: str | Style = "nonlinear",
    arcs_per_node: float = 1.5,
    max_parents: int = 3,
    numbers: float = 0.6,
    levels: tuple[int, int] = (2, 5),
    strength: float = 1.5,
    seed: int = 0,
) -> SimulatedNetwork:
    """A random network of mixed variables with effects you choose, and rows of it, for testing a learner.

    Arcs join random pairs along a random order. A variable is the sum of its parents' effects and noise; the styles say
    what effects and what variables there are:

    * "linear": straight lines, normal noise.
    * "nonlinear": thresholds, valleys, smooth steps; normal and log-normal numbers and counts.
    * "smooth": curves that add up: smooth steps, bends, hills.
    * "products": of two parents, their product; a single parent is linear.
    * "heavy-tails": straight lines and smooth steps; noise with outliers (t with 3 degrees of freedom), log-normals.
    * "mixed": all of these within one network.
    * "hidden": xor, changing slopes and waves: parents uncorrelated with their child.

    In every style the other variables are categories (multinomial logit) and ordered levels (a number cut into bins),
    and a single category as parent has an effect for each level.

    Args:
        n_variables: Number of variables, named X1, X2, ...
        n_rows: Number of rows in `frame`. Fewer rows of a network are the first of more.
        style: One of the names above, or a `Style` of your own.
        arcs_per_node: Arcs per variable.
        max_parents: The most parents of a variable.
        numbers: Share of the variables that are numbers.
        levels: Fewest and most levels of the others; ordered ones have at least 3 if allowed.
        strength: Standard deviation of all parents' effects together, as a multiple of the noise's: at 1, half of a
            normal variable's variance comes from its parents, at 1.5, two thirds; at 0, nothing.
        seed: Random seed of network and rows: the same seed, the same bytes, in every version and on every machine.

    Raises:
        ParameterError: If a parameter is outside its range, or no such graph exists.
        MemoryError: If the rows would not fit.

    Example:
        >>> made = an.simulate.network(20, 1000, style="nonlinear", seed=1)
        >>> found = an.search.boss(an.Table(made.frame, schema=made.schema), an.BasisFunctions())
        >>> an.metrics.compare(made.dag, found).f1
    """
    n_variables, n_rows = whole("n_variables", n_variables, 1, 1_000_000), whole("n_rows", n_rows, 2, 2**32 - 1)
    seed, drawn_from = _seed(seed), style_of(style)
    strength, numbers = real("strength", strength), real("numbers", numbers)
    if not 0 <= strength <= 100:
        raise ParameterError(f"strength={strength!r}: give a number from 0 to 100")
    if not 0 <= numbers <= 1:
        raise ParameterError(f"numbers={numbers!r}: give a share from 0 to 1")
    fewest, most = _levels(levels)
    draws = Draws(seed, STRUCTURE)
    names = [f"X{v + 1}" for v in range(n_variables)]
    order, parents = _graph(n_variables, arcs_per_node, whole("max_parents", max_parents, 0, 1_000_000), draws)
    of_numbers = set(draws.order(n_variables)[: round(numbers * n_variables)])
    made: dict[str, Mechanism] = {}
    columns: dict[str, Any] = {}
    for v in order:
        kind = draws.one_of(drawn_from.numbers) if v in of_numbers else draws.one_of(drawn_from.levels)
        n_levels = (
            0 if v in of_numbers else draws.whole(max(fewest, min(most, 3)) if kind == "ordinal" else fewest, most)
        )
        effects = _effects([names[p] for p in parents[v]], made, drawn_from, columns, draws)
        one = mechanism(kind, effects, strength, n_levels, columns, FITTED, draws)
        made[names[v]] = one
        columns[names[v]] = one.draw(columns, FITTED, Draws(seed, FITTING, v))
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[p], names[v]) for v in range(n_variables) for p in parents[v])
    frame = _rows(made, names, n_rows, seed, ROWS)
    return SimulatedNetwork(dag, frame, _schema(frame, made), {name: made[name] for name in names}, seed)


def _effects(
    parents: list[str], made: dict[str, Mechanism], style: Style, columns: dict[str, Any], draws: Draws
) -> tuple[Effect, ...]:
    readings = [reading(p, made[p].kind, made[p].n_levels, columns, draws) for p in parents]
    effects = []
    if len(readings) >= 2 and style.pairs and draws.uniform(1)[0] < style.share:
        first, second, *rest = [readings[i] for i in draws.order(len(readings))]
        effects.append(effect(draws.one_of(style.pairs), (first, second), columns, draws))
        readings = rest
    for one in readings:
        # Each level of a category has its own effect, as a shape needs an order; likewise with two levels.
        shaped = made[one.parent].kind != "category" and made[one.parent].n_levels != 2
        effects.append(effect(draws.one_of(style.effects) if shaped else "linear", (one,), columns, draws))
    return tuple(effects)


def _rows(mechanisms: dict[str, Mechanism], names: list[str], n_rows: int, seed: int, *stream: int) -> pl.DataFrame:
    widest = max((made.n_levels for made in mechanisms.values()), default=0)
    needed = 8.0 * n_rows * (2 * len(names) + 6 * widest + 12)
    afford(f"simulating {n_rows:,} rows of {len(names):,} variables", needed, "ask for fewer")
    position = {name: v for v, name in enumerate(names)}
    columns: dict[str, Any] = {}
    parents = nx.DiGraph()
    parents.add_nodes_from(names)
    parents.add_edges_from((p, name) for name, made in mechanisms.items() for p in made.parents)
    for name in nx.topological_sort(parents):
        columns[name] = mechanisms[name].draw(columns, n_rows, Draws(seed, *stream, position[name]))
    return pl.DataFrame({name: _shown(mechanisms[name], columns[name]) for name in names})


def _shown(made: Mechanism, column: Any) -> pl.Series:
    if made.kind == "category":
        return pl.Series(list(LETTERS[: made.n_levels])).gather(column)
    return pl.Series(column + 1 if made.kind == "ordinal" else column)


def _schema(frame: pl.DataFrame, mechanisms: dict[str, Mechanism]) -> Schema:
    kinds: dict[str, Kind] = {}
    for name, made in mechanisms.items():
        if made.kind == "category":
            kinds[name] = Categorical(list(LETTERS[: made.n_levels]))
        else:
            kinds[name] = Ordinal(range(1, made.n_levels + 1)) if made.kind == "ordinal" else Continuous()
    with warnings.catch_warnings():
        # A column in which only one level occurred is still used.
        warnings.simplefilter("ignore", LeftOutWarning)
        return infer_schema(frame).with_types(kinds)


def _seed(seed: Any) -> int:
    return whole("seed", seed, 0, 2**32 - 1)


def _levels(levels: Any) -> tuple[int, int]:
    pair = tuple(levels) if isinstance(levels, tuple | list) else ()
    if (
        len(pair) != 2
        or not all(isinstance(k, int | np.integer) for k in pair)
        or not 2 <= pair[0] <= pair[1] <= len(LETTERS)
    ):
        raise ParameterError(f"levels={levels!r}: give the fewest and the most, from 2 to {len(LETTERS)}")
    return int(pair[0]), int(pair[1])


def _graph(n: int, arcs_per_node: Any, max_parents: int, draws: Draws) -> tuple[list[int], list[list[int]]]:
    """A random order, and parents of each variable from before it in that order."""
    n_arcs = round(real("arcs_per_node", arcs_per_node) * n)
    most = sum(min(place, max_parents) for place in range(n))
    if not 0 <= n_arcs <= most:
        raise ParameterError(
            f"arcs_per_node={arcs_per_node!r}: give a number from 0 to {most / n:g}; a graph of {n} variables with at "
            f"most {max_parents} parents each has no more arcs"
        )
    afford(f"drawing a graph of {n:,} variables", 100.0 * most, "ask for fewer variables or parents")
    order = draws.order(n)
    # Numbers of parents: arcs go to random variables that may still have more.
    room = [min(place, max_parents) for place in range(n)]
    chances = [place for place, free in enumerate(room) for _ in range(free)]
    counts = [0] * n
    for chosen in draws.order(len(chances))[:n_arcs]:
        counts[chances[chosen]] += 1
    parents: list[list[int]] = [[] for _ in range(n)]
    for place, count in enumerate(counts):
        while len(parents[order[place]]) < count:
            drawn = order[draws.whole(0, place - 1)]
            if drawn not in parents[order[place]]:
                parents[order[place]].append(drawn)
        parents[order[place]].sort()
    return order, parents
