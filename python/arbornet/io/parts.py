"""What a file of a network holds."""

from __future__ import annotations

from typing import NamedTuple

from arbornet._core import NetworkHandle
from arbornet.data.schema import Schema
from arbornet.data.table import Table
from arbornet.io.origin import Origin


class Parts(NamedTuple):
    """What a network is made of: `BayesNet(*parts)`."""

    handle: NetworkHandle
    schema: Schema
    origin: Origin

    @classmethod
    def of_levels(cls, handle: NetworkHandle) -> Parts:
        """The parts of a network of levels, whose schema is what its variables say."""
        return cls(handle, Table.from_handle(handle.empty_table()).schema, Origin())
