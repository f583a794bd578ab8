"""A network from a file of any format that is known, told by its ending."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from arbornet._core import FormatError
from arbornet.io.bif import read_bif
from arbornet.io.hugin import read_net
from arbornet.io.json import load
from arbornet.io.xmlbif import read_xmlbif

if TYPE_CHECKING:
    from arbornet.network import BayesNet

READERS = {
    ".json": load,
    ".bif": read_bif,
    ".net": read_net,
    ".xmlbif": read_xmlbif,
    ".bifxml": read_xmlbif,
    ".xml": read_xmlbif,
}


def read_network(path: str | Path) -> BayesNet:
    """Reads a network from .json, .bif, .xmlbif (.bifxml, .xml) or .net; all but .json may be gzipped (.bif.gz).

    Raises:
        FormatError: If the ending is none of these, or the file is not what its ending says.

    Example:
        >>> net = an.read_network("asia.bif.gz")
    """
    name = Path(path).name.lower().removesuffix(".gz")
    reader = READERS.get(Path(name).suffix)
    if reader is None:
        raise FormatError(f"{path}: a network's name ends in {', '.join(READERS)}")
    return reader(path)
