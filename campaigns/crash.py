"""Step 1 with a checkpoint, killed, out of disk and damaged: the same bytes in the end, or a clear refusal.

    python campaigns/crash.py kill 100        # kill -9 at random moments, resumed until done, again and again
    python campaigns/crash.py torn 400        # killed by the kernel in the middle of a write, at a random byte
    python campaigns/crash.py full 400        # the same moments, but the write fails: file size limit
    python campaigns/crash.py disk            # a tmpfs of 64 kB, for a checkpoint and for every save (needs root)
    python campaigns/crash.py damage 5000     # a finished checkpoint cut at every length, and bits flipped at random
    python campaigns/crash.py twice 20        # two runs on one folder at once, one of them killed

The second argument is how often, the third the seed (1).
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

import arbornet as an

SLOW = (22, 40_000, 3)
QUICK = (9, 500, 4)


def table(n_vars: int, n_rows: int) -> an.Table:
    """Categorical columns, each a noisy copy of one before it."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, n_rows)]
    for i in range(1, n_vars):
        copied = rng.random(n_rows) < 0.6
        columns.append(np.where(copied, columns[rng.integers(0, i)], rng.integers(0, 3, n_rows)))
    return an.Table({f"v{i}": np.array(["a", "b", "c"])[c] for i, c in enumerate(columns)})


def scored(size: tuple[int, int, int], folder: Path | None, n_jobs: int = 1) -> an.Candidates:
    return an.score_parents(table(*size[:2]), an.BIC(), size[2], n_jobs=n_jobs, checkpoint=folder)


def text_of(candidates: an.Candidates, folder: Path) -> bytes:
    candidates.save(folder / "result.jkl")
    return (folder / "result.jkl").read_bytes()


def started(folder: Path, out: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, "--run", str(folder), str(out)])


def bytes_in(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("blocks-*.bin")) if folder.exists() else 0


def kill(times: int, rng: random.Random, room: Path) -> None:
    """Most moments are drawn from the time of writing, the first few milliseconds among them, some from before it."""
    began = time.monotonic()
    wanted = text_of(scored(SLOW, None), room)
    took = time.monotonic() - began
    seen: Counter[str] = Counter()
    folder, out, rounds = room / "checkpoint", room / "out.jkl", 0
    while seen["kills"] < times:
        before = bytes_in(folder)
        process = started(folder, out)
        while rng.random() < 0.999 and process.poll() is None and bytes_in(folder) <= before:
            time.sleep(0.001)
        time.sleep(rng.uniform(0.0, took))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        if process.wait() == 0:
            rounds += 1
            assert out.read_bytes() == wanted, "other bytes after a resumed run"
            shutil.rmtree(folder)
            out.unlink()
            continue
        assert process.returncode == -signal.SIGKILL, process.returncode
        seen["kills"] += 1
        seen["grew" if bytes_in(folder) > before else "nothing new on disk"] += 1
    assert text_of(scored(SLOW, folder), room) == wanted
    print(f"kill: {dict(seen)}, {rounds + 1} runs carried to their end, every one the same bytes")


def limited(size: int, folder: Path, deadly: bool) -> int:
    """A child whose files may not grow beyond some size: killed there by the kernel, or told that the disk is full."""
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 3
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if deadly else signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
        scored(QUICK, folder)
        code = 0
    except OSError as error:
        code = 1 if str(folder) in str(error) and "too large" in str(error).lower() else 5
    finally:
        os._exit(code)


def stopped_within_writes(times: int, rng: random.Random, room: Path, deadly: bool) -> None:
    folder = room / "checkpoint"
    wanted = text_of(scored(QUICK, folder), room)
    whole = max(path.stat().st_size for path in folder.iterdir())
    shutil.rmtree(folder)
    seen: Counter[str] = Counter()
    for _ in range(times):
        for _ in range(rng.randint(1, 3)):
            status = limited(rng.randint(0, whole), folder, deadly)
            if os.WIFSIGNALED(status):
                assert os.WTERMSIG(status) == signal.SIGXFSZ, status
                seen["killed within a write"] += 1
            else:
                seen[("finished", "told that the file is too large")[os.WEXITSTATUS(status)]] += 1
        assert text_of(scored(QUICK, folder), room) == wanted, "other bytes after a torn write"
        seen["carried to the end with the same bytes"] += 1
        shutil.rmtree(folder)
    print(f"{'torn' if deadly else 'full'}: {dict(seen)}")


def torn(times: int, rng: random.Random, room: Path) -> None:
    stopped_within_writes(times, rng, room, deadly=True)


def full(times: int, rng: random.Random, room: Path) -> None:
    stopped_within_writes(times, rng, room, deadly=False)


