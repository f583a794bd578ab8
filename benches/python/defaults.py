"""What may `learn` take? Trees over all arcs, or over those that the hybrid finds: how well each predicts new rows.

    python benches/python/defaults.py               # the tables that are missing; then structure.py --networks 0
    python benches/python/defaults.py --only wine    # only these

Two thirds of the rows of a table of the UCI repository are learned from, the log density of the others is computed.
Finished runs are saved in a journal, of which `structure.py` makes a table of docs/structure.md; there stand also the
distances to the true graphs of simulated networks.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(1, str(Path(__file__).parents[1] / "papers"))

import uci
from true_graphs.ways import WAYS, quietly

import arbornet as an

RESULTS = Path(__file__).parent / "results" / "defaults.jsonl"
#: Tables of up to this size, so that trees over all arcs take a minute at most.
MOST_COLUMNS, MOST_ROWS = 16, 2200
FEWEST_ROWS = 150


def split(prepared: uci.Prepared) -> tuple[Any, Any]:
    """Rows to learn from, and the others."""
    frame = prepared.frame.sample(fraction=1.0, shuffle=True, seed=1)
    cut = 2 * frame.height // 3
    return frame[:cut], frame[cut:]


def run(prepared: uci.Prepared, way: Any) -> dict[str, Any]:
    """The figures of a way on a table."""
    old, new = split(prepared)
    table = an.Table(old, schema=prepared.schema)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = quietly(way, table)
    seconds = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    net = an.fit(table, found.dag, an.PCART(), n_jobs=1)
    return {
        "density": round(float(net.log_likelihood(new).mean()), 4),
        "arcs": found.dag.number_of_edges(),
        "proved": found.stopped == "proven",
        "seconds": round(seconds, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only these tables")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), help="only these ways")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    text = options.results.read_text(encoding="utf-8") if options.results.exists() else ""
    known = {(told["table"], told["way"]) for told in map(json.loads, text.splitlines())}
    for name in options.only or uci.names():
        prepared = uci.prepared(name, ordinal=True)
        n, k = prepared.frame.shape
        if not options.only and not (k <= MOST_COLUMNS and FEWEST_ROWS <= n <= MOST_ROWS):
            continue
        for way in options.ways:
            if (name, way) in known:
                continue
            told = {"table": name, "rows": n, "columns": k, "way": way, **run(prepared, WAYS[way])}
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(told) + "\n")
        print(f"{name}: done", flush=True)


if __name__ == "__main__":
    main()
