"""Networks in the Bayesian interchange format (BIF), as bnlearn, pgmpy, pyAgrum and others keep them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arbornet._core import NetworkHandle
from arbornet.data.table import Table
from arbornet.io.bins import Bins, binned
from arbornet.io.families import text_of
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from arbornet.network import BayesNet


def read_bif(path: str | Path) -> BayesNet:
    """Reads a network of levels from a BIF file, also a gzipped one.

    Levels are texts. Rows of probabilities off one by rounding are brought to one.

    Raises:
        FormatError: If the file is not of the format; the message names the line.

    Example:
        >>> net = an.read_bif("asia.bif.gz")
    """
    from arbornet.network import BayesNet

    handle = NetworkHandle.from_bif(text_of(path), str(path))
    return BayesNet(handle, Table.from_handle(handle.empty_table()).schema)


def to_bif(net: BayesNet, path: str | Path | None, bins: Bins) -> str:
    """See `BayesNet.to_bif`."""
    handle = net.handle
    if any(handle.levels(v) is None for v in range(len(net.names))):
        handle = binned(net, bins, "BIF")
    text = handle.to_bif()
    if path is not None:
        write_whole(path, text)
    return text
