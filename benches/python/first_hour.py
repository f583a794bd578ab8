"""A first try on a table as it is: is the file read, does `an.learn(df)` end, how long does each step take?

    python benches/python/first_hour.py              # every table of benches/data; writes docs/first-hour.md
    python benches/python/first_hour.py --limit 10   # seconds for one table; 0 leaves learning out
    python benches/python/first_hour.py --only uci/wine --only examples/ames

Every table is written in five forms of file (commas; semicolons with decimal commas; tabs; Windows-1252 with bars; two
lines of title before it), and each must give the schema of the frame. Then `an.learn(df)` with nothing else runs in a
process of its own that is stopped after so many CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

import arbornet as an
from arbornet.data.schema_text import identity

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "benches" / "data"
PAGE = ROOT / "docs" / "first-hour.md"


def _titled(text: str) -> bytes:
    return f"Table of the year\n\n{text}".encode()


FORMS: dict[str, Callable[[pl.DataFrame], bytes]] = {
    "commas": lambda frame: frame.write_csv().encode(),
    "semicolons, decimal commas": lambda frame: frame.write_csv(separator=";", decimal_comma=True).encode(),
    "tabs": lambda frame: frame.write_csv(separator="\t").encode(),
    "bars, Windows-1252": lambda frame: frame.write_csv(separator="|").encode("cp1252", errors="replace"),
    "title before it": lambda frame: _titled(frame.write_csv()),
}


def files_that_agree(frame: pl.DataFrame, folder: Path) -> dict[str, bool]:
    """For each form of file, whether its schema is that of the frame."""
    ours = identity(an.infer_schema(frame))
    found = {}
    for name, write in FORMS.items():
        path = folder / "table.csv"
        path.write_bytes(write(frame))
        try:
            found[name] = identity(an.infer_schema(an.read(path))) == ours
        except an.ArbornetError as error:
            print(f"  {name}: {error}", file=sys.stderr)
            found[name] = False
    return found


LEARN = """
import sys, time, warnings, json
warnings.simplefilter("ignore")
import arbornet as an
frame = an.read(sys.argv[1])
began = time.process_time()
try:
    net = an.learn(frame, verbose=False)
    told = {"arcs": net.graph.number_of_edges(), "stopped": net.origin.search["stopped"]}
except an.ArbornetError as error:
    told = {"refused": str(error).splitlines()[0]}
print(json.dumps(told | {"seconds": round(time.process_time() - began, 2)}))
"""


def learned(path: Path, limit: float) -> dict[str, Any]:
    """How `an.learn` of a file's frame ended, within so many CPU seconds."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))

    run = subprocess.run([sys.executable, "-c", LEARN, str(path)], capture_output=True, text=True, preexec_fn=limited)
    if run.returncode == -signal.SIGXCPU:
        return {"over": limit}
    if run.returncode:
        raise RuntimeError(run.stderr)
    return dict(json.loads(run.stdout.splitlines()[-1]))


def tables(only: list[str]) -> list[tuple[str, Path]]:
    """The tables by folder and name."""
    paths = [
        path for folder in ("uci", "examples", "types/tables") for path in sorted((DATA / folder).glob("*.csv.gz"))
    ]
    named = [(f"{path.parent.name}/{path.name.partition('.')[0]}", path) for path in paths]
    return [(name, path) for name, path in named if not only or name in only]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--limit", type=float, default=60.0, help="CPU seconds for learning from one table; 0: do not learn"
    )
    parser.add_argument("--only", action="append", default=[], metavar="FOLDER/TABLE")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name, path in tables(options.only):
        began = time.process_time()
        frame = an.read(path)
        read = time.process_time() - began
        began = time.process_time()
        schema = an.infer_schema(frame)
        inferred = time.process_time() - began
        with tempfile.TemporaryDirectory() as folder:
            agree = files_that_agree(frame, Path(folder))
        told = learned(path, options.limit) if options.limit else {}
        row = {"name": name, "rows": frame.height, "columns": frame.width, "read": read, "inferred": inferred}
        rows.append({**row, "agree": agree, "findings": len(schema.findings), **told})
        print(name, frame.shape, f"{read:.2f} {inferred:.2f}", agree, told, flush=True)
    if not options.only:
        PAGE.write_text(page(rows, options.limit), encoding="utf-8")


def _ended(row: dict[str, Any]) -> str:
    if "over" in row:
        return f"not within {row['over']:.0f} s"
    return f"refused: {row['refused']}" if "refused" in row else f"{row['seconds']:.1f} s, {row['arcs']} arcs"


def _of_learning(rows: list[dict[str, Any]], limit: float) -> list[str]:
    """What the page says of `an.learn`."""
    ended = [row for row in rows if "seconds" in row and "refused" not in row]
    within = [(s, sum(row["seconds"] <= s for row in ended)) for s in sorted({1.0, 10.0, limit})]
    slow = [row for row in rows if "over" in row or "refused" in row]
    lines = ["## `an.learn(df)`, nothing else", ""]
    lines += [
        f"Of {len(rows)} tables are learned " + ", ".join(f"{m} within {s:.0f} CPU seconds" for s, m in within) + ".",
        "",
    ]
    if slow:
        lines += ["The others:", "", "| table | rows | columns | learning |", "|---|---|---|---|"]
        lines += [f"| {row['name']} | {row['rows']:,} | {row['columns']} | {_ended(row)} |" for row in slow] + [""]
    return lines


def page(rows: list[dict[str, Any]], limit: float) -> str:
    """The page in docs."""
    n = len(rows)
    lines = [
        "# A first try on a table as it is",
        "",
        f"`python benches/python/first_hour.py` repeats this page, with {n} tables of `benches/data`.",
        "Times are CPU seconds.",
        "",
        "## Files",
        "",
        "Every table is written in five forms; each has to give the schema of the frame:",
        "",
        "| form | tables with the same schema |",
        "|---|---|",
        *(f"| {form} | {sum(row['agree'][form] for row in rows)} of {n} |" for form in FORMS),
        "",
    ]
    if limit:
        lines += _of_learning(rows, limit)
    longest = max(rows, key=lambda row: row["inferred"])
    lines += [
        f"Types and findings took {sum(row['inferred'] for row in rows):.1f} s for all tables, at most "
        f"{longest['inferred']:.2f} s ({longest['name']}, {longest['rows']:,} x {longest['columns']}).",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
