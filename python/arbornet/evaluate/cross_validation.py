"""How well a network predicts rows it has not seen: log densities under repeated cross-validation.

Everything in a fold's network (scales, bins, graph, models) is learned from its training rows alone. The columns, their
types and their levels are the same in every fold and for every method: densities of other columns, or of other levels,
could not be compared.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.alike import ByContent
from arbornet.data.schema_text import identity
from arbornet.data.table import Table
from arbornet.data.weights import WeightsAre, WeightsLike
from arbornet.evaluate.journal import campaign
from arbornet.evaluate.methods import Method, Methods, as_methods
from arbornet.evaluate.plots import bars
from arbornet.evaluate.samples import Sampled, check_draws, folds, group_folds, groups_of
from arbornet.given import FrameLike, Progress, SearchLike, Target
from arbornet.step1.effort import Effort
from arbornet.system.cluster import Client
from arbornet.text import notebook
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from arbornet.data.schema import Schema
    from arbornet.graphs.constraints import Constraints


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation(ByContent):
    """Log densities of unseen rows, natural logarithm, higher is better.

    Attributes:
        summary: A row per method: `method`, `log_density` (mean of the folds' means), `standard_error` (of that mean,
            over the folds of all repeats), `n_folds`, `n_left_out`.
        by_variable: A row per method and variable: `method`, `variable`, `log_density` given its parents,
            `standard_error`.
        folds: A row per method, repeat and fold: `method`, `repeat`, `fold`, `n_train`, `n_test`, `n_left_out` (test
            rows without a density: a value is missing), `n_variables`, `n_arcs`, `log_density`.
        rows: A row per method, repeat and test row: `method`, `repeat`, `fold`, `row`, `log_density`, null if left out.
    """

    summary: pl.DataFrame
    by_variable: pl.DataFrame
    folds: pl.DataFrame
    rows: pl.DataFrame

    def __str__(self) -> str:
        return str(self.summary)

    def __repr__(self) -> str:
        best = self.summary.sort("log_density", descending=True, nulls_last=True, maintain_order=True).row(
            0, named=True
        )
        methods = f"{self.summary.height} method{'s' if self.summary.height != 1 else ''}"
        says = f"{best['log_density']:.6g} ± {best['standard_error']:.2g}"
        return f"CrossValidation({methods}, {best['n_folds']} folds, best log density a row: {best['method']}, {says})"

    def _repr_html_(self) -> str:
        rows = (
            (of["method"], f"{of['log_density']:.6g}", f"{of['standard_error']:.2g}", of["n_folds"], of["n_left_out"])
            for of in self.summary.iter_rows(named=True)
        )
        head = ("method", "log density a row", "standard error", "folds", "rows left out")
        return notebook.table(head, rows, "Of unseen rows, natural logarithm: higher is better.")

    def plot(self, target: Target = None) -> Axes | None:
        """Means with their standard errors: on a matplotlib axis, into a file by its ending, or on a new axis."""
        return bars(self.summary, "method", "log_density", "standard_error", "log density per row", target)


@helpful
def cross_validate(
    frame: FrameLike | Table,
    score: Methods = None,
    folds: int = 10,
    repeats: int = 5,
    seed: int = 0,
    *,
    groups: str | Sequence[Any] | None = None,
    search: SearchLike = "exact",
    max_parents: int | Literal["auto"] = "auto",
    constraints: Constraints | None = None,
    schema: Schema | None = None,
    missing: Literal["drop", "error", "level", "learn"] = "drop",
    standardise: bool = True,
    resume: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: Progress = None,
    effort: Effort | None = None,
    weights: WeightsLike | None = None,
    weights_are: WeightsAre = "frequency",
    client: Client | None = None,
) -> CrossValidation:
    """Learns networks from parts of a frame and measures how well they predict the rest.

    Args:
        frame: Any frame, or a Table; means over test rows are weighted by its weights, if it has some.
        score: A score (that of `learn` if left out), a `Method`, a function that makes a BayesNet of a Table, or a
            mapping of names to any of them, which are then compared on the same folds.
        folds: Parts of about equal size; each is predicted from all others.
        repeats: How often the rows are split anew.
        seed: Random seed of the folds.
        groups: A column whose rows of one value stay in one fold, such as a patient's identifier, or such a value for
            each row: rows of one patient are not independent, and would make predictions look better than they are.
        search: As for `learn`.
        max_parents: As for `learn`.
        constraints: As for `learn`.
        schema: Types, and levels where it states them. If left out, both are those of all rows. A level that the
            training rows lack has the probability its model's prior gives it, and so has a column that is constant
            there. A parent that a score refuses on all rows, for its many levels, is refused in every fold.
        missing: As for `Table`, where test rows that lack a value are left out; or `"learn"` to learn from all rows as
            `learn` does, and to measure how well what each test row has is predicted: the log density of its known
            values, and of a variable in the rows in which it and its parents are known.
        standardise: As for `Table`; densities are in the frame's own units either way.
        resume: A file that keeps finished folds; run again with it, only the others are computed.
        n_jobs: Threads, -1 for all cores.
        progress: True to show a bar (log lines where there is no terminal).
        effort: As for `learn`, for each network.
        weights: How often each row counts, as for `Table`; in learning, and in the means over test rows.
        weights_are: As for `Table`.
        client: A `distributed.Client` whose workers learn the networks, one a thread; `n_jobs` counts no longer then.

    Returns:
        Frames with the log densities by method, variable, fold and row; `.plot()` draws the summary.

    Example:
        >>> an.evaluate.cross_validate(df, {"trees": an.PCART(), "tables": an.FullTable()}, repeats=1).summary
    """
    methods = as_methods(score, search=search, max_parents=max_parents, constraints=constraints, effort=effort)
    sampled = Sampled(frame, schema, missing, standardise, weights, weights_are)
    _check(folds, repeats, seed, sampled.n_rows)
    if sampled.has_gaps:
        rows = sampled.with_gaps()
        whole = rows if isinstance(rows, Table) else rows.as_if_complete()
        sampled = sampled.like(rows)
    else:
        whole = sampled.table()
        sampled = sampled.like(whole)
    on_parts = {name: method.refusing(whole) for name, method in methods.items()}
    jobs = [(name, repeat, fold) for repeat in range(repeats) for fold in range(folds) for name in methods]
    together = None if groups is None else groups_of(frame, groups, sampled.n_rows)
    parts = [_parts(sampled.n_rows, folds, repeat, seed, together) for repeat in range(repeats)]

    def work(job: tuple[str, int, int], n_threads: int) -> dict[str, Any]:
        name, repeat, fold = job
        test = parts[repeat][fold]
        train = np.setdiff1d(np.arange(sampled.n_rows), test)
        return _fold(sampled, on_parts[name], train, test, n_threads)

    about = {
        "kind": "cross_validate",
        "rows": "" if resume is None else sampled.fingerprint(),
        "schema": "" if sampled.schema is None else identity(sampled.schema),
        "methods": {name: method.text() for name, method in methods.items()},
        "folds": folds,
        "repeats": repeats,
        "seed": seed,
        **({} if together is None else {"groups": hashlib.sha256(together.tobytes()).hexdigest()}),
    }
    results = campaign("cross-validating", work, jobs, about, resume, n_jobs, progress, client)
    return _collected(jobs, results, parts)


def _parts(n_rows: int, n_folds: int, repeat: int, seed: int, groups: NDArray[np.int64] | None) -> list[Any]:
    if groups is None:
        return folds(n_rows, n_folds, repeat, seed)
    if (n_groups := int(groups.max()) + 1) < n_folds:
        raise ParameterError(f"folds={n_folds}: there are {n_groups} groups only; give fewer folds")
    return group_folds(groups, n_folds, repeat, seed)


def _check(n_folds: int, repeats: int, seed: int, n_rows: int) -> None:
    if isinstance(n_folds, bool) or not isinstance(n_folds, int) or not 2 <= n_folds <= n_rows:
        raise ParameterError(f"folds={n_folds!r}: give an integer from 2 to the number of rows, {n_rows:,}")
    check_draws(repeats, seed, n_rows)


def _fold(sampled: Sampled, method: Method, train: Any, test: Any, n_threads: int) -> dict[str, Any]:
    if sampled.has_gaps:
        return _fold_with_gaps(sampled, method, train, test, n_threads)
    table = sampled.table(train, n_threads=n_threads)
    net, _ = method.network(table, n_threads)
    weights = None if sampled.weights is None else sampled.weights[test]
    densities = net.log_likelihood(sampled.take(test), by="node", unseen="missing", output="polars", n_jobs=n_threads)
    # Only complete rows count, so that sums over variables are sums of the same rows.
    known = densities.filter(pl.all_horizontal(pl.all().is_not_null()))
    whole = densities.select(pl.all_horizontal(pl.all().is_not_null()).alias("whole"))["whole"]
    totals = densities.sum_horizontal()
    return {
        "n_train": table.n_rows,
        "rows": [total if scored else None for total, scored in zip(totals, whole, strict=True)],
        "by_variable": {
            name: _mean(known[name].to_list(), _weighs(weights, whole.to_list())) for name in known.columns
        },
        **({} if weights is None else {"weights": weights.tolist()}),
        "n_arcs": net.graph.number_of_edges(),
    }


def _fold_with_gaps(sampled: Sampled, method: Method, train: Any, test: Any, n_threads: int) -> dict[str, Any]:
    """The figures of a fold whose rows lack some values: each row counts by what it has."""
    rows = sampled.with_gaps(train, n_threads)
    net = method.with_gaps(rows, n_threads)
    weights = None if sampled.weights is None else sampled.weights[test]
    frame = sampled.take(test)
    densities = net.log_likelihood(frame, by="node", unseen="missing", output="polars", n_jobs=n_threads)
    totals = net.log_likelihood(frame, unseen="missing", n_jobs=n_threads)
    known = {name: densities[name].is_not_null() for name in densities.columns}
    return {
        "n_train": rows.n_rows,
        "rows": totals.tolist(),
        "by_variable": {
            name: _mean(densities[name].filter(known[name]).to_list(), _weighs(weights, known[name].to_list()))
            for name in densities.columns
        },
        **({} if weights is None else {"weights": weights.tolist()}),
        "n_arcs": net.graph.number_of_edges(),
    }


def _weighs(weights: NDArray[np.float64] | None, scored: Sequence[bool]) -> NDArray[np.float64] | None:
    return None if weights is None else weights[np.array(scored, dtype=bool)]


def _mean(values: list[float], weights: NDArray[np.float64] | None = None) -> float | None:
    if weights is not None and values and all(map(math.isfinite, values)):
        return math.fsum(np.array(values) * weights) / math.fsum(weights)
    return math.fsum(values) / len(values) if values and all(map(math.isfinite, values)) else _odd(values)


def _of_scored(result: dict[str, Any]) -> NDArray[np.float64] | None:
    """The weights of the test rows that have a density, if rows have weights."""
    if "weights" not in result:
        return None
    return _weighs(np.array(result["weights"]), [value is not None for value in result["rows"]])


def _odd(values: list[float]) -> float | None:
    return -math.inf if values else None


def _collected(jobs: list[tuple[str, int, int]], results: list[dict[str, Any]], parts: list[Any]) -> CrossValidation:
    by_fold, by_row, by_variable = [], [], []
    for (name, repeat, fold), result in zip(jobs, results, strict=True):
        scored = [value for value in result["rows"] if value is not None]
        here = {"method": name, "repeat": repeat, "fold": fold}
        by_fold.append(
            here
            | {
                "n_train": result["n_train"],
                "n_test": len(result["rows"]),
                "n_left_out": len(result["rows"]) - len(scored),
                "n_variables": len(result["by_variable"]),
                "n_arcs": result["n_arcs"],
                "log_density": _mean(scored, _of_scored(result)),
            }
        )
        rows = zip(parts[repeat][fold].tolist(), result["rows"], strict=True)
        by_row.append(
            pl.DataFrame(list(rows), schema={"row": pl.Int64, "log_density": pl.Float64}, orient="row").select(
                pl.lit(name).alias("method"),
                pl.lit(repeat).alias("repeat"),
                pl.lit(fold).alias("fold"),
                "row",
                "log_density",
            )
        )
        by_variable += [
            {"method": name, "variable": variable, "log_density": value}
            for variable, value in result["by_variable"].items()
        ]
    floats = {"log_density": pl.Float64}
    per_fold = pl.DataFrame(by_fold, schema_overrides=floats)
    per_variable = pl.DataFrame(by_variable, schema_overrides=floats)
    summary = _means(per_fold, ["method"]).join(
        per_fold.group_by("method", maintain_order=True).agg(
            pl.len().alias("n_folds"), pl.col("n_left_out").sum().alias("n_left_out")
        ),
        on="method",
        maintain_order="left",
    )
    return CrossValidation(summary, _means(per_variable, ["method", "variable"]), per_fold, pl.concat(by_row))


def _means(frame: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Means over folds, with the standard error of the mean."""
    density = pl.col("log_density")
    return frame.group_by(by, maintain_order=True).agg(
        density.mean(), (density.std() / density.count().sqrt()).alias("standard_error")
    )
