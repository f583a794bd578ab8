"""Jobs side by side: same results at any number of threads, errors and Ctrl-C stop all of them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from arbornet.system.parallel import side_by_side


def test_every_job_gives_its_result_at_any_number_of_threads():
    for n_jobs in (1, 2, 3, 8):
        assert dict(side_by_side(lambda job, _: job * job, range(20), n_jobs)) == {i: i * i for i in range(20)}


def test_few_jobs_share_the_threads_that_many_have_one_each():
    assert {n for _, n in side_by_side(lambda _, n: n, range(2), 8)} == {4}
    assert {n for _, n in side_by_side(lambda _, n: n, range(20), 8)} == {1}
    assert dict(side_by_side(lambda _, n: n, [0], 8)) == {0: 8}
    assert dict(side_by_side(lambda _, n: n, [], 8)) == {}


def test_the_first_error_is_raised_and_nothing_more_begins():
    begun = []

    def work(job: int, _: int) -> int:
        begun.append(job)
        time.sleep(0.01)
        if job == 1:
            raise ValueError("job 1")
        return job

    with pytest.raises(ValueError, match="job 1"):
        list(side_by_side(work, range(1000), 2))
    assert len(begun) < 100


SLOW = """
import time, sys, polars as pl, numpy as np, arbornet as an
rng = np.random.default_rng(1)
frame = pl.DataFrame({f"x{i}": rng.normal(size=3000) for i in range(12)})
print("ready", flush=True)
try:
    an.evaluate.arc_strength(frame, an.PCART(), n_bootstrap=50, max_parents=3, n_jobs=2)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_stops_all_threads_within_a_second():
    process = subprocess.Popen([sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.5)
    os.kill(process.pid, signal.SIGINT)
    asked = time.perf_counter()
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\n"
    # A second of ours, and what a busy machine takes to end a process.
    assert time.perf_counter() - asked < 5
