"""What rows with missing values are worth: learned from, dropped, or whole, beside scikit-learn's methods.

    python benches/papers/gaps.py            # runs what is missing, writes docs/papers/gaps.md
    python benches/papers/gaps.py --quick    # two tables, a fifth blank, prints the tables only

Of each table two thirds of the rows are learned from and a third is held out; in both, cells are blank by a stated
seed: completely at random (MCAR), or at random given what is observed (MAR): half of the columns are whole, and a cell
of the others is blank three times as often where one of these is above its median, or has its most frequent level.
Networks have up to two parents, those that impute up to three.
"""

from __future__ import annotations

import json
import statistics
import warnings
import zlib
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import polars as pl
from common import arguments, markdown
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from uci import prepared

import arbornet as an

TABLES = (
    "auto-mpg", "breast-tissue", "contraceptive-method-choice", "ilpd-indian-liver-patient", "pittsburgh-bridges",
    "statlog-australian-credit-approval", "statlog-heart", "wholesale-customers", "wine",
)  # fmt: skip
SHARES = (0.05, 0.15, 0.2, 0.3)
OF_MAR = (0.15, 0.3)
#: The share at which predictions and imputations are compared too.
FIFTH = 0.2
HOW: dict[str, Any] = {"max_parents": 2, "effort": "quick", "verbose": False}
IMPUTING: dict[str, Any] = {**HOW, "max_parents": 3}
#: Columns of each kind that are predicted.
TARGETS = 2
PAGE = """\
# Rows with missing values

What does it cost to learn from rows with gaps? Nine tables of numbers and categories, two thirds of their rows to
learn from and a third held out; in both, a share of all cells is blank: completely at random, or, where it says so, at
random given what is observed (half of the columns are whole; a cell of the others is blank three times as often where
one of these is above its median, or has its most frequent level). `python benches/papers/gaps.py` repeats it. Numbers
are standardised; networks have up to two parents (`effort="quick"`).

*Whole*: learned before the cells were blanked, which is as good as it gets. *Drop*: `missing="drop"`. *Learn*:
`missing="learn"`.

## Density of incomplete rows not seen before
Mean log density of what the held-out rows have, in nats a row, less that of *whole* (0 would be no loss).

{density}

Blank at random given what is observed:

{mar}

*Learn* loses less than *drop* in {ahead} of {n} cells; over all tables it loses {loss:.0%} of what dropping rows
loses.

## Predictions, a fifth of the cells blank
Log loss of up to two categories and root mean squared error of up to two numbers per table, given what the held-out
rows have of the other columns. Gradient boosting is scikit-learn's `HistGradientBoosting*`, which takes missing
values as they are, trained on the blanked rows.

{predictions}

## Imputation, a fifth of the cells blank
The blanked cells of the rows learned from: root mean squared error of numbers (1 is what the column's mean gives),
share of categories that are wrong. *Network*: `net.impute(df, "means")` of one with up to three parents. *Iterative*
and *forest*: scikit-learn's `IterativeImputer` on indicators and standardised numbers, with Bayesian ridge regression,
and with random forests of 100 trees for up to 10 rounds, the defaults of missForest. CPU seconds in brackets; those of
the network are for learning it and for filling in.

{imputation}

The network is best or within 2% of the best for numbers on {numbers} of {tables} tables, for categories on {levels}.
Over all tables it takes {faster:.1f} times less CPU time than the forest.
"""


