"""The same bytes for 1, 2 and 8 threads, chunked frames, hash seeds and repeated runs, over methods of every family.

python campaigns/determinism.py            # runs itself under several hash seeds and compares what they print
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator

import polars as pl

import arbornet as an

THREADS = (1, 2, 8)
SEEDS = ("0", "1", "4242")


def frames() -> Iterator[pl.DataFrame]:
    """The same rows whole and in chunks."""
    frame = an.example("penguins").drop_nulls()
    yield frame
    yield pl.concat([frame[i : i + 37] for i in range(0, len(frame), 37)], rechunk=False)


def told(found: object) -> object:
    """What is compared of a result."""
    arcs = getattr(found, "dag", None)
    return [sorted(arcs.edges), repr(found.score)] if arcs is not None else found


def results(frame: pl.DataFrame, n_jobs: int) -> dict[str, object]:
    """Every method's result on a mixed table and on its levels."""
    table, out = an.Table(frame), {}
    levels = an.Table(frame.select(pl.col(pl.String)))
    scores = {
        "pcart": (table, an.PCART()),
        "full table": (table, an.FullTable()),
        "conditional Gaussian": (table, an.ConditionalGaussian()),
        "degenerate Gaussian": (table, an.DegenerateGaussian()),
        "polynomial": (table, an.MixedPolynomial()),
        "MARS": (an.Table(frame.select(pl.col(pl.Float64))), an.MARS()),
        "bdeu": (levels, an.BDeu(10)),
        "decision graph": (levels, an.DecisionGraph()),
    }
    for name, (of, score) in scores.items():
        kept = an.score_parents(of, score, 2, n_jobs=n_jobs)
        out[name] = [kept.child(v).rows() for v in of.names]
        out[f"{name}, exact"] = told(an.search.exact(kept))
        out[f"{name}, hill climbing"] = told(an.search.hill_climb(of, score, max_parents=2, n_jobs=n_jobs))
        out[f"{name}, anytime"] = told(an.search.anytime(kept, rounds=5))
    gaussian = an.DegenerateGaussian()
    for search in (an.search.fges, an.search.boss, an.search.grasp):
        out[search.__name__] = told(search(table, gaussian, n_jobs=n_jobs))
    net = an.learn(table, an.PCART(), max_parents=2, n_jobs=n_jobs, verbose=False)
    out["network"] = json.loads(net.handle.to_json())
    out["draws"] = net.sample(50, seed=3).rows()
    out["densities"] = net.log_likelihood(frame).tobytes().hex()
    return out


def main() -> None:
    if sys.argv[1:] == ["--one"]:
        warnings.simplefilter("ignore")
        for frame in frames():
            for n_jobs in THREADS:
                for name, found in results(frame, n_jobs).items():
                    print(name, hashlib.sha256(repr(found).encode()).hexdigest())
        return
    digests: dict[str, set[str]] = {}
    runs = 0
    for seed in SEEDS:
        ran = subprocess.run(
            [sys.executable, __file__, "--one"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        for line in ran.stdout.splitlines():
            name, _, digest = line.rpartition(" ")
            digests.setdefault(name, set()).add(digest)
            runs += 1
    for name, seen in digests.items():
        print(f"{name}: {'the same bytes' if len(seen) == 1 else f'{len(seen)} DIFFERENT RESULTS'}")
    print(f"{runs} results, {len(digests)} methods")


if __name__ == "__main__":
    main()
