"""Graphs that pyAgrum, pgmpy and pybnesian learn, for `benches/python/structure.py`, which starts this.

    python benches/peers/structure.py            # says which learners there are, then takes jobs

It runs in an environment of its own. One JSON object a line: {"learner": ..., "table": CSV file, "kinds": {column:
"number", "ordinal" or "category"}} in, {"edges": [[from, to], ...], "seconds": user CPU} or {"error": ...} out. A link,
which may point either way, is two edges.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import warnings
from collections.abc import Callable
from typing import Any

# Before anything that reads them is imported.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
warnings.filterwarnings("ignore")

Edges = list[tuple[str, str]]
BINS = 5


def binned(frame: Any, kinds: dict[str, str]) -> Any:
    """Numbers in bins of equal frequency, all columns as text."""
    import pandas as pd

    return frame.apply(
        lambda column: (
            pd.qcut(column, BINS, labels=False, duplicates="drop") if kinds[column.name] == "number" else column
        ).astype(str)
    )


def pyagrum(how: Callable[[Any], Any]) -> Callable[..., Callable[[], Edges]]:
    def made(frame: Any, kinds: dict[str, str]) -> Callable[[], Edges]:
        import pyagrum as gum

        gum.setNumberOfThreads(1)
        levels = binned(frame, kinds)

        def learn() -> Edges:
            learner = gum.BNLearner(levels)
            learner.setNumberOfThreads(1)
            graph = how(learner)
            names = learner.names()
            arcs = [(names[a], names[b]) for a, b in graph.arcs()]
            links = graph.edges() if hasattr(graph, "edges") else ()
            return arcs + [(names[x], names[y]) for a, b in links for x, y in ((a, b), (b, a))]

        return learn

    return made


def miic(learner: Any) -> Any:
    learner.useMIIC()
    return learner.learnPDAG()


def climb(learner: Any) -> Any:
    learner.useScoreBIC()
    learner.useNoPrior()
    learner.useGreedyHillClimbing()
    return learner.learnDAG()


def pgmpy_climb(frame: Any, kinds: dict[str, str]) -> Callable[[], Edges]:
    from pgmpy.causal_discovery import HillClimbSearch

    levels = binned(frame, kinds)

    def learn() -> Edges:
        search = HillClimbSearch("bic-d", show_progress=False, return_type="dag").fit(levels)
        return list(search.causal_graph_.edges())

    return learn


def pgmpy_pc(frame: Any, kinds: dict[str, str]) -> Callable[[], Edges]:
    from pgmpy.causal_discovery import PC

    levels = binned(frame, kinds)

    def learn() -> Edges:
        search = PC(ci_test="chi_square", return_type="pdag", max_cond_vars=2, n_jobs=1, show_progress=False).fit(
            levels
        )
        graph = search.causal_graph_
        links = getattr(graph, "undirected_edges", ())
        arcs = getattr(graph, "directed_edges", None)
        if arcs is None:
            return list(graph.edges())
        return [tuple(arc) for arc in arcs] + [pair for a, b in links for pair in ((a, b), (b, a))]

    return learn


def pybnesian_climb(frame: Any, kinds: dict[str, str]) -> Callable[[], Edges]:
    import pybnesian

    typed = frame.copy()
    for name, kind in kinds.items():
        typed[name] = typed[name].astype(float) if kind == "number" else typed[name].astype(str).astype("category")

    def learn() -> Edges:
        return list(pybnesian.hc(typed, bn_type=pybnesian.CLGNetworkType(), score="bic", operators=["arcs"]).arcs())

    return learn


LEARNERS: dict[str, tuple[str, Callable[..., Callable[[], Edges]]]] = {
    "pyAgrum MIIC, 5 bins": ("pyagrum", pyagrum(miic)),
    "pyAgrum greedy BIC, 5 bins": ("pyagrum", pyagrum(climb)),
    "pgmpy hill climbing BIC, 5 bins": ("pgmpy", pgmpy_climb),
    "pgmpy PC, 5 bins": ("pgmpy", pgmpy_pc),
    "pybnesian hill climbing CLG": ("pybnesian", pybnesian_climb),
}


def versions() -> dict[str, str]:
    """Of each learner whose package is installed, the package's version."""
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name, (package, _) in LEARNERS.items():
        try:
            found[name] = f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
    return found


def done(job: dict[str, Any]) -> dict[str, Any]:
    import pandas as pd

    frame = pd.read_csv(job["table"], keep_default_na=False)
    learn = LEARNERS[job["learner"]][1](frame, job["kinds"])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    edges = learn()
    return {"edges": edges, "seconds": resource.getrusage(resource.RUSAGE_SELF).ru_utime - before}


def main() -> None:
    # What packages print must not mix with what is told.
    told = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    print(json.dumps(versions()), file=told, flush=True)
    for line in sys.stdin:
        try:
            answer = done(json.loads(line))
        except Exception as error:  # a peer that cannot take a table says so, and goes on with the next
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=told, flush=True)


if __name__ == "__main__":
    main()
