"""Scores for mixed tables, classifiers and answers of networks on random odd tables, against literal Python.

    python campaigns/oracles.py mixed 2000        # so many tables, every family of each
    python campaigns/oracles.py classifiers 2000

The third argument is the seed (1). The literal twins of the scores are those of `tests/python/mixed_literal.py`; where
a twin has no answer (too few rows for its formula) the family is not compared, and not counted.
"""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl

import arbornet as an
from arbornet import _core

sys.path.insert(0, str(Path(__file__).parents[1] / "tests/python"))
import mixed_literal as literal

Twin = Callable[[literal.Data, int, list[int]], float]


def odd(rng: np.random.Generator) -> literal.Data:
    """Two or three numbers and as many levels: ties, twins, near twins, constants, levels that never come, units."""
    n = int(rng.integers(20, 250))
    numbers = [rng.normal(size=n) for _ in range(rng.integers(1, 4))]
    numbers[0] += 0.5 * numbers[-1] ** 2
    codes = []
    for _ in range(rng.integers(1, 4)):
        k = int(rng.integers(1, 5))
        codes.append((np.minimum(rng.integers(0, k, n), int(rng.integers(0, k)) if rng.random() < 0.2 else k), k))
    if rng.random() < 0.5 and codes[0][1] > 1:
        codes[0] = ((numbers[-1] > 0).astype(int), codes[0][1])
    match int(rng.integers(0, 8)):
        case 0:
            numbers[0] = np.round(2 * numbers[0])
        case 1:
            numbers[0] = 3 * numbers[-1] + 1
        case 2:
            numbers[0] = numbers[-1] + 1e-3 * rng.normal(size=n)
        case 3:
            numbers[0] = np.full(n, 1.5)
        case 4:
            codes[-1] = (np.zeros(n, dtype=int), codes[-1][1])
        case 5:
            numbers[0] = np.where(codes[0][0] == 0, 0.0, numbers[0])
    return literal.Data([*numbers, *(code for code, _ in codes)], [0] * len(numbers) + [k for _, k in codes])


def singular(data: literal.Data, members: list[int], least: float = 1e-6) -> bool:
    """Whether the numbers among them, within a cell large enough or pooled, all but depend on one another."""
    discrete, numbers = data.split(members)
    scatters = []
    for rows in data.cells(discrete):
        x = data.matrix(numbers, rows)
        x = x - x.mean(axis=0)
        scatters.append((len(rows), x.T @ x))
    scatters = [(n, s) for n, s in scatters if n >= len(numbers) + 2] + [(data.n, sum(s for _, s in scatters))]
    return bool(numbers) and any(float(np.linalg.eigvalsh(s / n)[0]) < least for n, s in scatters)


def gaussian(data: literal.Data, child: int, parents: list[int], **how: bool) -> float:
    """Literal, where no rounding decides which covariance a cell gets."""
    if singular(data, [*parents, child]) or singular(data, parents):
        return math.nan
    return literal.conditional_gaussian(data, child, parents, **how)


def discretised(data: literal.Data, child: int, parents: list[int]) -> float:
    return gaussian(data, child, parents, discretise=True)


def degenerate(data: literal.Data, child: int, parents: list[int]) -> float:
    """Literal, where the covariance has full rank."""
    if any(data.levels[v] == 1 for v in [*parents, child]):
        return math.nan
    together = literal._indicators(data, [*parents, child])
    values = np.linalg.eigvalsh(np.cov(together.T, ddof=0).reshape(together.shape[1], -1))
    return literal.degenerate_gaussian(data, child, parents) if values[0] > 1e-4 * values[-1] else math.nan


def mixture(data: literal.Data, child: int, parents: list[int]) -> float:
    discrete, numbers = data.split(parents)
    small = not numbers or not data.levels[child] or len(numbers) + 2 > min(map(len, data.cells([*discrete, child])))
    return math.nan if small or singular(data, [*parents, child]) else literal.exact_mixture(data, child, parents)


def polynomial(data: literal.Data, child: int, parents: list[int]) -> float:
    discrete, numbers = data.split(parents)
    if len(numbers) + 6 >= min(map(len, data.cells(discrete))) or data.levels[child] == 1:
        return math.nan
    for rows in data.cells(discrete):
        design = literal._design(data.matrix(numbers, rows), 1)
        own = np.asarray(data.columns[child], dtype=float)[rows]
        values = np.linalg.svd(design, compute_uv=False)
        left = own - design @ np.linalg.lstsq(design, own, rcond=None)[0]
        if values[-1] < 1e-4 * values[0] or float(left @ left) < 1e-6 * len(rows):
            return math.nan
        if data.levels[child] and len(np.unique(own)) < data.levels[child]:
            return math.nan
    return literal.complete_polynomial(data, child, parents, 1)


