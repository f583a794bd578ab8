"""The same bytes for any number of threads, chunks, order of rows, hash seed and Python, over methods of every family.

    python campaigns/determinism.py [python ...]

Runs itself under several hash seeds, and under any further Python given (one that has the package installed), and
compares what all of them print. What depends on the order of the rows by its nature (parts of the rows, draws of them,
answers row by row) is not compared for shuffled rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import polars as pl

import arbornet as an

THREADS = (1, 2, 8)
SEEDS = ("0", "1", "4242")


def frames() -> Iterator[tuple[str, pl.DataFrame]]:
    """The same rows whole, in chunks, and in another order."""
    frame = an.example("penguins").drop_nulls()
    yield "whole", frame
    yield "chunked", pl.concat([frame[i : i + 37] for i in range(0, len(frame), 37)], rechunk=False)
    yield "shuffled", frame.sample(fraction=1.0, shuffle=True, seed=3)


def told(found: Any) -> object:
    """What is compared of a search's result."""
    return [sorted(found.dag.edges), sorted(found.cpdag.edges), repr(found.score)]


def network(net: an.BayesNet) -> object:
    """Every bit of a network; without what its file says of the run."""
    return json.loads(net.handle.to_json())


def rows_of(frame: pl.DataFrame) -> object:
    """Floats by all their digits."""
    return [repr(row) for row in frame.rows()]


