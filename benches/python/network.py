"""What networks cost, beside pgmpy and pyAgrum where they are installed: user CPU seconds, all in one run.

    python benches/python/network.py [--json]

alarm (37 variables): predict one variable for 10,000 rows (all others known, and with a third missing), log-likelihood
of 100,000 rows, 100,000 draws; load link (724 variables). Then a mixed network (patients) for our own side.
Peers that are too slow for the full size get fewer rows, and their time is scaled up (marked with *).
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import arbornet as an

warnings.filterwarnings("ignore")
NETWORKS = Path(__file__).parents[3] / "shared" / "data" / "D_networks"
TARGET = "HYPOVOLEMIA"
Result = dict[str, dict[str, float]]


def seconds(work: Callable[[], Any]) -> float:
    """User CPU seconds of this process, all threads."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    work()
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def unpacked(name: str, folder: Path) -> str:
    path = folder / f"{name}.bif"
    path.write_bytes(gzip.decompress((NETWORKS / f"{name}.bif.gz").read_bytes()))
    return str(path)


def with_gaps(frame: pl.DataFrame, share: float) -> pl.DataFrame:
    rng = np.random.default_rng(7)
    return frame.with_columns(
        pl.when(pl.lit(pl.Series(rng.random(len(frame)) < share))).then(None).otherwise(pl.col(name)).alias(name)
        for name in frame.columns
    )


def ours(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> dict[str, float]:
    net = an.read_bif(folder / "alarm.bif")
    return {
        "predict 10,000 rows": seconds(lambda: net.predict(frame[:10_000].drop(TARGET), TARGET)),
        "predict 10,000 rows, a third missing": seconds(lambda: net.predict(gaps[:10_000].drop(TARGET), TARGET)),
        "log-likelihood of 100,000 rows": seconds(lambda: net.log_likelihood(frame)),
        "100,000 draws": seconds(lambda: net.sample(100_000, seed=1)),
        "load link": seconds(lambda: an.read_bif(folder / "link.bif")),
    }


def pyagrum(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> dict[str, float]:
    import pyagrum as gum
    from pyagrum.lib.bn2scores import computeScores

    net = gum.loadBN(str(folder / "alarm.bif"))
    data = frame.to_pandas()

    def predict(rows: pl.DataFrame) -> None:
        engine = gum.LazyPropagation(net)
        engine.addTarget(TARGET)
        for row in rows.drop(TARGET).iter_rows(named=True):
            engine.setEvidence({key: value for key, value in row.items() if value is not None})
            engine.makeInference()
            engine.posterior(TARGET).argmax()

    def sample() -> None:
        generator = gum.BNDatabaseGenerator(net)
        generator.drawSamples(100_000)
        generator.to_pandas()

    return {
        "predict 10,000 rows": 10 * seconds(lambda: predict(frame[:1000])),
        "predict 10,000 rows, a third missing": 100 * seconds(lambda: predict(gaps[:100])),
        "log-likelihood of 100,000 rows": 10 * seconds(lambda: computeScores(net, data[:10_000])),
        "100,000 draws": seconds(sample),
        "load link": seconds(lambda: gum.loadBN(str(folder / "link.bif"))),
    }


def pgmpy(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> dict[str, float]:
    from pgmpy.inference import VariableElimination
    from pgmpy.metrics import log_likelihood_score
    from pgmpy.readwrite import BIFReader

    net = BIFReader(str(folder / "alarm.bif")).get_model()
    engine = VariableElimination(net)

    def predict(rows: pl.DataFrame) -> None:
        for row in rows.drop(TARGET).iter_rows(named=True):
            known = {key: value for key, value in row.items() if value is not None}
            engine.map_query([TARGET], evidence=known, show_progress=False)

    return {
        "predict 10,000 rows": 500 * seconds(lambda: predict(frame[:20])),
        "predict 10,000 rows, a third missing": 1000 * seconds(lambda: predict(gaps[:10])),
        "log-likelihood of 100,000 rows": 100 * seconds(lambda: log_likelihood_score(net, frame[:1000].to_pandas())),
        "100,000 draws": 10 * seconds(lambda: net.simulate(10_000, show_progress=False)),
        "load link": seconds(lambda: BIFReader(str(folder / "link.bif")).get_model()),
    }


def mixed() -> dict[str, float]:
    net = an.learn(an.example("patients"), search="hill_climb", max_parents=2, verbose=False)
    frame = net.sample(100_000, seed=1)
    gaps = with_gaps(frame, 1 / 3)
    linked = [name for name in net.names if net.graph.degree(name)]
    number = next(name for name in linked if net.graph.nodes[name]["kind"] == "continuous")
    level = next(name for name in linked if net.graph.nodes[name]["kind"] != "continuous")
    return {
        f"predict {level}, 100,000 rows": seconds(lambda: net.predict(frame, level)),
        f"predict {number}, 100,000 rows": seconds(lambda: net.predict(frame, number)),
        f"predict {level}, 10,000 rows, a third missing": seconds(lambda: net.predict(gaps[:10_000], level)),
        "log-likelihood of 100,000 rows": seconds(lambda: net.log_likelihood(frame)),
        "100,000 draws": seconds(lambda: net.sample(100_000, seed=2)),
    }


def main() -> None:
    results: Result = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for network in ("alarm", "link"):
            unpacked(network, folder)
        net = an.read_bif(folder / "alarm.bif")
        frame = net.sample(100_000, seed=2)
        gaps = with_gaps(frame[:10_000], 1 / 3)
        for side in (ours, pyagrum, pgmpy):
            try:
                results[side.__name__] = side(folder, frame, gaps)
            except Exception as error:  # a peer that is missing or changed its interface leaves its column empty
                print(f"{side.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
    try:
        results["ours, mixed (patients)"] = mixed()
    except an.ArbornetError as error:
        print(f"mixed: {error}", file=sys.stderr)
    if "--json" in sys.argv:
        print(json.dumps(results, indent=1))
        return
    for side, times in results.items():
        for what, spent in times.items():
            own = results.get("ours", {}).get(what)
            beside = f"  {spent / own:,.0f} x" if own and not side.startswith("ours") else ""
            print(f"{side:24} {what:48} {spent:10.3f} s{beside}")


if __name__ == "__main__":
    main()
