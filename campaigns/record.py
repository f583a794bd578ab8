"""Today's bytes of everything the package makes of the tables in `benches/data`, and two such records compared.

    python campaigns/record.py take FOLDER [--tables uci/abalone 'networks/*'] [--quick] [--jobs 1] [--processes 2]
    python campaigns/record.py compare A B [--rel 1e-9] [--most 5]

A table that FOLDER already holds is not taken again: a run that was stopped goes on. `compare` says per table and room
(scores, candidates, graphs, networks, predictions, texts, pickles, checkpoints) what is the same byte for byte, what
differs by the rounding of its numbers, and what differs in truth, and ends with an error if anything does. The record
of the last version lies in `tests/golden/record`.
"""

from __future__ import annotations

import argparse
import fnmatch
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import ModuleType

from recorded import (
    candidates,
    checkpoints,
    graphs,
    instances,
    networks,
    pickles,
    predictions,
    published,
    scores,
    tables,
    texts,
)
from recorded.book import Book, write
from recorded.difference import compared

QUICK = (*tables.QUICK, *published.QUICK, *instances.QUICK)
#: In the order in which each needs what those before it made.
ROOMS = (scores, candidates, graphs, networks, predictions, texts, pickles, checkpoints)


def names() -> list[str]:
    """Everything there is to record."""
    return [*tables.names(), *published.names(), *instances.names()]


def record(name: str, n_jobs: int = 1, rooms: Sequence[ModuleType] = ROOMS) -> Book:
    """All that the package makes of one table, network or instance; of a table, in some rooms only if so asked."""
    if name.startswith("networks/"):
        return published.record(name, n_jobs)
    if name.startswith("instances/"):
        return instances.record(name, n_jobs)
    book = Book()
    source = tables.source(name)
    texts.schema(source, book)
    for form in tables.forms(source, n_jobs):
        for room in rooms:
            room.record(form, book)
    return book


def _taken(name: str, folder: Path, n_jobs: int) -> tuple[str, int, float, list[str]]:
    began = time.process_time()
    book = record(name, n_jobs)
    write(book, _file(folder, name))
    return name, len(book.lines), time.process_time() - began, book.failed


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.jsonl"


def take(folder: Path, wanted: list[str], n_jobs: int, processes: int) -> bool:
    """Records what is not there yet; true if something ended in an error that is no refusal."""
    todo = [name for name in wanted if not _file(folder, name).exists()]
    print(f"{len(wanted)} tables, {len(wanted) - len(todo)} of them recorded before", flush=True)
    began, seconds, n_results, failed = time.perf_counter(), 0.0, 0, 0
    # New processes, as threads of a pool do not survive a fork.
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_taken, name, folder, n_jobs) for name in todo]):
            name, n, spent, errors = done.result()
            seconds, n_results, failed = seconds + spent, n_results + n, failed + len(errors)
            print(f"{name}: {n} results, {spent:.1f} CPU seconds", flush=True)
            for error in errors:
                print(f"  {error}", flush=True)
    wall = time.perf_counter() - began
    print(f"{n_results} results, {failed} errors, {seconds:.0f} CPU seconds, {wall:.0f} s on the clock")
    return failed > 0


def chosen(patterns: list[str], quick: bool) -> list[str]:
    """The tables of that name or pattern."""
    every = names()
    if not patterns:
        return [name for name in every if not quick or name in QUICK]
    for pattern in patterns:
        if not fnmatch.filter(every, pattern):
            sys.exit(f"there is no table {pattern!r}; names are like {every[0]!r}, patterns like 'uci/*'")
    return [name for name in every if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    tasks = parser.add_subparsers(dest="task", required=True)
    taking = tasks.add_parser("take", help="write a record")
    taking.add_argument("folder", type=Path)
    taking.add_argument("--tables", nargs="+", default=[], metavar="NAME", help="names or patterns, such as 'uci/*'")
    taking.add_argument("--quick", action="store_true", help="a fixed choice of small tables, within two minutes")
    taking.add_argument("--jobs", type=int, default=1, help="threads of every call")
    taking.add_argument("--processes", type=int, default=os.cpu_count() or 1, help="tables side by side")
    comparing = tasks.add_parser("compare", help="compare two records")
    comparing.add_argument("a", type=Path)
    comparing.add_argument("b", type=Path)
    comparing.add_argument("--rel", type=float, default=1e-9, help="relative difference that counts as rounding")
    comparing.add_argument("--most", type=int, default=5, help="differences shown of a table")
    told = parser.parse_args()
    if told.task == "take":
        sys.exit(take(told.folder, chosen(told.tables, told.quick), told.jobs, told.processes))
    sys.exit(compared(told.a, told.b, told.rel, told.most))


if __name__ == "__main__":
    main()
