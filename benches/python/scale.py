"""What `an.learn(frame)` takes and finds, by rows, columns and levels: time told, time taken, arcs, what was left out.

Tables are simulated (`an.simulate.network`, 1.3 arcs a variable): mixed ones (half numbers, half categories and ordered
levels of 2 to 12), numbers alone, levels alone. Each is learned in a process of its own, so that its processor time and
memory are its own; one that takes longer than the limit is ended and told as such. A line is written as soon as it is
known, and lines that are in the file are not made again.

    python benches/python/scale.py [--effort normal] [--limit 120] [--output scale.csv] [SHAPE ...]

where a shape is `mixed:2000:10` (kind, rows, columns, and if wanted the most levels).
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

SHAPES = [
    "mixed:2000:10",
    "mixed:1000:20",
    "mixed:10000:20",
    "mixed:100000:20",
    "mixed:1000000:20",
    "mixed:2000:30",
    "mixed:2000:60",
    "mixed:2000:100",
    "mixed:2000:200",
    "mixed:2000:500",
    "mixed:1000:1000",
    "numbers:1000:20",
    "numbers:2000:20",
    "numbers:10000:20",
    "numbers:100000:20",
    "levels:2000:20",
    "levels:100000:20",
    "levels:2000:30",
    "levels:2000:60",
    "levels:2000:100",
    "levels:2000:200",
    "mixed:2000:20:2",
    "mixed:2000:20:5",
    "mixed:2000:20:24",
    "mixed:2000:20:100",
]

NUMBERS = {"mixed": 0.5, "numbers": 1.0, "levels": 0.0}
FIELDS = (
    *("shape", "effort", "low", "high", "cpu", "wall", "types", "plan", "score", "search", "fit"),
    *("megabytes", "f1", "arcs", "stopped", "left_out"),
)


def learned(shape: str, effort: str) -> dict[str, object]:
    """Learns one table in this process."""
    import told

    import arbornet as an

    kind, rows, columns, *levels = shape.split(":")
    most = int(levels[0]) if levels else 12
    made = an.simulate.network(
        int(columns), int(rows), arcs_per_node=1.3, numbers=NUMBERS[kind], levels=(2, most), seed=1
    )
    net, taken = told.learned(made.frame, effort, schema=made.schema)
    return {"shape": shape, "effort": effort, "f1": round(an.metrics.compare(made.dag, net.graph).f1, 3), **taken}


def main() -> None:
    """Runs the shapes that are not in the file yet."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("shapes", nargs="*", default=SHAPES)
    options.add_argument("--effort", default="normal")
    options.add_argument("--limit", type=float, default=120.0, help="wall seconds after which a table is given up")
    options.add_argument("--output", type=Path, default=Path("scale.csv"))
    options.add_argument("--one", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(learned(asked.one, asked.effort)))
        return
    known = set()
    if asked.output.exists():
        with asked.output.open() as file:
            known = {(row["shape"], row["effort"]) for row in csv.DictReader(file)}
    else:
        asked.output.write_text(",".join(FIELDS) + "\n")
    for shape in asked.shapes:
        if (shape, asked.effort) in known:
            continue
        command = [sys.executable, __file__, "--effort", asked.effort, "--one", shape]
        row: dict[str, object] = {"shape": shape, "effort": asked.effort}
        try:
            made = subprocess.run(command, capture_output=True, text=True, timeout=asked.limit, check=False)
            row |= json.loads(made.stdout) if made.returncode == 0 else {"stopped": made.stderr.strip()[-200:]}
        except subprocess.TimeoutExpired:
            row |= {"stopped": f"ended after {asked.limit:.0f} s"}
        with asked.output.open("a") as file:
            csv.DictWriter(file, FIELDS).writerow(row)
        print(row, flush=True)


if __name__ == "__main__":
    main()
