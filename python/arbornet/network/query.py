"""`BayesNet.query`: distributions of several variables and probabilities of events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise, product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from arbornet._core import ArbornetError, ColumnError, ParameterError
from arbornet.data.column import bin_names
from arbornet.data.frames_out import beside
from arbornet.data.question import Question
from arbornet.data.support import supported
from arbornet.data.values import codes_to_series, numbers_to_series
from arbornet.given import Evidence
from arbornet.network import bins as binned
from arbornet.network import evidence

if TYPE_CHECKING:
    from arbornet.network.structure import Structure

QUANTILES = (0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975)


def query(
    net: Structure,
    targets: str | Iterable[str] | Evidence,
    given: Evidence | None,
    do: Evidence | None,
    bins: Mapping[str, Sequence[float]] | None,
    how: Question,
) -> Any:
    """See `BayesNet.query`."""
    question = evidence.known(net.schema, given, do, how)
    if isinstance(targets, Mapping):
        free = [value is ... for value in targets.values()]
        if targets and not any(free):
            return _event(net, targets, given or {}, question)
        if not all(free):
            raise ArbornetError("targets mix values and '...'; put known values into given, or give an event alone")
    if not isinstance(bins, Mapping | None):
        raise ParameterError(f"bins={bins!r}: give a dict of class ends by variable")
    if not isinstance(targets, Iterable):
        raise ParameterError(f"targets={targets!r}: give a variable's name, or a list of them")
    names = [targets] if isinstance(targets, str) else [str(name) for name in targets]
    if not names:
        raise ArbornetError("targets is empty; name at least one variable")
    if len(set(names)) < len(names):
        raise ParameterError(f"targets={names!r}: name every variable once")
    at = [evidence.position(net.schema, name, "targets") for name in names]
    if len(at) == 1 and net.handle.levels(at[0]) is None and names[0] not in (bins or {}):
        return _quantiles(net, at[0], question)
    cuts = [_cuts(net, v, (bins or {}).get(net.names[v])) for v in at]
    answer = net.handle.joint(question, list(zip(at, cuts, strict=True)))
    _check_possible(answer.values)
    classes = [_classes(net, v, (bins or {}).get(net.names[v])) for v in at]
    places = np.array(list(product(*(range(len(c)) for c in classes))), dtype=np.uint32)
    series = [c.gather(places[:, i]).alias(names[i]) for i, c in enumerate(classes)]
    figures = {"probability": pl.Series(answer.values)}
    if answer.n_sampled:
        figures["standard_error"] = pl.repeat(answer.standard_error, len(answer.values), eager=True)
    return _with_figures(series, figures)


def _quantiles(net: Structure, at: int, question: Question) -> pl.DataFrame:
    if any(var == at for var, _ in question.known):
        raise ColumnError(f"column '{net.names[at]}' is both a target and given; leave it out of one of the two")
    answer = net.handle.predict_quantiles(question, at, QUANTILES)
    _check_possible(answer.values)
    limit = dict(question.limits).get(at)
    column = net.schema.used[at]
    values = numbers_to_series(column, supported(column, answer.values[0], limit if isinstance(limit, tuple) else None))
    figures = {"quantile": pl.Series(QUANTILES)}
    if answer.n_sampled:
        figures["standard_error"] = pl.repeat(answer.standard_error, len(QUANTILES), eager=True)
    made = _with_figures([values], figures)
    return made.select(made.columns[1], made.columns[0], *made.columns[2:])


def _with_figures(series: Sequence[pl.Series], figures: Mapping[str, pl.Series]) -> pl.DataFrame:
    """Columns of variables, and of figures; a figure's name that is a variable's gets an underscore: `probability_`."""
    taken = {each.name for each in series}
    named = []
    for name, figure in figures.items():
        while name in taken:
            name += "_"
        taken.add(name)
        named.append(figure.alias(name))
    return beside([*series, *named])


def _cuts(net: Structure, var: int, bins: Sequence[float] | None) -> list[float]:
    name, scale = net.names[var], net.handle.scale(var)
    if scale is None:
        if bins is not None:
            raise ParameterError(f"bins for '{name}', which has levels already")
        return []
    if bins is None:
        raise ColumnError(f"column '{name}' is continuous; give the ends of its classes, bins={{{name!r}: [...]}}")
    if not isinstance(bins, Iterable):
        raise ParameterError(f"bins for '{name}' are {bins!r}; give a list of numbers in ascending order")
    cuts = [evidence.single(net.schema, {name: cut}, "bins")[0][1] for cut in bins]
    if not cuts or any(a >= b for a, b in pairwise(cuts)):
        raise ParameterError(f"bins for '{name}' are {list(bins)!r}; give finite numbers in ascending order")
    return cuts


def _classes(net: Structure, var: int, bins: Sequence[float] | None) -> pl.Series:
    if bins is not None and all(isinstance(cut, Real) for cut in bins):
        return pl.Series(bin_names(tuple(map(float, bins))))
    if bins is not None:
        middle = [f"{low} to {high}" for low, high in pairwise(bins)]
        return pl.Series([f"before {bins[0]}", *middle, f"from {bins[-1]}"])
    levels = net.handle.levels(var) or []
    return codes_to_series(net.schema.used[var], np.arange(len(levels), dtype=np.uint32))


def _event(net: Structure, targets: Evidence, given: Evidence, question: Question) -> float:
    asked: list[tuple[int, list[float]]] = []
    wanted: list[dict[int, float]] = []
    """Of every target's classes, the share that belongs to the event."""
    seen = {str(name): value for name, value in given.items()}
    for name, value in targets.items():
        var = evidence.position(net.schema, name, "targets")
        if net.handle.levels(var) is None:
            low, high = evidence.interval(net.schema, var, value, "targets")
            cuts, classes = [end for end in (low, high) if math.isfinite(end)], {1 if math.isfinite(low) else 0: 1.0}
        elif binned.is_interval(net.schema.used[var], value):
            cuts, classes = [], _shares(net, var, value, seen.get(str(name)))
        else:
            levels = value if isinstance(value, evidence.Several) else [value]
            cuts, classes = [], dict.fromkeys(evidence.codes(net.schema, var, levels, "targets"), 1.0)
        asked.append((var, cuts))
        wanted.append(classes)
    flat = net.handle.joint(question, asked).values
    _check_possible(flat)
    dims = [len(cuts) + 1 if net.handle.levels(v) is None else len(net.handle.levels(v) or ()) for v, cuts in asked]
    table = flat.reshape(dims)
    for axis, classes in enumerate(wanted):
        shape = [-1 if i == axis else 1 for i in range(len(dims))]
        table = table.take(list(classes), axis=axis) * np.reshape(list(classes.values()), shape)
    return float(table.sum())


def _shares(net: Structure, var: int, value: Any, given: Any) -> dict[int, float]:
    """Of every bin that an interval touches, the share inside it, given what else is known of the number."""
    column = net.schema.used[var]
    interval = evidence.interval(net.schema, var, value, "targets")
    shares = binned.shares(column, interval)
    if given is not None and binned.is_interval(column, given):
        known = evidence.interval(net.schema, var, given, "given")
        shares = binned.within(binned.shares(column, binned.both(interval, known)), binned.possible(column, known))
    return {code: share for code, share in enumerate(shares) if share > 0} or {0: 0.0}


def _check_possible(flat: np.ndarray[Any, Any]) -> None:
    if np.isnan(flat).any():
        raise ArbornetError("the evidence has probability zero under this network")
