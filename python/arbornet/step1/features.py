"""Importance of variables for a child by a random forest, and the few of them that are scored as parents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import polars as pl

from arbornet import _core
from arbornet._core import ColumnError, ParameterError, TableHandle
from arbornet.checks import real, whole
from arbornet.given import Progress, TableLike
from arbornet.graphs.constraints import Constraints, Rules, resolved
from arbornet.scores.prepare import positions, table_handle
from arbornet.text.progress import shown

#: Where there are more variables than `MANY`, the forest uses this many ("auto").
PREFILTER = 100
MANY = 200

Selection = Literal["forest"] | Any


def rank_parents(
    table: TableLike,
    child: str | Sequence[str] | None = None,
    *,
    importance: Literal["gain", "permutation"] = "gain",
    n_trees: int = 50,
    prefilter: int | Literal["auto"] | None = "auto",
    share: float = 1 / 3,
    min_leaf: int | None = None,
    constraints: Constraints | Rules | None = None,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> pl.DataFrame:
    """Ranks the possible parents of variables by their importance in random forests that predict the children.

    The ranks depend on the table's values, the parameters and the seed alone: not on the order of the rows, nor on the
    number of threads. Rows with weights are repeated as often as these say; where weights are not whole, in proportion,
    which rows being a matter of their order.

    Args:
        table: a Table.
        child: the variable, or variables, whose parents are ranked; all if left out.
        importance: "gain", how much splits on a variable reduce the impurity (variance, or Gini); or "permutation", the
            rise of the out-of-bag error when its values are permuted, divided by that rise's deviation over the trees.
        n_trees: trees of each forest.
        prefilter: how many variables the forest uses, those of most mutual information with the child; None for all;
            "auto" for 100 where there are more than 200.
        share: the share of variables that a split may choose from.
        min_leaf: the fewest rows of a leaf; by default 5, or one row in 250.
        constraints: only parents that these allow are ranked.
        seed: random seed.
        n_jobs: threads; -1 for all cores.
        progress: True for a bar on a terminal or log lines elsewhere, or a callable of (done, total).

    Returns:
        A frame with the columns ``child``, ``parent``, ``rank`` (from 1) and ``importance``, best first. Variables that
        the prefilter left out stand last, with importance 0.

    Raises:
        ColumnError: if there is no such variable.
        ParameterError: if a parameter is outside its range.

    Example:
        >>> an.rank_parents(table, "readmitted").head()
    """
    handle = table_handle(table)
    wanted = [child] if isinstance(child, str) else child
    children = list(range(len(handle.names))) if wanted is None else positions(handle.names, wanted)
    rules = None if constraints is None else resolved(constraints, handle.names)
    if importance not in ("gain", "permutation"):
        raise ParameterError(f"importance={importance!r}: must be 'gain' or 'permutation'")
    if prefilter == "auto":
        prefilter = PREFILTER if len(handle.names) > MANY else None
    share = real("share", share, above=0)
    if share > 1:
        raise ParameterError(f"share={share!r}: must be above 0 and at most 1")
    with shown("ranking parents", progress) as tell:
        ranked = _core.rank_parents(
            handle,
            children,
            None if rules is None else rules.allowed,
            whole("n_trees", n_trees, 1, 100_000),
            importance,
            None if prefilter is None else whole("prefilter", prefilter, 1, 1_000_000_000),
            share,
            None if min_leaf is None else whole("min_leaf", min_leaf, 1, 1_000_000_000),
            whole("seed", seed, 0, 2**64 - 1),
            n_jobs,
            tell,
        )
    names = pl.Series(handle.names, dtype=pl.String)
    frames = [
        pl.DataFrame(
            {
                "child": pl.repeat(names[v], len(parents), dtype=pl.String, eager=True),
                "parent": names.gather(parents),
                "rank": pl.int_range(1, len(parents) + 1, dtype=pl.UInt32, eager=True),
                "importance": pl.Series(values, dtype=pl.Float64),
            }
        )
        for v, (parents, values) in zip(children, ranked, strict=True)
    ]
    schema = {"child": pl.String, "parent": pl.String, "rank": pl.UInt32, "importance": pl.Float64}
    return pl.concat(frames) if frames else pl.DataFrame(schema=schema)


def selected(
    table: TableLike,
    parents: Selection,
    n_candidates: int,
    constraints: Constraints | Rules | None,
    *,
    seed: int = 0,
    n_jobs: int = -1,
    progress: Progress = None,
) -> Rules:
    """Rules that allow each child its required parents, and the best `n_candidates` of those otherwise allowed.

    Args:
        table: the data.
        parents: "forest", or a frame as `rank_parents` gives it (columns `child`, `parent` and `rank`).
        n_candidates: how many, besides the required ones.
        constraints: constraints that hold in any case.
        seed: random seed of the forests.
        n_jobs: threads.
        progress: as for `rank_parents`.

    Raises:
        ParameterError: if `parents` is neither, or a parameter is outside its range.
    """
    handle: TableHandle = table_handle(table)
    n_candidates = whole("n_candidates", n_candidates, 0, 1_000_000)
    rules = resolved(constraints, handle.names)
    if isinstance(parents, str):
        if parents != "forest":
            raise ParameterError(f"parents={parents!r}: give 'forest', or a frame of ranks as rank_parents makes it")
        ranks = rank_parents(table, constraints=constraints, seed=seed, n_jobs=n_jobs, progress=progress)
    else:
        ranks = parents
    best = _best(ranks, handle.names, rules, n_candidates)
    return Rules(rules.names, rules.required, best, rules.max_parents)


def _best(ranks: Any, names: Sequence[str], rules: Rules, n_candidates: int) -> tuple[tuple[int, ...], ...]:
    columns = getattr(ranks, "columns", ())
    if not {"child", "parent", "rank"} <= set(columns):
        raise ParameterError("parents is not a frame of ranks: it needs the columns 'child', 'parent' and 'rank'")
    position = {name: v for v, name in enumerate(names)}
    of: list[list[tuple[int, int]]] = [[] for _ in names]
    for child, parent, rank in zip(ranks["child"], ranks["parent"], ranks["rank"], strict=True):
        if child not in position or parent not in position:
            missing = child if child not in position else parent
            raise ColumnError(f"the ranks name {missing!r}, which is not a variable of the table")
        of[position[child]].append((int(rank), position[parent]))
    out = []
    for v, ranked in enumerate(of):
        allowed, required = set(rules.allowed[v]), set(rules.required[v])
        optional = [p for _, p in sorted(ranked) if p in allowed and p not in required]
        out.append(tuple(sorted({*required, *optional[:n_candidates]})))
    return tuple(out)
