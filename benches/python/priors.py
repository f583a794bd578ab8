"""Which structure prior suits which width? fGES and BOSS by mixed scores on simulated networks, with four priors.

    python benches/python/priors.py            # runs what is missing, writes docs/structure/priors.md
    python benches/python/priors.py --quick    # one network per cell, prints the table only

Networks are those of `an.simulate.network` (1.5 arcs per variable). Figures are means over styles and seeds: the
structural Hamming distance to the true class, and F1, precision and recall of adjacencies.
"""

from __future__ import annotations

import argparse
import json
import statistics
import warnings
from pathlib import Path
from typing import Any

import arbornet as an

ROOT = Path(__file__).resolve().parents[2]
RESULTS = Path(__file__).parent / "results" / "priors.json"
PAGE = ROOT / "docs" / "structure" / "priors.md"
STYLES = ("linear", "nonlinear", "mixed")
SCORES = {
    "conditional Gaussian": an.ConditionalGaussian,
    "degenerate Gaussian": an.DegenerateGaussian,
    "block Gaussian": an.BlockGaussian,
    "basis functions": an.BasisFunctions,
    "mixed polynomial": an.MixedPolynomial,
    "multinomial": an.Multinomial,
}
PRIORS: dict[str, Any] = {
    "none": None,
    "Binomial(2)": an.priors.Binomial(2),
    "Binomial(1)": an.priors.Binomial(1),
    "EBIC(0.5)": an.priors.EBIC(0.5),
}
PAGE_TEXT = """\
# Structure priors by width

Without a prior over parent sets, a search in a wide table finds arcs that are not there: there are more of them to be
found. Which prior suits which width was measured on simulated mixed networks (`an.simulate.network`, 1.5 arcs per
variable, styles linear, nonlinear and mixed, three seeds each): fGES with each score. Each cell: the structural
Hamming distance to the true graph, and in brackets F1; precision and recall of adjacencies. `python
benches/python/priors.py` repeats it.

{table}

So `learn` takes `an.priors.Binomial(1)`, one expected parent per variable, where you name the conditional Gaussian, the
degenerate Gaussian, the basis functions or the mixed polynomial without a prior, and the table has 20 variables or
more; it says so. `prior=an.priors.Uniform()` keeps none. At 10 variables it changes nothing to speak of. A score that
you use by itself, outside of `learn`, keeps its default. The block Gaussian and the multinomial gain nothing by one.
The EBIC costs recall at 200 rows, and is as good at 1,000. Scores without a row here were not measured, and are left as
they are.
"""


def one(width: int, rows: int, style: str, seed: int, scores: list[str]) -> list[dict[str, Any]]:
    """Some scores with all priors on one network."""
    made = an.simulate.network(width, rows, style=style, seed=seed)
    table = an.Table(made.frame, schema=made.schema)
    runs = []
    for name in scores:
        for prior, value in PRIORS.items():
            found = an.search.fges(table, SCORES[name](prior=value), n_jobs=1)
            close = an.metrics.compare(made.dag, found)
            runs.append(
                {
                    "width": width, "rows": rows, "style": style, "seed": seed, "score": name, "prior": prior,
                    "shd": close.shd, "f1": round(close.f1, 4), "precision": round(close.ap, 4),
                    "recall": round(close.ar, 4),
                }
            )  # fmt: skip
    return runs


def means(runs: list[dict[str, Any]], figure: str) -> float:
    """The mean of a figure over runs where it is defined."""
    known = [run[figure] for run in runs if run[figure] == run[figure]]
    return statistics.fmean(known) if known else float("nan")


def table(runs: list[dict[str, Any]]) -> list[str]:
    """The page's table: a line for each width, number of rows and score; SHD and F1 with each prior."""
    lines = [
        "| variables | rows | score | " + " | ".join(PRIORS) + " |",
        "|---|---|---|" + "---|" * len(PRIORS),
    ]
    for width, rows, score in sorted({(run["width"], run["rows"], run["score"]) for run in runs}):
        here = [run for run in runs if (run["width"], run["rows"], run["score"]) == (width, rows, score)]
        cells = []
        for prior in PRIORS:
            own = [run for run in here if run["prior"] == prior]
            shares = [f"{means(own, figure):.2f}" for figure in ("f1", "precision", "recall")]
            cells.append(f"{means(own, 'shd'):.1f} ({shares[0]}; {shares[1]}, {shares[2]})")
        lines.append(f"| {width} | {rows:,} | {score} | " + " | ".join(cells) + " |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--widths", type=int, nargs="+", default=[10, 20, 50, 100])
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 1000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--page", action="store_true", help="only write the page, from saved runs")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    runs = json.loads(RESULTS.read_text()) if RESULTS.exists() and not options.quick else []
    done = {(run["width"], run["rows"], run["style"], run["seed"], run["score"]) for run in runs}
    for seed in range(0 if options.page else 1 if options.quick else options.seeds):
        for width in options.widths:
            for rows in options.rows:
                for style in STYLES[:1] if options.quick else STYLES:
                    missing = [score for score in SCORES if (width, rows, style, seed, score) not in done]
                    if not missing:
                        continue
                    runs += one(width, rows, style, seed, missing)
                    if not options.quick:
                        RESULTS.write_text("[\n" + ",\n".join(json.dumps(run) for run in runs) + "\n]\n")
    print("\n".join(table(runs)))
    if not options.quick:
        PAGE.write_text(PAGE_TEXT.format(table="\n".join(table(runs))), encoding="utf-8")


if __name__ == "__main__":
    main()
