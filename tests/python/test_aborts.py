"""What must not end the process: each case runs in one of its own, whose end is looked at."""

from __future__ import annotations

import gzip
import lzma
import resource
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import arbornet as an
from arbornet.data.question import Question
from arbornet.io import families
from arbornet.system import memory
from arbornet.system.parallel import side_by_side

HEAD = """
import numpy as np, polars as pl, arbornet as an
def told(call):
    try:
        print("told:", type(call()).__name__, flush=True)
    except Exception as error:
        print("told:", type(error).__name__, str(error), flush=True)
"""


def lines_of(code: str) -> list[str]:
    """What a process of its own tells; it must end by itself, and well."""
    ended = subprocess.run([sys.executable, "-c", HEAD + code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, (ended.returncode, ended.stderr[-2000:])
    told = [line.partition("told: ") for line in ended.stdout.splitlines()]
    return [line for before, mark, line in told if mark and not before]


CUT = r"""
rows = 40
numbers = pl.Series("a\0b", np.arange(rows) % 7 + 0.5)
words = pl.Series("c", ["u", "v"] * (rows // 2))
inside = pl.Series("s", [{"x\0y": 1}] * rows)
deep = pl.Series("d", [[{"z": {"x\0y": 1}}]] * rows)
frame = pl.DataFrame([numbers, words])
classes = ["n", "y"] * (rows // 2)
told(lambda: an.Table(frame))
told(lambda: an.Table(frame.lazy()))
told(lambda: an.Table({"a": numbers, "c": words}))
told(lambda: an.Table({"s": inside, "c": words}))
told(lambda: an.Table(pl.DataFrame([inside, words])))
told(lambda: an.Table(pl.DataFrame([deep, words])))
told(lambda: an.infer_schema(frame))
told(lambda: an.NaiveBayes().fit(frame, classes))
told(lambda: an.NaiveBayes().fit({"a\0b": np.arange(rows) + 0.5, "c": classes}, classes))
told(lambda: an.evaluate.cross_validate(frame, {"bic": an.DegenerateGaussian()}, folds=2))
told(lambda: an.evaluate.cross_validate({"a": numbers, "c": words}, {"bic": an.DegenerateGaussian()}, folds=2))
net = an.learn({"a": np.arange(rows) % 7 + 0.5, "c": classes})
told(lambda: net.predict(frame, "c"))
told(lambda: net.predict({"a": numbers}, "c"))
"""


def test_a_zero_byte_in_a_name_of_polars_is_refused_by_name_wherever_a_frame_comes_in():
    lines = lines_of(CUT)
    assert len(lines) == 13
    # A struct is left out, whatever its fields are called.
    assert lines.pop(3) == "Table", lines
    for line in lines:
        assert line.startswith("ColumnError"), line
        assert r"a\x00b" in line or r"x\x00y" in line, line
        assert "rename it" in line, line


def test_zero_bytes_that_cross_the_border_elsewhere_are_kept():
    name, level = "a\0b", "u\0v"
    frame = {name: [level, "w"] * 20, "c": ["p", "p", "q", "q"] * 10}
    table = an.Table(frame)
    assert table.names == [name, "c"]
    assert table.to_polars()[name].to_list() == frame[name]
    net = an.learn(frame)
    assert set(net.sample(50)[name]) <= {level, "w"}
    assert "\0" not in net._repr_svg_()


MOSTLY = """
import resource
from arbornet.system import memory
net = an.learn({"a": [0.5, 1.5, 2.25] * 9, "c": ["u", "v", "v"] * 9})
most = int(memory._taken()) + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
told(lambda: net.sample(300_000_000))
told(lambda: net.sample(300_000_000, given={"c": "u"}))
told(lambda: an.simulate.mixed_network(20, 2, 100_000_000))
told(lambda: an.evaluate.cross_validate({"a": [0.5, 1.5] * 9}, repeats=100_000_000))
told(lambda: net.sample(1000))
"""


def test_rows_that_find_no_memory_are_refused_before_they_are_drawn():
    lines = lines_of(MOSTLY)
    for line in lines[:4]:
        assert line.startswith("MemoryError "), line
        assert "bytes" in line, line
    assert "draw them in parts" in lines[0]
    assert lines[4] == "DataFrame"


def test_the_core_refuses_room_that_no_machine_has():
    net = an.learn({"a": [0.5, 1.5, 2.25] * 9, "c": ["u", "v", "v"] * 9})
    with pytest.raises(MemoryError, match=r"needs \d+ bytes, which the system does not give; draw them in parts"):
        net.handle.sample(Question(particles=100), 1 << 60)
    with pytest.raises(MemoryError, match="give fewer particles"):
        net.handle.log_likelihood(Question(method="sampling", particles=1 << 60))


def test_the_limit_of_a_process_counts_as_memory(monkeypatch: pytest.MonkeyPatch):
    most = int(memory._taken()) + 12_345_678
    monkeypatch.setattr(resource, "getrlimit", lambda _: (most, most))
    assert memory.free_memory() < 13e6
    with pytest.raises(MemoryError, match=r"all of it needs about 1,000,000,000 bytes, and [\d,]+ are free; ask less"):
        memory.afford("all of it", 1e9, "ask less")
    memory.afford("little of it", 1e3, "ask less")


def threads_now() -> int:
    return int(
        next(line for line in Path("/proc/self/status").read_text().splitlines() if "Threads" in line).split()[1]
    )


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc on this system: threads are counted there")
def test_thousands_of_jobs_start_a_few_threads_for_each_core():
    table = an.Table({name: np.arange(60) % k + 0.5 for name, k in (("a", 3), ("b", 5), ("c", 7))})
    before, most, over = threads_now(), 0, threading.Event()

    def watch() -> None:
        nonlocal most
        while not over.is_set():
            most = max(most, threads_now())

    watcher = threading.Thread(target=watch)
    watcher.start()
    many = an.score_parents(table, an.DegenerateGaussian(), n_jobs=2000)
    searched = an.search.hill_climb(many, n_jobs=2000)
    over.set()
    watcher.join()
    assert an._core.threads(2000) <= 4 * an._core.threads(-1) < 2000
    # The threads of one call may still be ending when those of the next begin.
    assert most - before <= 2 * 4 * an._core.threads(-1) + 8
    assert many == an.score_parents(table, an.DegenerateGaussian(), n_jobs=1)
    assert searched.dag.edges == an.search.hill_climb(many, n_jobs=1).dag.edges


def test_jobs_without_number_are_not_written_down_before_the_first_is_done():
    class Endless:
        """As long as a sequence may be, and never walked through."""

        def __len__(self) -> int:
            return sys.maxsize

        def __iter__(self):
            return iter(count())

    results = side_by_side(lambda job, _: 2 * job, Endless(), 2)
    assert sorted(next(results) for _ in range(6))[:3] == [(0, 0), (1, 2), (2, 4)]
    results.close()


def test_a_small_packed_file_does_not_unpack_to_gigabytes(tmp_path: Path):
    for name, pack in (("x.jkl.xz", lzma.compress), ("x.jkl.gz", gzip.compress)):
        path = tmp_path / name
        path.write_bytes(pack(b"1\na 1\n-1 0\n" + b"#\n" * (families.ALWAYS // 2)))
        with pytest.raises(an.FormatError, match=r"bytes that unpack to more than 8,388,608, .* unpack it and read"):
            an.Candidates.load(path)
        path.write_bytes(pack(b"1\na 1\n-1 0\n" + b"#\n" * (families.ALWAYS // 2 - 100)))
        assert len(an.Candidates.load(path).names) == 1


def test_a_packed_file_of_real_content_is_read_beyond_that(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(families, "ALWAYS", 100)
    rng = np.random.default_rng(0)
    table = an.Table({name: rng.normal(size=50) for name in "abcdef"})
    candidates = an.score_parents(table, an.DegenerateGaussian())
    candidates.save(tmp_path / "x.jkl.xz")
    assert an.Candidates.load(tmp_path / "x.jkl.xz").n_kept == candidates.n_kept
