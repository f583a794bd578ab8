"""How much spread do numbers have about their trees? Held-out log density by `lam`, the prior of a leaf's variance.

    python benches/python/spreads.py                 # all tables with two columns of numbers: minutes
    python benches/python/spreads.py --only housing  # only these

For each table of `benches/data/uci` networks of up to two parents are learned under `PCART(leaf="linear", lam=...)`
from half of the rows and predict the others, once each way. A column's variance is 1 in the units of `lam`. Figures are
nats a row of the table, less those of `lam=1`.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from pathlib import Path

import arbornet as an

UCI = Path(__file__).resolve().parents[1] / "data" / "uci"
LAMS = (1.0, 0.1, 0.03, 0.01)
MOST_ROWS = 6000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only these tables")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    scores = {str(lam): an.PCART(leaf="linear", lam=lam) for lam in LAMS}
    gains: dict[str, list[float]] = {name: [] for name in scores}
    for path in sorted(UCI.glob("*.csv.gz")):
        name = path.name.removesuffix(".csv.gz")
        if asked.only and name not in asked.only:
            continue
        frame = an.read(path)
        numbers = sum(isinstance(column.kind, an.Continuous) for column in an.infer_schema(frame).used)
        if frame.height > MOST_ROWS or numbers < 2:
            continue
        made = an.evaluate.cross_validate(frame, scores, 2, 1, max_parents=2, effort="quick", n_jobs=1)
        densities = dict(made.summary.select("method", "log_density").iter_rows())
        told = {lam: densities[lam] - densities["1.0"] for lam in scores}
        print(
            f"{name} {frame.height} x {frame.width}:",
            "  ".join(f"{lam} {x:+.3f}" for lam, x in told.items()),
            flush=True,
        )
        for lam, gain in told.items():
            gains[lam].append(gain)
    for lam, of in gains.items():
        if lam == "1.0" or not of:
            continue
        better, worse = sum(x > 0.02 for x in of), sum(x < -0.02 for x in of)
        print(
            f"lam={lam}: {len(of)} tables, better by more than .02 on {better}, worse on {worse}, "
            f"mean {statistics.mean(of):+.3f}, median {statistics.median(of):+.3f}, worst {min(of):+.3f}"
        )


if __name__ == "__main__":
    main()
