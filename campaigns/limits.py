"""Time limits of every search: by how much they are overrun, and what odd limits do.

    python campaigns/limits.py [name ...]

Each search runs in a process of its own under limits of 0, 0.5 and 2 seconds. The overrun is told in wall seconds, and
in processor seconds beyond what one busy thread could have used within the limit (the machine may be shared). More than
a second of the latter makes the campaign fail.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time

from calls import LIMITED

LIMITS = (0.0, 0.5, 2.0)


def child(name: str) -> None:
    """One search under all limits, and under odd ones."""
    search = LIMITED[name]()
    for limit in LIMITS:
        wall, busy = time.perf_counter(), time.process_time()
        found = search(limit)
        spent, used = time.perf_counter() - wall, time.process_time() - busy
        stopped = getattr(found, "stopped", "returned")
        print(json.dumps([limit, spent - limit, max(0.0, min(used - limit, spent - limit)), stopped]), flush=True)
    for limit in (-1.0, math.nan, -math.inf):
        try:
            search(limit)
        except Exception as error:
            print(json.dumps([str(limit), type(error).__name__]), flush=True)
        else:
            print(json.dumps([str(limit), "accepted"]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--child")
    asked = parser.parse_args()
    if asked.child:
        child(asked.child)
        return
    print("| search | limit | wall s over | processor s over | stopped |\n|---|---|---|---|---|")
    bad = []
    for name in asked.names or LIMITED:
        command = [sys.executable, __file__, "--child", name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        for limit, wall, busy, stopped in (line for line in lines if len(line) == 4):
            print(f"| {name} | {limit} | {wall:.2f} | {busy:.2f} | {stopped} |", flush=True)
            if busy > 1:
                bad.append(f"{name}: {busy:.2f} s over {limit}")
        bad += [
            f"{name}: {limit} {told}"
            for limit, told in (line for line in lines if len(line) == 2)
            if told != "ParameterError"
        ]
        if done.returncode:
            bad.append(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    if bad:
        sys.exit("\n".join(bad))


if __name__ == "__main__":
    main()
