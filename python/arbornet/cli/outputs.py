"""What a command will write: checked before the work, and written even if another output fails.

An unknown ending, a missing folder, a format that cannot hold the network: all of it is reported before hours of work,
not after.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from arbornet import ParameterError
from arbornet._core import ArbornetError
from arbornet.cli.out import say
from arbornet.io import tables
from arbornet.io.xml import checked
from arbornet.show.draw import save
from arbornet.show.report import check_name
from arbornet.step1 import candidates
from arbornet.system.whole import try_to_write

if TYPE_CHECKING:
    from arbornet.data.schema import Schema

LEVELS_ONLY = (".bif", ".xmlbif", ".bifxml", ".net")
XML = (".xmlbif", ".bifxml", ".graphml")
NETWORKS = (".json", *LEVELS_ONLY, ".dot", ".graphml")


def network_ending(path: str | Path) -> str:
    """The ending of a network's name.

    Raises:
        ParameterError: If it is not that of a network.
    """
    ending = Path(path).suffix.lower()
    if ending not in NETWORKS:
        raise ParameterError(f"{path}: a network's name ends in {', '.join(NETWORKS)}")
    return ending


CHECKS: dict[str, Callable[[str | Path], object]] = {
    "network": network_ending,
    "candidates": candidates.check_name,
    "table": tables.check_ending,
    "picture": save.check_ending,
    "page": check_name,
    "types": lambda _: None,
}
"""What a name has to be for each kind of thing written."""


@dataclass(frozen=True)
class Output:
    """An option that names a file, and what is written there."""

    option: str
    path: str | Path | None
    kind: str


def tried(outputs: Iterable[Output], inputs: Iterable[str | None] = ()) -> None:
    """Checks, before the work, whether every output can be written.

    Args:
        outputs: What is to be written.
        inputs: Files that are read, and must not be written over.

    Raises:
        ParameterError: If a name's ending is not one of its kind, or two options name one file.
        OSError: If a file cannot be written.
    """
    taken: dict[str, str] = {os.path.realpath(path): "is read by the command" for path in inputs if path}
    for output in outputs:
        if output.path is None:
            continue
        if output.kind == "folder":
            _try_folder(Path(output.path))
            continue
        CHECKS[output.kind](output.path)
        try_to_write(output.path)
        real = os.path.realpath(output.path)
        if real in taken and Path(real).is_file() is Path(real).exists():  # both may go to one pipe
            raise ParameterError(f"{output.option} {output.path}: this file {taken[real]}; name another")
        taken[real] = f"is also that of {output.option}"


def _try_folder(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "it is a file where a folder is needed; name another", str(path))
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def fits(path: str | None, schema: Schema) -> None:
    """Whether a network over these variables can be written in the format of a name.

    Raises:
        ArbornetError: If it cannot.
    """
    ending = "" if path is None else network_ending(path)
    continuous = [column.name for column in schema.used if column.levels is None and column.word == "continuous"]
    if ending in LEVELS_ONLY and continuous:
        instead = Path(path or "").with_suffix(".json")
        raise ArbornetError(
            f"{path}: column '{continuous[0]}' is continuous, and {ending[1:].upper()} holds levels only; "
            f"write {instead}, and then `arbornet convert {instead} {path} --bins 5`"
        )
    if ending in XML:
        for column in schema.used:
            for text in (column.name, *(column.levels or ())):
                checked(str(text))


class Written:
    """Writes one thing after the other; a failure waits until the others are written.

    Example:
        >>> with Written() as written:
        ...     written("patients.json", lambda: net.save("patients.json"))
    """

    def __init__(self, failure: BaseException | None = None) -> None:
        self._failure = failure

    def __call__(self, path: str | Path, write: Callable[[], object]) -> None:
        """Writes a file and prints its name."""
        try:
            write()
        except (ArbornetError, OSError, ImportError, MemoryError) as error:
            if self._failure is not None:
                say(f"{error}")
            self._failure = self._failure or error
        else:
            say(f"wrote {path}")

    def __enter__(self) -> Written:
        return self

    def __exit__(self, *_: object) -> None:
        if self._failure is not None:
            raise self._failure
