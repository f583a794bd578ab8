"""Ctrl-C and time limits where a long call might not notice them. Limits here are generous: machines are shared."""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import arbornet as an
import arbornet.search as searches
from arbornet.data.frames import read_frame

PROMPT = 4.0
LONG = 12.0


def interrupted(call: Callable[[], object], after: float = 0.3) -> float:
    """Seconds from Ctrl-C until the call has raised KeyboardInterrupt.

    The signal comes from another process, as a terminal's does: a thread of this one may wait for the lock of the
    interpreter until the call is over.
    """
    began = time.perf_counter()
    asker = subprocess.Popen(["sh", "-c", f"sleep {after}; kill -INT {os.getpid()}"])
    ended: object = None
    try:
        try:
            ended = call()
        except KeyboardInterrupt:
            return time.perf_counter() - began - after
        except Exception as error:
            ended = error
        asker.wait()
        time.sleep(1)
    except KeyboardInterrupt:
        pass  # too late: it must not reach the test runner
    finally:
        asker.wait()
    pytest.fail(f"it had ended before it was interrupted: {ended!r}")


def batches(n: int, seconds: float) -> pa.RecordBatchReader:
    """A stream that takes so many seconds for each of n chunks."""
    schema = pa.schema([("x", pa.float64())])

    def chunks():
        for _ in range(n):
            time.sleep(seconds)
            yield pa.record_batch([pa.array(np.arange(10.0))], schema=schema)

    return pa.RecordBatchReader.from_batches(schema, chunks())


@pytest.mark.parametrize(("n", "seconds"), [(1200, 0.01), (1, LONG)])
def test_ctrl_c_ends_the_reading_of_a_slow_stream(n, seconds):
    assert interrupted(lambda: an.Table(batches(n, seconds))) < PROMPT


def test_a_slow_stream_that_is_not_interrupted_is_read_whole():
    assert an.Table(batches(20, 0.01)).n_rows == 200


def test_an_exception_in_a_stream_of_python_is_told():
    schema = pa.schema([("x", pa.float64())])

    def chunks():
        yield pa.record_batch([pa.array([1.0, 2.0])], schema=schema)
        raise RuntimeError("the well is dry")

    with pytest.raises(an.ArbornetError, match="the well is dry"):
        an.Table(pa.RecordBatchReader.from_batches(schema, chunks()))


def test_ctrl_c_ends_the_reading_of_python_objects():
    objects = list(itertools.chain(["a", "b"] * 3_000_000, [object()]))  # ends in an error if nobody interrupts
    assert interrupted(lambda: an.Table({"x": objects}), after=0.05) < PROMPT


def test_an_interrupt_between_columns_of_numbers_is_not_lost():
    values = np.round(10 * np.random.default_rng(0).normal(size=2_000_000))
    frame = {f"x{i}": values for i in range(60)}

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # After so much processor time of this process: on a busy machine no other process would come in time.
    before = signal.signal(signal.SIGVTALRM, interrupt)
    try:
        for after in (0.01, 0.02, 0.03, 0.05, 0.08):
            signal.setitimer(signal.ITIMER_VIRTUAL, after)
            with pytest.raises(KeyboardInterrupt):
                read_frame(frame)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def test_ctrl_c_ends_the_reading_of_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr(pl, "read_csv", lambda *_, **__: time.sleep(LONG))
    path = tmp_path / "slow.csv"
    path.write_text("a\n1\n")
    assert interrupted(lambda: an.read(path)) < PROMPT


def test_an_interrupted_search_is_no_result_of_an_evaluation(monkeypatch):
    frame = {"a": [0.0, 1.0, 3.0, 2.0, 5.0, 4.0], "b": [1.0, 0.0, 2.0, 5.0, 4.0, 4.5]}
    found = an.search.hill_climb(an.Table(frame), an.DegenerateGaussian())

    def stopped(*_: object, **__: object) -> an.search.Found:
        return dataclasses.replace(found, stopped="interrupted")

    with pytest.raises(KeyboardInterrupt):
        an.evaluate.cross_validate(frame, an.PCART(), folds=2, repeats=1, search=stopped, max_parents=1, n_jobs=1)
    monkeypatch.setattr("arbornet.evaluate.tuning.hill_climb", stopped)
    with pytest.raises(KeyboardInterrupt):
        an.evaluate.tuned(an.Table(frame), an.PCART(lam="auto"))


