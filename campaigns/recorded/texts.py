"""Texts: schemas, models in words, explanations, pictures, reports and files in other programs' formats."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arbornet as an
from arbornet.io.json import to_text
from recorded.book import Book
from recorded.tables import Form, Source
from recorded.told import timeless

#: Networks whose pictures, report and files are written; of the others, their words are.
DRAWN = {"mixed": ("PCART", "MARS"), "levels": ("BDeu", "DecisionGraph")}
#: Bins of numbers in formats that know levels alone.
BINS = 3


def schema(of: Source, book: Book) -> None:
    """What is said of the whole table's columns."""
    book.put("texts/schema/inferred", lambda: an.infer_schema(of.frame))
    book.put("texts/schema/printed", lambda: str(an.infer_schema(of.frame)))
    book.put("texts/schema/in a notebook", lambda: an.infer_schema(of.frame)._repr_html_())


def record(form: Form, book: Book) -> None:
    """Words of every network, pages and files of some."""
    if form.name.startswith("wide"):
        return
    book.put(f"texts/{form.name}/schema", lambda: str(form.table.schema))
    for name, net in form.networks.items():
        book.put(f"texts/{form.name}/{name}", lambda net=net: words(timeless(net)))
    for name in DRAWN[form.name]:
        if name in form.networks:
            for what, make in _written(timeless(form.networks[name]), form).items():
                book.put(f"texts/{form.name}/{name}/{what}", make)


def words(net: an.BayesNet) -> object:
    """A network's models as a person reads them."""
    told: list[object] = [repr(net)]
    for name in net.names:
        model = net[name]
        told += [net.explain(name), *model.rules(), repr(model), model.description, model.spline]
    return told


def _written(net: an.BayesNet, form: Form) -> dict[str, Callable[[], object]]:
    first = form.source.target
    made: dict[str, Callable[[], object]] = {
        "picture": net._repr_svg_,
        "picture of a model": lambda: net[first]._repr_html_(),
        "report": lambda: _file("report.html", lambda path: net.report(path, form.frame, title="Recorded")),
        "JSON": lambda: to_text(net),
        "DOT": net.to_dot,
        "GraphML": lambda: _file("graph.graphml", net.to_graphml),
    }
    if net[first].spline is not None:
        return made  # thousands of cells are computed for a table of splines
    for what, write in (("BIF", net.to_bif), ("XMLBIF", net.to_xmlbif), ("NET", net.to_net)):
        made[what] = lambda write=write: write(bins=BINS)
    return made


def _file(name: str, write: Callable[[Path], Any]) -> str:
    """The text that is written to a file."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / name)
        return (Path(folder) / name).read_text(encoding="utf-8")
