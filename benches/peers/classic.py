"""What classic scores, hill climbing and trees cost, beside pyAgrum and pgmpy where they are installed, in one run.

    python benches/peers/classic.py [--json] [--no-slow]

User CPU seconds on one thread, the best of several rounds for what takes less than a second. ALARM (37 variables,
Beinlich et al. 1989) sampled by arbornet's own sampler, seed 42. What a peer would need minutes for is done in part and
its time multiplied; the factor is printed. `--no-slow` leaves pgmpy out.
"""

from __future__ import annotations

import gzip
import itertools
import json
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an

warnings.filterwarnings("ignore")
ALARM = Path(os.environ.get("ARBORNET_DATA", Path(__file__).parents[1] / "data")) / "networks" / "alarm.bif.gz"
CLASS = "BP"
TASKS = {
    "scores": "BDeu(1) of 20 variables, up to 3 parents, 10,000 rows",
    "climb": "hill climbing with BIC, 37 variables, 10,000 rows",
    "climb 100k": "hill climbing with BIC, 37 variables, 100,000 rows",
    "tan": "TAN structure, class BP, 10,000 rows",
    "classifier": "TAN classifier fitted from a frame, 10,000 rows",
    "exact": "exact search (120 s at most), BDeu(1), 37 variables, up to 4 parents, from a frame of 10,000 rows",
}
Work = dict[str, tuple[float, Callable[[], Any]]]
"""By task: how often the work would have to be done for all of it, and the work."""


def seconds(work: Callable[[], Any], rounds: int = 7) -> float:
    """User CPU seconds of this process."""
    best = float("inf")
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
        work()
        best = min(best, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before)
        if best > 0.5:
            break
    return best


def families(names: list[str], most: int) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (child, parents)
        for child in names
        for k in range(most + 1)
        for parents in itertools.combinations([name for name in names if name != child], k)
    ]


def ours(small: pl.DataFrame, large: pl.DataFrame) -> Work:
    first = sorted(small.columns)[:20]
    table, table_20, table_large = an.Table(small), an.Table(small.select(first)), an.Table(large)
    X, y = small.drop(CLASS), small[CLASS]
    classifier = an.TANClassifier(n_jobs=1)  # imports scikit-learn, which is not what is measured

    def exact() -> None:
        candidates = an.score_parents(an.Table(small, n_jobs=1), an.BDeu(1), 4, n_jobs=1)
        found = an.search.exact(candidates, n_jobs=1, time_limit=120)
        print(f"exact: {found}", file=sys.stderr, flush=True)

    return {
        "scores": (1, lambda: an.score_parents(table_20, an.BDeu(1), 3, n_jobs=1)),
        "climb": (1, lambda: an.search.hill_climb(table, an.BIC(), n_jobs=1)),
        "climb 100k": (1, lambda: an.search.hill_climb(table_large, an.BIC(), n_jobs=1)),
        "tan": (1, lambda: an.search.tan(table, CLASS, an.LogLikelihood(), n_jobs=1)),
        "classifier": (1, lambda: classifier.fit(X, y)),
        "exact": (1, exact),
    }


def pyagrum(small: pl.DataFrame, large: pl.DataFrame) -> Work:
    import pyagrum as gum

    gum.setNumberOfThreads(1)
    first = sorted(small.columns)[:20]
    frame, frame_20, frame_large = small.to_pandas(), small.select(first).to_pandas(), large.to_pandas()

    def scores() -> None:
        learner = gum.BNLearner(frame_20)
        learner.setNumberOfThreads(1)
        learner.useScoreBDeu()
        for child, parents in families(first, 3):
            learner.score(child, list(parents))

    def climb(learner: Any) -> None:
        learner.setNumberOfThreads(1)
        learner.useScoreBIC()
        learner.useNoPrior()
        learner.useGreedyHillClimbing()
        learner.learnDAG()

    # Reading the frame is not counted: our tables are made beforehand too.
    learners = {name: gum.BNLearner(of) for name, of in (("climb", frame), ("climb 100k", frame_large))}
    return {
        "scores": (1, scores),
        "climb": (1, lambda: climb(learners["climb"])),
        "climb 100k": (1, lambda: climb(learners["climb 100k"])),
    }


def pgmpy(small: pl.DataFrame, _: pl.DataFrame) -> Work:
    from pgmpy.causal_discovery import HillClimbSearch
    from pgmpy.estimators import TreeSearch
    from pgmpy.structure_score import BDeu

    first = sorted(small.columns)[:20]
    frame, frame_20 = small.to_pandas(), small.select(first).to_pandas()
    every = families(first, 3)
    part = every[:: len(every) // 400]

    def scores() -> None:
        score = BDeu(frame_20, equivalent_sample_size=1)
        for child, parents in part:
            score.local_score(child, parents)

    tree = TreeSearch(frame, n_jobs=1)
    return {
        "scores": (len(every) / len(part), scores),
        "climb": (1, lambda: HillClimbSearch("bic-d", show_progress=False, return_type="dag").fit(frame)),
        "tan": (1, lambda: tree.estimate("tan", class_node=CLASS, show_progress=False)),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alarm.bif"
        path.write_bytes(gzip.decompress(ALARM.read_bytes()))
        net = an.read_bif(path)
    small, large = net.sample(10_000, seed=42), net.sample(100_000, seed=42)
    found: dict[str, dict[str, float]] = {task: {} for task in TASKS}
    for maker in [ours, pyagrum] if "--no-slow" in sys.argv else [ours, pyagrum, pgmpy]:
        try:
            work = maker(small, large)
        except ImportError as missing:
            print(f"{maker.__name__} is left out: {missing}", file=sys.stderr)
            continue
        for task, (times, do) in work.items():
            found[task][maker.__name__] = times * seconds(do)
            print(f"{maker.__name__:8s} {task:10s} {found[task][maker.__name__]:9.4f}", file=sys.stderr, flush=True)
            if times > 1:
                print(f"{maker.__name__}: a part of '{task}' times {times:.0f}", file=sys.stderr)
    if "--json" in sys.argv:
        print(json.dumps(found, indent=1))
        return
    for task, of in found.items():
        told = "  ".join(f"{name} {spent:9.4f}" for name, spent in of.items())
        ratio = "  ".join(f"{of[name] / of['ours']:.0f} x" for name in of if name != "ours")
        print(f"{TASKS[task]:90s} {told}  {ratio}")


if __name__ == "__main__":
    main()
