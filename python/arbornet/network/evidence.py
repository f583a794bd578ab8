"""What a frame, or a dict of single values, tells a network about its variables.

A schema codes it; here it takes the shape the core asks for. Columns the network does not know are ignored, and
variables without a column are missing in every row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ColumnError

if TYPE_CHECKING:
    from arbornet.schema import Schema

MISSING = np.uint32(2**32 - 1)
Columns = list[NDArray[Any] | None]
Unseen = Literal["error", "missing"]


def encode(schema: Schema, frame: Any, unseen: Unseen = "error", n_jobs: int = -1) -> tuple[Columns, int]:
    """The columns of a frame as a network reads them, one per variable, and the number of rows.

    Raises:
        ArbornetError: If no column of the frame is a variable of the network.
        ColumnError: If a column holds a value its variable cannot have.
    """
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    given = frame.columns if isinstance(frame, pl.DataFrame) else list(frame) if isinstance(frame, Mapping) else None
    if given is not None and not {str(name) for name in given} & set(schema.names):
        raise _unrelated(schema)
    rows = schema.encode(frame, unseen=unseen, n_jobs=n_jobs)
    columns: Columns = [
        None if cells is None else cells if cells.dtype == np.float64 else cells.astype(np.uint32, copy=False)
        for cells in (rows.column(v) for v in range(len(schema.names)))
    ]
    if all(cells is None for cells in columns):
        raise _unrelated(schema)
    return columns, rows.n_rows


def _unrelated(schema: Schema) -> ArbornetError:
    return ArbornetError(f"no column of the frame is a variable of the network, which are {some(schema.names)}")


def single(schema: Schema, values: Mapping[str, Any] | None, role: str) -> list[tuple[int, float]]:
    """Known values of variables by name as (position, code or number in stored units).

    Raises:
        ArbornetError: If a name is no variable.
        ColumnError: If a value is not one its variable can have, or is missing.
    """
    if not values:
        return []
    at = {str(name): position(schema, name, role) for name in values}
    columns, _ = encode(schema, {str(name): [value] for name, value in values.items()})
    known = []
    for (name, var), value in zip(at.items(), values.values(), strict=True):
        cells = columns[var]
        if cells is None or cells[0] == MISSING or cells[0] != cells[0]:
            raise ColumnError(f"column '{name}' is {value!r} in {role}; leave a variable out that is not known")
        known.append((var, float(cells[0])))
    return known


def position(schema: Schema, name: object, role: str) -> int:
    """The position of a variable.

    Raises:
        ArbornetError: If there is none of that name.
    """
    try:
        return schema.names.index(str(name))
    except ValueError:
        raise ArbornetError(f"{role}: the network has no variable {name!r}; it has {some(schema.names)}") from None


def some(names: Sequence[Any]) -> str:
    """The first few of many names."""
    shown = ", ".join(map(repr, names[:8]))
    return shown + (f", ... {len(names) - 8} more" if len(names) > 8 else "")
