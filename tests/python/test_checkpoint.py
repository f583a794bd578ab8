import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import arbornet as an
from small_tables import BIC, chain

SLOW = """
import sys, time
sys.path.insert(0, sys.argv[1])
import arbornet as an
from small_tables import BIC, chain

def slowly(table, child, parents):
    with open(sys.argv[2] + "/calls", "a") as calls:
        calls.write("x")
    time.sleep(0.001)
    return an.local_score(table, child, parents, BIC())

slowly.__module__ = "slow"
checkpoint = sys.argv[2] + "/checkpoint"
candidates = an.score_parents(chain(8, 200), an.CustomScore(slowly), 3, n_jobs=2, checkpoint=checkpoint)
candidates.save(sys.argv[2] + "/done.jkl")
print(candidates.n_evaluated)
"""

FAST = """
import sys
sys.path.insert(0, sys.argv[1])
import arbornet as an
from small_tables import BIC, chain
candidates = an.score_parents(chain(16, 20_000), BIC(), 3, n_jobs=2, checkpoint=sys.argv[2] + "/checkpoint")
candidates.save(sys.argv[2] + "/done.jkl")
print(candidates.n_evaluated)
"""


def start(program, folder):
    here = str(Path(__file__).parent)
    return subprocess.Popen([sys.executable, "-c", program, here, str(folder)], stdout=subprocess.PIPE, text=True)


def size(path):
    return path.stat().st_size if path.exists() else 0


def test_killed_at_random_moments_it_ends_with_the_same_bytes_and_scores_nothing_twice(tmp_path):
    moments = random.Random(5)
    table = chain(8, 200)
    whole = an.score_parents(table, BIC(), 3)
    kills = 0
    while True:
        process = start(SLOW, tmp_path)
        goal = size(tmp_path / "calls") + moments.randint(10, 250)
        while process.poll() is None and size(tmp_path / "calls") < goal:
            time.sleep(0.002)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kills += 1
    evaluated = int(process.communicate()[0])
    assert process.returncode == 0
    assert kills >= 3
    whole.save(tmp_path / "whole.jkl")
    assert (tmp_path / "done.jkl").read_bytes() == (tmp_path / "whole.jkl").read_bytes()
    assert evaluated == whole.n_evaluated
    in_hand = 2 * an.CustomScore.block_sets
    assert size(tmp_path / "calls") <= whole.n_sets + kills * in_hand


def test_killed_while_records_stream_to_disk_it_ends_with_the_same_bytes(tmp_path):
    moments = random.Random(6)
    whole = an.score_parents(chain(16, 20_000), BIC(), 3)
    kills = 0
    while True:
        process = start(FAST, tmp_path)
        written = sum(map(size, (tmp_path / "checkpoint").glob("blocks-*.bin")))
        goal = written + moments.randint(60, 1500)
        while process.poll() is None and sum(map(size, (tmp_path / "checkpoint").glob("blocks-*.bin"))) < goal:
            time.sleep(0.0005)
        if process.poll() is not None:
            break
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        kills += 1
    evaluated = int(process.communicate()[0])
    assert kills >= 3
    whole.save(tmp_path / "whole.jkl")
    assert (tmp_path / "done.jkl").read_bytes() == (tmp_path / "whole.jkl").read_bytes()
    assert evaluated == whole.n_evaluated


def test_a_finished_checkpoint_answers_without_scoring(tmp_path):
    calls = []

    def counted(table, child, parents):
        calls.append(child)
        return float(len(parents) % 2)

    table = chain(5, 20)
    first = an.score_parents(table, an.CustomScore(counted), 3, checkpoint=tmp_path)
    assert len(calls) == first.n_sets
    again = an.score_parents(table, an.CustomScore(counted), 3, checkpoint=tmp_path)
    assert again == first
    assert (again.n_evaluated, len(calls)) == (first.n_evaluated, first.n_sets)


def test_threads_may_change_between_runs(tmp_path):
    table = chain(9, 2000)
    whole = an.score_parents(table, BIC(), 3)

    class Stop(Exception):
        pass

    def stop_halfway(done, total):
        if 2 * done > total:
            raise Stop

    for n_jobs in (1, 3):
        try:
            part = an.score_parents(table, BIC(), 3, n_jobs=n_jobs, checkpoint=tmp_path, progress=stop_halfway)
        except Stop:
            continue
        assert part == whole
    assert an.score_parents(table, BIC(), 3, checkpoint=tmp_path) == whole


