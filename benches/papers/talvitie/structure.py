"""Tables 1, A.3 and A.4, figures 5 and 8: learning curves where no graph is known (intersection-validation)."""

from __future__ import annotations

import argparse
from typing import Any

import polars as pl
import uci
from common import markdown
from pictures import panels
from talvitie.budget import Size, cheapest_first, effort, size
from talvitie.draw import learning_curves
from talvitie.kept import Kept, say
from talvitie.models import Learners

import arbornet as an

FRACTIONS = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64)
REPEATS = 10
#: The first four by name.
FIGURE_5 = ("abalone", "auto-mpg", "automobile", "breast-cancer-wisconsin-diagnostic")
#: Tables 1 and A.3, and table A.4: wins, ties and losses from 1/64 of the rows to 1/2.
PRINTED = {
    "error_bars": {
        ("PCARTp", "FTp"): ((21, 30, 1), (26, 24, 2), (33, 15, 4), (29, 18, 5), (23, 22, 7), (18, 30, 4)),
        ("PCART", "FT"): ((50, 2, 0), (49, 3, 0), (47, 4, 1), (40, 12, 0), (39, 10, 3), (31, 16, 5)),
        ("PCART", "FTp"): ((8, 31, 13), (14, 21, 17), (11, 26, 15), (11, 29, 12), (12, 27, 13), (11, 28, 13)),
        ("PCARTp", "FT"): ((49, 3, 0), (50, 2, 0), (50, 2, 0), (46, 6, 0), (39, 12, 1), (34, 16, 2)),
        ("PCART", "PCARTp"): ((3, 27, 22), (2, 22, 28), (0, 24, 28), (1, 25, 26), (0, 31, 21), (0, 36, 16)),
        ("FT", "FTp"): ((0, 4, 48), (0, 3, 49), (0, 8, 44), (0, 8, 44), (0, 17, 35), (0, 21, 31)),
    },
    "wilcoxon": {
        ("PCARTp", "FTp"): ((7, 45, 0), (20, 30, 2), (25, 26, 1), (24, 25, 3), (13, 35, 4), (10, 39, 3)),
        ("PCART", "FT"): ((35, 17, 0), (20, 30, 2), (25, 26, 1), (24, 25, 3), (13, 35, 4), (10, 39, 3)),
    },
}


def run(options: argparse.Namespace) -> None:
    """Distances of every table, cheapest tables first."""
    kept = Kept(options.results / "structure.json")
    for name in cheapest_first(options.tables or uci.names(), options.results):
        data = uci.prepared(name)
        of = size(name, options.results)
        most, repeats = reduced(of, options)
        key = f"{name} D={most} {repeats}"
        if key not in kept:
            learners = Learners(most, time_limit=60)
            kept[key] = distances(data.frame, data.schema, learners.methods(), repeats, options.jobs) | {
                "cut short": learners.cut_short
            }
        say(f"structure {name}: {repeats} repeats, D={most}")


def reduced(of: Size, options: argparse.Namespace) -> tuple[int, int]:
    """The most parents and the repeats that the budget allows; three repeats go before the fourth parent does."""
    for wanted in (REPEATS, 3):
        # Small samples cost about as their rows; the two models of a kind share step 1.
        allowed = effort(of, options.max_minutes, fits=0.5 * (1 + wanted * sum(FRACTIONS)))
        if allowed.max_parents == 4:
            break
    return allowed.max_parents, wanted


def distances(
    frame: pl.DataFrame, schema: an.Schema, methods: dict[str, Any], repeats: int, n_jobs: int
) -> dict[str, Any]:
    """Partial Hamming distances by method and part of the rows, repeat by repeat; pairs in the reference and in all."""
    found = an.evaluate.intersection_validation(
        frame,
        methods,
        [fraction for fraction in FRACTIONS if fraction * frame.height >= 1],
        repeats,
        seed=1,
        schema=schema,
        standardise=False,
        n_jobs=n_jobs,
    )
    by_method: dict[str, Any] = {}
    for row in found.distances.filter(pl.col("fraction") < 1).iter_rows(named=True):
        by_method.setdefault(row["method"], {}).setdefault(f"1/{round(1 / row['fraction'])}", []).append(
            row["distance"]
        )
    return {"distances": by_method, "known": found.reference.height, "pairs": found.n_pairs, "rows": frame.height}


