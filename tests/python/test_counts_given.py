"""What is given as a number of things is whole and within bounds, or refused by the name it was given under."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet import evaluate, search

RANDOM = np.random.default_rng(0)
A = RANDOM.integers(0, 3, 60)
FRAME = pl.DataFrame({"a": A.astype(str), "b": ((A + RANDOM.integers(0, 2, 60)) % 3).astype(str)})
TABLE, SCORE = an.Table(FRAME), an.BDeu()
CANDIDATES = an.score_parents(TABLE, SCORE, 1)
NET = an.fit(TABLE, search.exact(CANDIDATES), SCORE)

Call = Callable[..., Any]
THREADED: dict[str, Call] = {
    "Table": lambda **how: an.Table(FRAME, **how),
    "infer_schema": lambda **how: an.infer_schema(FRAME, **how),
    "encode": lambda **how: NET.schema.encode(FRAME, **how),
    "fit": lambda **how: an.fit(TABLE, search.exact(CANDIDATES), SCORE, **how),
    "learn": lambda **how: an.learn(FRAME, SCORE, **how),
    "score_parents": lambda **how: an.score_parents(TABLE, SCORE, 1, **how),
    "rank_parents": lambda **how: an.rank_parents(TABLE, **how),
    "log_likelihood": lambda **how: NET.log_likelihood(FRAME, **how),
    "sample": lambda **how: NET.sample(2, **how),
    "exact": lambda **how: search.exact(CANDIDATES, **how),
    "anytime": lambda **how: search.anytime(CANDIDATES, rounds=1, **how),
    "hill_climb": lambda **how: search.hill_climb(TABLE, SCORE, **how),
    "boss": lambda **how: search.boss(TABLE, SCORE, **how),
    "pc": lambda **how: search.pc(TABLE, SCORE, **how),
    "chow_liu": lambda **how: an.chow_liu(TABLE, SCORE, **how),
    "decision_graphs": lambda **how: search.decision_graphs(TABLE, **how),
    "arc_strength": lambda **how: evaluate.arc_strength(TABLE, SCORE, n_bootstrap=2, **how),
    "cross_validate": lambda **how: evaluate.cross_validate(FRAME, {"x": evaluate.Method(SCORE)}, folds=2, **how),
    "NaiveBayes": lambda **how: an.NaiveBayes(**how).fit(FRAME.select("a"), FRAME["b"]),
}
COUNTED: list[tuple[Call, str]] = [
    (lambda **how: search.exact(CANDIDATES, **how), "k"),
    (lambda **how: search.k_best(CANDIDATES, **how), "k"),
    *((lambda **how: search.anytime(CANDIDATES, **how), name) for name in ("rounds", "chains", "window", "seed")),
    *((lambda **how: search.boss(TABLE, SCORE, **how), name) for name in ("restarts", "seed")),
    *((lambda **how: search.grasp(TABLE, SCORE, **how), name) for name in ("depth", "uncovered", "restarts", "seed")),
    *(
        (lambda **how: search.hill_climb(TABLE, SCORE, **how), name)
        for name in ("tabu", "patience", "restarts", "perturb", "max_moves", "seed")
    ),
    (lambda **how: search.pc(TABLE, SCORE, **how), "max_given"),
    (lambda **how: search.decision_graphs(TABLE, **how), "max_steps"),
    (lambda **how: evaluate.arc_strength(TABLE, SCORE, **how), "n_bootstrap"),
]


@pytest.mark.parametrize("call", THREADED.values(), ids=THREADED)
@pytest.mark.parametrize("n_jobs", [10**23, -(10**23), 1.5, "two", 0])
def test_a_number_of_threads_that_is_none_is_refused_by_its_name(call, n_jobs):
    with pytest.raises(an.ParameterError, match="n_jobs="):
        call(n_jobs=n_jobs)


@pytest.mark.parametrize(("call", "name"), COUNTED, ids=[f"{i}-{name}" for i, (_, name) in enumerate(COUNTED)])
@pytest.mark.parametrize("value", [10**23, -(10**23), 1.5, "two"])
def test_a_count_that_is_none_is_refused_by_its_name(call, name, value):
    with pytest.raises(an.ParameterError, match=f"{name}="):
        call(**{name: value})


def test_levels_and_bins_are_counted_in_whole_numbers():
    for make in (lambda: an.Binned("x"), lambda: an.Binned(2.5), lambda: an.Categorical(max_levels="x")):  # type: ignore[arg-type]
        with pytest.raises(an.ParameterError, match=r"'x'|2\.5"):
            make()


def test_counts_of_numpy_are_counts():
    assert search.hill_climb(TABLE, SCORE, restarts=np.int64(1), seed=np.uint64(2**64 - 1)).stopped == "finished"
    assert search.k_best(CANDIDATES, np.int32(2)).graphs
