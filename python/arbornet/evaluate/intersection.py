"""Learning curves of structure without a true graph: intersection-validation (Viinikka, Eggeling, Koivisto 2018).

All methods learn from all rows. The pairs of variables on which their equivalence classes agree, arcs and non-arcs, are
the reference; then each method learns from smaller and smaller samples, and the pairs it gets wrong are counted.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from arbornet._core import ParameterError
from arbornet.alike import ByContent
from arbornet.data.table import Table
from arbornet.evaluate.hamming import Pairs, agreed, pairs_of, partial_hamming
from arbornet.evaluate.journal import campaign
from arbornet.evaluate.methods import Method, Methods, as_methods
from arbornet.evaluate.plots import curves
from arbornet.evaluate.samples import Rows, Sampled, check_draws, subsample
from arbornet.given import FrameLike, Progress, SearchLike, Target
from arbornet.step1.effort import Effort
from arbornet.system.cluster import Client
from arbornet.text import notebook

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from arbornet.data.schema import Schema
    from arbornet.graphs.constraints import Constraints

FRACTIONS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64)


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurves(ByContent):
    """Distances of learned graphs from a reference.

    Attributes:
        curves: A row per method and sample size: `method`, `n_rows` (and `fraction` of the rows, where they are those
            of a frame), `distance` (mean), `standard_error`, `repeats`.
        distances: A row per method, sample size and repeat.
        reference: A row per pair of variables whose relation is known: `first`, `second`, `relation` ("none",
            "first -> second", "second -> first", "either way").
        n_pairs: Pairs of variables in all.
    """

    curves: pl.DataFrame
    distances: pl.DataFrame
    reference: pl.DataFrame
    n_pairs: int

    def __str__(self) -> str:
        return f"{self.curves}\nreference: {self.reference.height} of {self.n_pairs} pairs of variables"

    def __repr__(self) -> str:
        methods, sizes = (self.curves[of].n_unique() for of in ("method", "n_rows"))
        pairs = f"{self.reference.height} of {self.n_pairs} pairs of variables"
        return f"LearningCurves({methods} methods, {sizes} numbers of rows, {pairs})"

    def _repr_html_(self) -> str:
        sizes = self.curves["n_rows"].unique().sort().to_list()
        cells = {
            (of["method"], of["n_rows"]): f"{of['distance']:.4g} ± {of['standard_error']:.2g}"
            for of in self.curves.iter_rows(named=True)
        }
        methods = self.curves["method"].unique(maintain_order=True).to_list()
        rows = ((method, *(cells.get((method, size), "") for size in sizes)) for method in methods)
        below = (
            f"Mean Hamming distance ± its standard error, {self.reference.height} of {self.n_pairs} pairs of variables."
        )
        return notebook.table(("method", *(f"{size:,} rows" for size in sizes)), rows, below)

    def plot(self, target: Target = None) -> Axes | None:
        """Curves over the number of rows: on a matplotlib axis, into a file by its ending, or on a new axis."""
        whole = self.reference.height == self.n_pairs
        label = "structural Hamming distance" if whole else "partial Hamming distance"
        return curves(self.curves, "n_rows", "distance", "standard_error", "rows", label, target)


def intersection_validation(
    frame: FrameLike | Table,
    methods: Methods,
    fractions: Sequence[float] = FRACTIONS,
    repeats: int = 10,
    seed: int = 0,
    *,
    search: SearchLike = "exact",
    max_parents: int | Literal["auto"] = "auto",
    constraints: Constraints | None = None,
    schema: Schema | None = None,
    missing: Literal["drop", "error", "level"] = "drop",
    standardise: bool = True,
    resume: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    effort: Effort | None = None,
    client: Client | None = None,
) -> LearningCurves:
    """Learning curves of the partial Hamming distance.

    Args:
        frame: Any frame, or a Table. Types, levels and bins are those of all rows; numbers are scaled in each sample.
        methods: A mapping of names to scores, `Method`s, or functions that make a graph of a Table. At least two.
        fractions: Sizes of the samples, as parts of all rows.
        repeats: Samples of each size. In a repeat, all methods see the same rows, smaller samples within larger ones.
        seed: Random seed of the samples.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        schema: As for `Table`.
        missing: As for `Table`.
        standardise: As for `Table`.
        resume: A file that keeps finished results; run again with it, only the rest is computed.
        n_jobs: Threads, -1 for all cores.
        progress: True to show a bar (log lines where there is no terminal).
        effort: As for `learn`, for each network.
        client: A `distributed.Client` whose workers learn the networks, one a thread; `n_jobs` counts no longer then.

    Example:
        >>> an.evaluate.intersection_validation(df, {"trees": an.PCART(), "tables": an.FullTable()}).plot("curves.svg")
    """
    compared = as_methods(methods, search=search, max_parents=max_parents, constraints=constraints, effort=effort)
    if len(compared) < 2:
        raise ParameterError("methods: give at least two; the reference is what they agree on")
    sampled = Sampled(frame, schema, missing, standardise)
    whole = sampled.table()
    complete = Sampled(whole, None, missing, standardise)
    on_parts = {name: method.refusing(whole) for name, method in compared.items()}
    sizes = {fraction: _size(fraction, complete.n_rows) for fraction in fractions}
    check_draws(repeats, seed)
    jobs: list[tuple[str, float | None, int]] = [(name, None, 0) for name in compared]
    jobs += [(name, f, repeat) for repeat in range(repeats) for f in sizes for name in compared]

    def work(job: tuple[str, float | None, int], n_threads: int) -> list[int]:
        name, fraction, repeat = job
        rows = None if fraction is None else subsample(complete.n_rows, sizes[fraction], repeat, seed)
        table = complete.table(rows, n_threads=n_threads)
        return learned_pairs(on_parts[name], table, n_threads)

    about = {
        "kind": "intersection_validation",
        "rows": "" if resume is None else complete.fingerprint(),
        "methods": {name: method.text() for name, method in compared.items()},
        "fractions": list(sizes),
        "repeats": repeats,
        "seed": seed,
    }
    results = campaign("learning from samples", work, jobs, about, resume, n_jobs, progress, client)
    pairs = [np.array(result, dtype=np.int8) for result in results]
    full = pairs[: len(compared)]
    known = agreed(full)
    rows = [
        {"method": name, "n_rows": sizes[f], "fraction": f, "repeat": r, "distance": partial_hamming(p, full[0], known)}
        for (name, f, r), p in zip(jobs, pairs, strict=True)
        if f is not None
    ]
    rows += [
        {"method": name, "n_rows": complete.n_rows, "fraction": 1.0, "repeat": 0, "distance": 0} for name in compared
    ]
    distances = pl.DataFrame(rows)
    return LearningCurves(
        mean_curves(distances, ["method", "n_rows", "fraction"], list(compared)),
        distances,
        relations(whole.names, full[0], known),
        len(known),
    )


def learned_pairs(method: Method, table: Table, n_threads: int) -> list[int]:
    """How a method joins each pair of variables."""
    learned: list[int] = pairs_of(method.graph(table, n_threads), table.names).tolist()
    return learned


def _size(fraction: float, n_rows: int) -> int:
    if not 0 < fraction <= 1 or int(fraction * n_rows) < 1:
        raise ParameterError(f"fractions: {fraction!r} of {n_rows:,} rows is not a sample; give numbers in (0, 1]")
    return int(fraction * n_rows)


def mean_curves(distances: pl.DataFrame, by: list[str], methods: list[str]) -> pl.DataFrame:
    """Mean distances with their standard errors, methods in their order, small samples first."""
    distance = pl.col("distance")
    place = {name: i for i, name in enumerate(methods)}
    return (
        distances.group_by(by, maintain_order=True)
        .agg(
            distance.mean().alias("mean"),
            (distance.std() / distance.count().sqrt()).alias("standard_error"),
            pl.len().alias("repeats"),
        )
        .rename({"mean": "distance"})
        .sort(pl.col("method").replace_strict(place), "n_rows")
    )


def relations(names: list[str], pairs: Pairs, known: Rows | Any) -> pl.DataFrame:
    """The pairs that are known, in words."""
    words = np.array(["none", "first -> second", "second -> first", "either way"])
    first, second = np.triu_indices(len(names), 1)
    labels = np.array(names, dtype=object)
    return pl.DataFrame(
        {
            "first": labels[first[known]].tolist(),
            "second": labels[second[known]].tolist(),
            "relation": words[pairs[known]].tolist(),
        },
        schema={"first": pl.String, "second": pl.String, "relation": pl.String},
    )