def page(options: argparse.Namespace) -> str:
    """Tables 1, A.3 and A.4 and figure 5 from what is kept."""
    best = most_of(Kept(options.results / "structure.json"))
    if not best:
        return ""
    results = pl.DataFrame(
        [
            {"data": name, "method": method, "part": part, "distance": distance}
            for name, (_, entry) in best.items()
            for method, by_part in entry["distances"].items()
            for part, of in by_part.items()
            for distance in of
        ]
    )
    full = sum(most == 4 and repeats == REPEATS for (most, repeats), _ in best.values())
    out = (
        "\n## Tables 1, A.3, A.4: intersection-validation\n\n"
        "The reference is the pairs of variables on which all four models agree when learned from all rows; the "
        "distance is the number of these pairs that are wrong when learned from a part of the rows. "
        f"{len(best)} of {len(uci.names())} tables, {full} of them as in the paper (at most 4 parents, {REPEATS} "
        "samples of each size), the others with less:\n\n"
        + _efforts(best)
        + "\nWins / ties / losses. With fewer tables, compare proportions.\n"
    )
    parts = [f"1/{round(1 / fraction)}" for fraction in reversed(FRACTIONS)]
    for by, title in (("error_bars", "Tables 1 and A.3, by error bars"), ("wilcoxon", "Table A.4, by signed ranks")):
        won = an.evaluate.win_tie_loss(
            results,
            "distance",
            by=by,  # type: ignore[arg-type]
            higher_is_better=False,
            group="part",
        )
        ours = {(row["method"], row["against"], row["part"]): row for row in won.to_dicts()}
        rows = []
        for (a, b), paper in PRINTED[by].items():
            for part, of in zip(parts, paper, strict=True):
                if (a, b, part) in ours:
                    row = ours[a, b, part]
                    counts = (row["win"], row["tie"], row["loss"])
                else:
                    row = ours[b, a, part]
                    counts = (row["loss"], row["tie"], row["win"])
                rows.append((f"{a} vs {b}", part, "{} / {} / {}".format(*of), "{} / {} / {}".format(*counts)))
        head = ("models", "rows", "printed, 52 tables", f"ours, {len(best)} tables")
        out += f"\n### {title}\n\n" + markdown(rows, head)
    out += (
        "\nThe printed table A.4 gives the same figures for both contests from 1/32 on, which cannot both be right; "
        "table 1 says which contest they belong to. Where ours has three samples of a size, no signed-rank test can "
        "find a difference (p is at least 1/4): such tables are ties here.\n"
    )
    shown = [name for name in FIGURE_5 if name in best]
    if shown:
        out += "\n### Figure 5: four tables\n" + panels(
            options.pages / "talvitie2019" / "figure5.svg", shown, lambda name, axis: draw(axis, best[name][1]), 2
        )
    return out


def most_of(kept: Kept) -> dict[str, tuple[tuple[int, int], dict[str, Any]]]:
    """By table the run with the most parents, then repeats: both, and its distances."""
    best: dict[str, tuple[tuple[int, int], dict[str, Any]]] = {}
    for key in kept:
        name, most, repeats = key.split()
        of = (int(most[2:]), int(repeats))
        if name not in best or of > best[name][0]:
            best[name] = of, kept[key]
    return best


def _efforts(best: dict[str, tuple[tuple[int, int], dict[str, Any]]]) -> str:
    rows = []
    for most, repeats in sorted({of for of, _ in best.values()}, reverse=True):
        names = [name for name, (of, _) in best.items() if of == (most, repeats)]
        rows.append((most, repeats, len(names), ", ".join(names)))
    return markdown(rows, ("most parents", "samples of each size", "tables", "which"))


def draw(axis: Any, entry: dict[str, Any]) -> None:
    """Learning curves of a table, with zero at all rows."""
    by_method = {
        method: {entry["rows"] // int(part[2:]): of for part, of in by_part.items()} | {entry["rows"]: [0]}
        for method, by_part in entry["distances"].items()
    }
    learning_curves(axis, by_method, f"distance over {entry['known']} of {entry['pairs']} pairs")
