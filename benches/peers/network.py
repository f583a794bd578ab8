"""What networks cost, beside pgmpy and pyAgrum where they are installed: user CPU seconds, all in one run.

    python benches/peers/network.py [--json]

alarm (37 variables): predict one variable for 10,000 rows (all others known, and with a third missing), log-likelihood
of 100,000 rows, 100,000 draws; load link (724 variables). Then a mixed network (patients) for our own side.
Peers that are too slow for the full size get fewer rows, and their time is multiplied.
"""

from __future__ import annotations

import gzip
import json
import os
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
NETWORKS = Path(os.environ.get("ARBORNET_DATA", Path(__file__).parents[1] / "data")) / "networks"
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


Work = dict[str, tuple[int, Callable[[], Any]]]
"""What is measured: how often the work would have to be done for the full size, and the work."""


def ours(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> Work:
    net = an.read_bif(folder / "alarm.bif")
    return {
        "predict 10,000 rows": (1, lambda: net.predict(frame[:10_000].drop(TARGET), TARGET)),
        "predict 10,000 rows, a third missing": (1, lambda: net.predict(gaps[:10_000].drop(TARGET), TARGET)),
        "log-likelihood of 100,000 rows": (1, lambda: net.log_likelihood(frame)),
        "100,000 draws": (1, lambda: net.sample(100_000, seed=1)),
        "load link": (1, lambda: an.read_bif(folder / "link.bif")),
    }


def pyagrum(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> Work:
    import pyagrum as gum
    from pyagrum.lib.bn2scores import computeScores

    net = gum.loadBN(str(folder / "alarm.bif"))
    frame[:10_000].write_csv(folder / "rows.csv")

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
        "predict 10,000 rows": (10, lambda: predict(frame[:1000])),
        "predict 10,000 rows, a third missing": (50, lambda: predict(gaps[:200])),
        "log-likelihood of 100,000 rows": (10, lambda: computeScores(net, str(folder / "rows.csv"))),
        "100,000 draws": (1, sample),
        "load link": (1, lambda: gum.loadBN(str(folder / "link.bif"))),
    }


def pgmpy(folder: Path, frame: pl.DataFrame, gaps: pl.DataFrame) -> Work:
    from pgmpy.inference import VariableElimination
    from pgmpy.readwrite import BIFReader

    net = BIFReader(str(folder / "alarm.bif")).get_model()
    engine = VariableElimination(net)

    def predict(rows: pl.DataFrame) -> None:
        for row in rows.drop(TARGET).iter_rows(named=True):
            known = {key: value for key, value in row.items() if value is not None}
            engine.map_query([TARGET], evidence=known, show_progress=False)

    def log_likelihood(rows: pl.DataFrame) -> None:
        for row in rows.iter_rows(named=True):
            net.get_state_probability(row)

    return {
        "predict 10,000 rows": (500, lambda: predict(frame[:20])),
        "predict 10,000 rows, a third missing": (1000, lambda: predict(gaps[:10])),
        "log-likelihood of 100,000 rows": (10_000, lambda: log_likelihood(frame[:10])),
        "100,000 draws": (10, lambda: net.simulate(10_000, show_progress=False)),
        "load link": (1, lambda: BIFReader(str(folder / "link.bif")).get_model()),
    }


def measured(work: Work) -> dict[str, float]:
    out = {}
    for what, (times, one) in work.items():
        try:
            out[what] = times * seconds(one)
        except Exception as error:  # an interface that changed leaves its line empty
            print(f"{what}: {type(error).__name__}: {error}", file=sys.stderr)
    return out


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
                results[side.__name__] = measured(side(folder, frame, gaps))
            except ImportError as error:
                print(f"{side.__name__} is not installed: {error}", file=sys.stderr)
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
