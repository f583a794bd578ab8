"""Ctrl-C sent to every long call at random moments: how long until the call has ended, and how it ended.

    python campaigns/interruption.py [--repeats 5] [--seed 1] [name ...]

Each case prepares its data in a process of its own, says so, and starts. The watcher sends SIGINT after 0.1 to 1.5
seconds and notes the wall seconds and the processor seconds of the process until the call is over. Calls that end
before the signal are counted as early. The table is printed as Markdown; a call that takes longer than a second of
processor time, or half a minute of wall time, is printed last and makes the campaign fail.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import IO

from calls import CALLS

PATIENCE = 30.0
TICKS = os.sysconf("SC_CLK_TCK")


def child(name: str, repeats: int) -> None:
    """Runs a case again and again; a line before each run and one after it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    call = CALLS[name]()
    for _ in range(repeats):
        print("ready", flush=True)
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            told = getattr(call(), "stopped", "returned")
        except KeyboardInterrupt:
            told = "KeyboardInterrupt"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"[:120]
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        print(json.dumps({"at": time.monotonic(), "told": str(told)}), flush=True)


def cpu(pid: int) -> float:
    """Processor seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Lines:
    """The lines of a process, as they come."""

    def __init__(self, stream: IO[str]):
        self._queue: Queue[str] = Queue()
        Thread(target=self._read, args=(stream,), daemon=True).start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._queue.put(line)
        self._queue.put("")

    def next(self, seconds: float) -> str | None:
        """None if it does not come in time; an empty one if the process has ended."""
        try:
            return self._queue.get(timeout=seconds)
        except Empty:
            return None


def watch(name: str, repeats: int, rng: random.Random) -> dict[str, object]:
    """Interrupts a case as often as said: the latencies, and how the calls ended."""
    command = [sys.executable, __file__, "--child", name, "--repeats", str(repeats)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1)
    assert process.stdout is not None
    lines = Lines(process.stdout)
    wall, busy, told, early = [], [], [], 0
    try:
        for _ in range(repeats):
            if lines.next(300) != "ready\n":
                told.append("did not start")
                break
            ended = lines.next(rng.uniform(0.1, 1.5))
            if ended is not None:
                early += 1
                told.append(json.loads(ended or '{"told": "died"}')["told"])
                continue
            asked, before = time.monotonic(), cpu(process.pid)
            os.kill(process.pid, signal.SIGINT)
            end = lines.next(PATIENCE)
            if not end:
                told.append("hung" if end is None else "died")
                wall.append(PATIENCE)
                busy.append(cpu(process.pid) - before)
                break
            said = json.loads(end)
            wall.append(said["at"] - asked)
            busy.append(cpu(process.pid) - before)
            told.append(said["told"])
    finally:
        process.kill()
        errors = process.communicate()[1]
    if not told or "did not start" in told or "died" in told:
        told.append(errors.strip().splitlines()[-1][:200] if errors.strip() else "")
    return {"name": name, "n": len(wall), "early": early, "wall": wall, "busy": busy, "told": sorted(set(told))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child")
    asked = parser.parse_args()
    if asked.child:
        child(asked.child, asked.repeats)
        return
    rng = random.Random(asked.seed)
    print(f"seed {asked.seed}, {asked.repeats} interrupts a call\n")
    print("| call | interrupts | early | median wall s | most wall s | most processor s | how it ended |")
    print("|---|---|---|---|---|---|---|")
    late = []
    for name in asked.names or CALLS:
        row = watch(name, asked.repeats, rng)
        wall, busy = row["wall"], row["busy"]
        most = f"{sorted(wall)[len(wall) // 2]:.2f} | {max(wall):.2f} | {max(busy):.2f}" if wall else "- | - | -"
        print(f"| {name} | {row['n']} | {row['early']} | {most} | {', '.join(row['told'])} |", flush=True)
        if wall and (max(busy) > 1.0 or max(wall) >= PATIENCE):
            late.append(name)
    if late:
        sys.exit("late: " + ", ".join(late))


if __name__ == "__main__":
    main()