def run(name: str, share: float, mechanism: str) -> dict[str, Any]:
    """All figures of a table, a share and a mechanism."""
    table = prepared(name)
    rng = np.random.default_rng([zlib.crc32(name.encode()), round(100 * share)])
    blanked = at_random if mechanism == "MAR" else completely_at_random
    rows = rng.permutation(len(table.frame))
    cut = len(rows) * 2 // 3
    train, test = table.frame[rows[:cut]], table.frame[rows[cut:]]
    gaps, seen = blanked(train, share, rng), blanked(test, share, rng)
    nets: dict[str, an.BayesNet] = {}
    told: dict[str, Any] = {
        "table": name,
        "share": share,
        "mechanism": mechanism,
        "complete": len(gaps.drop_nulls()),
        "rows": cut,
    }
    for way, frame in (("whole", train), ("drop", gaps), ("learn", gaps)):
        began = process_time()
        try:
            # Levels and kinds are declared, so that all see the same.
            nets[way] = an.learn(frame, schema=table.schema, missing="drop" if way == "whole" else way, **HOW)
            told[way] = float(nets[way].log_likelihood(seen, unseen="missing").mean())
        except an.ArbornetError as error:
            told[f"{way} failed"] = str(error)[:80]
        told[f"{way} seconds"] = process_time() - began
    if share == FIFTH and mechanism == "MCAR":
        told["predictions"] = predictions(table.schema, nets, gaps, seen, test)
        began = process_time()
        net = an.learn(gaps, schema=table.schema, missing="learn", **IMPUTING)
        told["imputation"] = imputation(table.schema, net, gaps, train, process_time() - began)
    return told


def completely_at_random(frame: pl.DataFrame, share: float, rng: np.random.Generator) -> pl.DataFrame:
    return without(frame, rng.random((len(frame), frame.width)) < share)


