"""Columns and findings of a schema as they stand in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arbornet._core import FormatError
from arbornet.data.column import Column
from arbornet.data.kinds import Binned, Categorical, Continuous, Kind, Ordinal
from arbornet.data.looks.finding import Finding
from arbornet.data.schema_check import checked


def finding_to_dict(one: Finding) -> dict[str, Any]:
    """A finding, without the fields that say nothing."""
    return {key: value for key, value in one.__dict__.items() if value or key not in ("of", "is_mutual")}


def finding_from_dict(told: Mapping[str, Any]) -> Finding:
    """The finding that `finding_to_dict` wrote.

    Raises:
        FormatError: If it is damaged.
    """
    if any(not isinstance(told[key], str) for key in ("column", "what", "mend")) or type(told["how_many"]) is not int:
        raise FormatError(f"the schema is damaged: a finding is {told!r:.80}")
    if not isinstance(told.get("of", ""), str) or not isinstance(told.get("is_mutual", False), bool):
        raise FormatError(f"the schema is damaged: a finding is {told!r:.80}")
    return Finding(**told)


_KINDS: dict[str, type[Kind]] = {
    "continuous": Continuous,
    "categorical": Categorical,
    "ordinal": Ordinal,
    "binned": Binned,
}


def column_to_dict(column: Column) -> dict[str, Any]:
    """A column, without the fields that say nothing."""
    own = {key: value for key, value in column.__dict__.items() if key != "kind"}
    # A column of one bin has no cuts, which differs from unknown cuts.
    told = {
        k: value
        for k, value in own.items()
        if value is not None and (k not in ("merged", "dated", "looks_like", "looks_because") or value)
    }
    word = "binned" if isinstance(column.kind, Binned) else column.word
    # No step, or no least number, is a setting.
    plain: dict[str, tuple[Any, ...]] = dict.fromkeys(("step", "least"), ("auto",)) | {"leaf": (None,)}
    settings = {
        key: value
        for key, value in column.kind.__dict__.items()
        if value not in plain.get(key, (None, "linear")) or key == "other"
    }
    return {"name": told.pop("name"), "kind": {"is": word, **settings}, **told}


def column_from_dict(told: Mapping[str, Any]) -> Column:
    """The column that `column_to_dict` wrote.

    Raises:
        FormatError: If it is damaged.
    """
    settings = dict(told["kind"])
    kind = _KINDS[settings.pop("is")](**settings)
    plain: dict[str, Any] = {key: _tuples(value) for key, value in told.items()}
    plain["kind"] = kind
    return checked(Column(**plain))


def _tuples(told: Any) -> Any:
    """Lists of JSON as tuples, those within them, too."""
    return tuple(map(_tuples, told)) if isinstance(told, list) else told
