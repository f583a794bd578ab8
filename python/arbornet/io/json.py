"""Networks as versioned JSON: text that a person can read, and that comes back bit for bit.

A file holds the schema (kinds, levels, maps, bins), the models with their statistics, and where the network comes from.
Reading checks everything before it is used; nothing in a file is ever executed.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbornet._core import ArbornetError, FormatError, NetworkHandle, __version__
from arbornet.data.schema import Schema
from arbornet.io.origin import from_dict as origin_from_dict
from arbornet.io.origin import to_dict as origin_to_dict
from arbornet.io.parts import Parts
from arbornet.system.sources import bytes_of
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from arbornet.network import BayesNet

FORMAT = "arbornet network"
VERSION = 1


def to_text(net: BayesNet) -> str:
    """The network as JSON."""
    told = {
        "format": FORMAT,
        "version": VERSION,
        "arbornet": __version__,
        "origin": origin_to_dict(net.origin),
        "schema": net.schema.plain().to_dict(),
        "network": json.loads(net.handle.to_json()),
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def finite(told: object) -> Any:
    """The same with null for numbers that JSON cannot hold (the score of a family that cannot be scored)."""
    if isinstance(told, dict):
        return {key: finite(value) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [finite(value) for value in told]
    return None if isinstance(told, float) and not math.isfinite(told) else told


def save(net: BayesNet, path: str | Path) -> None:
    """Writes the network as JSON."""
    write_whole(path, to_text(net) + "\n")


def read(path: str | Path) -> Parts:
    """See `arbornet.load`."""
    try:
        text = bytes_of(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}, byte {error.start}: not UTF-8 text, so not a network") from error
    return parts_of(text, str(path))


def parts_of(text: str, origin: str) -> Parts:
    """What the JSON of a network holds; origin names it in errors.

    Raises:
        FormatError: If it is damaged, of a later version, or something else.
    """
    told = _parsed(text, origin)
    if told.get("format") != FORMAT:
        raise FormatError(f"{origin}: this is not an arbornet network: its \"format\" is not '{FORMAT}'")
    version = told.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(f"{origin}: its version is {version!r}, which is not a version; the file is damaged")
    if version > VERSION:
        raise FormatError(
            f"{origin}: written as version {version} by arbornet {told.get('arbornet')}; "
            f"this arbornet reads up to version {VERSION}, so update it"
        )
    try:
        handle = NetworkHandle.from_json(json.dumps(told["network"], ensure_ascii=False), origin)
        parents = [handle.parents(v) for v in range(len(handle.names))]
        return Parts(handle, _schema(told["schema"], handle), origin_from_dict(told["origin"], handle.names, parents))
    except KeyError as error:
        raise FormatError(f"{origin}: its part {error} is missing; the file is damaged") from error
    except FormatError as error:
        raise FormatError(str(error) if str(error).startswith(origin) else f"{origin}: {error}") from error
    except (ArbornetError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(f"{origin}: the file is damaged: {error}") from error


def _parsed(text: str, origin: str) -> dict[str, Any]:
    try:
        told = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{origin}: not JSON: {error}") from error
    if not isinstance(told, dict):
        raise FormatError(f"{origin}: this is not an arbornet network: not a JSON object")
    return told


def _schema(told: Any, handle: NetworkHandle) -> Schema:
    """The schema, if it is one of the network's variables."""
    schema = Schema.from_dict(told)
    if schema.names != handle.names:
        raise FormatError("the schema is of other variables than the network; the file is damaged")
    for v, column in enumerate(schema.used):
        levels = handle.levels(v)
        same = levels == (None if column.levels is None else list(column.levels)) and column.word == handle.kind(v)
        if not same or (levels is None and column.scale != handle.scale(v)):
            raise FormatError(f"schema and network disagree about '{column.name}'; the file is damaged")
    return schema