def changed(table, **given):
    names, kinds = table.names, [table.kind(v) for v in range(len(table.names))]
    levels = [table.levels(v) for v in range(len(names))]
    columns = [table.codes(v) for v in range(len(names))]
    parts = {"names": names, "kinds": kinds, "levels": levels, "columns": columns} | given
    return an._core.TableHandle.from_columns(**parts)


class AIC:
    def spec(self):
        return '{"score":"likelihood","penalty":"aic"}'


def test_a_checkpoint_of_something_else_is_refused_with_the_reason(tmp_path):
    table = chain(4, 60)
    an.score_parents(table, BIC(), 2, checkpoint=tmp_path)

    def refused(told, table=table, score=None, max_parents=2, **options):
        with pytest.raises(an.ParameterError, match=told) as error:
            an.score_parents(table, score or BIC(), max_parents, checkpoint=tmp_path, **options)
        assert "give another folder, or delete this one" in str(error.value)

    columns = [table.codes(v) for v in range(4)]
    other = columns[2].copy()
    other[7] = (other[7] + 1) % 3
    refused("column 'v2' has other values", changed(table, columns=[*columns[:2], other, columns[3]]))
    refused("has 60 rows, not 59", changed(table, columns=[c[:-1] for c in columns]))
    refused("columns are 'v0', 'v1', 'v2', 'v3', not 'v0', 'w'", changed(table, names=["v0", "w", "v2", "v3"]))
    levels = [[0, 1, 2], [0, 1, 3], [0, 1, 2], [0, 1, 2]]
    refused("'v1' has another type or other levels", changed(table, levels=levels))
    refused("'v0' has another type", changed(table, kinds=["ordinal"] + ["categorical"] * 3))
    refused("its score is", score=AIC())
    refused("its score is", score=an.CustomScore(lambda *_: 0.0))
    refused("max_parents is 2, not 3", max_parents=3)
    refused("constraints are different", constraints=an.Constraints(roots=["v0"]))


def test_a_custom_score_under_another_name_is_another_score(tmp_path):
    def score(table, child, parents):
        return 0.0

    an.score_parents(chain(3, 20), an.CustomScore(score, name="first"), 1, checkpoint=tmp_path)
    with pytest.raises(an.ParameterError, match="its score is"):
        an.score_parents(chain(3, 20), an.CustomScore(score, name="second"), 1, checkpoint=tmp_path)


def test_damage_costs_the_damaged_blocks_only(tmp_path):
    table = chain(7, 100)
    whole = an.score_parents(table, BIC(), 3, checkpoint=tmp_path)
    path = tmp_path / "blocks-000001.bin"
    data = np.frombuffer(path.read_bytes(), dtype=np.uint8)
    for at in np.random.default_rng(0).integers(0, len(data), 10):
        spoiled = data.copy()
        spoiled[at] ^= 0x40
        path.write_bytes(spoiled.tobytes())
        assert an.score_parents(table, BIC(), 3, checkpoint=tmp_path) == whole


@pytest.mark.parametrize("manifest", ["kept", "gone"])
def test_blocks_of_another_run_that_strayed_into_the_folder_are_not_read(tmp_path, manifest):
    whole = an.score_parents(chain(5, 60), BIC(), 3, checkpoint=tmp_path / "own")
    an.score_parents(chain(5, 60, seed=1), BIC(), 3, checkpoint=tmp_path / "other")
    foreign = (tmp_path / "other" / "blocks-000001.bin").read_bytes()
    (tmp_path / "own" / "blocks-000001.bin").write_bytes(foreign)
    if manifest == "gone":
        (tmp_path / "own" / "manifest.json").unlink()
    assert an.score_parents(chain(5, 60), BIC(), 3, checkpoint=tmp_path / "own") == whole


def test_a_run_whose_file_may_not_grow_is_told_so_and_goes_on_later(tmp_path):
    table, before = chain(7, 100), resource.getrlimit(resource.RLIMIT_FSIZE)
    whole = an.score_parents(table, BIC(), 3)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        for most in (10, 40, 500, 1500):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
            with pytest.raises(OSError, match="too large"):
                an.score_parents(table, BIC(), 3, checkpoint=tmp_path / str(most))
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
            assert an.score_parents(table, BIC(), 3, checkpoint=tmp_path / str(most)) == whole
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OSError, match="file"):
        an.score_parents(chain(3, 20), BIC(), 1, checkpoint=tmp_path / "file")


def test_a_foreign_manifest_is_not_overwritten(tmp_path):
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(an.ParameterError, match="cannot be read"):
        an.score_parents(chain(3, 20), BIC(), 1, checkpoint=tmp_path)
    assert (tmp_path / "manifest.json").read_text() == "{}"
