"""Networks as versioned JSON: text that a person can read, and that comes back bit for bit.

A file holds the schema (kinds, levels, maps, bins), the models with their statistics, and where the network comes from.
Reading checks everything before it is used; nothing in a file is ever executed.
"""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from arbornet._core import ArbornetError, FormatError, NetworkHandle, __version__
from arbornet.io.whole import write_whole
from arbornet.schema import Schema

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
        "origin": finite(dataclasses.asdict(net.origin)),
        "schema": net.schema.to_dict(),
        "network": json.loads(net.handle.to_json()),
    }
    return json.dumps(told, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def finite(told: Any) -> Any:
    """The same with null for numbers that JSON cannot hold (the score of a family that cannot be scored)."""
    if isinstance(told, dict):
        return {key: finite(value) for key, value in told.items()}
    if isinstance(told, list | tuple):
        return [finite(value) for value in told]
    return None if isinstance(told, float) and not math.isfinite(told) else told


def _number(told: Any) -> float:
    return math.nan if told is None else float(told)


def save(net: BayesNet, path: str | Path) -> None:
    """Writes the network as JSON."""
    write_whole(path, to_text(net) + "\n")


def load(path: str | Path) -> BayesNet:
    """Reads a network that `BayesNet.save` wrote. A stranger's file is checked, and nothing in it is executed.

    Raises:
        FormatError: If the file is damaged, of a later version, or something else.

    Example:
        >>> net.save("net.json")
        >>> assert an.load("net.json") == net
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}, byte {error.start}: not UTF-8 text, so not a network") from error
    return from_text(text, str(path))


def from_text(text: str, origin: str) -> BayesNet:
    """Reads a network from JSON; origin names it in errors.

    Raises:
        FormatError: As for `load`.
    """
    from arbornet.network import BayesNet

    told = _parsed(text, origin)
    if told.get("format") != FORMAT:
        raise FormatError(f"{origin}: this is no arbornet network: its \"format\" is not '{FORMAT}'")
    version = told.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise FormatError(f"{origin}: its version is {version!r}, which is none; the file is damaged")
    if version > VERSION:
        raise FormatError(
            f"{origin}: written as version {version} by arbornet {told.get('arbornet')}; "
            f"this arbornet reads up to version {VERSION}, so update it"
        )
    try:
        handle = NetworkHandle.from_json(json.dumps(told["network"], ensure_ascii=False), origin)
        return BayesNet(handle, _schema(told["schema"], handle), _origin(told["origin"], handle))
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
        raise FormatError(f"{origin}: no JSON: {error}") from error
    if not isinstance(told, dict):
        raise FormatError(f"{origin}: this is no arbornet network: no JSON object")
    return told


def _schema(told: Any, handle: NetworkHandle) -> Schema:
    """The schema, if it speaks of the network's variables."""
    schema = Schema.from_dict(told)
    if schema.names != handle.names:
        raise FormatError("the schema is of other variables than the network; the file is damaged")
    for v, column in enumerate(schema.used):
        levels = handle.levels(v)
        same = levels == (None if column.levels is None else list(column.levels)) and column.word == handle.kind(v)
        if not same or (levels is None and column.scale != handle.scale(v)):
            raise FormatError(f"schema and network disagree about '{column.name}'; the file is damaged")
    return schema


def _origin(told: Any, handle: NetworkHandle) -> Any:
    from arbornet.network import Origin

    scores, contributions = told.get("family_scores"), told.get("contributions")
    n = len(handle.names)
    if scores is not None:
        scores = tuple(map(_number, scores))
        if len(scores) != n:
            raise FormatError("a family's score is missing; the file is damaged")
    if contributions is not None:
        contributions = tuple(tuple(map(_number, of)) for of in contributions)
        if [len(of) for of in contributions] != [len(handle.parents(v)) for v in range(n)]:
            raise FormatError("an arc's score is missing; the file is damaged")
    strengths = {str(p): {str(c): float(s) for c, s in of.items()} for p, of in told.get("strengths", {}).items()}
    search = told.get("search", {})
    if not isinstance(search, dict):
        raise FormatError("the record of the search is no object; the file is damaged")
    score, n_rows = told.get("score"), told.get("n_rows")
    if not isinstance(score, str | None) or not isinstance(n_rows, int | None):
        raise FormatError("the score's name or the number of rows is of another type; the file is damaged")
    return Origin(score, n_rows, scores, contributions, search, strengths)
