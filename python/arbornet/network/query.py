"""`BayesNet.query`: distributions of several variables and probabilities of events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from arbornet._core import ArbornetError, ColumnError, ParameterError
from arbornet.network import evidence
from arbornet.network.asked import HowTo
from arbornet.schema import bin_names
from arbornet.values import codes_to_series, numbers_to_series

if TYPE_CHECKING:
    from arbornet.network.structure import Structure

QUANTILES = (0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975)


def query(
    net: Structure,
    targets: str | Iterable[str] | Mapping[str, Any],
    given: Mapping[str, Any] | None,
    do: Mapping[str, Any] | None,
    bins: Mapping[str, Sequence[float]] | None,
    way: HowTo,
) -> Any:
    """See `BayesNet.query`."""
    observed, set_ = known(net, given, do)
    if isinstance(targets, Mapping):
        free = [value is ... for value in targets.values()]
        if targets and not any(free):
            return _event(net, targets, observed, set_, way)
        if not all(free):
            raise ArbornetError("targets mix values and '...'; put what is known into given, or ask for an event alone")
    names = [targets] if isinstance(targets, str) else [str(name) for name in targets]
    if not names:
        raise ArbornetError("targets is empty; name at least one variable")
    at = [evidence.position(net.schema, name, "targets") for name in names]
    if len(at) == 1 and net.handle.levels(at[0]) is None and names[0] not in (bins or {}):
        return _quantiles(net, at[0], observed, set_, way)
    cuts = [_cuts(net, v, (bins or {}).get(net.names[v])) for v in at]
    flat, (sampled, error) = net.handle.joint(observed, set_, list(zip(at, cuts, strict=True)), way)
    _check_possible(flat)
    classes = [_classes(net, v, (bins or {}).get(net.names[v])) for v in at]
    places = np.array(list(product(*(range(len(c)) for c in classes))), dtype=np.uint32)
    series = [c.gather(places[:, i]).alias(names[i]) for i, c in enumerate(classes)]
    frame = pl.DataFrame([*series, pl.Series("probability", flat)])
    return frame.with_columns(pl.lit(error).alias("standard_error")) if sampled else frame


def known(
    net: Structure, given: Mapping[str, Any] | None, do: Mapping[str, Any] | None
) -> tuple[list[tuple[int, float]], list[int]]:
    """Values that were observed or set, as (position, code or number), and the positions of those that were set.

    Raises:
        ArbornetError: If a variable is in both.
    """
    both = sorted(set(given or {}) & set(do or {}))
    if both:
        raise ArbornetError(f"{both[0]!r} is in given and in do; a value is either observed or set")
    acts = evidence.single(net.schema, do, "do")
    return evidence.single(net.schema, given, "given") + acts, [var for var, _ in acts]


def _quantiles(net: Structure, at: int, known: list[tuple[int, float]], set_: list[int], way: HowTo) -> pl.DataFrame:
    if any(var == at for var, _ in known):
        raise ColumnError(f"column '{net.names[at]}' is asked for and given; leave it out of one of the two")
    columns: evidence.Columns = [None] * len(net.names)
    for var, value in known:
        has_levels = net.handle.levels(var) is not None
        columns[var] = np.array([value], dtype=np.uint32 if has_levels else np.float64)
    flat, (sampled, error) = net.handle.predict_quantiles(columns, 1, set_, at, QUANTILES, way, 1)
    _check_possible(flat)
    frame = pl.DataFrame([pl.Series("probability", QUANTILES), numbers_to_series(net.schema.used[at], flat)])
    return frame.with_columns(pl.lit(error).alias("standard_error")) if sampled else frame


def _cuts(net: Structure, var: int, bins: Sequence[float] | None) -> list[float]:
    name, scale = net.names[var], net.handle.scale(var)
    if scale is None:
        if bins is not None:
            raise ParameterError(f"bins for '{name}', which has levels already")
        return []
    if bins is None:
        raise ColumnError(f"column '{name}' is continuous; give the ends of its classes, bins={{{name!r}: [...]}}")
    cuts = [float(cut) for cut in bins]
    if not cuts or any(a >= b for a, b in pairwise(cuts)) or not np.isfinite(cuts).all():
        raise ParameterError(f"bins for '{name}' are {list(bins)!r}; give finite numbers in ascending order")
    return [(cut - scale[0]) / scale[1] for cut in cuts]


def _classes(net: Structure, var: int, bins: Sequence[float] | None) -> pl.Series:
    if bins is not None:
        return pl.Series(bin_names(tuple(map(float, bins))))
    levels = net.handle.levels(var) or []
    return codes_to_series(net.schema.used[var], np.arange(len(levels), dtype=np.uint32))


def _event(
    net: Structure, targets: Mapping[str, Any], known: list[tuple[int, float]], set_: list[int], way: HowTo
) -> float:
    asked: list[tuple[int, list[float]]] = []
    wanted: list[set[int]] = []
    for name, value in targets.items():
        var = evidence.position(net.schema, name, "targets")
        levels = net.handle.levels(var)
        if levels is None:
            cuts, classes = _interval(net, var, value)
        else:
            values = list(value) if isinstance(value, list | set | frozenset | tuple) else [value]
            cuts, classes = [], {int(evidence.single(net.schema, {name: v}, "targets")[0][1]) for v in values}
        asked.append((var, cuts))
        wanted.append(classes)
    flat, _ = net.handle.joint(known, set_, asked, way)
    _check_possible(flat)
    dims = [len(cuts) + 1 if net.handle.levels(v) is None else len(net.handle.levels(v) or ()) for v, cuts in asked]
    table = flat.reshape(dims)
    for axis, classes in enumerate(wanted):
        table = table.take(sorted(classes), axis=axis)
    return float(table.sum())


def _interval(net: Structure, var: int, value: Any) -> tuple[list[float], set[int]]:
    name = net.names[var]
    if not (isinstance(value, tuple | list) and len(value) == 2):
        raise ColumnError(
            f"column '{name}' is continuous: a single value has probability zero; give an interval (low, high), "
            "None for an open end"
        )
    low, high = value
    ends = [float(end) for end in (low, high) if end is not None]
    if len(ends) == 2 and ends[0] >= ends[1]:
        raise ParameterError(f"targets: the interval of '{name}' is {value!r}; its low end must be below its high end")
    if not ends:
        return [], {0}
    return _cuts(net, var, ends), {0 if low is None else 1}


def _check_possible(flat: np.ndarray[Any, Any]) -> None:
    if np.isnan(flat).any():
        raise ArbornetError("what is given has probability zero under this network")