TWINS: list[tuple[object, Twin]] = [
    (an.ConditionalGaussian(), gaussian),
    (an.ConditionalGaussian(discretise=True), discretised),
    (an.ConditionalGaussian(exact=True), mixture),
    (an.DegenerateGaussian(), degenerate),
    (an.MixedPolynomial(1), polynomial),
]


def mixed(times: int, rng: np.random.Generator) -> None:
    compared: Counter[str] = Counter()
    for _ in range(times):
        data = odd(rng)
        names = [f"v{i}" for i in range(len(data.levels))]
        frame = pl.DataFrame(dict(zip(names, data.columns, strict=True)))
        kinds = {
            name: an.Categorical(list(range(k))) if k else an.Continuous()
            for name, k in zip(names, data.levels, strict=True)
        }
        table = an.Table(frame, schema=an.infer_schema(frame).with_types(kinds), standardise=False)
        handles = [(_core.ScoreHandle(table.handle, score.spec()), repr(score), twin) for score, twin in TWINS]
        for child in range(len(names)):
            others = [v for v in range(len(names)) if v != child]
            for parents in itertools.chain.from_iterable(itertools.combinations(others, k) for k in range(4)):
                for handle, name, twin in handles:
                    with np.errstate(all="ignore"):
                        expected = twin(data, child, list(parents))
                    if math.isnan(expected):
                        continue
                    got = handle.score(child, list(parents))
                    close = math.isclose(got, expected, rel_tol=1e-7, abs_tol=1e-6)
                    assert close, f"{name} of {child} given {parents}: {got}, literally {expected}\n{data}"
                    compared[name] += 1
    print(f"{times} tables, {sum(compared.values())} families the same:", dict(compared))


def share(
    rows: list[tuple[int, ...]], at: int, given: list[int], k: int, amount: float, like: tuple[int, ...]
) -> float:
    """The smoothed share of a row's level among rows that agree with it elsewhere."""
    same = [row for row in rows if all(row[p] == like[p] for p in given)]
    return (sum(row[at] == like[at] for row in same) + amount) / (len(same) + amount * k)


def classifiers(times: int, rng: np.random.Generator) -> None:
    compared: Counter[str] = Counter()
    for _ in range(times):
        n, k = int(rng.integers(4, 60)), int(rng.integers(1, 4))
        columns = [rng.integers(0, rng.integers(1, 4), n) for _ in range(k)]
        y = (columns[0] + rng.integers(0, 2, n)) % 3
        if rng.random() < 0.3:
            columns[-1] = columns[0]
        if len(set(y.tolist())) < 2:
            continue
        X = pl.DataFrame({f"a{i}": [f"l{c}" for c in column] for i, column in enumerate(columns)})
        amount = float(rng.choice([0.1, 0.5, 1.0, 3.0]))
        makers = {
            "NaiveBayes": an.NaiveBayes(smoothing=amount),
            "NaiveBayes(BD)": an.NaiveBayes(an.BD(amount)),
            "TANClassifier(BD)": an.TANClassifier(an.BD(amount)),
            "TANClassifier(forest)": an.TANClassifier(an.BIC(), forest=True, smoothing=amount),
        }
        # One tuple per row: the attributes, then the class.
        rows = list(zip(*(column.tolist() for column in columns), y.tolist(), strict=True))
        n_levels = [len(set(column.tolist())) for column in [*columns, y]]
        for name, maker in makers.items():
            classifier = maker.fit(X, y)
            place = {f"a{i}": i for i in range(k)} | {classifier.class_name_: k}
            # A constant column is not in the graph.
            graph = classifier.graph_
            parents = {place[v]: [place[p] for p in graph.predecessors(v)] for v in graph}
            got = classifier.predict_proba(X)
            for at in rng.integers(0, n, 25).tolist():
                weights = np.array(
                    [
                        math.prod(
                            share(rows, v, given, n_levels[v], amount, (*rows[at][:k], label))
                            for v, given in parents.items()
                        )
                        for label in classifier.classes_.tolist()
                    ]
                )
                assert np.allclose(got[at], weights / weights.sum(), rtol=1e-10, atol=1e-13), (name, amount, rows, at)
                compared[name] += 1
    print(f"{times} tables, {sum(compared.values())} rows the same:", dict(compared))


def main() -> None:
    warnings.simplefilter("ignore")
    kind, times, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    {"mixed": mixed, "classifiers": classifiers}[kind](times, np.random.default_rng(seed))


if __name__ == "__main__":
    main()