def test_pc_does_not_score_a_graph_once_the_time_is_up():
    found = an.search.pc(an.Table(columns()), an.BIC(), time_limit=0)
    assert found.stopped == "time" and math.isnan(found.score) and found.gap == math.inf


def columns(n_rows: int = 60) -> dict[str, list[str]]:
    rng = np.random.default_rng(1)
    return {name: [f"l{x}" for x in rng.integers(0, 2, n_rows)] for name in "abcd"}


LIMITED = [name for name in searches.__all__ if "time_limit" in inspect.signature(getattr(searches, name)).parameters]


#: Small components are proved before any clock is looked at; what climbs has no proof and needs time.
WITHOUT_TIME = dict.fromkeys(LIMITED, "time") | dict.fromkeys(["anytime", "exact", "k_best"], "proven")
WITHOUT_END = dict.fromkeys(LIMITED, "finished") | dict.fromkeys(["anytime", "exact", "k_best"], "proven")


@pytest.mark.parametrize("name", LIMITED)
def test_odd_time_limits_are_refused_and_endless_ones_are_none(name):
    table = an.Table(columns())
    search = getattr(searches, name)
    needed = [p.name for p in inspect.signature(search).parameters.values() if p.default is p.empty]
    given = {
        "table": table,
        "score": an.BIC(),
        "candidates": an.score_parents(table, an.BIC(), 2),
        "source": table,
        "k": 2,
    }
    asked = {key: given[key] for key in needed} | ({"score": an.BIC()} if name == "hill_climb" else {})
    for limit in (-1, math.nan, -math.inf):
        with pytest.raises(an.ParameterError, match="time_limit"):
            search(**asked, time_limit=limit)
    assert search(**asked, time_limit=0).stopped == WITHOUT_TIME[name]
    endless = {"rounds": 3} if name == "anytime" else {}
    assert search(**asked, **endless, time_limit=math.inf).stopped == WITHOUT_END[name]


def test_an_endless_limit_per_child_is_none():
    table = an.Table(columns())
    every = an.score_parents(table, an.BIC(), 2)
    endless = an.score_parents(table, an.BIC(), 2, child_time_limit=math.inf)
    assert endless.frame().equals(every.frame())
    with pytest.raises(an.ParameterError, match="child_time_limit"):
        an.score_parents(table, an.BIC(), 2, child_time_limit=math.nan)


