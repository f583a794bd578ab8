"""How a variable is generated from its parents: the sum of their effects, noise, and its kind.

The effects of all parents together have mean 0 and deviation 1, whatever their number and shapes. `strength` is the
ratio of their standard deviation to that of the noise:

* "normal": strength * effects + normal noise, scaled to deviation 1.
* "heavy-tails": the same with Student's t noise with 3 degrees of freedom (same interquartile range).
* "log-normal": exp of a multiple of such a normal variable.
* "count": Poisson; the logarithm of its rate is linear in the effects.
* "ordinal": such a normal variable, cut into ordered levels.
* "category": every level has its own effects; a multinomial logit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from arbornet.simulate.draws import Codes, Draws, Reals, rounded
from arbornet.simulate.effects import Columns, Effect, constant

NumberKind = Literal["normal", "log-normal", "heavy-tails", "count"]
LevelKind = Literal["category", "ordinal"]

#: Deviation of the standard Gumbel distribution, which is the noise of a multinomial logit.
GUMBEL = math.pi / math.sqrt(6)
#: A count's rate is at most this.
MOST = 500.0
#: The logarithm of a log-normal variable lies at most so many deviations from its mean.
FAR = 4.0
#: Degrees of freedom of heavy tails, and the factor that gives them the interquartile range of a normal distribution.
FREEDOM, NARROWED = 3, 0.8818


@dataclass(frozen=True)
class Mechanism:
    """How one variable is generated.

    Attributes:
        kind: What the variable is: "normal", "log-normal", "heavy-tails", "count", "ordinal" or "category".
        effects: Effects of its parents; empty without parents.
        strength: Standard deviation of all effects together; that of the noise is 1.
        weights: Weights of the effects: one row, or for a category one per level.
        constants: Further constants of the kind: the spread of the logarithm; the logarithm of the mean rate and the
            effects' factor; the cuts between ordered levels; the categories' odds.
    """

    kind: NumberKind | LevelKind
    effects: tuple[Effect, ...]
    strength: float
    weights: tuple[tuple[float, ...], ...]
    constants: tuple[float, ...] = ()

    @property
    def parents(self) -> tuple[str, ...]:
        """The parents, each once."""
        return tuple(dict.fromkeys(parent for effect in self.effects for parent in effect.parents))

    @property
    def n_levels(self) -> int:
        """The number of levels; 0 for a number."""
        return {"ordinal": len(self.constants) + 1, "category": len(self.constants)}.get(self.kind, 0)

    def draw(self, columns: Columns, n_rows: int, draws: Draws) -> Any:
        """The variable's rows, given its parents' rows."""
        if self.kind == "category":
            odds = [self._signal(row, columns, n_rows) * GUMBEL * self.strength for row in self.weights]
            noise = -np.log(-np.log(draws.uniform(n_rows, len(odds))))
            utility = np.stack(odds, axis=1) + np.asarray(self.constants) + noise
            return rounded(utility).argmax(axis=1)
        signal = self._signal(self.weights[0], columns, n_rows)
        if self.kind == "count":
            level, factor = self.constants
            return draws.poisson(rounded(np.minimum(np.exp(level + factor * np.clip(signal, -3, 3)), MOST)))
        noise = draws.student(n_rows, FREEDOM) * NARROWED if self.kind == "heavy-tails" else draws.normal(n_rows)
        value = (self.strength * signal + noise) / math.sqrt(1 + self.strength**2 * bool(self.effects))
        if self.kind == "log-normal":
            return rounded(np.exp(self.constants[0] * np.clip(value, -FAR, FAR)))
        if self.kind == "ordinal":
            cut: Codes = np.searchsorted(np.asarray(self.constants), rounded(value), side="right")
            return cut
        return rounded(value)

    def _signal(self, weights: tuple[float, ...], columns: Columns, n_rows: int) -> Reals:
        total = np.zeros(n_rows)
        for weight, effect in zip(weights, self.effects, strict=True):
            total += weight * effect.of(columns)
        return total

    def __str__(self) -> str:
        return f"{self.kind}: {', '.join(map(str, self.effects)) if self.effects else 'no parents'}"


def mechanism(
    kind: NumberKind | LevelKind,
    effects: tuple[Effect, ...],
    strength: float,
    n_levels: int,
    columns: Columns,
    n_rows: int,
    draws: Draws,
) -> Mechanism:
    """A variable's mechanism, its constants drawn at random and fitted to some rows."""
    if kind == "category":
        plain = Mechanism(kind, effects, strength, _level_weights(len(effects), n_levels, draws))
        return _with(plain, _odds(plain, _shares(n_levels, draws), columns, n_rows))
    weights = (_weights(effects, columns, draws, n_rows),)
    plain = Mechanism(kind, effects, strength, weights)
    if kind == "log-normal":
        return _with(plain, (draws.between(0.4, 0.9),))
    if kind == "count":
        mean = draws.between(2, 8)
        # The noise of a Poisson variable's logarithm is about 1 / sqrt(mean).
        factor = strength / math.sqrt(mean)
        rates = np.exp(factor * np.clip(plain._signal(weights[0], columns, n_rows), -3, 3))
        return _with(plain, (math.log(mean / rates.mean()), factor))
    if kind == "ordinal":
        as_number = Mechanism("normal", effects, strength, weights).draw(columns, n_rows, draws)
        cuts = np.quantile(as_number, np.cumsum(_shares(n_levels, draws))[:-1])
        return _with(plain, cuts)
    return plain


def _with(plain: Mechanism, constants: Any) -> Mechanism:
    kept = tuple(constant(value) for value in constants)
    return Mechanism(plain.kind, plain.effects, plain.strength, plain.weights, kept)


def _weights(effects: tuple[Effect, ...], columns: Columns, draws: Draws, n_rows: int) -> tuple[float, ...]:
    """Weights of either sign, none much smaller than the others; all effects together have deviation 1."""
    weights = [draws.sign() * draws.between(0.7, 1.3) for _ in effects]
    total = np.zeros(n_rows)
    for weight, effect in zip(weights, effects, strict=True):
        total += weight * effect.of(columns)
    spread = float(total.std()) or 1.0
    return tuple(constant(weight / spread) for weight in weights)


def _level_weights(n_effects: int, n_levels: int, draws: Draws) -> tuple[tuple[float, ...], ...]:
    """For every effect, numbers at equal distances in random order: no two levels are affected alike."""
    places = np.arange(n_levels) - (n_levels - 1) / 2
    places = places / places.std()
    by_effect = [places[draws.order(n_levels)] * draws.between(0.7, 1.3) for _ in range(n_effects)]
    spread = math.sqrt(sum(float((row**2).mean()) for row in by_effect)) or 1.0
    return tuple(tuple(constant(row[level] / spread) for row in by_effect) for level in range(n_levels))


def _shares(n_levels: int, draws: Draws) -> Reals:
    """Shares of the levels, the largest at most three times the smallest."""
    shares = 1 + 2 * draws.uniform(n_levels)
    scaled: Reals = shares / shares.sum()
    return scaled


def _odds(plain: Mechanism, shares: Reals, columns: Columns, n_rows: int) -> Reals:
    """Constants that give the levels the given shares, so that no level becomes rare."""
    signals = [plain._signal(row, columns, n_rows) * GUMBEL * plain.strength for row in plain.weights]
    utility = np.stack(signals, axis=1)
    odds = np.log(shares)
    for _ in range(50):
        chances = utility + odds
        chances = np.exp(chances - chances.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        odds = odds + np.log(shares / chances.mean(axis=0))
    centred: Reals = odds - odds.mean()
    return centred
