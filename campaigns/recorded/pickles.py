"""Pickles: what comes back, not its bytes, which are Python's and its libraries' affair."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import arbornet as an
from recorded.book import Book
from recorded.candidates import constraints
from recorded.tables import Form
from recorded.told import text_of

#: Scores whose candidates, graphs and networks are pickled.
SOME = ("PCART", "MARS", "ConditionalGaussian", "BDeu", "DecisionGraph")


def record(form: Form, book: Book) -> None:
    """Every kind of object that a user can pickle."""
    if form.name.startswith("wide"):
        return
    for name, make in _objects(form):
        book.put(f"pickles/{form.name}/{name}", lambda make=make: [_back(made) for made in make()])


def _objects(form: Form) -> Iterator[tuple[str, Callable[[], list[Any]]]]:
    scores = [score for score, _ in form.candidates.values() if not isinstance(score, an.CustomScore)]
    yield "table, schema, constraints and scores", lambda: [form.table, form.table.schema, constraints(form), *scores]
    for name in SOME:
        if name in form.networks:
            yield f"candidates, graph and network, {name}", lambda name=name: _of_score(form, name)


def _of_score(form: Form, name: str) -> list[Any]:
    net = form.networks[name]
    return [form.candidates[name][1], form.found[name], net, *(net[variable] for variable in net.names[:2])]


def _back(made: Any) -> object:
    """What a pickle gives back, and whether it is told as what went in."""
    back = pickle.loads(pickle.dumps(made))
    return [type(back).__name__, back, text_of([made]) == text_of([back])]
