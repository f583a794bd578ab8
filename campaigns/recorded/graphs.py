"""Graphs: every search, over candidates and by scores on demand, free and under constraints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import arbornet as an
from recorded.book import Book, each
from recorded.candidates import constraints
from recorded.tables import Form

#: Scores whose tables are searched by scores on demand.
ON_DEMAND: dict[str, dict[str, Any]] = {
    "mixed": {"PCART": an.PCART(), "ConditionalGaussian": an.ConditionalGaussian()},
    "levels": {"BIC": an.BIC(), "BDeu": an.BDeu(10)},
    "wide": {"DegenerateGaussian": an.DegenerateGaussian()},
    "wide levels": {"BIC": an.BIC()},
}
#: Scores whose tests are asked.
TESTED: dict[str, dict[str, Any]] = {
    "mixed": {"PCART": an.PCART(), "MixedPolynomial": an.MixedPolynomial(), "no score": None},
    "levels": {"BIC": an.BIC()},
    "wide": {"DegenerateGaussian": an.DegenerateGaussian()},
    "wide levels": {},
}
#: Parents of a variable where searches score what they ask for; trees, which are dear, have fewer.
ON_DEMAND_PARENTS = 3
DEAR_PARENTS = 2


def record(form: Form, book: Book) -> None:
    """Keeps the best graph of every score for the rooms after this one."""
    wide = form.name.startswith("wide")
    for name, (_, kept) in form.candidates.items():
        searches = _among(form, name, kept, wide)
        book.put(f"graphs/{form.name}/{name}", lambda searches=searches: each(searches))
    for name, score in ON_DEMAND[form.name].items():
        searches = _on_demand(form, score, wide)
        book.put(f"graphs/{form.name}/{name} on demand", lambda searches=searches: each(searches))
    for name, score in TESTED[form.name].items():
        searches = _by_tests(form, score, wide)
        book.put(f"graphs/{form.name}/{name} by tests", lambda searches=searches: each(searches))
    if not wide:
        book.put(f"graphs/{form.name}/under constraints", lambda: _constrained(form))
    if form.name == "levels":
        how = {"max_parents": 3, "drop_unused": True, "n_jobs": form.n_jobs}
        book.put("graphs/levels/decision graphs", lambda: _grown(form, how))


def _among(form: Form, name: str, kept: an.Candidates, wide: bool) -> dict[str, Callable[[], object]]:
    """Searches over candidates."""
    if wide:
        return {
            "anytime": lambda: an.search.anytime(kept, rounds=2, chains=2, n_jobs=form.n_jobs),
            "best forest": lambda: _keep(form, name, an.search.chow_liu(kept, n_jobs=form.n_jobs)),
        }
    return {
        "exact": lambda: _keep(form, name, an.search.exact(kept, n_jobs=form.n_jobs)),
        "k best": lambda: list(an.search.k_best(kept, 5, n_jobs=form.n_jobs)),
        "hill climbing": lambda: an.search.hill_climb(kept, restarts=2, n_jobs=form.n_jobs),
        "anytime": lambda: an.search.anytime(kept, rounds=4, window=4, n_jobs=form.n_jobs),
        "best forest": lambda: an.search.chow_liu(kept, n_jobs=form.n_jobs),
    }


def _keep(form: Form, name: str, found: Any) -> Any:
    form.found[name] = found
    return found


def _on_demand(form: Form, score: Any, wide: bool) -> dict[str, Callable[[], object]]:
    """Searches that score what they ask for."""
    search, table, n_jobs = an.search, form.table, form.n_jobs
    most = DEAR_PARENTS if isinstance(score, an.PCART) else ON_DEMAND_PARENTS
    how: Any = {"max_parents": most, "n_jobs": n_jobs}
    made = {
        "hill climbing": lambda: search.hill_climb(table, score, max_parents=2, restarts=1, seed=5, n_jobs=n_jobs),
        "fges": lambda: search.fges(table, score, **how),
        "boss": lambda: search.boss(table, score, restarts=0 if wide else 2, seed=5, **how),
        "chow-liu": lambda: search.chow_liu(table, score, n_jobs=n_jobs),
    }
    if wide:
        return made
    return made | {
        "fges, faithful": lambda: search.fges(table, score, faithfulness=True, **how),
        "grasp": lambda: search.grasp(table, score, restarts=1, seed=5, **how),
        "tan": lambda: search.tan(table, form.source.target, score, n_jobs=n_jobs),
    }


def _by_tests(form: Form, score: Any, wide: bool) -> dict[str, Callable[[], object]]:
    how: Any = {"max_given": 1 if wide or isinstance(score, an.PCART) else None, "n_jobs": form.n_jobs}
    return {
        "pc": lambda: an.search.pc(form.table, score, **how),
        "cpc": lambda: an.search.cpc(form.table, score, **how),
    }


def _constrained(form: Form) -> object:
    rules, table, n_jobs = constraints(form), form.table, form.n_jobs
    score = an.BDeu(10) if form.name == "levels" else an.DegenerateGaussian()
    kept = an.score_parents(table, score, 3, rules, n_jobs=n_jobs)
    return {
        "exact": an.search.exact(kept, constraints=rules, n_jobs=n_jobs),
        "hill climbing": an.search.hill_climb(kept, constraints=rules, n_jobs=n_jobs),
        "anytime": an.search.anytime(kept, constraints=rules, rounds=2, n_jobs=n_jobs),
        "k best": list(an.search.k_best(kept, 3, constraints=rules, n_jobs=n_jobs)),
        "fges": an.search.fges(table, score, constraints=rules, n_jobs=n_jobs),
        "grasp": an.search.grasp(table, score, constraints=rules, n_jobs=n_jobs),
        "pc": an.search.pc(table, score, constraints=rules, n_jobs=n_jobs),
    }


def _grown(form: Form, how: Any) -> object:
    grown = an.search.decision_graphs(form.table, **how)
    return [grown, grown.unused, grown.network]
