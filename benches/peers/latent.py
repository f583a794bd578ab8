"""A mixture of latent classes: within a class all columns are independent, numbers normal, the others by their shares.

What many use for the joint distribution of a mixed table; by expectation and maximisation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

#: What each level counts as before any row, and the least variance of a standardised number.
PRIOR, LEAST = 0.1, 1e-3
ROUNDS, ENOUGH = 200, 1e-5


class LatentClasses:
    """The mixture."""

    def __init__(self, numbers: list[str], levels: dict[str, list[str]], classes: int, seed: int) -> None:
        self.numbers, self.levels, self.classes, self.seed = numbers, levels, classes, seed

    def _coded(self, frame: pl.DataFrame) -> tuple[np.ndarray[Any, Any], list[np.ndarray[Any, Any]]]:
        x = frame.select(self.numbers).to_numpy().astype(float) if self.numbers else np.zeros((frame.height, 0))
        codes = []
        for name, levels in self.levels.items():
            place = {level: i for i, level in enumerate(levels)}
            codes.append(np.array([place[value] for value in frame[name].to_list()]))
        return x, codes

    def fit(self, frame: pl.DataFrame) -> LatentClasses:
        """Learns from complete rows."""
        x, codes = self._coded(frame)
        self.centre, self.scale = x.mean(axis=0), np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
        z = (x - self.centre) / self.scale
        share = np.random.default_rng(self.seed).dirichlet(np.full(self.classes, 0.1), size=len(z))
        last = -np.inf
        for _ in range(ROUNDS):
            weight = share.sum(axis=0)
            self.log_weight = np.log((weight + PRIOR) / (weight + PRIOR).sum())
            self.mean = (share.T @ z) / (weight + 1e-9)[:, None]
            squares = (share.T @ z**2) / (weight + 1e-9)[:, None] - self.mean**2
            # A class of few rows keeps to the spread of all.
            self.variance = np.maximum((squares * weight[:, None] + 1.0) / (weight[:, None] + 1.0), LEAST)
            self.log_shares = []
            for code, levels in zip(codes, self.levels.values(), strict=True):
                counts = np.stack([share[code == k].sum(axis=0) for k in range(len(levels))], axis=1) + PRIOR
                self.log_shares.append(np.log(counts / counts.sum(axis=1, keepdims=True)))
            joint = self._joint(z, codes)
            top = joint.max(axis=1, keepdims=True)
            total = top[:, 0] + np.log(np.exp(joint - top).sum(axis=1))
            share = np.exp(joint - total[:, None])
            if total.mean() < last + ENOUGH:
                break
            last = total.mean()
        return self

    def _joint(self, z: np.ndarray[Any, Any], codes: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        out = np.tile(self.log_weight, (len(z), 1))
        if z.shape[1]:
            far = (z[:, None, :] - self.mean[None]) ** 2 / self.variance[None]
            out = out - 0.5 * (far + np.log(2 * np.pi * self.variance)[None]).sum(axis=2)
        for code, shares in zip(codes, self.log_shares, strict=True):
            out = out + shares[:, code].T
        return out

    def log_density(self, frame: pl.DataFrame) -> np.ndarray[Any, Any]:
        """Of each row, in the table's own units."""
        x, codes = self._coded(frame)
        joint = self._joint((x - self.centre) / self.scale, codes)
        top = joint.max(axis=1, keepdims=True)
        return top[:, 0] + np.log(np.exp(joint - top).sum(axis=1)) - np.log(self.scale).sum()
