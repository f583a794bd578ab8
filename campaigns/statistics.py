"""Every score and every model on data that statistics fears: no panic, no NaN, and what is monotone stays so.

    python campaigns/statistics.py [seed]

Every family of up to two parents of every table below is scored with every score; a refusal must be a FamilyError or
ColumnError that says what to do. Every model that is fitted answers for its own rows and for rows it never saw.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
import warnings
from collections import Counter

import numpy as np

import arbornet as an

warnings.simplefilter("ignore")
N = 40
SCORES = {
    "PCART": an.PCART(),
    "PCART plain": an.PCART(penalised=False),
    "PCART ess": an.PCART(ess=2.0),
    "PCART published": an.PCART(published=True),
    "FullTable": an.FullTable(),
    "LogLikelihood": an.LogLikelihood(),
    "AIC": an.AIC(),
    "BIC": an.BIC(),
    "NML": an.NML(),
    "QNML": an.QNML(),
    "MIT": an.MIT(),
    "K2": an.K2(),
    "BD tiny": an.BD(1e-300),
    "BDeu": an.BDeu(1.0),
    "BDeu tiny": an.BDeu(1e-300),
    "BDeu huge": an.BDeu(1e300),
    "ConditionalGaussian": an.ConditionalGaussian(),
    "ConditionalGaussian exact": an.ConditionalGaussian(exact=True),
    "ConditionalGaussian discretise": an.ConditionalGaussian(discretise=True),
    "DegenerateGaussian": an.DegenerateGaussian(),
    "BasisFunctions": an.BasisFunctions(),
    "MixedPolynomial": an.MixedPolynomial(),
    "MixedPolynomial log": an.MixedPolynomial("log"),
    "LogisticRegression": an.LogisticRegression(),
    "Multinomial": an.Multinomial(),
    "MARS": an.MARS(),
    "MARS bic": an.MARS(criterion="bic"),
    "DecisionGraph": an.DecisionGraph(),
    "DecisionGraph ess": an.DecisionGraph(prior=1e-300),
}
NESTED = ("LogLikelihood",)
"""Scores that never fall when a parent is added."""


def tables(rng: np.random.Generator) -> dict[str, dict[str, np.ndarray]]:
    x, noise = rng.normal(size=N), rng.normal(size=N)
    codes = rng.integers(0, 3, N)
    letters = np.array(["a", "b", "c"])[codes]
    big = np.where(codes == 1, -1.0, 1.0) * 10.0 ** rng.uniform(290, 300, N)
    return {
        "collinear": {"x": x, "y": 2 * x + 1, "z": x + (2 * x + 1), "c": letters},
        "nearly collinear": {"x": x, "y": x + 1e-12 * noise, "z": x - 1e-9 * noise, "c": letters},
        "duplicated": {"x": x, "y": x.copy(), "c": letters, "d": letters.copy()},
        "constant": {"x": np.full(N, 7.0), "y": x, "c": np.full(N, "a"), "d": letters},
        "separated": {"x": x, "c": np.where(x > 0, "a", "b"), "d": np.where(x > 1, "u", "v"), "y": np.sign(x) * 1.5},
        "nearly separated": {"x": x, "c": np.where(x + 1e-3 * noise > 0, "a", "b"), "y": noise, "d": letters},
        "tiny": {"x": x * 1e-300, "y": noise * 1e-300, "c": letters, "z": x},
        "huge": {"x": x * 1e300, "y": noise * 1e300, "c": letters, "z": x},
        "both ends": {"x": big, "y": x * 1e-300, "c": letters, "z": noise},
        "largest": {"x": np.where(codes == 0, -1.0, 1.0) * np.finfo(float).max, "y": x, "c": letters, "z": noise},
        "subnormal": {"x": codes * 5e-324, "y": x * 1e-310, "c": letters, "z": noise},
        "offset": {"x": 1e15 + codes, "y": 1e8 + 1e-7 * x, "c": letters, "z": -1e300 + 0 * x},
        "signed zeros": {
            "x": np.where(codes == 0, -0.0, 0.0),
            "y": x,
            "c": letters,
            "z": np.where(codes == 1, -0.0, x),
        },
        "ties": {"x": codes.astype(float), "y": np.round(x), "c": letters, "z": np.repeat([0.0, 1.0], N // 2)},
        "outlier": {"x": np.r_[x[:-1], 1e18], "y": np.r_[np.zeros(N - 1), 1.0], "c": letters, "z": noise},
        "heavy": {"x": np.tan(np.pi * (rng.random(N) - 0.5)) ** 9, "y": np.exp(20 * noise), "c": letters, "z": x},
        "own level each": {"c": np.array([f"l{i}" for i in range(N)]), "d": letters, "x": x},
        "one row": {"x": x[:1], "y": noise[:1], "c": letters[:1], "d": np.array(["q"])},
        "two rows": {"x": np.array([0.0, 1e300]), "y": np.array([5e-324, 0.0]), "c": np.array(["a", "b"])},
        "two equal rows": {"x": np.zeros(2), "y": np.ones(2), "c": np.array(["a", "a"])},
    }


def kinds(columns: dict[str, np.ndarray]) -> dict[str, object]:
    return {
        name: "continuous" if values.dtype.kind == "f" else an.Categorical(list(dict.fromkeys(values.tolist())))
        for name, values in columns.items()
    }


def table_of(columns: dict[str, np.ndarray], standardise: bool) -> an.Table:
    schema = an.infer_schema(columns).with_types(kinds(columns))
    return an.Table(columns, schema=schema, standardise=standardise)


def families(names: list[str]) -> list[tuple[str, tuple[str, ...]]]:
    others = {child: [name for name in names if name != child] for child in names}
    return [(c, p) for c in names for k in range(3) for p in itertools.combinations(others[c], k)]


class Campaign:
    """Counts, and what went wrong by score and table."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.wrong: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def finding(self, what: str, where: str) -> None:
        self.wrong[what] += 1
        self.first.setdefault(what, where)

    def family(self, table: an.Table, child: str, parents: tuple[str, ...], label: str) -> None:
        name, score = label.split(": ")[1], SCORES[label.split(": ")[1]]
        where = f"{label}: {child} given {parents}"
        try:
            value = an.local_score(table, child, list(parents), score)
        except (an.FamilyError, an.ColumnError) as refused:
            self.seen["families refused"] += 1
            if ";" not in str(refused):
                self.finding(f"{name}: a refusal without a way out", f"{where}: {refused}")
            return
        except BaseException as error:
            self.finding(f"{name}: {type(error).__name__}", f"{where}: {error}")
            return
        self.seen["families scored"] += 1
        if math.isnan(value) or value == math.inf:
            self.finding(f"{name}: score {value}", where)
        elif value == -math.inf:
            self.seen["scores of minus infinity"] += 1
        try:
            model = an.local_model(table, child, list(parents), score)
            model.text()
            self.seen["models"] += 1
        except an.ArbornetError as refused:
            self.seen["models refused"] += 1
            if ";" not in str(refused):
                self.finding(f"{name}: a model's refusal without a way out", f"{where}: {refused}")
        except BaseException as error:
            self.finding(f"{name}: model {type(error).__name__}", f"{where}: {error}")

    def network(self, columns: dict[str, np.ndarray], table: an.Table, label: str) -> None:
        score = SCORES[label.split(": ")[1]]
        name = label.split(": ")[1]
        try:
            net = an.learn(table, score, max_parents=2, verbose=False)
        except an.ArbornetError:
            self.seen["networks refused"] += 1
            return
        except BaseException as error:
            self.finding(f"{name}: learn {type(error).__name__}", f"{label}: {error}")
            return
        self.seen["networks"] += 1
        try:
            rows = net.log_likelihood(columns)
            if np.isnan(rows).any():
                self.finding(f"{name}: NaN log-likelihood", label)
            shifted = {
                k: v * 3 + 1 if v.dtype.kind == "f" and np.abs(v).max() < 1e290 else v for k, v in columns.items()
            }
            if np.isnan(net.log_likelihood(shifted)).any():
                self.finding(f"{name}: NaN log-likelihood of new rows", label)
            sampled = net.sample(10, seed=1)
            for column, values in columns.items():
                if column in net.names:
                    net.predict(columns, column)
                    if values.dtype.kind != "f":
                        p = net.predict_proba(columns, column).to_numpy()
                        if not np.allclose(p.sum(axis=1), 1.0):
                            self.finding(f"{name}: probabilities do not sum to one", f"{label}: {column}")
                    elif not np.isfinite(sampled[column].to_numpy()).all():
                        self.finding(f"{name}: a drawn number is not finite", f"{label}: {column}")
        except an.ArbornetError as refused:
            self.seen["answers refused"] += 1
            self.finding(f"{name}: a network does not answer: {type(refused).__name__}", f"{label}: {refused}")
        except BaseException as error:
            self.finding(f"{name}: network {type(error).__name__}", f"{label}: {error}")


