"""Are drawn rows told from real ones? Two times one minus the AUC of a classifier: 1 if not, 0 if always.

    python benches/python/synthetic.py                         # the six tables with most rows: some minutes of CPU
    python benches/python/synthetic.py --only abalone          # only these, or tables in files
    python benches/python/synthetic.py --leaf normal --draws 3
    python benches/python/synthetic.py --csv synthetic.csv     # the figures as a file, too

For each table of `benches/data/uci` a network is learned from its complete rows by `an.learn`, as it is or with two
parents at most and the leaves of `--leaf`, as many rows are drawn from it, and scikit-learn's
HistGradientBoosting separates them from the real ones: five folds, the AUC of its out-of-fold probabilities.
`all digits` are the draws of the same network as the models make them (`an.Continuous(step=None, least=None)`),
`of the column` those that keep the column's step, heaps and least number, both beyond the observed range, too;
`in range` are those that `sample` gives unless told otherwise, and `empty` is the network without arcs, with these.
Seconds are CPU time.
"""

from __future__ import annotations

import argparse
import csv
import resource
import statistics
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import arbornet as an

UCI = Path(__file__).resolve().parents[1] / "data" / "uci"
TABLES = 6
FOLDS = 5
SCORES: dict[str, an.PCART | None] = {
    "as learn does": None,
    "normal": an.PCART(),
    "linear": an.PCART(leaf="linear", cuts="quantile"),
}


def frames(only: list[str] | None) -> list[tuple[str, pl.DataFrame]]:
    """Names and complete rows, most rows first."""
    read = [(path.name.removesuffix(".csv.gz"), an.read(path)) for path in sorted(UCI.glob("*.csv.gz"))]
    read.sort(key=lambda item: -item[1].height)
    chosen = [item for item in read if item[0] in only] if only else read[:TABLES]
    chosen += [(Path(path).name.split(".")[0], an.read(path)) for path in only or () if Path(path).is_file()]
    return [(name, frame.drop_nulls()) for name, frame in chosen]


def seconds() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def detection(real: pl.DataFrame, drawn: pl.DataFrame) -> float:
    """Two times one minus the AUC of telling them apart; at most 1."""
    both = pl.concat([real.select(drawn.columns), drawn], how="vertical_relaxed")
    is_level = [not dtype.is_numeric() for dtype in both.dtypes]
    codes = [
        column.cast(pl.String).rank("dense").cast(pl.Float64) - 1 if level else column.cast(pl.Float64)
        for column, level in zip(both, is_level, strict=True)
    ]
    x = np.column_stack([column.to_numpy() for column in codes])
    y = np.repeat([0, 1], [real.height, drawn.height])
    judge = HistGradientBoostingClassifier(categorical_features=is_level, random_state=0)
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    shares = cross_val_predict(judge, x, y, cv=folds, method="predict_proba", n_jobs=1)[:, 1]
    return min(1.0, 2 * (1 - float(roc_auc_score(y, shares))))


def judged(net: an.BayesNet, real: pl.DataFrame, n_draws: int, beyond: bool) -> tuple[float, float]:
    """The mean over some draws, and the CPU seconds of one draw."""
    start = seconds()
    draws = [net.sample(real.height, seed=seed, beyond=beyond, n_jobs=1) for seed in range(n_draws)]
    took = (seconds() - start) / n_draws
    return statistics.mean(detection(real, drawn) for drawn in draws), took


def with_all_digits(schema: an.Schema) -> an.Schema:
    numbers = [column for column in schema.used if isinstance(column.kind, an.Continuous)]
    return schema.with_types({column.name: replace(column.kind, step=None, least=None) for column in numbers})


def line(name: str, frame: pl.DataFrame, leaf: str, n_draws: int) -> dict[str, Any]:
    """The figures of a table."""
    score, start = SCORES[leaf], seconds()
    if score is None:
        net = an.learn(frame, verbose=False, n_jobs=1)
        schema, score = net.schema, an.PCART(leaf="linear")
    else:
        schema = an.infer_schema(frame, scales="auto")
        net = an.learn(frame, schema=schema, score=score, max_parents=2, verbose=False, n_jobs=1)
    learned = seconds() - start
    own, took = judged(net, frame, n_draws, False)
    plain = an.fit(an.Table(frame, schema=with_all_digits(schema)), net.graph, score)
    empty = nx.DiGraph()
    empty.add_nodes_from(net.graph.nodes)
    figures = {
        "empty": judged(an.fit(an.Table(frame, schema=schema), empty, score), frame, n_draws, False)[0],
        "all digits": judged(plain, frame, n_draws, True)[0],
        "of the column": judged(net, frame, n_draws, True)[0],
        "in range": own,
    }
    about = {"table": name, "rows": frame.height, "columns": frame.width, "leaf": leaf}
    stepped = sum(column.step is not None for column in net.schema.used)
    times = {"learn s": round(learned, 1), "draw s": round(took, 3)}
    return {**about, "with a step": stepped, **{key: round(x, 3) for key, x in figures.items()}, **times}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TABLE", help="only these tables, or files")
    parser.add_argument("--leaf", choices=SCORES, default="as learn does", help="what stands in the leaves of numbers")
    parser.add_argument("--draws", type=int, default=1, help="tables drawn from each network")
    parser.add_argument("--csv", type=Path, help="a file for the figures")
    options = parser.parse_args()
    warnings.simplefilter("ignore", an.ArbornetWarning)
    lines = []
    for name, frame in frames(options.only):
        lines.append(line(name, frame, options.leaf, options.draws))
        print("  ".join(f"{key} {value}" for key, value in lines[-1].items()), flush=True)
    figures = ("empty", "all digits", "of the column", "in range")
    means = {key: statistics.mean(told[key] for told in lines) for key in figures}
    print("mean:", "  ".join(f"{key} {value:.3f}" for key, value in means.items()))
    print(f"{seconds():.0f} CPU seconds")
    if options.csv and lines:
        with options.csv.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]))
            writer.writeheader()
            writer.writerows(lines)


if __name__ == "__main__":
    main()
