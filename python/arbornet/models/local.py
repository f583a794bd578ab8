"""The local model of a variable, in readable form: a tree of text, rules in sentences, leaves as objects.

Everything is in the user's own units and level names. The texts are made in the core, so that every program that uses
it prints the same.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

from arbornet._core import ColumnError, FormatError, ModelHandle, ParameterError
from arbornet.data import calendar
from arbornet.data.kinds import Level
from arbornet.data.units import knots_of
from arbornet.given import Evidence, ScoreLike, TableLike, Target
from arbornet.models.leaves import (
    Condition,
    Counts,
    Distribution,
    Histogram,
    Leaf,
    LogStudentT,
    PointMass,
    ScoredStudentT,
    Shares,
    Slope,
    StudentT,
)
from arbornet.models.splines import Factor, Term, partial_responses
from arbornet.scores.prepare import positions, prepared
from arbornet.show.draw import Picture, draw_spline, draw_tree, spline_svg, tree_svg
from arbornet.show.draw.file import File
from arbornet.show.draw.svg import in_cell
from arbornet.text.notebook import Text, preformatted
from arbornet.text.visible import visible, visible_name, written

MOST_LINES = 80
MOST_DRAWN = 24


class LocalModel:
    """The fitted model of a child given its parents. Immutable; equal if everything in it is.

    It pickles, as networks and candidates do; unpickling runs code, so never load pickles you do not trust. A network's
    `save` writes its models as JSON, which is safe to share.

    Example:
        >>> model = an.local_model(table, "stage", ["age", "sex"], an.PCART())
        >>> print(model)
    """

    def __init__(self, handle: ModelHandle, classes: calendar.Classes | None = None) -> None:
        self.handle = handle
        self.classes = dict(classes or {})

    @property
    def child(self) -> str:
        """The child's name."""
        return self.handle.child

    @property
    def parents(self) -> list[str]:
        """The parents' names, in the table's order."""
        return self.handle.parents

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.handle.n_parameters

    @cached_property
    def description(self) -> dict[str, Any] | None:
        """The model as nested dicts: `root` is a split (`variable`, `branches`) or a leaf; None without regions."""
        text = self.handle.description(self._words)
        return None if text is None else json.loads(text)

    @cached_property
    def _words(self) -> calendar.Words | None:
        """How dates and times are printed, if there are any."""
        return calendar.Words(self.classes) if self.classes else None

    @cached_property
    def leaves(self) -> list[Leaf]:
        """All leaves, in the order of the text; empty for a kind of model without regions."""
        levels = (self.description or {}).get("levels", [])
        return [_leaf(leaf, levels) for leaf in json.loads(self.handle.leaves(self._words))]

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def log_marginal(self) -> float | None:
        """Of a decision graph, the sum of its leaves' log marginal likelihoods; None for other kinds of model."""
        return self.handle.log_marginal

    @property
    def unused(self) -> list[str]:
        """The parents that no path of a decision graph or a tree depends on; `without_unused` drops them."""
        return self.handle.unused

    def without_unused(self) -> LocalModel:
        """The same model without the parents it does not depend on: it predicts the same from fewer."""
        return LocalModel(self.handle.without_unused(), self.classes)

    @cached_property
    def spline(self) -> dict[str, Any] | None:
        """A MARS model as nested dicts, in the user's units and words; None for another kind of model."""
        text = self.handle.spline(self._words)
        return None if text is None else json.loads(text)

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """The terms of a MARS model, the intercept first.

        Raises:
            AttributeError: For another kind of model; likewise `n_terms`, `rss` and `gcv`.
        """
        return tuple(
            Term(
                term["text"],
                tuple(term["coefficients"]),
                tuple(Factor(**_with_knots(factor)) for factor in term["factors"]),
            )
            for term in self._spline("terms")
        )

    @property
    def n_terms(self) -> int:
        """Number of terms of a MARS model, the intercept included."""
        return len(self._spline("terms"))

    @property
    def rss(self) -> float:
        """Residual sum of squares of a MARS model, in the user's units; summed over the columns of levels."""
        return float(self._spline("rss"))

    @property
    def gcv(self) -> float:
        """Generalised cross-validation of a MARS model, in the user's units; summed likewise."""
        return math.inf if self._spline("gcv") is None else float(self._spline("gcv"))

    def _spline(self, name: str) -> Any:
        if self.spline is None:
            raise AttributeError(f"the model of '{self.child}' is not a spline: only MARS has terms, rss and gcv")
        return self.spline[name]

    def text(self) -> Text:
        """The model as a tree of text: splits, branches, and at each leaf its rows and its distribution."""
        return Text(visible(self._short(self.handle.text(self._words))))

    def rules(self) -> list[str]:
        """One sentence a leaf, `if age >= 52.3 and stage in {II, III} then ...`; of MARS, one a term."""
        return [visible(self._short(rule)) for rule in self.handle.rules(self._words)]

    def _short(self, text: str) -> str:
        """A text with levels of float32 columns in their own digits."""
        for level in _levels(self.description or {}):
            if isinstance(level, float) and written(level) != str(level):
                text = text.replace(str(level), written(level))
        return text

    def distribution(self, given: Evidence) -> Distribution:
        """The distribution of the child, given one value for each parent.

        Raises:
            ColumnError: If a parent has no value, or one that is not among its levels.
        """
        return _distribution(json.loads(self.handle.predictive(self._values(given))), self.child_levels)

    def log_density(self, value: object, given: Evidence) -> float:
        """Log probability of a level of the child, or log density of a number, given one value for each parent.

        Raises:
            ColumnError: If a parent has no value, or a value is not among its levels.
        """
        return self.handle.log_density(_plain(value), self._values(given))

    def to_dict(self) -> dict[str, Any]:
        """The model as JSON data; `from_dict` brings back the same model, bit for bit."""
        document: dict[str, Any] = json.loads(self.handle.to_json())
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> LocalModel:
        """The model that `to_dict` wrote.

        Raises:
            FormatError: If it is not a model, or one of a newer version.
        """
        try:
            text = json.dumps(document, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise FormatError(f"this is not a model that to_dict wrote: {error}") from None
        return cls(ModelHandle.from_json(text, "dict"))

    def draw(self, target: Target = None) -> Picture | File | None:
        """Draws the model to a path ending in .svg, .png or .pdf, or on a matplotlib axis.

        A tree or table is drawn with its leaves; MARS as the child against each parent, the others at their medians.

        Returns:
            Without a target, a picture that shows itself in a notebook.
        """
        if self.spline is not None:
            return draw_spline(partial_responses(self), target)
        if self.description is None:
            raise FormatError(f"the model of '{self.child}' has no regions to draw")
        return draw_tree(self.description, target)

    @property
    def child_levels(self) -> list[Level]:
        """The child's declared levels, none for a number."""
        if self.spline is not None:
            declared: list[Level] = self.spline["declared"]
            return declared
        return list((self.description or {}).get("levels", []))

    def _values(self, given: Evidence) -> list[Any]:
        missing = [parent for parent in self.parents if parent not in given]
        if missing:
            raise ColumnError(f"no value for {', '.join(map(repr, missing))}: give one for each of {self.parents}")
        return [_plain(given[parent]) for parent in self.parents]

    def __str__(self) -> str:
        lines = self.text().split("\n")
        if len(lines) > MOST_LINES:
            lines = [*lines[:MOST_LINES], f"... {len(lines) - MOST_LINES} more lines: .text() has them all"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        of = visible_name(self.child + (f" given {', '.join(self.parents)}" if self.parents else ""))
        if self.spline is not None:
            return f"<LocalModel of {of}: {self.n_terms} {'term' if self.n_terms == 1 else 'terms'}>"
        return f"<LocalModel of {of}: {self.n_leaves} {'leaf' if self.n_leaves == 1 else 'leaves'}>"

    def _repr_html_(self) -> str:
        if self.description is not None and 1 < self.n_leaves <= MOST_DRAWN:
            return in_cell(tree_svg(self.description))
        if self.spline is not None and self.parents:
            drawn = in_cell(spline_svg(partial_responses(self)))
            return drawn + preformatted(str(self))
        return preformatted(str(self))

    def __eq__(self, other: object) -> bool:
        return self.handle == other.handle if isinstance(other, LocalModel) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (LocalModel, (self.handle, self.classes))


def local_model(table: TableLike, child: str, parents: Iterable[str], score: ScoreLike) -> LocalModel:
    """The fitted model that a score evaluates for a child and its parents.

    Args:
        table: a Table.
        child: the child's name.
        parents: the parents' names, in any order.
        score: the score.

    Raises:
        FamilyError: if this family cannot be scored.

    Example:
        >>> print(an.local_model(table, "stage", ["age", "sex"], an.PCART()))
    """
    if isinstance(parents, str):
        raise ParameterError(f"parents={parents!r}: give a list of names, even of one")
    handle = prepared(table, score)
    names = handle.table.names
    model = ModelHandle.fit(handle, positions(names, [child])[0], positions(names, parents))
    schema = getattr(table, "schema", None)
    return LocalModel(model, None if schema is None else calendar.classes(schema))


def _plain(value: Any) -> Any:
    """NumPy's scalars as Python's own, dates and times as the numbers behind them."""
    return calendar.number(value.item() if hasattr(value, "item") else value)


def _levels(description: Mapping[str, Any]) -> Iterator[Level]:
    """The levels of the child, and those on the branches of a description."""
    yield from description.get("levels", ())
    waiting = [description.get("root", {})]
    while waiting:
        for branch in waiting.pop().get("branches", ()):
            yield from branch.get("levels", ())
            waiting.append(branch["node"])


def _leaf(leaf: dict[str, Any], levels: list[Level]) -> Leaf:
    also = tuple(tuple(_condition(c) for c in way) for way in leaf.get("also", ()))
    conditions = tuple(_condition(c) for c in leaf["conditions"])
    slopes = tuple(Slope(**_with_knots(slope)) for slope in leaf.get("line", {}).get("slopes", ()))
    return Leaf(conditions, leaf["n"], _distribution(leaf, levels), also, leaf.get("formula"), slopes)


def _with_knots(told: dict[str, Any]) -> dict[str, Any]:
    """A parent as it is told, the knots of its normal scores as tuples."""
    return told | {"scores": knots_of(told["scores"])} if "scores" in told else told


def _condition(condition: dict[str, Any]) -> Condition:
    variable, text = condition["variable"], f"{condition['variable']} {condition['label']}"
    if "levels" in condition:
        return Condition(variable, text, levels=tuple(condition["levels"]))
    return Condition(variable, text, condition["low"], condition["high"])


def _distribution(document: dict[str, Any], levels: list[Level]) -> Distribution:
    if "probabilities" in document:
        return Shares(dict(zip(levels, document["probabilities"], strict=True)))
    others: StudentT | LogStudentT | ScoredStudentT | Counts | Histogram
    if "size" in document:
        others = Counts(document["mean"], document["sd"], document["size"])
    elif "edges" in document:
        edges, shares, tails = (tuple(document[part]) for part in ("edges", "shares", "tails"))
        others = Histogram(edges, shares, document["mean"], document["sd"], tails)
    else:
        numbers = (document["location"], document["scale"], document["df"])
        others = LogStudentT(*numbers, document["log"]) if "log" in document else StudentT(*numbers)
        if "deciles" in document:
            low, middle, high = document["deciles"]
            others = ScoredStudentT(*numbers, (low, middle, high), knots_of(document["scores"]))
    point = document.get("point")
    return others if point is None else PointMass(point["value"], point["probability"], others)
