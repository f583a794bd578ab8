"""How well one network, learned with no target in mind, predicts a category, a number and whole rows; beside peers.

    python benches/peers/prediction.py [--folds 5] [--tables wine yeast] [--ways learn ridge] [--results FILE]
    python benches/peers/prediction.py --page docs/prediction.md     # writes the page from what is known

Tables of the UCI repository with 150 to 4,000 rows and at most 22 columns; complete rows. Every learner sees the same
folds. Peers: scikit-learn's logistic regression, ridge, random forest and gradient boosting; InterpretML's explainable
boosting and pyAgrum's classifier where they are installed; a mixture of 40 latent classes for whole rows. A line is
written as soon as it is known, and lines that are in the file are not made again.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import json
import resource
import statistics
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1] / "papers"))

from common import manifest, markdown, texts, types
from latent import LatentClasses

import arbornet as an

RESULTS = Path(__file__).parents[1] / "python" / "results" / "prediction.jsonl"
FEWEST_ROWS, MOST_ROWS, MOST_COLUMNS = 150, 4000, 22
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
#: A probability counts as no less: one row should not decide a mean.
LEAST = 1e-4
Figures = dict[str, float]


@dataclass(frozen=True)
class Data:
    """A table with what is predicted."""

    name: str
    frame: pl.DataFrame
    schema: an.Schema
    numbers: list[str]
    category: str | None
    number: str | None

    def inputs(self, target: str) -> tuple[list[str], list[str]]:
        """Numbers and the other columns that predict a target."""
        others = [name for name in self.frame.columns if name != target]
        return [n for n in others if n in self.numbers], [n for n in others if n not in self.numbers]


def data(name: str) -> Data | None:
    """A table, if it is of the size."""
    kinds, about = types(name), manifest(name)
    frame = texts(name).drop(about["paper_drop"], strict=False)
    frame = frame.drop([c for c in frame.columns if frame[c].null_count() > frame.height / 10]).drop_nulls()
    frame = frame.drop([c for c in frame.columns if frame[c].n_unique() < 2])
    if not (FEWEST_ROWS <= frame.height <= MOST_ROWS and frame.width <= MOST_COLUMNS):
        return None
    numbers = [c for c in frame.columns if kinds[c] == "continuous"]
    frame = frame.with_columns(pl.col(c).cast(pl.Float64) for c in numbers)
    inferred = an.infer_schema(frame, scales="auto")
    declared: dict[str, an.VariableType] = {}
    for column in frame.columns:
        kind = kinds[column]
        if column in numbers:
            known = inferred[column].kind
            declared[column] = known if isinstance(known, an.Continuous) else an.Continuous(point="auto")
        elif isinstance(kind, dict):
            declared[column] = an.Ordinal([str(level) for level in kind["ordinal"]])
        else:
            declared[column] = an.Categorical(sorted(frame[column].unique()))
    schema = inferred.with_types(declared)
    few = [c for c in frame.columns if c not in numbers and frame[c].n_unique() <= 10]
    target = about["target"]

    def chosen(among: list[str]) -> str | None:
        return target if target in among else (among[-1] if among else None)

    return Data(name, frame, schema, numbers, chosen(few), chosen(numbers))


def names() -> list[str]:
    """The tables of the UCI repository."""
    path = Path(__file__).parents[1] / "data" / "manifest.json"
    return sorted(t["name"] for t in json.loads(path.read_text(encoding="utf-8"))["tables"] if t["group"] == "uci")


def parts(of: Data, folds: int) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Rows to learn from, and the others."""
    fold = np.random.default_rng(1).permutation(of.frame.height) % folds
    for k in range(folds):
        yield of.frame.filter(pl.Series(fold != k)), of.frame.filter(pl.Series(fold == k))


# --- figures of merit


def of_category(p: np.ndarray, labels: list[str], truth: pl.Series) -> Figures:
    """Log loss, area under the curve (of each class against the others, weighted) and calibration error."""
    from sklearn.metrics import roc_auc_score

    place = {label: i for i, label in enumerate(labels)}
    y = np.array([place.get(value, -1) for value in truth])
    p = np.clip(p, LEAST, None)
    p = p / p.sum(axis=1, keepdims=True)
    own = np.where(y >= 0, p[np.arange(len(y)), y], LEAST)
    aucs = [
        (roc_auc_score(y == k, p[:, k]), (y == k).mean()) for k in range(len(labels)) if 0 < (y == k).sum() < len(y)
    ]
    top, right = p.max(axis=1), p.argmax(axis=1) == y
    bins = np.minimum((top * 10).astype(int), 9)
    gaps = [abs(top[bins == b].mean() - right[bins == b].mean()) * (bins == b).mean() for b in set(bins)]
    auc = float(np.average([a for a, _ in aucs], weights=[w for _, w in aucs])) if aucs else float("nan")
    return {"log_loss": float(-np.log(own).mean()), "auc": auc, "calibration": float(sum(gaps))}


