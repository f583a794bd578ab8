"""PCART: the best decision tree of a variable (Talvitie, Eggeling and Koivisto 2019)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from arbornet._core import ParameterError
from arbornet.checks import real, truth, whole
from arbornet.given import Memory
from arbornet.scores.base import LogProbability
from arbornet.scores.leaves import Leaves
from arbornet.system.memory import in_bytes

LEAST, MOST = 1 << 20, 1 << 50
"""Bytes; smaller numbers were megabytes."""

Grouping = Literal["auto", "exact", "ordered"]
TreePrior = Literal["paper", "cell"]
NumberLeaf = Literal["normal", "linear", "auto"]
Cuts = Literal["range", "quantile"]


@dataclass(frozen=True, repr=False)
class PCART(Leaves):
    """The posterior of the optimal tree: halvings of numbers, thresholds of levels, groups of categories.

    `PCART()` is the PCARTp of the paper, `PCART(penalised=False)` its PCART. The priors of the leaves (`alpha`,
    `kappa`, `mean`, `a`, `nu`, `lam`, `per_variable`) are keyword arguments.

    Args:
        penalised: subtract the logarithm of the number of parent sets of the same size.
        max_splits: most halvings of one number's range, or ranks, on the way to a leaf.
        ess: leaves of levels as in BDeu, with this equivalent sample size, in place of `alpha`.
        published: the numbers of the authors' program, errata and all, for comparison.
        memory_limit: bytes, or text such as "4 GB", that one thread's search may hold; a larger one is reported.
        grouping: how the levels of categories are divided into groups: `"exact"` tries all ways, and a family that is
            too large for that is reported; `"ordered"` puts the levels in an order made from the variable that the tree
            explains, and tries neighbours only; `"auto"` does this where all ways would take more than a tenth of a
            second, or there are more than 24 levels. The scores of such families are lower bounds.
        tree_prior: `"paper"`, or `"cell"`: a cell that can be split is a leaf with probability `leaf_probability`;
            otherwise a parent that can be split there is drawn, then one of its splits in that cell. A leaf does not
            pay for the levels of parents that are not split near it. Slower.
        leaf_probability: of `tree_prior="cell"`, from 0.5 to below 1.
        leaf: what stands in the leaves of numbers: `"normal"`, a normal distribution; or `"linear"`, one about a line
            in the numeric parents (each standardised over the rows) wherever that is worth more. Trees are smaller.
            Predictions do not draw the line on beyond the rows of its leaf. Slower; at most ten numeric parents.
            `"auto"` chooses one of them for each variable: the one that makes it more probable where it has its best
            single numeric parent (of the ten most correlated, in about a thousand rows).
        linear_only: of `leaf="linear"` and `"auto"`, names of columns of numbers that a line may follow, and by which
            no tree of a number is split: such parents are cheap.
        cuts: where numbers are halved: `"range"`, at the midpoint of their range; or `"quantile"`, at the middle of
            their ranks in the training rows, between two distinct values, at the number of fewest decimals that parts
            them. Ranks do not depend on the scale: a logarithm of a parent, or a far outlier, changes no tree.

    Raises:
        ParameterError: If a parameter is outside its range.

    Example:
        >>> an.PCART(max_splits=4, per_variable={"age": {"nu": 3}})
        PCART(max_splits=4, per_variable={'age': {'nu': 3.0}})
    """

    named: ClassVar[Mapping[str, str]] = {"score": "pcart"}
    log_probability: ClassVar[LogProbability] = "exact"

    penalised: bool = True
    max_splits: int = 5
    ess: float | None = None
    published: bool = False
    memory_limit: Memory = 1 << 30
    grouping: Grouping = "auto"
    tree_prior: TreePrior = "paper"
    leaf_probability: float = 0.5
    leaf: NumberLeaf = "normal"
    linear_only: Sequence[str] = ()
    cuts: Cuts = "range"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalised", truth("penalised", self.penalised))
        object.__setattr__(self, "max_splits", whole("max_splits", self.max_splits, 1, 16))
        object.__setattr__(self, "ess", None if self.ess is None else real("ess", self.ess, above=0))
        object.__setattr__(self, "published", truth("published", self.published))
        object.__setattr__(self, "memory_limit", _in_bytes(self.memory_limit))
        if self.grouping not in get_args(Grouping):
            raise ParameterError(f"grouping={self.grouping!r}: choose 'auto', 'exact' or 'ordered'")
        if self.tree_prior not in get_args(TreePrior):
            raise ParameterError(f"tree_prior={self.tree_prior!r}: choose 'paper' or 'cell'")
        if self.tree_prior == "cell" and (self.published or self.ess is not None):
            raise ParameterError("tree_prior='cell' goes neither with published=True nor with ess")
        if self.leaf not in get_args(NumberLeaf):
            raise ParameterError(f"leaf={self.leaf!r}: choose 'normal', 'linear' or 'auto'")
        if self.leaf != "normal" and (self.published or self.tree_prior == "cell"):
            raise ParameterError(f"leaf={self.leaf!r} goes neither with published=True nor with tree_prior='cell'")
        if isinstance(self.linear_only, str) or not all(isinstance(name, str) for name in self.linear_only):
            raise ParameterError(f"linear_only={self.linear_only!r}: give the names of columns, as a list")
        object.__setattr__(self, "linear_only", tuple(self.linear_only))
        if self.linear_only and self.leaf == "normal":
            raise ParameterError("linear_only needs leaf='linear' or leaf='auto'")
        if self.cuts not in get_args(Cuts):
            raise ParameterError(f"cuts={self.cuts!r}: choose 'range' or 'quantile'")
        if self.cuts == "quantile" and self.published:
            raise ParameterError("cuts='quantile' does not go with published=True: the authors' program cuts the range")
        object.__setattr__(self, "leaf_probability", real("leaf_probability", self.leaf_probability))
        if not 0.5 <= self.leaf_probability < 1.0:
            raise ParameterError(f"leaf_probability={self.leaf_probability!r}: must be from 0.5 to below 1")

    def document(self) -> dict[str, Any]:
        """Name and parameters as the core reads them."""
        document = {
            "score": "pcart",
            "penalised": self.penalised,
            "max_splits": self.max_splits,
            "ess": self.ess,
            "priors": self.priors(),
            "published": self.published,
            "memory_mb": int(self.memory_limit) >> 20,
        }
        # The text identifies checkpoints and networks, also those of earlier versions: no entry that says nothing new.
        new = {
            "grouping": "auto",
            "tree_prior": "paper",
            "leaf_probability": 0.5,
            "leaf": "normal",
            "linear_only": (),
            "cuts": "range",
        }
        return document | {name: getattr(self, name) for name, default in new.items() if getattr(self, name) != default}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Reads a pickle, also one of a version that counted memory in megabytes."""
        memory = state.get("memory_limit", 1 << 30)
        self.__dict__.update(state, memory_limit=memory << 20 if memory < LEAST else memory)


def _in_bytes(given: Memory) -> int:
    """A limit on memory as a whole number of bytes.

    Raises:
        ParameterError: If it is no size of memory, or less than a megabyte.
    """
    if isinstance(given, int | float) and not isinstance(given, bool) and 1 <= given < LEAST:
        warnings.warn(
            f"memory_limit={given!r} is taken as megabytes; give bytes, or text: memory_limit='{given} MiB'",
            DeprecationWarning,
            stacklevel=4,
        )
        given = given * LEAST
    size = in_bytes(given)
    if not LEAST <= size <= MOST:
        raise ParameterError(f"memory_limit={given!r}: give from 1 MiB to 1,024 TiB")
    return int(size)
