"""Predictions: densities, probabilities, medians, intervals, queries and draws, with gaps and without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl

import arbornet as an
from recorded.book import Book, each
from recorded.tables import Form

#: Rows that are asked about.
ROWS = 12
#: Weighted draws where an answer is sampled.
PARTICLES = 100


def record(form: Form, book: Book) -> None:
    """One line a network."""
    if form.name.startswith("wide"):
        return
    whole = form.frame[:ROWS]
    gappy = gaps(whole)
    for name, net in form.networks.items():
        asked = of_rows(net, form, whole, gappy) | in_general(net, form)
        book.put(f"predictions/{form.name}/{name}", lambda asked=asked: each(asked))


def gaps(frame: pl.DataFrame) -> pl.DataFrame:
    """A third of the values blank, by their places alone."""
    rows = pl.int_range(pl.len())
    return frame.with_columns(
        pl.when((rows + 2 * v) % 3 != 0).then(pl.col(name)).alias(name) for v, name in enumerate(frame.columns)
    )


def of_rows(net: an.BayesNet, form: Form, whole: pl.DataFrame, gappy: pl.DataFrame) -> dict[str, Callable[[], object]]:
    """What a network says of rows."""
    how: Any = {"particles": PARTICLES, "seed": 3, "n_jobs": form.n_jobs}
    asked: dict[str, Callable[[], object]] = {
        "log-likelihood": lambda: net.log_likelihood(whole, **how),
        "by node": lambda: net.log_likelihood(whole, by="node", **how),
        "of gaps": lambda: net.log_likelihood(gappy, **how),
    }
    if levels := form.first("levels"):
        asked["probabilities"] = lambda: net.predict_proba(whole, levels, **how)
        asked["probabilities of gaps"] = lambda: net.predict_proba(gappy, levels, **how)
        asked["levels"] = lambda: net.predict(gappy, levels, **how)
    if number := form.first("numbers"):
        asked["medians"] = lambda: net.predict(gappy, number, **how)
        asked["intervals"] = lambda: net.predict_interval(gappy, number, 0.8, **how)
    return asked


def in_general(net: an.BayesNet, form: Form) -> dict[str, Callable[[], object]]:
    """What a network says without rows."""
    how: Any = {"particles": PARTICLES, "seed": 3}
    asked: dict[str, Callable[[], object]] = {
        "drawn": lambda: net.sample(10, seed=5, n_jobs=form.n_jobs),
        "queries": lambda: [net.query(name, **how) for name in form.names[:3]],
    }
    if (level := form.first("levels")) is None:
        return asked
    value, other, number = form.frame[level][0], form.first("levels", but=level), form.first("numbers")
    asked["drawn given a level"] = lambda: net.sample(5, seed=5, given={level: value}, n_jobs=form.n_jobs)
    asked["event"] = lambda: net.query({level: value}, **how)
    if other is not None:
        asked["of two"] = lambda: net.query([level, other], **how)
        asked["given"] = lambda: net.query(other, given={level: value}, **how)
        asked["set"] = lambda: net.query(other, do={level: value}, **how)
    if number is not None:
        values = form.frame[number]
        low, high = sorted((values[0], values[len(values) // 2]))
        asked["given an interval"] = lambda: net.query(level, given={number: (low, high)}, **how)
    return asked
