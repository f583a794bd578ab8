"""Figure 6 and appendix C: how much the priors of the leaves matter, and what empirical Bayes makes of them."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import polars as pl
import uci
from common import markdown
from pictures import panels
from talvitie.draw import standard_error
from talvitie.kept import Kept, say
from talvitie.models import SCORES

import arbornet as an

#: The paper's figure 6, and cheap ones of the tables it may have drawn for appendix C.
TABLES = (
    "concrete-compressive-strength",
    "breast-tissue",
    "computer-hardware",
    "concrete-slump-test",
    "ecoli",
    "glass-identification",
    "wholesale-customers",
    "wine",
)
#: Of a quick run.
QUICK = ("concrete-slump-test",)
PRIORS = ("a", "nu", "lam")
VALUES = (0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
MOST_PARENTS = 2
FOLDS = 10


def run(options: argparse.Namespace) -> None:
    """Log densities per fold by table, setting and model."""
    kept = Kept(options.results / "sensitivity.json")
    values = VALUES[1::2] if options.quick else VALUES
    wanted = QUICK if options.quick else options.tables or TABLES
    for name in (name for name in TABLES if name in wanted):
        data = uci.prepared(name)
        for setting, priors in settings(values).items():
            key = f"{name} {setting}"
            if key in kept:
                continue
            result = an.evaluate.cross_validate(
                data.frame,
                {model: make(**priors) for model, make in SCORES.items()},
                folds=FOLDS,
                repeats=1,
                seed=1,
                max_parents=MOST_PARENTS,
                schema=data.schema,
                standardise=False,
                n_jobs=options.jobs,
                effort="unlimited",
            )
            kept[key] = {
                model: [round(value, 6) for value in result.folds.filter(pl.col("method") == model)["log_density"]]
                for model in SCORES
            }
        say(f"sensitivity {name}")


def settings(values: tuple[float, ...] = VALUES) -> dict[str, dict[str, float | str]]:
    """One prior varied, the others at their defaults; and all three chosen from the training part."""
    out: dict[str, dict[str, float | str]] = {
        f"{prior}={value:g}": {prior: value} for prior in PRIORS for value in values if value != 1
    }
    out["defaults"] = {}
    for mode in ("auto", "each"):
        out[mode] = dict.fromkeys(PRIORS, mode)
    return out


def page(options: argparse.Namespace) -> str:
    """Figure 6 and appendix C from what is kept."""
    kept = Kept(options.results / "sensitivity.json")
    tables = [name for name in TABLES if all(f"{name} {setting}" in kept for setting in ("defaults", "auto", "each"))]
    if not tables:
        return ""
    out = (
        "\n## Figure 6 and appendix C: priors of the leaves\n\n"
        f"Log density of unseen rows (ten folds, at most {MOST_PARENTS} parents; the paper: four, and five repeats) "
        "where one prior parameter varies and the others stay 1. *auto*: `a`, `nu` and `lam` chosen by empirical "
        "Bayes on each training part, one value for all variables; *each*: one for each variable. The paper's "
        "figures are curves without numbers; which 14 tables its appendix C shows cannot be read from our copy. Best "
        "of each model in bold.\n"
    )
    for name in tables:
        found = {setting: kept[f"{name} {setting}"] for setting in settings() if f"{name} {setting}" in kept}
        means = {setting: {model: float(np.mean(of[model])) for model in SCORES} for setting, of in found.items()}
        rows = []
        for setting, of in found.items():
            cells = []
            for model in SCORES:
                text = f"{means[setting][model]:.3f} ± {standard_error(of[model]):.3f}"
                best = max(means[other][model] for other in means)
                cells.append(f"**{text}**" if means[setting][model] == best else text)
            rows.append((setting, *cells))
        out += f"\n### {name}\n\n" + markdown(rows, ("priors", *SCORES))
        path = options.pages / "talvitie2019" / f"sensitivity-{name}.svg"
        out += panels(path, list(PRIORS), lambda prior, axis, means=means: _draw(axis, prior, means))  # type: ignore[misc]
    return out


def _draw(axis: Any, prior: str, means: dict[str, dict[str, float]]) -> None:
    """Densities by one prior, the default as a dashed line."""
    values = [value for value in VALUES if value == 1 or f"{prior}={value:g}" in means]
    for model in SCORES:
        of = [means["defaults" if value == 1 else f"{prior}={value:g}"][model] for value in values]
        axis.plot(values, of, marker=".", label=model)
    axis.axvline(1, linestyle="--", color="grey", linewidth=0.8)
    axis.set_xscale("log")
    axis.set_ylabel("log density per row")
    axis.legend(frameon=False)