def at_random(frame: pl.DataFrame, share: float, rng: np.random.Generator) -> pl.DataFrame:
    # The same columns in rows that are learned from and in those held out.
    split = np.random.default_rng(frame.width).permutation(frame.width)
    whole, gappy = split[: frame.width // 2], split[frame.width // 2 :]
    gone = np.zeros((len(frame), frame.width), dtype=bool)
    for i, column in enumerate(gappy):
        cause = frame[:, int(whole[i % len(whole)])]
        numeric = cause.dtype.is_numeric()
        high = (cause > cause.median() if numeric else cause == cause.mode().sort()[0]).to_numpy()
        often = np.where(high, 1.5, 0.5) / np.where(high, 1.5, 0.5).mean()
        gone[:, column] = rng.random(len(frame)) < share * frame.width / len(gappy) * often
    return without(frame, gone)


def without(frame: pl.DataFrame, gone: np.ndarray) -> pl.DataFrame:
    return frame.with_columns(
        pl.when(pl.Series(gone[:, i])).then(None).otherwise(pl.col(name)).alias(name)
        for i, name in enumerate(frame.columns)
    )


def predictions(schema: an.Schema, nets: dict[str, an.BayesNet], gaps: Any, seen: Any, test: Any) -> list[Any]:
    """Loss of each method for a few columns: log loss, or root mean squared error."""
    out = []
    categories = [column for column in schema.used if column.levels is not None or column.word != "continuous"]
    numbers = [column for column in schema.used if column.word == "continuous"]
    for column in [*categories[-TARGETS:], *numbers[:TARGETS]]:
        target = column.name
        known = gaps[target].is_not_null()
        losses: dict[str, float] = {}
        for way, net in nets.items():
            if column.word == "continuous":
                found = net.predict(seen, target).fill_null(0.0).to_numpy()
                losses[way] = rmse(found, test[target].to_numpy())
            else:
                losses[way] = log_loss(net.predict_proba(seen, target), test[target])
        X, new = codes(gaps.drop(target), schema), codes(seen.drop(target), schema)
        of_levels = [i for i, name in enumerate(gaps.drop(target).columns) if schema[name].word != "continuous"]
        if column.word == "continuous":
            model = HistGradientBoostingRegressor(categorical_features=of_levels, random_state=0)
            model.fit(X[known.to_numpy()], gaps[target].filter(known).to_numpy())
            losses["boosting"] = rmse(model.predict(new), test[target].to_numpy())
        else:
            model = HistGradientBoostingClassifier(categorical_features=of_levels, random_state=0)
            model.fit(X[known.to_numpy()], gaps[target].filter(known).to_list())
            shares = pl.DataFrame(model.predict_proba(new), schema=list(map(str, model.classes_)))
            losses["boosting"] = log_loss(shares, test[target])
        out.append({"target": target, "kind": column.word, **losses})
    return out


def imputation(schema: an.Schema, net: an.BayesNet, gaps: Any, train: Any, seconds: float) -> dict[str, Any]:
    """Errors in the blanked cells, and CPU seconds, of each method."""
    began = process_time()
    made = {"network": net.impute(gaps, "means")}
    taken = {"network": seconds + process_time() - began}
    ways = {
        "mean": SimpleImputer(),
        "iterative": IterativeImputer(random_state=0, max_iter=10),
        "forest": IterativeImputer(
            RandomForestRegressor(100, random_state=0, n_jobs=1), max_iter=10, random_state=0, skip_complete=True
        ),
    }
    X, parts = indicators(gaps, schema)
    for way, imputer in ways.items():
        began = process_time()
        filled = imputer.fit_transform(X)
        taken[way] = process_time() - began
        columns = {}
        for name, (first, levels) in parts.items():
            part = filled[:, first : first + len(levels or [0])]
            columns[name] = part[:, 0] if levels is None else [levels[i] for i in part.argmax(axis=1)]
        made[way] = pl.DataFrame(columns)
    out: dict[str, Any] = {}
    for way, frame in made.items():
        numbers, wrong = [], []
        for name in train.columns:
            at = gaps[name].is_null()
            truth, guess = train[name].filter(at), frame[name].filter(at)
            if schema[name].word == "continuous":
                numbers += list((truth - guess.cast(pl.Float64)).to_numpy() ** 2)
            else:
                wrong += (truth.cast(pl.String) != guess.cast(pl.String)).to_list()
        out[way] = {"rmse": float(np.sqrt(np.mean(numbers))) if numbers else None, "wrong": float(np.mean(wrong)),
                    "seconds": taken[way]}  # fmt: skip
    return out


def codes(frame: pl.DataFrame, schema: an.Schema) -> np.ndarray:
    """Numbers as they are, categories as codes, missing values as NaN."""
    out = np.full((len(frame), frame.width), np.nan)
    for i, name in enumerate(frame.columns):
        if schema[name].word == "continuous":
            out[:, i] = frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
        else:
            code = {level: float(i) for i, level in enumerate(schema[name].levels or ())}
            out[:, i] = [np.nan if value is None else code[value] for value in frame[name]]
    return out


def indicators(frame: pl.DataFrame, schema: an.Schema) -> tuple[np.ndarray, dict[str, Any]]:
    """Numbers, and an indicator for each level; where each column stands."""
    coded, columns, parts = codes(frame, schema), [], {}
    for i, name in enumerate(frame.columns):
        levels = None
        if schema[name].word != "continuous":
            present = set(frame[name].drop_nulls())
            levels = [level for level in schema[name].levels or () if level in present]
        parts[name] = (len(columns), levels)
        if levels is None:
            columns.append(coded[:, i])
        else:
            own = [float((schema[name].levels or ()).index(level)) for level in levels]
            columns += [np.where(np.isnan(coded[:, i]), np.nan, coded[:, i] == code) for code in own]
    return np.column_stack(columns), parts


def rmse(found: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((found - truth) ** 2)))


def log_loss(shares: pl.DataFrame, truth: pl.Series) -> float:
    losses = []
    for given, level in zip(shares.iter_rows(named=True), truth, strict=True):
        p = given.get(str(level))
        losses.append(-np.log(max(1e-6, p if p is not None else 0.0)))
    return float(np.mean(losses))