def of_tables(frame: pl.DataFrame, n_jobs: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Methods that see the rows as a set."""
    table = an.Table(frame, n_jobs=n_jobs)
    levels = an.Table(frame.select(pl.col(pl.String)), n_jobs=n_jobs)
    numbers = an.Table(frame.select(pl.col(pl.Float64)), n_jobs=n_jobs)
    scores = {
        "pcart": (table, an.PCART()),
        "full table": (table, an.FullTable()),
        "conditional Gaussian": (table, an.ConditionalGaussian()),
        "degenerate Gaussian": (table, an.DegenerateGaussian()),
        "polynomial": (table, an.MixedPolynomial()),
        "logistic regression": (table, an.LogisticRegression()),
        "basis functions": (table, an.BasisFunctions()),
        "MARS": (numbers, an.MARS()),
        "bdeu": (levels, an.BDeu(10)),
        "qnml": (levels, an.QNML()),
        "decision graph": (levels, an.DecisionGraph()),
    }
    for name, (of, score) in scores.items():
        kept = an.score_parents(of, score, 2, n_jobs=n_jobs)
        yield name, lambda of=of, kept=kept: [kept.child(v).rows() for v in of.names]
        yield f"{name}, exact", lambda kept=kept: told(an.search.exact(kept, n_jobs=n_jobs))
        yield f"{name}, k best", lambda kept=kept: [told(found) for found in an.search.k_best(kept, 20)]
        yield (
            f"{name}, hill climbing",
            lambda of=of, score=score: told(an.search.hill_climb(of, score, max_parents=2, restarts=2, n_jobs=n_jobs)),
        )
        yield f"{name}, anytime", lambda kept=kept: told(an.search.anytime(kept, rounds=5, n_jobs=n_jobs))
    gaussian = an.DegenerateGaussian()
    for search in (an.search.fges, an.search.boss, an.search.grasp):
        yield search.__name__, lambda search=search: told(search(table, gaussian, n_jobs=n_jobs))
    for search in (an.search.pc, an.search.cpc):
        for score in (None, an.MixedPolynomial(), gaussian):
            yield (
                f"{search.__name__}, {score!r}",
                lambda search=search, score=score: told(search(table, score, n_jobs=n_jobs)),
            )
    for importance in ("gain", "permutation"):
        ranks = an.rank_parents(table, importance=importance, n_trees=8, n_jobs=n_jobs)
        yield f"forest, {importance}", lambda ranks=ranks: rows_of(ranks)
    asked: Any = {"max_parents": "auto", "parents": "forest", "n_candidates": 3, "n_jobs": n_jobs}
    for name, of, score in [("pcart", table, an.PCART()), ("MARS", table, an.MARS())]:
        some = an.score_parents(of, score, **asked)
        yield f"{name} among a forest's", lambda some=some: [some.child(v).rows() for v in table.names]
    yield "chow-liu", lambda: told(an.search.chow_liu(levels, an.BDeu(1), n_jobs=n_jobs))
    yield "tan", lambda: told(an.search.tan(table, "species", an.PCART(), n_jobs=n_jobs))
    for name, (of, score) in scores.items():
        yield (
            f"{name}, network",
            lambda of=of, score=score: network(an.learn(of, score, max_parents=2, n_jobs=n_jobs, verbose=False)),
        )
    net = an.learn(table, an.PCART(), max_parents=2, n_jobs=n_jobs, verbose=False)
    yield "draws", lambda: rows_of(net.sample(50, seed=3))
    yield "draws given a child", lambda: rows_of(net.sample(50, seed=3, given={"sex": "male"}))
    yield "query", lambda: rows_of(net.query("species", given={"sex": "male"}))
    yield "query of a set", lambda: rows_of(net.query(["species", "sex"], do={"island": "Dream"}))
    yield "bif", lambda: net.to_bif(bins=4)


def of_rows(frame: pl.DataFrame, n_jobs: int) -> Iterator[tuple[str, Callable[[], object]]]:
    """Methods that answer row by row, or part the rows."""
    net = an.learn(an.Table(frame), an.PCART(), max_parents=2, n_jobs=n_jobs, verbose=False)
    yield "densities", lambda: net.log_likelihood(frame).tobytes().hex()
    yield "probabilities", lambda: rows_of(net.predict_proba(frame.drop("species"), "species"))
    yield "predictions", lambda: [repr(v) for v in net.predict(frame.drop("body_mass_g"), "body_mass_g").to_list()]
    yield "intervals", lambda: rows_of(net.predict_interval(frame.drop("body_mass_g"), "body_mass_g"))
    few = frame.select("species", "sex", "bill_length_mm", "body_mass_g")
    compared = {"trees": an.PCART(), "tables": an.FullTable()}
    yield (
        "cross-validation",
        lambda: rows_of(an.evaluate.cross_validate(few, compared, 3, 1, n_jobs=n_jobs).summary),
    )
    yield (
        "intersection validation",
        lambda: rows_of(an.evaluate.intersection_validation(few, compared, (0.3, 0.6), 2, n_jobs=n_jobs).distances),
    )
    yield "arc strength", lambda: rows_of(an.evaluate.arc_strength(few, n_bootstrap=4, n_jobs=n_jobs))
    X, y = frame.drop("species"), frame["species"]
    for classifier in (an.NaiveBayes(n_jobs=n_jobs), an.TANClassifier(an.K2(), n_jobs=n_jobs)):
        yield (
            type(classifier).__name__,
            lambda classifier=classifier: classifier.fit(X, y).predict_proba(X).tobytes().hex(),
        )
    yield "ChowLiu", lambda: an.ChowLiu(an.PCART(), n_jobs=n_jobs).fit(X).score_samples(X).tobytes().hex()


def one(threads: list[int]) -> None:
    """All methods of this process, a line each."""
    warnings.simplefilter("ignore")
    for kind, frame in frames():
        for n_jobs in threads:
            made = list(of_tables(frame, n_jobs)) + ([] if kind == "shuffled" else list(of_rows(frame, n_jobs)))
            for name, method in made:
                digest = hashlib.sha256(repr(method()).encode()).hexdigest()
                print(f"{name}|{kind}, {n_jobs} threads|{digest}", flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print("python", platform.python_version())
        one([int(n) for n in sys.argv[2].split(",")])
        return
    digests: dict[str, dict[str, list[str]]] = {}
    results = 0
    # Another Python needs no more than one hash seed and the extremes of threads.
    plans = [(sys.executable, seed, THREADS) for seed in SEEDS] + [(of, "7", (1, 8)) for of in sys.argv[1:]]
    for python, seed, threads in plans:
        ran = subprocess.run(
            [python, __file__, "--one", ",".join(map(str, threads))],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        version, *lines = ran.stdout.splitlines()
        print(f"{version}, hash seed {seed}: {len(lines)} results", flush=True)
        for line in lines:
            name, run, digest = line.split("|")
            digests.setdefault(name, {}).setdefault(digest, []).append(f"{version}, hash seed {seed}, {run}")
            results += 1
    different = {name: seen for name, seen in digests.items() if len(seen) > 1}
    print(f"{results} results, {len(digests)} methods, {len(different)} of them with several results")
    for name, seen in different.items():
        print(f"{name}:")
        for digest, runs in seen.items():
            print(f"  {digest[:8]}: {len(runs)} runs, such as {runs[0]}")
    if different:
        sys.exit(1)


if __name__ == "__main__":
    main()
