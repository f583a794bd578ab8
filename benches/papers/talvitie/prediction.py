"""Tables 2, B.5 and B.6: log densities of unseen rows, three ways."""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np
import polars as pl
import uci
from common import markdown, printed
from talvitie.budget import MOST_PARENTS, cheapest_first, effort, size
from talvitie.kept import Kept, say
from talvitie.models import SCORES, Learners

import arbornet as an

#: The paper's protocol with corrected scores, with the errata of the authors' program, and without leaks.
WAYS = ("ours", "published", "leak-free")
FOLDS = 10
#: Table 2 and table B.6, by pairs of models: wins, ties, losses.
PRINTED = {
    "error_bars": ((1, 51, 0), (20, 23, 9), (19, 24, 9), (21, 20, 11), (18, 23, 11), (0, 51, 1)),
    "wilcoxon": ((10, 35, 7), (25, 14, 13), (25, 14, 13), (25, 13, 14), (24, 13, 15), (11, 33, 8)),
}
#: What was looked into where print does not follow from what the paper says, by table and model.
LOOKED_INTO = {
    ("zoo", "PCART"): "unexplained: no closer with `published=True`, with 2 or 3 parents, with all seven types, with "
    "the type as a number and legs as levels, with legs on the other side of midpoints, nor without legs as a parent",
    ("turkiye-student-evaluation", "PCART"): "unexplained: the printed figure is between our densities with at most "
    "one parent (-22.83) and two (-14.07), with or without `published=True`, as if these trees had fewer than four "
    "parents",
}
PAIRS = (("PCART", "PCARTp"), ("PCART", "FT"), ("PCART", "FTp"), ("PCARTp", "FT"), ("PCARTp", "FTp"), ("FT", "FTp"))


def run(options: argparse.Namespace) -> None:
    """Ten folds of each table, way and repeat, cheapest tables first."""
    kept = Kept(options.results / "prediction.json")
    for name in cheapest_first(options.tables or uci.names(), options.results):
        # The two models of a kind share step 1.
        fits = 0.5 * FOLDS * len(options.ways)
        allowed = effort(size(name, options.results), options.max_minutes, fits, options.repeats)
        for repeat in range(1, allowed.repeats + 1):
            for way in options.ways:
                key = f"{name} {way} D={allowed.max_parents} {repeat}"
                if key not in kept and (way != "leak-free" or _has_numbers(name)):
                    kept[key] = _folds(name, way, allowed.max_parents, repeat, options)
        say(f"prediction {name}: {allowed.repeats} repeats, D={allowed.max_parents}")


def _has_numbers(name: str) -> bool:
    """Without them, nothing is standardised: leak-free is ours."""
    return _numbers(name) > 0


def _numbers(name: str) -> int:
    return sum(isinstance(column.kind, an.Continuous) for column in uci.prepared(name).schema.columns)


def _folds(name: str, way: str, max_parents: int, repeat: int, options: argparse.Namespace) -> dict[str, Any]:
    """Mean log density of each fold by model."""
    data = uci.prepared(name)
    learners = Learners(max_parents, published=way == "published", time_limit=60)
    result = an.evaluate.cross_validate(
        data.frame,
        learners.methods(),
        folds=FOLDS,
        repeats=1,
        seed=repeat,
        schema=data.schema,
        standardise=way == "leak-free",
        n_jobs=options.jobs,
    )
    found: dict[str, Any] = {
        model: [round(value, 6) for value in result.folds.filter(pl.col("method") == model)["log_density"]]
        for model in SCORES
    }
    return found | {"cut short": learners.cut_short}


