"""Networks from files; a format is told by the file's ending."""

from __future__ import annotations

from pathlib import Path

from arbornet._core import FormatError
from arbornet.io import bif, hugin, json, xmlbif
from arbornet.network.net import BayesNet
from arbornet.scores.dirichlet import as_network


def load(path: str | Path) -> BayesNet:
    """Reads a network that `BayesNet.save` wrote. The file is checked, and nothing in it is executed.

    Raises:
        FormatError: If the file is damaged, of a later version, or something else.

    Example:
        >>> net.save("net.json")
        >>> assert an.load("net.json") == net
    """
    return BayesNet(*json.read(path))


def read_bif(path: str | Path) -> BayesNet:
    """Reads a network of levels from a BIF file, also a gzipped one.

    Levels are texts. Rows of probabilities off one by rounding are brought to one.

    Raises:
        FormatError: If the file is not of the format; the message names the line.

    Example:
        >>> net = an.read_bif("asia.bif.gz")
    """
    return BayesNet(*bif.read(path))


def read_net(path: str | Path) -> BayesNet:
    """Reads a network of levels from a file in Hugin's NET language, also a gzipped one.

    Levels are texts. Rows of probabilities off one by rounding are brought to one.

    Raises:
        FormatError: If the file is not of the format; the message names the line.

    Example:
        >>> net = an.read_net("asia.net")
    """
    return BayesNet(*hugin.read(path))


def read_xmlbif(path: str | Path) -> BayesNet:
    """Reads a network of levels from an XMLBIF file, also a gzipped one.

    Levels are texts. Rows of probabilities off one by rounding are brought to one.

    Raises:
        FormatError: If the file is not of the format, or declares entities.

    Example:
        >>> net = an.read_xmlbif("asia.xmlbif")
    """
    return BayesNet(*xmlbif.read(path))


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


def _prior_network(given: object) -> BayesNet | None:
    """A network that is the prior of a score; see `arbornet.scores.dirichlet`."""
    if isinstance(given, str | Path):
        return read_bif(given) if ".bif" in Path(given).suffixes else load(given)
    return given if isinstance(given, BayesNet) else None


as_network.provide(_prior_network)
