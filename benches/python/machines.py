"""What a Dask cluster costs: processor seconds of scoring here and on workers, memory, and how soon a stop is heard.

    python benches/python/machines.py [--rows 300000] [--columns 20] [--parents 1] [--workers 2] [--through-scheduler]

The cluster is a `LocalCluster` of processes with one thread each. Prints a line for each way; the candidates are
compared byte for byte.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import distributed
import polars as pl

import arbornet as an

MEGABYTE = 1 << 20


def used() -> tuple[float, float]:
    """Processor seconds and the most memory in megabytes that this process has used."""
    mine = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    most = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return mine.ru_utime + mine.ru_stime, int(most.split()[1]) / 1024


def measured(client: Any, work: Callable[[], Any]) -> tuple[Any, str]:
    """The result of the work, with what it cost here and on the workers."""
    here, there = used(), client.run(used)
    began = time.perf_counter()
    result = work()
    wall = time.perf_counter() - began
    now, then = used(), client.run(used)
    workers = sum(then[worker][0] - there[worker][0] for worker in then)
    most = max(then[worker][1] - there[worker][1] for worker in then)
    return result, f"{now[0] - here[0]:6.2f} CPU s here, {workers:6.2f} on workers (+{most:.0f} MB each), {wall:.2f} s"


def saved(candidates: Any) -> bytes:
    """The candidates as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "candidates.jkl"
        candidates.save(path)
        return path.read_bytes()


def stopped(client: Any, table: an.Table, parents: int) -> str:
    """How long after Ctrl-C the call returns, and how long the workers are busy after it."""
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        an.score_parents(table, an.PCART(), parents, client=client)
        return "it was over before it could be stopped"
    except KeyboardInterrupt:
        pressed = time.perf_counter()
    busy = lambda dask_worker: bool(dask_worker.state.executing)  # noqa: E731 - travels to workers
    while any(client.run(busy).values()):
        time.sleep(0.02)
    return f"workers end their tasks {time.perf_counter() - pressed:.2f} s after the call has returned"


def main() -> None:
    """Measures."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rows", type=int, default=300_000)
    options.add_argument("--columns", type=int, default=20)
    options.add_argument("--parents", type=int, default=1)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--through-scheduler", action="store_true", help="workers cannot be reached from here")
    asked = options.parse_args()
    made = an.simulate.network(asked.columns, asked.rows, numbers=1.0, seed=1)
    table = an.Table(made.frame, schema=made.schema)
    how = {"n_workers": asked.workers, "threads_per_worker": 1, "dashboard_address": ":0"}
    direct = not asked.through_scheduler
    with (
        distributed.LocalCluster(processes=True, **how) as cluster,
        distributed.Client(cluster, direct_to_workers=direct) as client,
    ):
        client.run(lambda: __import__("arbornet"))
        size = pl.DataFrame(made.frame).estimated_size() / MEGABYTE
        print(f"{asked.rows:,} x {asked.columns} ({size:.0f} MB), up to {asked.parents} parents")
        local, cost = measured(client, lambda: an.score_parents(table, an.PCART(), asked.parents))
        print("one machine:", cost)
        spread, cost = measured(client, lambda: an.score_parents(table, an.PCART(), asked.parents, client=client))
        print("cluster:    ", cost, "| the same bytes" if saved(local) == saved(spread) else "| OTHER BYTES")
        print("stop:       ", stopped(client, table, asked.parents + 1))


if __name__ == "__main__":
    main()
