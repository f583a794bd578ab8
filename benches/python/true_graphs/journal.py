"""Finished runs, in a file with one JSON object per line; they are not run again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from true_graphs.tables import Task

Run = dict[str, Any]


class Journal:
    """Runs by task and learner."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[tuple[str, str], Run] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            text = path.read_text(encoding="utf-8")
            whole, _, cut_off = text.rpartition("\n")
            for line in whole.splitlines():
                run = json.loads(line)
                self.runs[run["task"], run["learner"]] = run
            if cut_off:
                path.write_text(whole + "\n", encoding="utf-8")

    def has(self, task: Task, learner: str) -> bool:
        return (str(task), learner) in self.runs

    def add(self, task: Task, learner: str, figures: Run) -> None:
        run = {"task": str(task), "learner": learner, **figures}
        self.runs[str(task), learner] = run
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")

    def forget(self, learners: Sequence[str]) -> None:
        """Removes all runs of some learners, to run them again."""
        self.runs = {key: run for key, run in self.runs.items() if key[1] not in learners}
        self.path.write_text("".join(json.dumps(run) + "\n" for run in self.runs.values()), encoding="utf-8")

    def figures(self, tasks: Iterable[Task], learner: str, name: str) -> list[float]:
        """The known values of a figure; failed runs and shares of nothing have none."""
        values = [self.runs.get((str(task), learner), {}).get(name) for task in tasks]
        return [float(value) for value in values if value is not None]

    def failed(self, tasks: Iterable[Task], learner: str) -> list[str]:
        """Why runs of a learner failed."""
        runs = [self.runs.get((str(task), learner), {}) for task in tasks]
        return [run["failed"] for run in runs if "failed" in run]


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """The mean, and its standard error (NaN of a single value)."""
    n = len(values)
    mean = sum(values) / n if n else math.nan
    if n < 2:
        return mean, math.nan
    return mean, math.sqrt(sum((value - mean) ** 2 for value in values) / (n - 1) / n)
