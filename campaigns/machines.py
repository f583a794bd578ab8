"""Step 1 on a Dask cluster whose workers, or whose scheduler, are killed at random moments.

    python campaigns/machines.py workers 20       # one to three of three workers killed -9 at a random moment
    python campaigns/machines.py scheduler 20     # the scheduler killed -9, in half of the rounds started again

The third argument is the seed (1). A run must give the candidates of one machine or raise a clear error, in both cases
within `PATIENCE` seconds; after an error the checkpoint is taken up on a new cluster and must give the same candidates.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import distributed
import numpy as np

import arbornet as an

PATIENCE = 300
N_PARENTS = 3


def table() -> an.Table:
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 300)]
    for _ in range(9):
        columns.append(np.where(rng.random(300) < 0.5, columns[-1], rng.integers(0, 3, 300)))
    return an.Table({f"v{i}": np.array(["a", "b", "c"])[c] for i, c in enumerate(columns)})


def slowly(milliseconds: float) -> an.CustomScore:
    """BIC, taking its time; made here so that it travels whole to the workers."""

    def score(table: Any, child: str, parents: list[str]) -> float:
        import time

        from arbornet import _core

        time.sleep(milliseconds / 1000)
        handle = _core.ScoreHandle(table.handle, '{"score":"likelihood","penalty":"bic"}')
        return handle.score(table.names.index(child), [table.names.index(p) for p in parents])

    return an.CustomScore(score)


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start_scheduler()
        for _ in range(2):
            self.start("worker", self.address, "--nthreads", "1", "--no-dashboard", "--death-timeout", "120")

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tempfile.gettempdir()}
        process = subprocess.Popen([sys.executable, "-m", "dask", *command], start_new_session=True, **quiet)  # type: ignore[call-overload]
        self.processes.append(process)
        return process

    def start_scheduler(self) -> subprocess.Popen[bytes]:
        return self.start("scheduler", "--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard")

    def close(self) -> None:
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextlib.contextmanager
def cluster() -> Iterator[tuple[Cluster, distributed.Client]]:
    made = Cluster()
    try:
        with distributed.Client(made.address, timeout=120) as client:
            client.wait_for_workers(2, timeout=300)
            yield made, client
    finally:
        made.close()


def within_patience(work: Callable[[], Any]) -> Any:
    """What the work gives, or the exception that it raises; ends the campaign if it takes too long."""
    told: list[Any] = []

    def run() -> None:
        try:
            told.append(work())
        except Exception as error:
            told.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    if not told:
        print(f"nothing for {PATIENCE} seconds: it hangs", flush=True)
        import faulthandler

        faulthandler.dump_traceback(all_threads=True)
        os._exit(1)
    return told[0]


def workers(times: int, rng: random.Random) -> None:
    of, wanted = table(), an.score_parents(table(), slowly(0), N_PARENTS, n_jobs=1)
    seen: Counter[str] = Counter()
    options: Any = {"dashboard_address": None, "processes": True, "threads_per_worker": 1}
    with distributed.LocalCluster(n_workers=3, **options) as local, distributed.Client(local) as client:
        for _ in range(times):
            client.wait_for_workers(3, timeout=300)
            victims = rng.sample(list(client.run(os.getpid).values()), rng.randint(1, 3))
            timer = threading.Timer(rng.uniform(0.0, 3.0), lambda of=victims: [os.kill(v, signal.SIGKILL) for v in of])
            timer.start()
            began = time.perf_counter()
            found = within_patience(lambda: an.score_parents(of, slowly(4), N_PARENTS, client=client))
            spent = time.perf_counter() - began
            midway = not timer.is_alive()
            timer.join()
            assert found == wanted, repr(found)
            seen["midway" if midway else "too late"] += 1
            print(f"{len(victims)} killed, {spent:.1f} s, the same candidates", flush=True)
    print(f"workers: {times} rounds, {dict(seen)}, every one the same candidates")


def scheduler(times: int, rng: random.Random) -> None:
    of, wanted = table(), an.score_parents(table(), slowly(0), N_PARENTS, n_jobs=1)
    seen: Counter[str] = Counter()
    for i in range(times):
        with tempfile.TemporaryDirectory() as folder:
            again = i % 2 == 0
            with cluster() as (made, client):
                pause = rng.uniform(0.0, 3.0)

                def strike(made: Cluster = made, again: bool = again, pause: float = pause) -> None:
                    made.scheduler.kill()
                    if again:
                        time.sleep(pause)
                        made.scheduler = made.start_scheduler()

                timer = threading.Timer(rng.uniform(0.0, 9.0), strike)
                timer.start()
                began = time.perf_counter()
                score = lambda: an.score_parents(of, slowly(10), N_PARENTS, client=client, checkpoint=folder)  # noqa: E731
                found = within_patience(score)
                spent = time.perf_counter() - began
                timer.join()
            kept = sum(path.stat().st_size for path in Path(folder).glob("blocks-*.bin"))
            how = "started again" if again else "dead for good"
            if isinstance(found, Exception):
                print(f"{how}: {type(found).__name__} after {spent:.1f} s, {kept} bytes kept: {found}", flush=True)
                assert isinstance(found, an.ArbornetError), repr(found)
                seen[f"{how}: refused"] += 1
                with cluster() as (_, client):
                    resumed = lambda: an.score_parents(of, slowly(0), N_PARENTS, client=client, checkpoint=folder)  # noqa: E731
                    found = within_patience(resumed)
            else:
                print(f"{how}: a result after {spent:.1f} s", flush=True)
                seen[f"{how}: carried on"] += 1
            assert found == wanted, repr(found)
    print(f"scheduler: {times} rounds, {dict(seen)}, in the end every one the same candidates")


def main() -> None:
    kind, times, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    logging.disable(logging.CRITICAL)
    {"workers": workers, "scheduler": scheduler}[kind](times, random.Random(seed))


if __name__ == "__main__":
    main()