FORKED = """
import os, threading
import arbornet as an
table = an.Table({name: [str((i * k) % 3) for i in range(300)] for k, name in enumerate("abcdef", 1)})
score = lambda: repr(an.search.exact(an.score_parents(table, an.BDeu(1), 3, n_jobs=2)).score)
alone, stop = score(), threading.Event()
def busy():
    while not stop.is_set():
        score()
threads = [threading.Thread(target=busy) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        os._exit(0 if score() == alone else 1)
    assert os.waitpid(pid, 0)[1] == 0
stop.set()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_threads_work_finds_no_lock_held():
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "done\n", done.stderr


@pytest.fixture(scope="module")
def many_levels() -> an.Table:
    """Columns of 20 levels: one family of trees among groups of them takes far longer than anybody waits."""
    rng = np.random.default_rng(0)
    hidden = rng.integers(0, 20, 2000)
    drawn = {f"v{i}": np.where(rng.random(2000) < 0.4, hidden, rng.integers(0, 20, 2000)) for i in range(6)}
    return an.Table({name: [f"l{level:02}" for level in column] for name, column in drawn.items()})


@pytest.mark.parametrize("score", [an.PCART(), an.DecisionGraph()])
@pytest.mark.parametrize("search", [searches.pc, searches.cpc])
def test_a_search_by_tests_keeps_its_time_within_a_family(search, score, many_levels):
    began = time.perf_counter()
    assert search(many_levels, score, time_limit=0.5).stopped == "time"
    assert time.perf_counter() - began < PROMPT


@pytest.mark.parametrize("search", [searches.pc, searches.cpc])
def test_ctrl_c_ends_a_search_by_tests_within_a_family(search, many_levels):
    began = time.perf_counter()
    asker = subprocess.Popen(["sh", "-c", f"sleep 0.3; kill -INT {os.getpid()}"])
    found = search(many_levels, an.PCART())
    asker.wait()
    assert found.stopped == "interrupted"
    assert time.perf_counter() - began < PROMPT


EXACT = an.PCART(grouping="exact")
"""Whose families of three such categories take minutes."""


def test_ctrl_c_ends_a_single_test_of_independence(many_levels):
    assert interrupted(lambda: an.independence.test(many_levels, "v0", "v1", ["v2", "v3"], EXACT)) < PROMPT


def slowly(table, child, parents) -> float:
    time.sleep(LONG)
    return 0.0


def test_ctrl_c_within_a_python_score_is_no_fault_of_the_family(many_levels):
    assert interrupted(lambda: an.local_score(many_levels, "v0", ["v1"], an.CustomScore(slowly))) < PROMPT


def pressed(*_: object) -> float:
    raise KeyboardInterrupt


CALLS = {
    "local_score": lambda table, score: an.local_score(table, "v0", ["v1"], score),
    "score_parents": lambda table, score: an.score_parents(table, score, 1),
    "chow_liu": lambda table, score: searches.chow_liu(table, score),
    "hill_climb": lambda table, score: searches.hill_climb(table, score),
    "fges": lambda table, score: searches.fges(table, score),
    "grasp": lambda table, score: searches.grasp(table, score),
    "boss": lambda table, score: searches.boss(table, score),
    "learn": lambda table, score: an.learn(table, score=score, max_parents=1, verbose=False),
    "pc": lambda table, score: searches.pc(table, pressed),
    "cpc": lambda table, score: searches.cpc(table, pressed),
}


@pytest.mark.parametrize("call", CALLS)
def test_ctrl_c_that_a_python_score_meets_interrupts_every_search(call, many_levels):
    try:
        found = CALLS[call](many_levels, an.CustomScore(pressed))
    except KeyboardInterrupt:
        return
    assert found.stopped == "interrupted"


def test_tests_too_large_for_the_memory_limit_are_told_and_the_search_goes_on():
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=2000)
    table = an.Table({f"v{i}": hidden + 0.5 * rng.normal(size=2000) for i in range(5)})
    with pytest.warns(an.ArbornetWarning, match=r"[\d,]+ tests were refused by the score"):
        found = searches.pc(table, an.PCART(memory_limit="1 MiB"))
    assert found.stopped == "finished"
    assert found.details["refused"] > 0
    assert math.isnan(found.score)
    assert searches.pc(table, an.PCART(memory_limit="1 MiB", max_splits=1)).details["refused"] == 0


LEFT_BEHIND = """
import os, signal, threading, time
import arbornet as an

table = an.Table({f"x{i}": [j % (i + 2) for j in range(10)] for i in range(3)})

def slow(table, child, parents):
    for _ in range(2500):
        time.sleep(0.001)
    return 0.0

threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    an.score_parents(table, an.CustomScore(slow), max_parents=1)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_a_process_ends_cleanly_while_an_interrupted_score_is_still_in_python():
    done = subprocess.run([sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n", "")


@pytest.fixture(scope="module")
def wide() -> an.Table:
    """A child of 40 levels under 24 numbers, and two columns of 400 levels: each family takes over a minute."""
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=30_000) for i in range(24)}
    columns |= {"y": rng.integers(0, 40, 30_000).astype(str)}
    columns |= {f"l{i}": rng.integers(0, 400, 30_000).astype(str) for i in range(2)}
    kinds = dict.fromkeys(["y", "l0", "l1"], "categorical")
    return an.Table(columns, an.infer_schema(columns).with_types(kinds))


WIDE = {
    "numbers": (an.LogisticRegression(), [f"x{i}" for i in range(24)], "y"),
    "powers": (an.MixedPolynomial(degree=20), [f"x{i}" for i in range(24)], "y"),
    "levels": (an.BasisFunctions(), ["l0", "l1"], "x0"),
    "indicators": (an.DegenerateGaussian(), ["l0", "l1"], "x0"),
}


@pytest.mark.parametrize(
    ("name", "call"),
    [
        *((name, call) for name in ("numbers", "powers", "levels") for call in ("fit", "hill_climb", "local_model")),
        ("indicators", "fit"),  # its scores take no second
    ],
)
def test_ctrl_c_ends_a_regression_within_one_wide_family(name, call, wide):
    score, parents, child = WIDE[name]
    graph = nx.DiGraph([(parent, child) for parent in parents])
    graph.add_nodes_from(wide.names)
    calls = {
        "fit": lambda: an.fit(wide, graph, score, arc_scores=False),
        "hill_climb": lambda: searches.hill_climb(wide, score, start=graph),
        "local_model": lambda: an.local_model(wide, child, parents, score),
    }
    assert interrupted(calls[call]) < PROMPT