def page(results: list[dict[str, Any]]) -> str:
    """The page of all figures."""
    lost, ahead, n = {"drop": 0.0, "learn": 0.0}, 0, 0
    tables = []
    for mechanism, shares in (("MCAR", SHARES), ("MAR", OF_MAR)):
        rows = []
        for name in TABLES:
            row: list[Any] = [name]
            for share in shares:
                key = (name, share, mechanism)
                for one in (one for one in results if (one["table"], one["share"], one["mechanism"]) == key):
                    learn = one["learn"] - one["whole"]
                    drop = one["drop"] - one["whole"] if "drop" in one else None
                    row += [
                        f"{one['complete']} of {one['rows']}",
                        "no row" if drop is None else f"{drop:.2f}",
                        f"{learn:.2f}",
                    ]
                    n, ahead = n + 1, ahead + (drop is None or learn > drop)
                    if drop is not None:
                        lost["drop"] += drop
                        lost["learn"] += learn
            rows.append(row)
        head = ["table", *(f"{share:.0%}: {what}" for share in shares for what in ("complete", "drop", "learn"))]
        tables.append(markdown(rows, head).strip())
    fifth = [one for one in results if "imputation" in one]
    predicted = []
    for one in fifth:
        for kind, label in (("categorical", "log loss"), ("continuous", "RMSE")):
            own = [p for p in one["predictions"] if (p["kind"] == "continuous") == (kind == "continuous")]
            ways = ("whole", "drop", "learn", "boosting")
            mean = [statistics.mean(p[way] for p in own) if all(way in p for p in own) else None for way in ways]
            predicted.append([one["table"], label, *(None if m is None else f"{m:.3f}" for m in mean)])
    for label in ("log loss", "RMSE"):
        own = [row for row in predicted if row[1] == label and None not in row]
        mean = [f"{statistics.mean(float(row[i]) for row in own):.3f}" for i in range(2, 6)]
        predicted.append(["**mean**", label, *mean])
    imputed = []
    for one in fifth:
        cells = []
        for way in ("network", "iterative", "forest", "mean"):
            of = one["imputation"][way]
            cells.append(f"{of['rmse']:.3f}, {of['wrong']:.3f} ({of['seconds']:.1f})")
        imputed.append([one["table"], *cells])

    def close(figure: str) -> int:
        ways = [one["imputation"] for one in fifth]
        return sum(of["network"][figure] <= 1.02 * min(of[way][figure] for way in of) for of in ways)

    def taken(way: str) -> float:
        return sum(one["imputation"][way]["seconds"] for one in fifth)

    return PAGE.format(
        density=tables[0],
        mar=tables[1],
        ahead=ahead,
        n=n,
        loss=lost["learn"] / lost["drop"] if lost["drop"] else 0.0,
        predictions=markdown(predicted, ["table", "loss", "whole", "drop", "learn", "boosting"]).strip(),
        numbers=close("rmse"),
        faster=taken("forest") / taken("network"),
        levels=close("wrong"),
        tables=len(fifth),
        imputation=markdown(imputed, ["table", "network", "iterative", "forest", "mean or most frequent"]).strip(),
    )


def main() -> None:
    asked = arguments(__doc__ or "").parse_args()
    warnings.simplefilter("ignore")
    file: Path = asked.results / "gaps.json"
    results = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not asked.quick else []
    done = {(one["table"], one["share"], one["mechanism"]) for one in results}
    every = [(share, "MCAR") for share in SHARES] + [(share, "MAR") for share in OF_MAR]
    for name in TABLES[:2] if asked.quick else TABLES:
        for share, mechanism in [(FIFTH, "MCAR")] if asked.quick else every:
            if (name, share, mechanism) not in done:
                began = process_time()
                results.append(run(name, share, mechanism))
                print(f"{name} {mechanism} {share:.0%}: {process_time() - began:.1f} CPU seconds", flush=True)
                if not asked.quick:
                    file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if asked.quick:
        print(json.dumps(results, indent=1))
    else:
        (asked.pages / "gaps.md").write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()
