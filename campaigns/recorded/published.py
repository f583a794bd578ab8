"""Published networks: read, asked, drawn from, written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arbornet as an
from recorded.book import Book
from recorded.tables import DATA

#: In networks of more variables no value is left to be summed out, and little is written anew.
MOST_ASKED = 60
#: Levels of all variables together; files of larger networks are not written in every format.
MOST_WRITTEN = 60
ROWS = 20
QUICK = ("networks/asia", "networks/cancer", "networks/survey")


def names() -> list[str]:
    """All networks, as `networks/name`."""
    return sorted(f"networks/{path.name.removesuffix('.bif.gz')}" for path in (DATA / "networks").glob("*.bif.gz"))


def record(name: str, n_jobs: int) -> Book:
    """Everything of one network."""
    book = Book()
    net = an.read_bif(DATA / f"{name}.bif.gz")
    book.put("networks/read", lambda: net)
    small = len(net) <= MOST_ASKED
    drawn = net.sample(ROWS, seed=2, n_jobs=n_jobs)
    book.put("predictions/drawn", lambda: drawn)
    for what, make in _asked(net, drawn, small, n_jobs).items():
        book.put(f"predictions/{what}", make)
    for what, make in _written(net, small).items():
        book.put(f"texts/{what}", make)
    if small:
        book.put("graphs/learned again", lambda: _learned(net, n_jobs))
    return book


def _asked(net: an.BayesNet, drawn: Any, small: bool, n_jobs: int) -> dict[str, Callable[[], object]]:
    first, last = net.names[0], net.names[-1]
    how: Any = {"n_jobs": n_jobs}
    made: dict[str, Callable[[], object]] = {
        "log-likelihood": lambda: net.log_likelihood(drawn, **how),
        "probabilities": lambda: [net.predict_proba(drawn, name, **how) for name in (first, last)],
        "predicted": lambda: net.predict(drawn, last, **how),
    }
    if small:
        value = drawn[first][0]
        half = drawn.select(net.names[::2])
        made["log-likelihood of half"] = lambda: net.log_likelihood(half, particles=200, **how)
        made["query"] = lambda: [net.query(name, particles=2000) for name in net.names[:5]]
        made["query given"] = lambda: net.query(last, given={first: value}, particles=2000)
        made["query set"] = lambda: net.query(last, do={first: value}, particles=2000)
        made["drawn given"] = lambda: net.sample(5, seed=2, given={last: drawn[last][0]}, n_jobs=n_jobs)
    return made


def _written(net: an.BayesNet, small: bool) -> dict[str, Callable[[], object]]:
    made: dict[str, Callable[[], object]] = {"BIF": net.to_bif, "DOT": net.to_dot}
    if small:
        made |= {"XMLBIF": net.to_xmlbif, "NET": net.to_net, "picture": net._repr_svg_}
        made["words"] = lambda: [net.explain(name) for name in net.names[:10]]
        made["class"] = net.cpdag
    return made


def _learned(net: an.BayesNet, n_jobs: int) -> object:
    """From rows it draws, what a search makes of them, and how near that comes."""
    table = an.Table(net.sample(300, seed=4, n_jobs=n_jobs), schema=net.schema, n_jobs=n_jobs)
    found = an.search.hill_climb(table, an.BDeu(1), max_parents=3, n_jobs=n_jobs)
    return [found, an.metrics.compare(net.graph, found.dag).to_dict()]
