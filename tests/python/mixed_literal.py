"""The scores for mixed data as literally as their definitions: slow, plain numpy, one row or one cell at a time.

Columns are arrays: integer codes with a number of declared levels, or numbers (levels 0). Names are positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
LN_2PI = math.log(2 * math.pi)


@dataclass
class Data:
    """Columns in order, and each one's number of declared levels (0 for numbers)."""

    columns: list[NDArray[np.generic]]
    levels: list[int]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.columns[0])

    def split(self, members: list[int]) -> tuple[list[int], list[int]]:
        """Members with levels, and members that are numbers."""
        return [v for v in members if self.levels[v]], [v for v in members if not self.levels[v]]

    def cells(self, members: list[int]) -> list[NDArray[np.intp]]:
        """Rows of every observed configuration of members with levels."""
        if not members:
            return [np.arange(self.n)]
        codes = np.stack([self.columns[v] for v in members], axis=1)
        _, which = np.unique(codes, axis=0, return_inverse=True)
        return [np.flatnonzero(which.ravel() == cell) for cell in range(which.max() + 1)]

    def configurations(self, members: list[int]) -> float:
        """Declared configurations."""
        return math.prod(float(self.levels[v]) for v in members)

    def matrix(self, members: list[int], rows: NDArray[np.intp] | None = None) -> Reals:
        """Numbers side by side."""
        chosen = np.arange(self.n) if rows is None else rows
        if not members:
            return np.zeros((len(chosen), 0))
        return np.stack([np.asarray(self.columns[v], dtype=float)[chosen] for v in members], axis=1)


def bic(log_likelihood: float, df: float, n: int) -> float:
    """Log-likelihood less half of ln n for each parameter."""
    return log_likelihood - df / 2 * math.log(n)