def disk(_: int, __: random.Random, room: Path) -> None:
    small = room / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(small)], check=True)
    try:
        wanted = text_of(scored(SLOW, None), room)
        for _ in range(3):
            try:
                scored(SLOW, small / "checkpoint")
            except OSError as error:
                assert "No space left" in str(error), error
            else:
                raise AssertionError("64 kB were enough")
        shutil.move(small / "checkpoint", room / "moved")
        assert text_of(scored(SLOW, room / "moved"), room) == wanted
        print("disk: refused three times as full, then carried to its end elsewhere with the same bytes")
        net = an.learn(an.example("patients").head(200), max_parents=1, verbose=False)
        candidates = an.score_parents(an.Table(an.example("patients").head(200)), an.PCART(), 1)
        for save in (net.save, net.report, net.schema.save, candidates.save):
            spare(small, save)
    finally:
        subprocess.run(["umount", str(small)], check=True)


def spare(small: Path, save: Callable[[Path], object]) -> None:
    """A save on a full disk says so, and leaves the file that was there."""
    target, filler = small / "kept.jkl", small / "filler"
    filler.unlink(missing_ok=True)
    target.write_bytes(b"precious")
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    try:
        save(target)
    except OSError as error:
        assert "No space left" in str(error), error
    else:
        raise AssertionError(f"{save.__qualname__} did not notice")
    assert target.read_bytes() == b"precious", f"{save.__qualname__} lost the file that was there"
    assert sorted(path.name for path in small.iterdir() if path.is_file()) == ["filler", "kept.jkl"]
    print(f"disk: {save.__qualname__} told that the disk is full and left the file that was there")


def damage(times: int, rng: random.Random, room: Path) -> None:
    size, seen = (5, 60, 3), Counter()
    folder, spoiled = room / "checkpoint", room / "spoiled"
    wanted = text_of(scored(size, folder), room)
    blocks, manifest = folder / "blocks-000001.bin", folder / "manifest.json"
    whole = {blocks.name: blocks.read_bytes(), manifest.name: manifest.read_bytes()}

    def attempt(files: dict[str, bytes], what: str) -> None:
        shutil.rmtree(spoiled, ignore_errors=True)
        spoiled.mkdir()
        for name, content in files.items():
            (spoiled / name).write_bytes(content)
        try:
            found = scored(size, spoiled)
        except an.ArbornetError as error:
            assert "checkpoint" in str(error), error
            seen[f"{what}: refused"] += 1
            return
        except OSError as error:
            assert "manifest" in str(error), error
            seen[f"{what}: refused"] += 1
            return
        assert text_of(found, room) == wanted, f"other bytes: {what}"
        seen[f"{what}: same bytes"] += 1

    for name, content in whole.items():
        for length in range(len(content)):
            attempt(whole | {name: content[:length]}, f"{name} cut")
    for _ in range(times):
        name = blocks.name if rng.random() < 0.7 else manifest.name
        spoil = bytearray(whole[name])
        for _ in range(rng.choice((1, 1, 1, 2, 8))):
            spoil[rng.randrange(len(spoil))] ^= 1 << rng.randrange(8)
        attempt(whole | {name: bytes(spoil)}, f"{name} bits flipped")
    attempt({blocks.name: whole[blocks.name]}, "manifest gone")
    other = room / "other"
    an.score_parents(table(5, 61), an.BIC(), 3, n_jobs=1, checkpoint=other)
    foreign = (other / blocks.name).read_bytes()
    attempt(whole | {blocks.name: foreign}, "blocks of another table in this folder")
    attempt({blocks.name: foreign}, "blocks of another table, manifest gone")
    attempt(whole | {"blocks-000002.bin": whole[blocks.name]}, "the same blocks twice")
    for what, times in sorted(seen.items()):
        print(f"damage: {what}: {times}")


def twice(times: int, rng: random.Random, room: Path) -> None:
    wanted = text_of(scored(SLOW, None), room)
    for i in range(times):
        folder = room / f"shared-{i}"
        outs = [room / f"{i}-{j}.jkl" for j in range(2)]
        runs = [started(folder, out) for out in outs]
        time.sleep(rng.uniform(0.3, 1.5))
        runs[0].send_signal(signal.SIGKILL)
        runs[0].wait()
        assert runs[1].wait() == 0
        assert outs[1].read_bytes() == wanted
        assert text_of(scored(SLOW, folder), room) == wanted
    print(f"twice: {times} pairs of runs on one folder, one killed; the other and the next ended with the same bytes")


def main() -> None:
    if sys.argv[1] == "--run":
        scored(SLOW, Path(sys.argv[2])).save(sys.argv[3])
        return
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    with tempfile.TemporaryDirectory() as room:
        {f.__name__: f for f in (kill, torn, full, disk, damage, twice)}[sys.argv[1]](
            times, random.Random(seed), Path(room)
        )


if __name__ == "__main__":
    main()