def page(options: argparse.Namespace) -> str:
    """Tables B.5, 2 and B.6 from what is kept, whichever run it came of."""
    kept = Kept(options.results / "prediction.json")
    known = {(row["data"], row["method"]): row for row in printed("talvitie2019_b5.csv")}
    rows, contests, n_near, n_legible = [], [], 0, 0
    for name in uci.names():
        found = best_folds(kept, name)
        if found is None:
            continue
        most, by_way = found
        repeats = len(by_way["ours"]["FT"]) // FOLDS
        contests += [
            {"data": name, "method": model, "log_density": value} for model in SCORES for value in by_way["ours"][model]
        ]
        for model in SCORES:
            of = {way: mean_and_error(by_way[way][model]) for way in by_way}
            why = _reason(name, model, known.get((name, model)), {way: by_way[way][model] for way in by_way}, most)
            n_near += not why
            n_legible += (name, model) in known
            print_ = known.get((name, model))
            paper = "" if print_ is None else f"{float(print_['log_density']):.3f} ± {_error(print_)}"
            densities = [shown(of[way]) if way in of else "not run" for way in ("ours", "leak-free", "published")]
            if "leak-free" not in of and not _has_numbers(name):
                densities[1] = "same as ours"
            rows.append((name, model, paper, *densities, f"D={most}, {repeats} x {FOLDS}", why))
    if not rows:
        return ""
    head = ("data", "model", "printed", "ours", "leak-free", "`published=True`", "run", "beyond two standard errors")
    n_tables = len(rows) // len(SCORES)
    results = pl.DataFrame(contests)
    return (
        "\n## Table B.5: log density of unseen rows, standardised units (higher is better)\n\n"
        f"{n_tables} of {len(uci.names())} tables. Mean over folds ± standard error; the paper has 5 repeats of ten "
        f"folds with at most {MOST_PARENTS} parents, the column *run* gives ours. *Ours*: the paper's protocol "
        "(standardised and merged on the whole table) with the corrected scores; *leak-free*: standardised on the "
        "training part, densities in the units of the table as the paper prepared it; `published=True`: the "
        f"errata of the authors' program. {n_near} of {n_legible} rows that are legible in our copy are within two "
        "standard errors of the printed figures, and the last column gives the reason for the others. *Errata* "
        "appears only where the change by `published=True` on the same folds is itself larger than two standard "
        "errors.\n\n"
        "Where the paper does not say how a table was prepared, we inferred it from its column counts and figures: "
        "the three counts of solar-flare are numbers; one code of energy-efficiency is a number too (only then do "
        "the densities agree with the printed ones); ilpd-indian-liver-patient is used without its selector (for "
        "the same reason). Which columns are categories is a guess that fits the counts in facebook-metrics, flags, "
        "mesotheliomas-disease and soybean-large.\n\n"
        + markdown(rows, head)
        + _contests("\n## Table 2: wins, ties and losses by error bars\n\n", results, "error_bars", n_tables)
        + _contests("\n## Table B.6: the same by Wilcoxon's signed ranks\n\n", results, "wilcoxon", n_tables)
    )


def best_folds(kept: Kept, name: str) -> tuple[int, dict[str, dict[str, list[float]]]] | None:
    """The folds with the most parents, of all repeats, by way and model."""
    of = [key.split() for key in kept if key.startswith(f"{name} ")]
    if not any(way == "ours" for _, way, _, _ in of):
        return None
    most = max(int(parents[2:]) for _, way, parents, _ in of if way == "ours")
    by_way: dict[str, dict[str, list[float]]] = {}
    for _, way, parents, repeat in sorted(of, key=lambda key: (key[1], int(key[3]))):
        if parents == f"D={most}":
            entry = kept[f"{name} {way} {parents} {repeat}"]
            for model in SCORES:
                by_way.setdefault(way, {}).setdefault(model, []).extend(entry[model])
    return most, by_way


def mean_and_error(values: list[float]) -> tuple[float, float]:
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))


def shown(of: tuple[float, float]) -> str:
    return f"{of[0]:.3f} ± {of[1]:.3f}"


def _error(row: dict[str, str]) -> str:
    return f"{float(row['standard_error']):.3f}" if row["standard_error"] else "?"


def _reason(name: str, model: str, known: dict[str, str] | None, by_way: dict[str, list[float]], most: int) -> str:
    if known is None:
        return "not legible in our copy of the paper"

    def agrees(way: str) -> bool:
        mean, error = mean_and_error(by_way[way])
        both = math.hypot(float(known["standard_error"] or 0), error)
        return abs(mean - float(known["log_density"])) <= 2 * both

    if agrees("ours"):
        return ""
    if "published" in by_way and agrees("published"):
        # The folds are the same: what the errata change is known better than either mean.
        change, error = mean_and_error([b - a for a, b in zip(by_way["ours"], by_way["published"], strict=True)])
        if abs(change) > 2 * error:
            return "errata of the program: `published=True` agrees"
    numbers, printed_numbers = _numbers(name), (uci.manifest(name).get("paper") or {}).get("continuous")
    if printed_numbers is not None and numbers != printed_numbers:
        return f"preprocessing: {printed_numbers} columns are numbers in the paper, {numbers} in ours"
    otherwise = "unexplained" if most == MOST_PARENTS else f"not the paper's {MOST_PARENTS} parents"
    return LOOKED_INTO.get((name, model.removesuffix("p")), otherwise)


def _contests(title: str, results: pl.DataFrame, by: Any, n_tables: int) -> str:
    won = an.evaluate.win_tie_loss(results, "log_density", by=by)
    ours = {(row["method"], row["against"]): (row["win"], row["tie"], row["loss"]) for row in won.to_dicts()}
    rows = []
    for (a, b), paper in zip(PAIRS, PRINTED[by], strict=True):
        win, tie, loss = ours[a, b] if (a, b) in ours else ours[b, a][::-1]
        rows.append((f"{a} vs {b}", "{} / {} / {}".format(*paper), f"{win} / {tie} / {loss}"))
    head = ("models", "printed, 52 tables", f"ours, {n_tables} tables, folds as above")
    return title + markdown(rows, head)
