"""A target beside the columns of X, as scikit-learn hands it over: joined to them, predicted, scored."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet.data.kinds import Categorical, Continuous
from arbornet.data.looks.findings import determined_by
from arbornet.data.schema import Schema, infer_schema
from arbornet.estimators.sk import check_consistent_length, column_or_1d
from arbornet.text.notices import ArbornetWarning, LeftOutWarning, warn
from arbornet.text.terminal import several


def name_of(y: Any, frame: Any) -> str:
    """What the target is called in the network: its own name, or `y`, with underscores if a column has that name."""
    name = str(getattr(y, "name", None) or "y")
    taken = {str(each) for each in (frame if isinstance(frame, dict) else frame.columns)}
    while name in taken:
        name += "_"
    return name


def values_of(y: Any) -> NDArray[Any]:
    """The target as an array of one column."""
    if isinstance(y, pl.DataFrame) and y.width == 1:
        y = y.to_series()
    values: NDArray[Any] = y.to_numpy() if isinstance(y, pl.Series) else column_or_1d(y, warn=True)
    return values


def with_target(frame: Any, schema: Schema | None, y: Any, name: str) -> tuple[Any, Schema | None]:
    """The columns with the target as one more, and the schema with its type.

    Raises:
        ValueError: If there is not one value for each row.
    """
    values = values_of(y)
    check_consistent_length(next(iter(frame.values())) if isinstance(frame, dict) else frame, values)
    made: Any
    if isinstance(frame, dict):
        made = {**frame, name: values}
    elif hasattr(frame, "iloc"):
        made = frame.copy()
        made[name] = y.set_axis(frame.index) if hasattr(y, "set_axis") and hasattr(y, "dtype") else values
    else:
        made = (frame if isinstance(frame, pl.DataFrame) else pl.DataFrame(frame)).with_columns(
            y.alias(name) if isinstance(y, pl.Series) else pl.Series(name, values)
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)
        own = infer_schema({name: made[name]}).columns[0] if schema is not None else None
        schema = infer_schema(made, scales="auto") if schema is None else schema
        own = schema[name] if own is None else own
    if not own.used:  # a target is used, whatever it looks like
        is_number = own.class_ in ("integer", "number")
        own = replace(own, left_out=None, kind=Continuous() if is_number else Categorical())
    declared = schema[name].kind if name in schema else None
    if isinstance(declared, Continuous) and declared.is_log and own.word == "continuous":
        own = replace(own, kind=declared)
    columns = tuple(column for column in schema.columns if column.name != name)
    return made, Schema((*columns, own), schema.findings)


def warn_of_new_levels(levels: Sequence[object], truth: NDArray[Any], target: str) -> None:
    """Warns of levels of a target that nothing was learned of: they cannot be predicted."""
    known = set(map(str, levels))
    new = [level for level in truth.tolist() if level not in levels and str(level) not in known]
    if new:
        warn(
            f"{len(new):,} of {several(len(truth), 'row')} count as wrong, as no row with their level of the target "
            f"'{target}', such as {new[0]!r}, was learned from; if the rows are in order, shuffle them: "
            "cross_val_score(..., cv=StratifiedKFold(5, shuffle=True))"
        )


def of_predictions(
    predicted: NDArray[Any], y: NDArray[Any], has_levels: bool, weights: NDArray[np.float64] | None = None
) -> float:
    """The share of correct predictions of levels, or R² of numbers; a row without a prediction counts as wrong."""
    if has_levels:
        right = [a == b or str(a) == str(b) for a, b in zip(predicted, y, strict=True)]
        return float(np.average(right, weights=weights))
    truth = y.astype(np.float64)
    mean = float(np.average(truth, weights=weights))
    errors = truth - np.where(np.isnan(predicted.astype(np.float64)), mean, predicted.astype(np.float64))
    spread = float(np.average((truth - mean) ** 2, weights=weights))
    return 1.0 - float(np.average(errors**2, weights=weights)) / spread if spread > 0 else float(not errors.any())


def warn_of_revealing(schema: Schema, target: str) -> None:
    """Warns of columns that determine the target: they may be known only after it."""
    revealing = determined_by(schema.findings, target)
    if revealing:
        named = ", ".join(map(repr, revealing))
        one = len(revealing) == 1
        warnings.warn(
            f"{named} {'determines' if one else 'each determine'} the target '{target}' in every row; if "
            f"{'it is' if one else 'they are'} known only after the target, leave {'it' if one else 'them'} out of X",
            ArbornetWarning,
            stacklevel=3,
        )
