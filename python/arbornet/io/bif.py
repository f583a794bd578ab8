"""Networks in the Bayesian interchange format (BIF), as bnlearn, pgmpy, pyAgrum and others keep them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from arbornet._core import ArbornetError, ColumnError, FormatError, NetworkHandle, ParameterError
from arbornet.schema import bin_names
from arbornet.table import Table

if TYPE_CHECKING:
    from arbornet.network import BayesNet

HowTo = tuple[str, int, int]
EXACTLY: HowTo = ("exact", 1, 0)


def read_bif(path: str | Path) -> BayesNet:
    """Reads a network of levels from a BIF file, also a gzipped one.

    Levels are texts. Rows of probabilities off one by rounding are brought to one.

    Raises:
        FormatError: If the file is not of the format; the message names the line.

    Example:
        >>> net = an.read_bif("asia.bif.gz")
    """
    from arbornet.network import BayesNet

    try:
        data = Path(path).read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    except (UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise FormatError(f"{path}: not a text: {error}") from error
    handle = NetworkHandle.from_bif(text, str(path))
    return BayesNet(handle, Table.from_handle(handle.empty_table()).schema)


def to_bif(net: BayesNet, path: str | Path | None, bins: Mapping[str, int] | int | None) -> str:
    """See `BayesNet.to_bif`."""
    handle = net.handle
    if any(handle.levels(v) is None for v in range(len(net.names))):
        handle = _binned(net, bins)
    text = handle.to_bif()
    if path is not None:
        Path(path).write_text(text, encoding="utf-8")
    return text


def _binned(net: BayesNet, bins: Mapping[str, int] | int | None) -> NetworkHandle:
    """The network with every number in classes of equal probability.

    A family's table is the exact joint distribution of its classes under the network, so every family agrees with the
    network; what is lost is how a number acts within its class.
    """
    cuts = [_cuts(net, v, bins) for v in range(len(net.names))]
    variables = [_variable(net, v, of) for v, of in enumerate(cuts)]
    models = [_table(net, v, cuts) for v in range(len(net.names))]
    return NetworkHandle.from_json(json.dumps({"variables": variables, "models": models}), "bins")


def _cuts(net: BayesNet, var: int, bins: Mapping[str, int] | int | None) -> list[float]:
    """Ends of the classes of a number, in the user's units; none for levels."""
    if net.handle.levels(var) is not None:
        return []
    name = net.names[var]
    k = bins.get(name) if isinstance(bins, Mapping) else bins
    if k is None:
        raise ColumnError(
            f"column '{name}' is continuous, and BIF holds levels only; give bins=5 (or bins={{{name!r}: 5}}), "
            "or save the network as JSON"
        )
    if k < 2:
        raise ParameterError(f"bins={k} for '{name}': give at least 2")
    probabilities = [i / k for i in range(1, k)]
    nothing: list[Any] = [None] * len(net.names)
    values, _ = net.handle.predict_quantiles(nothing, 1, [], var, probabilities, ("auto", 20_000, 0), 1)
    return sorted(set(values.tolist()))


def _variable(net: BayesNet, var: int, cuts: list[float]) -> dict[str, Any]:
    levels = net.handle.levels(var)
    if levels is None:
        return {"name": net.names[var], "kind": "ordinal", "levels": list(bin_names(tuple(cuts)))}
    return {"name": net.names[var], "kind": net.handle.kind(var), "levels": levels}


def _table(net: BayesNet, var: int, cuts: list[list[float]]) -> dict[str, Any]:
    parents = net.handle.parents(var)
    family = [*parents, var]
    stored = []
    for v in family:
        shift, scale = net.handle.scale(v) or (0.0, 1.0)
        stored.append((v, [(cut - shift) / scale for cut in cuts[v]]))
    try:
        flat, _ = net.handle.joint([], [], stored, EXACTLY)
    except ArbornetError:
        flat, _ = net.handle.joint([], [], stored, ("auto", 200_000, 0))
    sizes = [len(net.handle.levels(v) or cuts[v] + [0.0]) for v in family]
    table = flat.reshape(-1, sizes[-1])
    total = table.sum(axis=1, keepdims=True)
    table = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / sizes[-1])

    def levels(row: Any) -> dict[str, Any]:
        return {"distribution": "levels", "probabilities": row.tolist()}

    return {
        "model": "cells",
        "child": var,
        "parents": parents,
        "configurations": [code for at in product(*map(range, sizes[:-1])) for code in at],
        "n_rows": [0] * len(table),
        "distributions": [levels(row) for row in table],
        "unseen": levels(np.full(sizes[-1], 1.0 / sizes[-1])),
    }
