"""Networks in the Bayesian interchange format (BIF), as bnlearn, pgmpy, pyAgrum and others keep them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arbornet._core import NetworkHandle
from arbornet.io.bins import Bins, binned
from arbornet.io.families import text_of
from arbornet.io.parts import Parts
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from arbornet.network import BayesNet


def read(path: str | Path) -> Parts:
    """See `arbornet.read_bif`."""
    return Parts.of_levels(NetworkHandle.from_bif(text_of(path), str(path)))


def to_bif(net: BayesNet, path: str | Path | None, bins: Bins) -> str:
    """See `BayesNet.to_bif`."""
    handle = net.handle
    if any(handle.levels(v) is None for v in range(len(net.names))):
        handle = binned(net, bins, "BIF")
    text = handle.to_bif()
    if path is not None:
        write_whole(path, text)
    return text
