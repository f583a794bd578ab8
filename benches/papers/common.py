"""What the papers' scripts share: where data lie, where results go, tables in Markdown."""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("ARBORNET_DATA", ROOT / "benches" / "data"))
PRINTED = Path(__file__).parent / "printed"
PAGES = ROOT / "docs" / "papers"
RESULTS = ROOT / "benches" / "papers" / "results"


def arguments(description: str) -> argparse.ArgumentParser:
    """What every script understands."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help="a small part of everything, within ten minutes")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder that keeps results; go on from there")
    parser.add_argument("--pages", type=Path, default=PAGES, help="folder of the pages that are written")
    parser.add_argument("--jobs", type=int, default=-1, help="threads, -1 for all cores")
    return parser


def printed(name: str) -> list[dict[str, str]]:
    """Figures as a paper prints them, transcribed to a CSV."""
    with (PRINTED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def types(name: str) -> dict[str, Any]:
    """Kinds of a data set's columns: "continuous", "categorical" or {"ordinal": [levels]}."""
    kinds: dict[str, Any] = json.loads((DATA / "types.json").read_text(encoding="utf-8"))[name]
    return {column: kind for column, kind in kinds.items() if column != "target"}


def manifest(name: str) -> dict[str, Any]:
    """What is known of a table: its file, rows, columns to drop."""
    tables = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))["tables"]
    found: dict[str, Any] = next(table for table in tables if table["name"] == name)
    return found


def texts(name: str) -> pl.DataFrame:
    """A table as it lies on disk, every value a text, missing ones null."""
    return pl.read_csv(DATA / manifest(name)["file"], infer_schema=False, null_values=[""])


def markdown(rows: Iterable[Sequence[Any]], head: Sequence[str]) -> str:
    """A table in Markdown; numbers to the right."""
    body = [[_cell(value) for value in row] for row in rows]
    numeric = [all(_is_number(row[i]) for row in body) for i in range(len(head))]
    lines = ["| " + " | ".join(head) + " |", "|" + "|".join("---:" if right else "---" for right in numeric) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in body]) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _is_number(text: str) -> bool:
    head = text.split(" ")[0].lstrip("+-")
    return not text or head[:1].isdigit()


def machine() -> str:
    """What figures of time were taken on: cores, and a calibration loop other machines can run."""
    began = time.process_time()
    # As a script's own statements: the names are global, which is slower than within a function.
    exec("for i in range(20_000_000): x = (x * 1103515245 + 12345) & 0x7FFFFFFF", {"x": 0})
    spent = time.process_time() - began
    return f"{os.cpu_count()} cores, CPython {platform.python_version()}, calibration loop {spent:.2f} s"
