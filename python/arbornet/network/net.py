"""`BayesNet`: a fitted network, put together from its parts, and how it is saved and shown."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from arbornet.given import FrameLike, Target
from arbornet.io import bif, graphs, hugin, json, xmlbif
from arbornet.network.general import GeneralAnswers
from arbornet.network.imputation import Imputing
from arbornet.network.lines import lines_of
from arbornet.network.report import of_network
from arbornet.network.rows import RowAnswers
from arbornet.show.draw import Picture, draw, network_svg
from arbornet.show.draw.file import File
from arbornet.show.draw.network import MOST_DRAWN, NOTEBOOK
from arbornet.show.draw.svg import for_notebook, in_cell
from arbornet.show.report import check_name, write
from arbornet.text.elsewhere import OF_NETWORK, of_name
from arbornet.text.terminal import several
from arbornet.text.wrong_calls import helpful


class BayesNet(RowAnswers, GeneralAnswers, Imputing):
    """A directed acyclic graph with a small model for every variable.

    Made by `learn`, `fit`, `load` and `read_bif`. Frames of any kind go in; pandas frames come out for pandas,
    Polars frames for all others. Rows may have missing values, and frames may lack columns: what is not known is
    marginalised.

    Example:
        >>> net = an.learn(an.example("penguins"))
        >>> net.predict(df, "species")
    """

    def with_strengths(self, strengths: pl.DataFrame) -> BayesNet:
        """This network with the strengths of its arcs, as `evaluate.arc_strength` gives them."""
        return BayesNet(self.handle, self.schema, replace(self.origin, strengths=_of_its_arcs(self, strengths)))

    def save(self, path: str | Path) -> None:
        """Writes the network as JSON, with the schema, the models and where it comes from; `an.load` reads it back.

        This is the format to share: nothing in it is executed. Networks pickle too (and go through joblib), but
        unpickling runs code: never load pickles you do not trust.
        """
        json.save(self, path)

    def to_bif(self, path: str | Path | None = None, *, bins: Mapping[str, int] | int | None = None) -> str:
        """The network in the Bayesian interchange format, for other programs.

        Args:
            path: Where to write it as well.
            bins: Number of bins for continuous variables (for all, or by name); without it they are refused.

        Raises:
            ColumnError: If a variable is continuous and has no bins.
        """
        return bif.to_bif(self, path, bins)

    def to_xmlbif(self, path: str | Path | None = None, *, bins: Mapping[str, int] | int | None = None) -> str:
        """The network as XMLBIF 0.3, for other programs; parameters and errors are those of `to_bif`."""
        return xmlbif.to_xmlbif(self, path, bins)

    def to_net(self, path: str | Path | None = None, *, bins: Mapping[str, int] | int | None = None) -> str:
        """The network in Hugin's NET language, for other programs; parameters and errors are those of `to_bif`."""
        return hugin.to_net(self, path, bins)

    def to_dot(self, path: str | Path | None = None) -> str:
        """The graph in the language of Graphviz."""
        return graphs.to_dot(self.graph, path)

    def to_graphml(self, path: str | Path) -> None:
        """The graph as GraphML, with kinds, levels and figures as attributes."""
        graphs.to_graphml(self.graph, path)

    @helpful
    def draw(
        self, target: Target = None, *, engine: Literal["layered", "dot"] = "layered", legend: bool = True
    ) -> Picture | File | None:
        """Draws the graph, arcs as wide as they are strong.

        Args:
            target: A path ending in .svg, .png or .pdf, or a matplotlib axis.
            engine: `"layered"` (built in) or `"dot"` (needs Graphviz).
            legend: Whether to explain colours and shapes.

        Returns:
            Without a target, a picture that shows itself in a notebook; for a path, the file, which does so too.
        """
        return draw(self.graph, target, engine=engine, legend=legend)

    @helpful
    def report(self, path: str | Path, data: FrameLike | None = None, *, title: str = "") -> File:
        """Writes one HTML page with the graph, every model, the types and the search; it needs nothing else to open.

        Args:
            path: Where to, a name that ends in .html.
            data: A frame with the variables, to show their values beside the models.
            title: The page's title, such as the table's name; its first columns if left out.

        Returns:
            The file, which shows itself in a notebook as a link.

        Raises:
            ParameterError: If the name has another ending.
        """
        check_name(path)
        write(of_network(self, data, title), path)
        return File(Path(path))

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """What IPython shows: a picture; of what is too much to be read in a cell only the text."""
        shown = {"text/plain": repr(self)}
        if len(self.names) <= MOST_DRAWN:
            picture = network_svg(self.graph, room=NOTEBOOK)
            line = f"<p>{html.escape(repr(self))}</p>"
            shown |= {"text/html": in_cell(picture) + line, "image/svg+xml": for_notebook(picture)}
        return shown

    def _repr_svg_(self) -> str | None:
        return self._repr_mimebundle_().get("image/svg+xml")

    def __reduce__(self) -> tuple[Any, ...]:
        return from_text, (json.to_text(self), "pickle")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BayesNet) and (self.handle, self.schema, self.origin) == (
            other.handle,
            other.schema,
            other.origin,
        )

    if not TYPE_CHECKING:  # for a type checker a name that there is not is an error

        def __getattr__(self, name: str) -> object:
            raise AttributeError(f"a BayesNet has no {name!r}{of_name(name, OF_NETWORK, dir(BayesNet))}")

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        arcs = self.graph.number_of_edges()
        fitted = "" if self.origin.n_rows is None else f", fitted to {several(self.origin.n_rows, 'row')}"
        return f"BayesNet({several(len(self.names), 'variable')}, {several(arcs, 'arc')}{fitted})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *lines_of(self)])


def from_text(text: str, origin: str) -> BayesNet:
    """Reads a network from JSON; origin names it in errors.

    Raises:
        FormatError: As for `load`.
    """
    return BayesNet(*json.parts_of(text, origin))


def _of_its_arcs(net: BayesNet, strengths: pl.DataFrame) -> dict[str, dict[str, float]]:
    """The strengths of a network's own arcs, zero for those that no resample has."""
    known = {(p, c): s for p, c, s in strengths.select("parent", "child", "strength").iter_rows()}
    out: dict[str, dict[str, float]] = {}
    for parent, child in net.graph.edges:
        out.setdefault(parent, {})[child] = float(known.get((parent, child), 0.0))
    return out