def of_number(q: np.ndarray, y: np.ndarray, scale: float) -> Figures:
    """Mean pinball loss in standard deviations, and how many lie between the first and the last quantile."""
    levels = np.array(LEVELS)
    over = y[:, None] - q
    loss = np.maximum(levels * over, (levels - 1) * over)
    inside = (y >= q[:, 0]) & (y <= q[:, -1])
    return {"pinball": float(loss.mean() / scale), "coverage_80": float(inside.mean())}


def seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


# --- our networks


def network(of: Data, old: pl.DataFrame, new: pl.DataFrame, score: an.Score | None) -> dict[str, Figures]:
    """One network for everything."""
    began = seconds()
    with contextlib.redirect_stdout(io.StringIO()):
        net = an.learn(old, score, schema=of.schema, effort="quick", progress=False)
    learned = seconds() - began
    out: dict[str, Figures] = {
        "rows": {"log_density": float(net.log_likelihood(new).mean()), "seconds": learned},
    }
    if of.category is not None:
        began = seconds()
        p = net.predict_proba(new, of.category)
        spent = seconds() - began
        labels = [str(name) for name in p.columns]
        out["category"] = of_category(p.to_numpy(), labels, new[of.category]) | {"rows_a_second": new.height / spent}
    if of.number is not None:
        began = seconds()
        wide, narrow = (net.predict_interval(new, of.number, mass) for mass in (0.8, 0.5))
        median = net.predict(new, of.number).to_numpy()
        spent = seconds() - began
        (low, high), (lower, upper) = wide.to_numpy().T[-2:], narrow.to_numpy().T[-2:]
        q = np.stack([low, lower, median, upper, high], axis=1)
        scale = float(old[of.number].std() or 1.0)
        out["number"] = of_number(q, new[of.number].to_numpy(), scale) | {"rows_a_second": new.height / spent}
    return out


# --- peers


def encoded(of: Data, target: str, scaled: bool) -> Any:
    """One column a level, numbers scaled if asked."""
    from sklearn.compose import ColumnTransformer
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers, others = of.inputs(target)
    how = StandardScaler() if scaled else "passthrough"
    return ColumnTransformer([("x", how, numbers), ("c", OneHotEncoder(handle_unknown="ignore"), others)])


def predicted(of: Data, old: pl.DataFrame, new: pl.DataFrame, make: Callable[[str], Any]) -> dict[str, Figures]:
    """A category by a classifier of scikit-learn's kind."""
    if of.category is None:
        return {}
    model = make(of.category)
    began = seconds()
    a, b = old.drop(of.category).to_pandas(), new.drop(of.category).to_pandas()
    model.fit(a, old[of.category].to_numpy().astype(str))
    spent = seconds() - began
    labels = [str(label) for label in model.classes_]
    return {"category": of_category(model.predict_proba(b), labels, new[of.category]) | {"seconds": spent}}


def classifier(kind: str) -> Callable[..., dict[str, Figures]]:
    """A classifier by name."""

    def made(of: Data, target: str) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        if kind == "logistic":
            return make_pipeline(encoded(of, target, True), LogisticRegression(max_iter=3000))
        if kind == "forest":
            return make_pipeline(encoded(of, target, False), RandomForestClassifier(300, min_samples_leaf=2, n_jobs=1))
        if kind == "boosting":
            return make_pipeline(dense(encoded(of, target, False)), HistGradientBoostingClassifier(random_state=1))
        from interpret.glassbox import ExplainableBoostingClassifier

        return ExplainableBoostingClassifier(n_jobs=1, random_state=1)

    return lambda of, old, new: predicted(of, old, new, lambda target: made(of, target))


def dense(encoder: Any) -> Any:
    encoder.sparse_threshold = 0.0
    return encoder


