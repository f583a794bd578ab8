"""Forks, spawned processes, threads and tasks that call at once: every answer as alone, and no deadlock.

    python campaigns/processes.py [--repeats 20]

Each scene runs in a process of its own that is killed, and counted as a deadlock, after two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from itertools import pairwise

from calls import mixed

import arbornet as an

DEADLOCK = 120.0


def work(seed: int = 1, n_jobs: int = 2) -> str:
    """Something of everything that uses threads, as a text that must not change."""
    frame = mixed(400, 8, seed)
    table = an.Table(frame, n_jobs=n_jobs)
    candidates = an.score_parents(table, an.PCART(), 2, n_jobs=n_jobs)
    found = an.search.exact(candidates, n_jobs=n_jobs)
    climbed = an.search.hill_climb(table, an.DegenerateGaussian(), n_jobs=n_jobs)
    net = an.fit(table, found.dag, an.PCART(), n_jobs=n_jobs)
    drawn = net.sample(200, seed=seed)
    total = float(net.log_likelihood(frame).sum())
    return f"{found.score!r} {climbed.score!r} {total!r} {drawn.hash_rows().sum()}"


def in_fork(task: Callable[[], str]) -> str:
    """What a task says in a child of this process."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(write, task().encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    assert os.waitpid(pid, 0)[1] == 0
    return said


def a_fork_after_work(_: random.Random) -> None:
    assert in_fork(work) == work()


def a_fork_while_threads_work(rng: random.Random) -> None:
    alone, stop = work(), threading.Event()

    def busy() -> None:
        while not stop.is_set():
            work(n_jobs=4)

    threads = [threading.Thread(target=busy) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            time.sleep(rng.uniform(0, 0.3))
            # Polars, unlike us, keeps its pool of threads and is not safe to use after a fork: the child does without.
            table = an.Table({"a": list(range(50)), "b": [i % 3 for i in range(50)]})
            assert in_fork(lambda table=table: repr(an.score_parents(table, an.BIC(), 1, n_jobs=2).n_kept)) == repr(
                an.score_parents(table, an.BIC(), 1, n_jobs=2).n_kept
            )
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert work() == alone


def processes_by(method: str) -> Callable[[random.Random], None]:
    def scene(_: random.Random) -> None:
        alone = [work(seed) for seed in range(4)] if method != "fork" else None
        context = multiprocessing.get_context(method)
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            made = list(pool.map(work, range(4)))
        assert made == (alone or [work(seed) for seed in range(4)])

    return scene


def many_threads_at_once(_: random.Random) -> None:
    alone = [work(seed) for seed in range(4)]
    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(work, [i % 4 for i in range(32)])) == [alone[i % 4] for i in range(32)]


def tasks_of_asyncio(_: random.Random) -> None:
    alone = work()
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.monotonic())
            await asyncio.sleep(0.01)

    async def all_tasks() -> list[str]:
        heart = asyncio.create_task(beat())
        made = await asyncio.gather(*(asyncio.to_thread(work) for _ in range(8)))
        heart.cancel()
        return made

    assert asyncio.run(all_tasks()) == [alone] * 8
    gap = max(b - a for a, b in pairwise(beats))
    print(f"longest silence of the event loop {gap:.2f} s", file=sys.stderr)


SCENES: dict[str, Callable[[random.Random], None]] = {
    "fork after work": a_fork_after_work,
    "fork while threads work": a_fork_while_threads_work,
    "multiprocessing fork": processes_by("fork"),
    "multiprocessing spawn": processes_by("spawn"),
    "multiprocessing forkserver": processes_by("forkserver"),
    "16 threads at once": many_threads_at_once,
    "asyncio.to_thread": tasks_of_asyncio,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scene")
    asked = parser.parse_args()
    if asked.scene:
        SCENES[asked.scene](random.Random(asked.seed))
        return
    print("| scene | runs | deadlocks | other failures |\n|---|---|---|---|")
    failed = False
    for name in SCENES:
        hung = broken = 0
        for i in range(asked.repeats):
            command = [sys.executable, __file__, "--scene", name, "--seed", str(asked.seed + i)]
            try:
                done = subprocess.run(command, timeout=DEADLOCK, capture_output=True, text=True)
            except subprocess.TimeoutExpired:
                hung += 1
                continue
            if done.returncode:
                broken += 1
                print(done.stderr[-1500:], file=sys.stderr)
        failed |= hung + broken > 0
        print(f"| {name} | {asked.repeats} | {hung} | {broken} |", flush=True)
    if failed:
        sys.exit("failed")


if __name__ == "__main__":
    main()
