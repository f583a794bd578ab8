"""Tables whose numbers follow lines, for the tests of linear leaves."""

import networkx as nx
import numpy as np

import arbornet as an

LINEAR = an.PCART(leaf="linear")


def bent(n=400, seed=0):
    """A line that changes its slope with a level, and numbers in units of their own."""
    random = np.random.default_rng(seed)
    price, income = random.uniform(80, 120, n), random.normal(3e4, 8e3, n)
    shelf = random.choice(["good", "bad"], n)
    sales = np.where(shelf == "good", 30 - 0.2 * price, 10 - 0.05 * price) + 2e-4 * income + random.normal(0, 0.3, n)
    return {"price": price, "income": income, "shelf": shelf.tolist(), "sales": sales}


def fitted(frame, parents, score=LINEAR):
    table = frame if isinstance(frame, an.Table) else an.Table(frame)
    return table, an.fit(table, nx.DiGraph([(parent, "sales") for parent in parents]), score)
