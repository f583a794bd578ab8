"""Results of jobs on disk, a line each, so that a stopped run continues where it was.

A line is written when its job is done and ends with a line break; what follows the last line break was cut off when the
process was killed, and is dropped. The first line describes the run, and a file of another run is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from arbornet._core import FormatError
from arbornet.given import Progress
from arbornet.system.cluster import Client
from arbornet.system.parallel import side_by_side
from arbornet.system.sources import is_pipe
from arbornet.text.progress import shown

Job = TypeVar("Job")


def campaign(
    what: str,
    work: Callable[[Job, int], Any],
    jobs: Sequence[Job],
    about: dict[str, Any],
    resume: str | os.PathLike[str] | None,
    n_jobs: int,
    progress: Progress,
    client: Client | None = None,
) -> list[Any]:
    """Results of all jobs in their order, those on disk read instead of computed.

    Args:
        what: What is being done, for the progress bar.
        work: Does a job with so many threads; returns what JSON can hold.
        jobs: What to do. Their number and order follow from `about`.
        about: What the results are of.
        resume: The file that keeps results, if any.
        n_jobs: Threads in all.
        progress: True to show a bar (log lines where there is no terminal).
        client: A `distributed.Client` whose workers do the jobs, a thread each.

    Raises:
        FormatError: If the file does not hold results, or holds those of another run.
    """
    journal = None if resume is None else Journal(Path(resume), about, len(jobs))
    results: dict[int, Any] = {} if journal is None else journal.results
    todo = [i for i in range(len(jobs)) if i not in results]
    with shown(what, progress) as tell:
        for at, result in side_by_side(work, [jobs[i] for i in todo], n_jobs, client):
            results[todo[at]] = result
            if journal is not None:
                journal.add(todo[at], result)
            if tell is not None:
                tell(len(results), len(jobs))
    return [results[i] for i in range(len(jobs))]


class Journal:
    """A file of results by number of their job."""

    def __init__(self, path: Path, about: dict[str, Any], n_jobs: int):
        self._path = path
        self.results: dict[int, Any] = {}
        if path.exists() and not path.is_file():
            raise FormatError(f"{path} is not a regular file and cannot keep results; name another")
        first = json.dumps(about, sort_keys=True)
        if path.exists() and is_pipe(path):
            raise FormatError(f"{path}: this is a pipe; results are kept in a file")
        if path.exists() and not self._cut_at_once(first):
            self._read(about, n_jobs)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._write(first)

    def _cut_at_once(self, first: str) -> bool:
        """Whether the file holds only a part of the first line, cut off by a full disk; then it is started over."""
        with self._path.open("rb") as file:
            start = file.read(len(first.encode()) + 1)
        cut = first.encode().startswith(start)
        if cut and start:
            os.truncate(self._path, 0)
        return cut

    def add(self, job: int, result: object) -> None:
        """Keeps the result of a job."""
        self._write(json.dumps([job, result]))
        self.results[job] = result

    def _write(self, line: str) -> None:
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error

    def _read(self, about: dict[str, Any], n_jobs: int) -> None:
        text = self._path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if not whole:
            raise FormatError(f"{self._path}: no complete line; delete the file to start over")
        lines = whole.decode("utf-8", errors="replace").splitlines()
        known = self._parsed(1, lines[0])
        wanted = json.loads(json.dumps(about, sort_keys=True))
        if not isinstance(known, dict):
            raise FormatError(f"{self._path}, line 1: this is not a file of results; name another file")
        _as_of_old(known, wanted)
        if known != wanted:
            other = sorted(key for key in known.keys() | wanted.keys() if known.get(key) != wanted.get(key))
            raise FormatError(
                f"{self._path} holds results with other {', '.join(other)}; "
                "name another file, or delete it to start over"
            )
        for number, line in enumerate(lines[1:], 2):
            entry = self._parsed(number, line)
            if not (isinstance(entry, list) and len(entry) == 2 and type(entry[0]) is int and 0 <= entry[0] < n_jobs):
                raise FormatError(
                    f"{self._path}, line {number}: this is not a result; delete the line to compute it again"
                )
            self.results[entry[0]] = entry[1]
        if len(whole) < len(text):
            os.truncate(self._path, len(whole))

    def _parsed(self, number: int, line: str) -> Any:
        try:
            return json.loads(line)
        except ValueError as error:
            raise FormatError(
                f"{self._path}, line {number}: not JSON ({error}); delete the line to compute it again"
            ) from None


def _as_of_old(known: dict[str, Any], wanted: dict[str, Any]) -> None:
    """Takes the schema of an old file, a table of text for reading, for the one wanted if its types are the same.

    Later versions word that table otherwise.
    """
    old, new = known.get("schema"), wanted.get("schema")
    if not isinstance(old, str) or not isinstance(new, str) or "\n---" not in old:
        return
    _, rule, *rows = old.split("\n")
    first, second = (len(column) for column in rule.split("  ")[:2])
    told = [(row[:first].rstrip(), row[first + 2 :][:second].rstrip()) for row in rows[:-1]]
    types = [line.split("\t")[:2] for line in new.split("\n")]
    if len(told) == len(types) and all(_shortened(a, b) for a, b in zip(told, types, strict=True)):
        known["schema"] = new


def _shortened(cells: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether these are the cells, long ones cut."""
    pairs = zip(cells, whole, strict=True)
    return all(cell == text or (cell.endswith("…") and text.startswith(cell[:-1])) for cell, text in pairs)
