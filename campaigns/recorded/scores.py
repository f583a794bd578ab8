"""Scores: every one that suits a form, by families of none to three parents, and tests of independence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import networkx as nx

import arbornet as an
from recorded.book import Book
from recorded.tables import Form

#: Scores of levels and numbers.
MIXED: dict[str, Any] = {
    "PCART": an.PCART(),
    "PCART, other priors": an.PCART(penalised=False, max_splits=3, ess=4.0, nu=2.0, lam=0.5),
    "PCART, published": an.PCART(published=True),
    "FullTable": an.FullTable(),
    "FullTable, other bins": an.FullTable(penalised=False, max_bins=4, normalised=False),
    "FullTable, published": an.FullTable(published=True),
    "ConditionalGaussian": an.ConditionalGaussian(),
    "ConditionalGaussian, discretise": an.ConditionalGaussian(discretise=True, prior=an.priors.Binomial(1)),
    "ConditionalGaussian, exact": an.ConditionalGaussian(exact=True),
    "ConditionalGaussian, published": an.ConditionalGaussian(published=True),
    "DegenerateGaussian": an.DegenerateGaussian(),
    "DegenerateGaussian, published": an.DegenerateGaussian(published=True),
    "BasisFunctions": an.BasisFunctions(),
    "BasisFunctions, published": an.BasisFunctions(2, published=True),
    "MixedPolynomial": an.MixedPolynomial(),
    "MixedPolynomial, log": an.MixedPolynomial("log", published=True),
    "LogisticRegression": an.LogisticRegression(),
    "LogisticRegression, log": an.LogisticRegression("log", published=True),
    "Multinomial": an.Multinomial(4),
    "MARS": an.MARS(),
    "MARS, BIC": an.MARS(2, criterion="bic"),
    "MARS, earth": an.MARS(2, compatible="earth"),
}
#: Scores of levels alone.
LEVELS: dict[str, Any] = {
    "LogLikelihood": an.LogLikelihood(),
    "AIC": an.AIC(),
    "BIC": an.BIC(),
    "BIC, EBIC": an.BIC(prior=an.priors.EBIC(0.5)),
    "BD": an.BD(),
    "K2": an.K2(prior=an.priors.ParentCount()),
    "BDeu": an.BDeu(10),
    "NML": an.NML(),
    "QNML": an.QNML(),
    "MIT": an.MIT(),
    "DecisionGraph": an.DecisionGraph(),
    "DecisionGraph, splits first": an.DecisionGraph(prior=10.0, kappa=0.5, schedule="splits_first"),
    "DecisionGraph, trees": an.DecisionGraph("CB", lookahead=1, restarts=1),
    "DecisionGraph, thresholds": an.DecisionGraph(thresholds=True),
    "PCART": an.PCART(),
    "FullTable": an.FullTable(),
}
#: Scores that are quick with all columns.
WIDE: dict[str, Any] = {"DegenerateGaussian": an.DegenerateGaussian(), "PCART": an.PCART()}
WIDE_LEVELS: dict[str, Any] = {"BIC": an.BIC(), "BDeu": an.BDeu(10)}
TESTS = ("PCART", "ConditionalGaussian", "DegenerateGaussian", "MixedPolynomial", "BIC", "MIT", "DecisionGraph")


def suiting(form: Form) -> dict[str, Any]:
    """The scores of a form by name."""
    scores = {"mixed": MIXED, "levels": LEVELS, "wide": WIDE, "wide levels": WIDE_LEVELS}[form.name]
    if form.name != "levels":
        return scores
    prior = an.fit(form.table, chain(form.names), an.K2(), arc_scores=False, n_jobs=form.n_jobs)
    own = an.CustomScore(_own, "numbers of parents", an.K2())
    return scores | {"BDe": an.BDe(prior, 5.0), "CustomScore": own}


def chain(names: list[str]) -> nx.DiGraph[str]:
    """Each variable leans on the one before it."""
    dag: nx.DiGraph[str] = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from(pairwise(names))
    return dag


def families(names: list[str], most: int) -> Iterator[tuple[str, list[str]]]:
    """Per child a set of every size: those that come after it."""
    for v, child in enumerate(names):
        others = [*names[v + 1 :], *names[:v]]
        for size in range(min(most, len(others)) + 1):
            yield child, sorted(others[:size], key=names.index)


def record(form: Form, book: Book) -> None:
    """Every score's numbers, refusals included."""
    if form.name.startswith("wide"):
        return
    for name, score in suiting(form).items():
        book.put(f"scores/{form.name}/{name}", lambda name=name, score=score: _told(form, name, score))


def _told(form: Form, name: str, score: Any) -> object:
    most = 2 if isinstance(score, (an.PCART, an.FullTable)) else 3
    every = [[child, parents, _one(form, child, parents, score)] for child, parents in families(form.names, most)]
    return [score.spec(), every, _tested(form, score) if name in TESTS else []]


def _one(form: Form, child: str, parents: list[str], score: Any) -> object:
    """A family's score, or why it has none."""
    try:
        return an.local_score(form.table, child, parents, score)
    except an.FamilyError as refusal:
        return str(refusal)


def _tested(form: Form, score: Any) -> object:
    names = form.names
    triples = zip(names, names[1:], names[2:], strict=False)
    return [an.independence.test(form.table, x, y, given, score) for x, y, z in triples for given in ((), (z,))]


def _own(table: an.Table, child: str, parents: list[str]) -> float:
    """A score in Python: what is usual for the number of levels."""
    return -1.0 * len(table.schema[child].levels or ()) - 0.5 * abs(len(parents) - 1) + 0.01 * table.names.index(child)
