"""Scores for tables that mix levels and numbers (Andrews, Ramsey and Cooper 2018): log-likelihood less BIC's penalty.

Every one has a published form, to compare with other programs, and a default that counts every parameter and never
meets a singular matrix. All numbers are half of what Tetrad prints.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from arbornet._core import ParameterError, ScoreHandle, feature_scales
from arbornet.checks import truth, whole
from arbornet.given import TableLike
from arbornet.scores.base import LogProbability
from arbornet.scores.prepare import table_handle
from arbornet.scores.tables import Tabular
from arbornet.text.notices import ArbornetWarning

MOST_DEGREE = 20


@dataclass(frozen=True, repr=False, kw_only=True)
class Mixed(Tabular):
    """A score of likelihoods for levels and numbers."""

    published: bool = False
    """The form in print, errata and all, for comparison."""

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "published", truth("published", self.published))

    def common(self) -> dict[str, Any]:
        """What all of them pass to the core."""
        return {"published": self.published, **self.priors()}


def degree(value: object) -> int | Literal["log"]:
    """The highest power: a number, or "log".

    Raises:
        ParameterError: If it is neither.
    """
    if isinstance(value, str):
        if value != "log":
            raise ParameterError(f'degree={value!r}: must be an integer from 1 to {MOST_DEGREE}, or "log"')
        return "log"
    return whole("degree", value, 1, MOST_DEGREE)


@dataclass(frozen=True, repr=False)
class ConditionalGaussian(Mixed):
    """A Gaussian over the numbers for every configuration of the levels. Score equivalent without its options.

    Args:
        discretise: score children with levels by counts, their numeric parents in bins (faster, and more precise on
            simulated data).
        bins: how many bins.
        exact: score children with levels by the exact mixture.
        published: the form in print.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> score = an.ConditionalGaussian(discretise=True, prior=an.priors.Binomial(1))
    """

    named: ClassVar[Mapping[str, str]] = {"score": "conditional_gaussian"}
    log_probability: ClassVar[LogProbability] = "approximate"

    discretise: bool = False
    bins: int = 3
    exact: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "discretise", truth("discretise", self.discretise))
        object.__setattr__(self, "bins", whole("bins", self.bins, 2, 256))
        object.__setattr__(self, "exact", truth("exact", self.exact))
        if self.discretise and self.exact:
            raise ParameterError("exact=True: is another way with children of levels than discretise=True; choose one")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        own = {"discretise": self.discretise, "bins": self.bins, "exact": self.exact}
        return {"score": "conditional_gaussian", **own, **self.common()}


@dataclass(frozen=True, repr=False)
class DegenerateGaussian(Mixed):
    """One Gaussian over numbers and indicators of levels. The fastest; score equivalent.

    Args:
        published: the form in print.
        prior: a prior over parent sets, one of `an.priors`.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "degenerate_gaussian"}
    log_probability: ClassVar[LogProbability] = "approximate"

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "degenerate_gaussian", **self.common()}


SCALES = ("normal_scores", "raw", "log", "auto")
Scale = Literal["normal_scores", "raw", "log", "auto"]


@dataclass(frozen=True, repr=False)
class BlockGaussian(Tabular):
    """One Gaussian over blocks of features. As fast as `DegenerateGaussian`, for curves too; score equivalent.

    Every column is a block: a number in its scale and Legendre polynomials of its ranks, powers of the normal scores of
    ordered levels, indicators of categories. A family's score is its gain over no parents, so without parents it is
    zero. Normal scores depend only on the order of a number's values: units and logarithms change nothing.

    Args:
        degree: the highest polynomial, and the highest power of ordered levels.
        scale: how numbers are read: `"normal_scores"`, `"raw"` (as they are), `"log"` (of 1 + x where zeros occur;
            columns with values below zero by normal scores, which a warning says), or `"auto"`: whatever makes a column
            easiest to predict from another.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.search.boss(table, an.BlockGaussian(prior=an.priors.Binomial(1)))
    """

    named: ClassVar[Mapping[str, str]] = {"score": "block_gaussian"}
    log_probability: ClassVar[LogProbability] = "approximate"

    degree: int = 3
    scale: Scale = "normal_scores"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", whole("degree", self.degree, 1, MOST_DEGREE))
        if self.scale not in SCALES:
            raise ParameterError(f"scale={self.scale!r}: choose one of {', '.join(map(repr, SCALES))}")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "block_gaussian", "degree": self.degree, "scale": self.scale, **self.priors()}

    def prepare(self, table: TableLike) -> ScoreHandle:
        """The score prepared for a table; warns of columns without logarithms if `scale` is "log"."""
        handle = ScoreHandle(table_handle(table), self.spec())
        if self.scale == "log":
            scales = feature_scales(handle.table, self.scale)
            without = [name for name, own in zip(handle.table.names, scales, strict=True) if own == "normal_scores"]
            if without:
                warnings.warn(
                    f"BlockGaussian(scale='log') reads {', '.join(map(repr, without))} by normal scores: there are "
                    "values below zero, or all are the same",
                    ArbornetWarning,
                    stacklevel=2,
                )
        return handle


@dataclass(frozen=True, repr=False)
class BasisFunctions(Mixed):
    """Regression on Legendre polynomials of numbers and indicators of levels. For non-linear dependence.

    Args:
        degree: the highest polynomial.
        published: the form in print.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "basis_functions"}
    log_probability: ClassVar[LogProbability] = "approximate"

    degree: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", whole("degree", self.degree, 1, MOST_DEGREE))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "basis_functions", "degree": self.degree, **self.common()}


@dataclass(frozen=True, repr=False)
class MixedPolynomial(Mixed):
    """Regression on powers of the numeric parents within every configuration of the levels, for levels too.

    Args:
        degree: the highest power, or "log" for the logarithm of the number of rows.
        published: the form in print.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "mixed_polynomial"}
    log_probability: ClassVar[LogProbability] = "approximate"

    degree: int | Literal["log"] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", degree(self.degree))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "mixed_polynomial", "degree": self.degree, **self.common()}


@dataclass(frozen=True, repr=False)
class LogisticRegression(Mixed):
    """As `MixedPolynomial`, with children of levels by multinomial logistic regression.

    Args:
        degree: the highest power, or "log" for the logarithm of the number of rows.
        published: the form in print.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "logistic_regression"}
    log_probability: ClassVar[LogProbability] = "approximate"

    degree: int | Literal["log"] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "degree", degree(self.degree))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "logistic_regression", "degree": self.degree, **self.common()}


@dataclass(frozen=True, repr=False)
class Multinomial(Mixed):
    """BIC of counts, every number cut into bins of equal frequency. Score equivalent.

    Args:
        bins: how many bins.
        published: the same numbers; for symmetry.
        prior: a prior over parent sets, one of `an.priors`.

    Raises:
        ParameterError: If a parameter is outside its range.
    """

    named: ClassVar[Mapping[str, str]] = {"score": "multinomial"}
    log_probability: ClassVar[LogProbability] = "approximate"

    bins: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bins", whole("bins", self.bins, 2, 256))

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        return {"score": "multinomial", "bins": self.bins, **self.common()}
