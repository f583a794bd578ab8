"""Ingestion of 1,000,000 rows x 50 columns beside Polars' own cast of the same frame to codes.

    python benches/python/ingest.py [n_rows]

Each way runs in a process of its own: user + system CPU seconds and wall seconds of the call alone, and by how much the
peak of resident memory rose over that before the call.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl


def frame(n_rows: int) -> pl.DataFrame:
    rng = np.random.default_rng(1)
    columns: dict[str, pl.Series] = {}
    for i in range(25):
        names = np.array([f"level {i} {j}" if i % 5 == 0 else f"l{j}" for j in range(2 + i)])
        columns[f"text{i}"] = pl.Series(names[rng.integers(0, len(names), n_rows)])
    for i in range(25):
        columns[f"real{i}"] = pl.Series(rng.normal(i, 1 + i, n_rows))
    return pl.DataFrame(columns)


def by_polars(df: pl.DataFrame) -> object:
    return df.with_columns(pl.selectors.string().cast(pl.Categorical).to_physical())


def by_table(df: pl.DataFrame) -> object:
    import arbornet as an

    return an.Table(df)


def by_table_with_schema(df: pl.DataFrame) -> object:
    import arbornet as an

    return an.Table(df, SCHEMA)


SCHEMA = None
WAYS = {"polars": by_polars, "table": by_table, "table with schema": by_table_with_schema}


def peak_kb() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)


def resident_kb() -> int:
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmRSS" in line)


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def measure(way: str, n_rows: int) -> dict[str, float]:
    global SCHEMA
    import arbornet as an

    df = frame(n_rows)
    small = df.head(1000)
    SCHEMA = an.infer_schema(df) if way == "table with schema" else None
    WAYS[way](df if SCHEMA else small)  # threads, imports
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    memory, start, began = resident_kb(), cpu(), time.perf_counter()
    result = WAYS[way](df)
    wall, used = time.perf_counter() - began, cpu() - start
    del result
    return {"cpu": used, "wall": wall, "peak_mb": (peak_kb() - memory) / 1024}


if __name__ == "__main__":
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    if len(sys.argv) > 2:
        print(json.dumps(measure(sys.argv[2], n_rows)))
        sys.exit()
    results = {}
    for way in WAYS:
        command = [sys.executable, __file__, str(n_rows), way]
        runs = [json.loads(subprocess.check_output(command, text=True)) for _ in range(3)]
        results[way] = min(runs, key=lambda run: run["cpu"])
    base = results["polars"]
    for way, run in results.items():
        print(
            f"{way:18} cpu {run['cpu']:.2f} s ({run['cpu'] / base['cpu']:.2f}x)  wall {run['wall']:.2f} s  "
            f"peak +{run['peak_mb']:.0f} MB ({run['peak_mb'] / base['peak_mb']:.2f}x)"
        )