def thirds(column: Reals, bins: int = 3) -> NDArray[np.intp]:
    """Equal-frequency bins: a value at a break goes up."""
    ordered = np.sort(column)
    breaks = [ordered[j * (len(column) // bins)] for j in range(1, bins)]
    return np.sum([column >= b for b in breaks], axis=0)


# Conditional Gaussian


def _sound(s: Reals) -> bool:
    return s.shape[0] == 0 or bool(np.linalg.eigvalsh(s)[0] > 1e-9)


def joint(data: Data, members: list[int]) -> tuple[float, float]:
    """Log-likelihood and parameters of a set of variables."""
    discrete, numbers = data.split(members)
    k, f = len(numbers), data.configurations(discrete)
    cells = data.cells(discrete)
    scatters = []
    for rows in cells:
        x = data.matrix(numbers, rows)
        x = x - x.mean(axis=0)
        scatters.append(x.T @ x)
    pooled = sum(scatters) / data.n
    if not _sound(pooled):
        pooled = pooled + 1e-6 * np.eye(k)
    total = 0.0
    for rows, scatter in zip(cells, scatters, strict=True):
        n_p = len(rows)
        own = scatter / n_p
        s = own if n_p >= k + 2 and _sound(own) else pooled
        total += n_p * math.log(n_p / data.n)
        if k:
            total -= n_p / 2 * (np.linalg.slogdet(s)[1] + k * LN_2PI) + 0.5 * np.trace(np.linalg.solve(s, scatter))
    return float(total), f * (k + k * (k + 1) / 2) + f - 1


def joint_published(data: Data, members: list[int]) -> tuple[float, float]:
    """The same as printed: divisor n - 1, small cells with the covariance of all rows, means not counted."""
    discrete, numbers = data.split(members)
    k, f = len(numbers), data.configurations(discrete)
    total = 0.0
    for rows in data.cells(discrete):
        n_p = len(rows)
        x = data.matrix(numbers, rows if n_p > k + 5 else None)
        s = np.cov(x.T, ddof=1).reshape(k, k)
        total += n_p * (math.log(n_p / data.n) - 0.5 * np.linalg.slogdet(s)[1] - k / 2 * (1 + LN_2PI))
    return float(total), f * k * (k + 1) / 2 + f


def conditional_gaussian(
    data: Data, child: int, parents: list[int], *, discretise: bool = False, published: bool = False
) -> float:
    """CG, or CGd where numbers that are parents of levels are cut in three."""
    if discretise and data.levels[child]:
        numbers = [thirds(np.asarray(c, dtype=float)) for c in data.columns]
        columns = [c if k else cut for c, cut, k in zip(data.columns, numbers, data.levels, strict=True)]
        data = Data(columns, [k or 3 for k in data.levels])
    part = joint_published if published else joint
    (l1, d1), (l0, d0) = part(data, [*parents, child]), part(data, parents)
    return bic(l1 - l0, d1 - d0, data.n)


def exact_mixture(data: Data, child: int, parents: list[int]) -> float:
    """CG for a child with levels whose cells are all large enough, by Bayes' rule row by row."""
    discrete, numbers = data.split(parents)
    total = 0.0
    for rows in data.cells(discrete):
        y = np.asarray(data.columns[child])[rows]
        x = data.matrix(numbers, rows)
        logs = []
        for level in np.unique(y):
            own = x[y == level]
            s = np.cov(own.T, ddof=0).reshape(len(numbers), -1)
            z = x - own.mean(axis=0)
            squares = np.sum(z @ np.linalg.inv(s) * z, axis=1)
            logs.append(math.log(np.mean(y == level)) - 0.5 * np.linalg.slogdet(s)[1] - 0.5 * squares)
        table = np.stack(logs, axis=1)
        place = np.searchsorted(np.unique(y), y)
        total += float(np.sum(table[np.arange(len(y)), place] - np.log(np.sum(np.exp(table), axis=1))))
    return bic(total, joint(data, [*parents, child])[1] - joint(data, parents)[1], data.n)


# Degenerate Gaussian


def _indicators(data: Data, members: list[int]) -> Reals:
    parts = [np.zeros((data.n, 0))]
    for v in members:
        if data.levels[v]:
            parts.append(np.stack([data.columns[v] == c for c in range(data.levels[v] - 1)], axis=1).astype(float))
        else:
            parts.append(data.matrix([v]))
    return np.concatenate(parts, axis=1)


def degenerate_gaussian(data: Data, child: int, parents: list[int], *, published: bool = False) -> float:
    """DG: one covariance over numbers and indicators."""
    n = data.n
    own, given = _indicators(data, [child]), _indicators(data, parents)
    q, m = own.shape[1], given.shape[1]
    together = np.concatenate([given, own], axis=1)
    s = np.cov(together.T, ddof=1 if published else 0).reshape(q + m, q + m)
    logs = np.linalg.slogdet(s)[1] - (np.linalg.slogdet(s[:m, :m])[1] if m else 0.0)
    df = q * m + q * (q - 1) / 2 if published else q * m + q * (q + 1) / 2 + q
    return bic(-n / 2 * (logs + q * (1 + LN_2PI)), df, n)


# Mixed variable polynomials


def _design(x: Reals, degree: int) -> Reals:
    n, c = x.shape
    columns = [np.ones(n)]
    sd = x.std(axis=0, ddof=1) if n > 1 else np.ones(c)
    z = (x - x.mean(axis=0)) / np.where(sd > 0, sd, 1)
    columns += [z[:, j] ** g for g in range(1, degree + 1) for j in range(c)]
    return np.stack(columns, axis=1)


def polynomial_parts(data: Data, child: int, parents: list[int], degree: int | str) -> tuple[float, float]:
    """Log-likelihood and parameters of MVP as published."""
    discrete, numbers = data.split(parents)
    c, k = len(numbers), data.levels[child]
    total, df = 0.0, 0.0
    for rows in data.cells(discrete):
        n = len(rows)
        g = int(math.log(n)) if degree == "log" else int(degree)
        df += (c * g + 1) * (k - 1 if k else 1)
        y = np.asarray(data.columns[child])[rows]
        design = _design(data.matrix(numbers, rows), g)
        plain = c == 0 or design.shape[1] >= n or np.linalg.matrix_rank(design) < design.shape[1] or k >= n > 0
        if plain:
            design = np.ones((n, 1))
        if k == 0:
            q, _ = np.linalg.qr(design)
            yy = np.asarray(y, dtype=float)
            s2 = float(np.sum((yy - q @ (q.T @ yy)) ** 2)) / n
            if n > 1 and s2 > 1e-15:
                total += -n / 2 * (LN_2PI + math.log(s2) + 1)
        else:
            target = np.stack([y == level for level in range(k)], axis=1).astype(float)
            q, _ = np.linalg.qr(design)
            p = q @ (q.T @ target)
            if not plain:
                low = p.min(axis=1)
                bad = low < 1 / n
                alpha = (1 / n - 1 / k) / (low[bad] - 1 / k)
                p[bad] = alpha[:, None] * p[bad] + (1 - alpha[:, None]) / k
            total += float(np.sum(np.log(p[np.arange(n), y.astype(int)])))
    return total, df


def complete_polynomial(data: Data, child: int, parents: list[int], degree: int | str) -> float:
    """MVP's default where every cell is large enough to be fitted: a variance more per cell of a number."""
    log_likelihood, df = polynomial_parts(data, child, parents, degree)
    cells = 0 if data.levels[child] else len(data.cells(data.split(parents)[0]))
    return bic(log_likelihood, df + cells, data.n)


def mixed_polynomial(data: Data, child: int, parents: list[int], degree: int | str) -> float:
    """MVP as published."""
    return bic(*polynomial_parts(data, child, parents, degree), data.n)


# Basis functions


def _basis(data: Data, v: int, degree: int) -> Reals:
    if data.levels[v]:
        return _indicators(data, [v])
    x = np.asarray(data.columns[v], dtype=float)
    u = 2 * (x - x.min()) / (x.max() - x.min()) - 1
    columns = np.polynomial.legendre.legvander(u, degree)[:, 1:]
    return np.linalg.qr(columns)[0]


def basis_functions(data: Data, child: int, parents: list[int], degree: int = 3) -> float:
    """BF as published."""
    n, ridge = data.n, 1e-6
    own = _basis(data, child, degree)
    given = np.concatenate([np.zeros((n, 0)), *[_basis(data, p, degree) for p in parents]], axis=1)
    r = np.corrcoef(np.concatenate([given, own], axis=1).T).reshape(own.shape[1] + given.shape[1], -1)
    m = given.shape[1]
    total = 0.0
    for i in range(m, r.shape[0]):
        b = np.linalg.solve(r[:m, :m] + ridge * np.eye(m), r[:m, i])
        v = r[i, i] - 2 * b @ r[:m, i] + b @ r[:m, :m] @ b
        total += 0.5 * (-n * (math.log(2 * math.pi * v) + 1) - m * math.log(n))
    return total