def agrum(of: Data, old: pl.DataFrame, new: pl.DataFrame) -> dict[str, Figures]:
    """The classifier of pyAgrum, with its own bins; nothing where it meets a level that it does not know.

    Bins are quantiles, or of equal width where a number is so frequent that quantiles of some column coincide.
    """
    import pyagrum
    from pyagrum.lib.discreteTypeProcessor import DiscreteTypeProcessor
    from pyagrum.skbn import BNClassifier

    def by(method: str, target: str) -> Any:
        # Numbers of few values are cut too: as labels, a value that no training row has would be an error.
        how = {"defaultDiscretizationMethod": method, "defaultNumberOfBins": 5, "discretizationThreshold": 2}
        bins = DiscreteTypeProcessor(**how)
        return BNClassifier(type_processor=bins, learningMethod="TAN", prior="Smoothing", priorWeight=0.5)

    for method in ("quantile", "uniform"):
        with contextlib.suppress(ValueError):  # "gave only 1 bin"
            try:
                return predicted(of, old, new, partial(by, method))
            except (pyagrum.NotFound, pyagrum.OutOfBounds):  # a level that no training row has
                return {}
    return {}


def ridge(of: Data, old: pl.DataFrame, new: pl.DataFrame) -> dict[str, Figures]:
    """A number by a ridge with a normal residual, its size by leaving rows out."""
    if of.number is None:
        return {}
    from scipy.stats import norm
    from sklearn.linear_model import RidgeCV
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline

    began = seconds()
    model = make_pipeline(dense(encoded(of, of.number, True)), RidgeCV(np.logspace(-3, 3, 13)))
    a, y = old.drop(of.number).to_pandas(), old[of.number].to_numpy()
    spread = (y - cross_val_predict(model, a, y, cv=5)).std()
    mean = model.fit(a, y).predict(new.drop(of.number).to_pandas())
    spent = seconds() - began
    q = mean[:, None] + spread * norm.ppf(LEVELS)[None, :]
    return {"number": of_number(q, new[of.number].to_numpy(), float(y.std() or 1.0)) | {"seconds": spent}}


def quantiles(of: Data, old: pl.DataFrame, new: pl.DataFrame) -> dict[str, Figures]:
    """A number's quantiles by gradient boosting, one model for each."""
    if of.number is None:
        return {}
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline

    began = seconds()
    a, b, y = old.drop(of.number).to_pandas(), new.drop(of.number).to_pandas(), old[of.number].to_numpy()
    columns = []
    for level in LEVELS:
        model = HistGradientBoostingRegressor(loss="quantile", quantile=level, random_state=1)
        columns.append(make_pipeline(dense(encoded(of, of.number, False)), model).fit(a, y).predict(b))
    q = np.sort(np.stack(columns, axis=1), axis=1)
    figures = of_number(q, new[of.number].to_numpy(), float(y.std() or 1.0))
    return {"number": figures | {"seconds": seconds() - began}}


def latent(of: Data, old: pl.DataFrame, new: pl.DataFrame) -> dict[str, Figures]:
    """Whole rows by 40 latent classes."""
    began = seconds()
    levels = {c: [str(level) for level in of.schema[c].levels] for c in of.frame.columns if c not in of.numbers}
    model = LatentClasses(of.numbers, levels, 40, seed=1).fit(old)
    return {"rows": {"log_density": float(model.log_density(new).mean()), "seconds": seconds() - began}}


def ours(score: Callable[[], an.Score | None]) -> Callable[..., dict[str, Figures]]:
    return lambda of, old, new: network(of, old, new, score())


WAYS: dict[str, Callable[..., dict[str, Figures]]] = {
    "learn": ours(lambda: None),
    "normal leaves": ours(lambda: an.PCART()),
    "logistic regression": classifier("logistic"),
    "random forest": classifier("forest"),
    "gradient boosting": classifier("boosting"),
    "ridge": ridge,
    "boosted quantiles": quantiles,
    "40 latent classes": latent,
}
if importlib.util.find_spec("interpret"):
    WAYS["explainable boosting"] = classifier("explainable")
if importlib.util.find_spec("pyagrum"):
    WAYS["pyAgrum (TAN)"] = agrum
OURS = ("learn", "normal leaves")


# --- the page


