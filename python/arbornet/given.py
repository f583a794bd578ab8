"""What users give: the types of parameters that take more than one form, in one place.

They are for annotations only, so whatever the aliases name is imported for types alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import networkx as nx
    import polars as pl
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from arbornet._core import CandidatesHandle, ScoreHandle, TableHandle
    from arbornet.data.table import Table
    from arbornet.network import BayesNet
    from arbornet.scores.prepare import Score
    from arbornet.search.base import Found
    from arbornet.step1.candidates import Candidates
    from arbornet.text.progress import Tell


class ArrowStream(Protocol):
    """A frame of another library, such as pandas, pyarrow or DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Its rows as a stream of Arrow arrays."""
        ...


class ArrowArray(Protocol):
    """A batch of rows of another library."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Its rows as one Arrow array."""
        ...


ColumnLike: TypeAlias = "Sequence[object] | NDArray[Any] | pl.Series"
"""The values of one variable, one for each row."""
FrameLike: TypeAlias = (
    "pl.DataFrame | pl.LazyFrame | Mapping[str, ColumnLike] | NDArray[Any] | ArrowStream | ArrowArray"
)
"""Any frame: of Polars, pandas, pyarrow or DuckDB, a dict of columns, or a NumPy array."""
Evidence: TypeAlias = "Mapping[str, object]"
"""What is known, by variable: a value, an interval of numbers as a pair, or some of the levels."""
TableLike: TypeAlias = "Table | TableHandle"
"""A `Table`, or the core's table behind it."""
ScoreLike: TypeAlias = "Score | ScoreHandle"
"""A score's parameters, such as `PCART()`; or the score prepared for a table."""
CandidatesLike: TypeAlias = "Candidates | CandidatesHandle | str | Path"
"""`Candidates`, the core's candidates behind them, or the path of a file of them."""
SearchLike: TypeAlias = "str | Callable[..., Found]"
"""A search by its name, or a function that returns `Found`."""
GraphLike: TypeAlias = "BayesNet | Found | nx.DiGraph[Any] | nx.Graph[Any]"
"""A graph, or what has one: a network, or what a search found."""
Target: TypeAlias = "str | os.PathLike[str] | Axes | None"
"""Where a picture goes: to a path by its ending, or on a matplotlib axis; None for a picture to show."""
Memory: TypeAlias = "float | str"
"""A size of memory: bytes, or text such as "4 GB"."""
Progress: TypeAlias = "bool | Tell | Literal['late'] | None"
"""Whether long work is shown.

True for a bar on a terminal (log lines elsewhere), "late" for the same of work over two seconds, a function that is
told the news, False or None for nothing.
"""
