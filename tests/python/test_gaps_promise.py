"""Of wide tables with gaps the start looks at the parents that promise most, and the promises are likelihood ratios."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.incomplete import Incomplete
from arbornet.gaps.promise import promises
from arbornet.gaps.start import available
from arbornet.graphs.constraints import resolved


def wide(n_pairs: int = 15, n: int = 300) -> pl.DataFrame:
    """Pairs of columns that go together; what is in between is noise, with more gaps."""
    rng = np.random.default_rng(1)
    columns: dict[str, object] = {}
    for i in range(n_pairs):
        x = rng.normal(size=n).round(3)
        columns[f"x{i}"] = np.where(rng.random(n) < 0.1, np.nan, x)
        columns[f"y{i}"] = np.where(rng.random(n) < 0.1, np.nan, (x + rng.normal(0, 0.3, n)).round(3))
        columns[f"noise{i}"] = np.where(rng.random(n) < 0.4, np.nan, rng.normal(size=n).round(3))
    return pl.DataFrame(columns)


def test_a_promise_is_the_likelihood_ratio_of_classes_less_what_freedom_costs() -> None:
    a = ["p", "q", "p", None, "q", "p", "q", "q", "p", "p", None, "q"]
    b = ["u", "v", "u", "u", "v", None, "v", "u", "u", "v", "v", "w"]
    made = promises(Incomplete({"a": a, "b": b}))
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]

    def log_likelihood(values: list[object]) -> float:
        return sum(values.count(value) * math.log(values.count(value) / len(values)) for value in set(values))

    ratio = log_likelihood(list(both)) - log_likelihood([x for x, _ in both]) - log_likelihood([y for _, y in both])
    assert made[0, 1] == pytest.approx(ratio - 0.5 * 2 * math.log(len(both)))
    assert made[1, 0] == made[0, 1]


def test_numbers_go_by_rank_and_the_order_of_rows_makes_no_difference() -> None:
    frame = wide(4)
    made = promises(Incomplete(frame))
    skewed = frame.with_columns(pl.all().exp())
    assert promises(Incomplete(skewed)) == pytest.approx(made)
    assert np.array_equal(promises(Incomplete(frame.sample(fraction=1.0, shuffle=True, seed=3))), made)


@pytest.mark.parametrize("steps", [4e7, 1e8])
def test_what_the_budget_suffices_for_is_what_promises_most(steps: float, monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = Incomplete(wide())
    rules = resolved(None, gaps.names)
    few = available(gaps, an.PCART(), rules, 2, steps, 1)
    assert few is not None
    assert few.n_kept < 45 * 5
    graph = an.search.exact(few, n_jobs=1).dag
    assert all(graph.has_edge(f"x{i}", f"y{i}") or graph.has_edge(f"y{i}", f"x{i}") for i in range(15))
    # Without the promises the budget goes to others.
    monkeypatch.setattr("arbornet.gaps.start.promises", lambda gaps: np.zeros((45, 45)))
    blind = available(gaps, an.PCART(), rules, 2, steps, 1)
    assert blind is not None
    blind_graph = an.search.exact(blind, n_jobs=1).dag
    assert sum(blind_graph.has_edge(f"x{i}", f"y{i}") or blind_graph.has_edge(f"y{i}", f"x{i}") for i in range(15)) < 8