def page(lines: list[dict[str, Any]]) -> str:
    """Means over tables, and on how many each of ours is better."""
    out = [
        "# Predicting with a network",
        "",
        "One network for everything: it is learned without a target, and then asked for one category, one number and\n"
        "whole rows that it has not seen. Classifiers and regressions learn that one column only. Tables of the UCI\n"
        f"repository with {FEWEST_ROWS} to {MOST_ROWS:,} rows and at most {MOST_COLUMNS} columns, complete rows, two "
        'folds;\nnetworks by `an.learn(..., effort="quick")`. Repeat it by `python benches/peers/prediction.py`.',
        "",
        '*learn* is what `an.learn` does by itself: trees with lines in the leaves, `PCART(leaf="linear")`.\n'
        "*normal leaves* is `PCART()`. Pinball losses are means over the quantiles .1, .25, .5, .75 and .9, in\n"
        "standard deviations; coverage is the share of rows between the outer two, .8 if all is right. Log densities\n"
        "are nats a row: tables whose numbers repeat or have many digits move their mean by much, so look at the\n"
        "counts of tables.",
        "",
    ]
    titles = {
        "category": ("One category", "log_loss", ("log_loss", "auc", "calibration"), False),
        "number": ("One number", "pinball", ("pinball", "coverage_80"), False),
        "rows": ("Whole rows", "log_density", ("log_density",), True),
    }
    for what, (title, main, columns, higher) in titles.items():
        by: dict[str, dict[str, list[Figures]]] = {}
        for line in lines:
            if what in line["figures"]:
                by.setdefault(line["way"], {}).setdefault(line["table"], []).append(line["figures"][what])
        most = max((len(tables) for tables in by.values()), default=0)
        few = {way: by.pop(way) for way in list(by) if len(by[way]) < most}
        common = sorted(set.intersection(*(set(tables) for tables in by.values()))) if by else []
        if not common:
            continue

        def mean(way: str, table: str, column: str, by: Any = by) -> float:
            return statistics.mean(figures[column] for figures in by[way][table])

        rows = []
        for way in by:
            means = [statistics.mean(mean(way, table, column) for table in common) for column in columns]
            beaten = []
            for own in OURS:
                if own in by and own != way:
                    gains = [mean(own, t, main) - mean(way, t, main) for t in common]
                    better = sum((gain > 0) if higher else (gain < 0) for gain in gains)
                    beaten.append(f"{better} of {len(common)}")
                elif own in by:
                    beaten.append("")
            rows.append((way, *(f"{value:.3f}" for value in means), *beaten))
        head = [what, *(c.replace("_", " ") for c in columns), *(f"{own} is better on" for own in OURS if own in by)]
        out += [f"## {title}", "", markdown(rows, head), f"Means over {len(common)} tables: {', '.join(common)}.", ""]
        if few and OURS[0] in by:
            out.append(on_fewer(few, by[OURS[0]], main, higher))
    return "\n".join(out)


def on_fewer(ways: dict[str, dict[str, list[Figures]]], own: dict[str, list[Figures]], main: str, higher: bool) -> str:
    """Ways that are known on some tables only, each beside ours on these."""
    rows = []
    for way, of in ways.items():
        both = sorted(set(of) & set(own))
        theirs, ours = ([statistics.mean(f[main] for f in each[t]) for t in both] for each in (of, own))
        better = sum((a > b) if higher else (a < b) for a, b in zip(ours, theirs, strict=True))
        means = (f"{statistics.mean(values):.3f}" for values in (theirs, ours))
        rows.append((way, len(both), *means, f"{better} of {len(both)}"))
    said = main.replace("_", " ")
    head = ["known on fewer tables", "tables", said, f"{OURS[0]}: {said}", f"{OURS[0]} is better on"]
    return markdown(rows, head)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=2)
    parser.add_argument("--tables", nargs="+", metavar="TABLE")
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, help="write the page, and stop")
    options = parser.parse_args()
    text = options.results.read_text(encoding="utf-8") if options.results.exists() else ""
    lines = [json.loads(line) for line in text.splitlines()]
    if options.page:
        options.page.write_text(page(lines), encoding="utf-8")
        return
    warnings.simplefilter("ignore")
    known = {(line["table"], line["way"], line["folds"], line["fold"]) for line in lines}
    for name in options.tables or names():
        of = data(name)
        if of is None:
            continue
        for fold, (old, new) in enumerate(parts(of, options.folds)):
            for way in options.ways:
                if (name, way, options.folds, fold) in known:
                    continue
                figures = WAYS[way](of, old, new)
                line = {"table": name, "way": way, "folds": options.folds, "fold": fold, "figures": figures}
                with options.results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(line) + "\n")
        print(f"{name}: {of.frame.height} x {of.frame.width}, {of.category}, {of.number}", flush=True)


if __name__ == "__main__":
    main()
