"""Candidates: what Step 1 keeps, under every score, under constraints, by forests and from rows with gaps."""

from __future__ import annotations

from typing import Any

import arbornet as an
from recorded.book import Book
from recorded.scores import suiting
from recorded.tables import Form

#: Parents of a set, by form; of dear scores, whose trees are searched or grown, no more than two.
MOST_PARENTS = {"mixed": 2, "levels": 3, "wide": 1, "wide levels": 1}
DEAR = (an.PCART, an.FullTable, an.DecisionGraph, an.CustomScore)


def record(form: Form, book: Book) -> None:
    """Keeps the candidates for the rooms after this one."""
    for name, score in suiting(form).items():
        book.put(f"candidates/{form.name}/{name}", lambda name=name, score=score: _kept(form, name, score))
    if form.name == "mixed":
        book.put("candidates/mixed/forests", lambda: _by_forests(form))
        book.put("candidates/mixed/PCART under constraints", lambda: _score(form, an.PCART(), 2, constraints(form)))
        book.put("candidates/mixed/PCART, priors from the data", lambda: _score(form, an.PCART(lam="auto"), 1))
    if form.name == "levels":
        book.put(
            "candidates/levels/with a prior", lambda: form.candidates["BDeu"][1].with_prior(an.priors.ParentCount())
        )
        book.put("candidates/levels/missing as a level", lambda: _with_gaps(form))


def constraints(form: Form) -> an.Constraints:
    """Of every kind, as far as there are variables for them."""
    names = form.names
    if len(names) < 4:
        return an.Constraints(max_parents=1)
    return an.Constraints(
        required=[(names[0], names[1])],
        forbidden=[(names[2], names[1])],
        tiers=[names[: len(names) // 2], names[len(names) // 2 :]],
        leaves=[names[-1]],
        max_parents={names[1]: 2},
    )


def _kept(form: Form, name: str, score: Any) -> an.Candidates:
    most = MOST_PARENTS[form.name]
    kept = _score(form, score, min(most, 2) if isinstance(score, DEAR) else most)
    form.candidates[name] = score, kept
    return kept


def _score(form: Form, score: Any, most: Any, rules: an.Constraints | None = None, **how: Any) -> an.Candidates:
    return an.score_parents(form.table, score, most, rules, **{"n_jobs": form.n_jobs, **how})


def _by_forests(form: Form) -> object:
    how: Any = {"n_trees": 8, "seed": 3, "n_jobs": form.n_jobs}
    among: Any = {"parents": "forest", "n_candidates": 3}
    return {
        "gain": an.rank_parents(form.table, **how),
        "permutation": an.rank_parents(form.table, importance="permutation", **how),
        "PCART": _score(form, an.PCART(), "auto", **among),
        "MARS": _score(form, an.MARS(), "auto", **among),
    }


def _with_gaps(form: Form) -> an.Candidates:
    """The rows as they lie on disk, blanks a level of their own."""
    frame = form.source.frame.select(form.names).head(2000)
    table = an.Table(frame, schema=form.table.schema, missing="level", n_jobs=form.n_jobs)
    return an.score_parents(table, an.BDeu(1), 2, n_jobs=form.n_jobs)
