"""Who wins, over many data sets: by error bars that do not overlap, or by Wilcoxon's signed ranks."""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ParameterError
from arbornet.evaluate.plots import stacked
from arbornet.given import FrameLike, Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEAST_P = 0.05
#: Signed ranks of so many repetitions without ties are tested exactly.
MOST_EXACT = 50


class Contests(pl.DataFrame):
    """Wins, ties and losses by pair of methods: a Polars frame that draws itself."""

    def plot(self, target: Target = None) -> Axes | None:  # type: ignore[override]
        """A bar per row: on a matplotlib axis, into a file by its ending, or on a new axis."""
        groups = [name for name in self.columns if name not in ("method", "against", "win", "tie", "loss")]
        labels = [
            ", ".join([f"{row['method']} against {row['against']}", *(str(row[name]) for name in groups)])
            for row in self.iter_rows(named=True)
        ]
        return stacked(labels, {name: self[name].to_list() for name in ("win", "tie", "loss")}, "contests", target)


def win_tie_loss(
    results: FrameLike,
    value: str,
    data: str = "data",
    by: Literal["error_bars", "wilcoxon"] = "error_bars",
    higher_is_better: bool = True,
    group: str | None = None,
) -> Contests:
    """Pairwise contests of methods, one per data set.

    Args:
        results: A row per method, data set and repetition, in any frame: columns `method`, the data set, the value, and
            for Wilcoxon the repetitions in the same order for every method.
        value: The column that is compared.
        data: The column that names the data set.
        by: `"error_bars"`: a tie if mean +- standard error of the two overlap; `"wilcoxon"`: a tie if a two-sided
            signed-rank test over the repetitions has p above 0.05 (exact for up to 50 without ties).
            Otherwise the better mean wins.
        higher_is_better: Whether larger values win.
        group: A column, say the sample size, whose values are contests of their own.

    Returns:
        A frame with a row per pair of methods (and group): `method`, `against`, `win`, `tie`, `loss`; `.plot()` draws
        it.

    Raises:
        ParameterError: If a column is missing, or a value is, or values are not numbers.

    Example:
        >>> of = {name: an.evaluate.cross_validate(df, methods).folds for name, df in tables.items()}
        >>> results = pl.concat([folds.with_columns(data=pl.lit(name)) for name, folds in of.items()])
        >>> an.evaluate.win_tie_loss(results, "log_density", by="wilcoxon")
    """
    results = _frame(results)
    if by not in ("error_bars", "wilcoxon"):
        raise ParameterError(f'by={by!r}: choose "error_bars" or "wilcoxon"')
    missing = [name for name in ("method", data, value, *([group] if group else [])) if name not in results.columns]
    if missing:
        raise ParameterError(f"results have no column {missing[0]!r}; they have {', '.join(results.columns)}")
    if not results[value].dtype.is_numeric():
        raise ParameterError(f"value={value!r}: that column holds {results[value].dtype}, where numbers are compared")
    empty = results.filter(pl.col(value).is_null() | pl.col(value).is_nan())
    if empty.height:
        first = empty.row(0, named=True)
        raise ParameterError(
            f"results: {value} of method {first['method']!r} on {first[data]!r} is missing in a repetition; leave that "
            "repetition out for every method"
        )
    groups = results[group].unique(maintain_order=True).to_list() if group else [None]
    rows = []
    for at in groups:
        of = results if group is None else results.filter(pl.col(group) == at)
        values = {
            (str(method), one): numbers
            for (method, one), numbers in (
                (key, part[value].to_numpy()) for key, part in of.group_by(["method", data], maintain_order=True)
            )
        }
        methods = [str(name) for name in of["method"].unique(maintain_order=True)]
        sets = of[data].unique(maintain_order=True).to_list()
        for a, b in combinations(methods, 2):
            contests = [
                _contest(values[a, one], values[b, one], by, higher_is_better)
                for one in sets
                if (a, one) in values and (b, one) in values
            ]
            rows.append(
                ({} if group is None else {group: at})
                | {"method": a, "against": b}
                | {name: contests.count(sign) for name, sign in (("win", 1), ("tie", 0), ("loss", -1))}
            )
    columns: dict[str, pl.DataType | type[pl.DataType]] = {} if group is None else {group: results.schema[group]}
    columns |= {"method": pl.String, "against": pl.String} | dict.fromkeys(("win", "tie", "loss"), pl.Int64)
    return Contests(rows, schema=columns)


def _frame(given: FrameLike) -> pl.DataFrame:
    """Any frame as one of Polars."""
    given = given.collect() if isinstance(given, pl.LazyFrame) else given
    made: Any = given
    return given if isinstance(given, pl.DataFrame) else pl.DataFrame(made)


def _contest(a: NDArray[np.float64], b: NDArray[np.float64], by: str, higher_is_better: bool) -> int:
    """1 if the first wins, -1 if the second, 0 for a tie."""
    better = np.sign(a.mean() - b.mean()) * (1 if higher_is_better else -1)
    tie = _overlap(a, b) if by == "error_bars" else _signed_rank_p(a, b) > LEAST_P
    return 0 if tie else int(better)


def _overlap(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    return bool(abs(a.mean() - b.mean()) <= _error(a) + _error(b))


def _error(values: NDArray[np.float64]) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def _signed_rank_p(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    if len(a) != len(b):
        raise ParameterError(
            f"wilcoxon: one method has {len(a)} repetitions, another {len(b)}; they must be the same ones"
        )
    differences = (a - b)[a != b]
    n = differences.size
    if n == 0:
        return 1.0
    sizes, place, ties = np.unique(np.abs(differences), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[place]
    total = n * (n + 1) / 2
    positive = float(ranks[differences > 0].sum())
    if n == len(a) <= MOST_EXACT and len(sizes) == n:
        return min(1.0, 2 * _at_most(n, int(min(positive, total - positive))))
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties.astype(float) ** 3 - ties).sum()) / 48
    # The distance from the mean is a multiple of a half; the normal one is continuous.
    return math.erfc(max(abs(positive - total / 2) - 0.5, 0.0) / math.sqrt(2 * variance))


def _at_most(n: int, rank_sum: int) -> float:
    """How probable it is that ranks 1 to n, each taken with probability one half, sum to no more."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1.0
    for rank in range(1, n + 1):
        ways[rank:] = ways[rank:] + ways[:-rank]
    return float(ways[: rank_sum + 1].sum()) / 2.0**n