def main() -> None:
    rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    only = sys.argv[2] if len(sys.argv) > 2 else ""
    campaign, began = Campaign(), time.process_time()
    for title, columns in tables(rng).items():
        for standardise in (True, False):
            try:
                table = table_of(columns, standardise)
            except an.ArbornetError as refused:
                print(f"{title}, standardise={standardise}: refused: {refused}")
                continue
            except BaseException as error:
                campaign.finding(f"Table {type(error).__name__}", f"{title}: {error}")
                continue
            for name in SCORES:
                if only and only not in name:
                    continue
                label = f"{title}{'' if standardise else ', as they are'}: {name}"
                for child, parents in families(table.names):
                    campaign.family(table, child, parents, label)
                campaign.network(columns, table, label)
            for child, parents in families(table.names):
                grows(campaign, table, child, parents, title)
    print(dict(campaign.seen), f"{time.process_time() - began:.0f} CPU s")
    for what, times in sorted(campaign.wrong.items()):
        print(f"{times:5d} x {what}; first: {campaign.first[what]}")


def grows(campaign: Campaign, table: an.Table, child: str, parents: tuple[str, ...], title: str) -> None:
    """The maximised log-likelihood does not fall when a parent is added."""
    for name in NESTED:
        try:
            whole = an.local_score(table, child, list(parents), SCORES[name])
            fewer = [an.local_score(table, child, [q for q in parents if q != p], SCORES[name]) for p in parents]
        except an.ArbornetError:
            continue
        campaign.seen["nested pairs"] += len(fewer)
        if any(f > whole + 1e-9 * (1 + abs(whole)) for f in fewer):
            campaign.finding(f"{name}: falls when a parent is added", f"{title}: {child} given {parents}")


if __name__ == "__main__":
    main()
