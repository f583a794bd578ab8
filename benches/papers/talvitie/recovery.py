"""Figures 3 and 4: how far learned graphs are from three benchmark networks, by the number of rows."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from common import DATA, markdown
from pictures import panels
from talvitie.draw import learning_curves, standard_error
from talvitie.kept import Kept, say
from talvitie.models import Learners

import arbornet as an
from arbornet.search.base import Found

NETWORKS = ("alarm", "insurance", "water")
SIZES = (100, 200, 500, 1000, 2000, 5000)
REPEATS = 10
#: What section 5 says of the figures: of which networks, who is nearer than whom, and from how many rows to how many.
CLAIMS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[int, int]], ...] = (
    (
        "FT and FTp beat HC, TABU and PC past a few hundred rows",
        NETWORKS[:2],
        ("FT", "FTp"),
        ("HC", "TABU", "PC"),
        (500, 5000),
    ),
    ("HC and TABU beat FT on Water", NETWORKS[2:], ("HC", "TABU"), ("FT",), (0, 5000)),
    ("PC has the advantage at very small samples", NETWORKS, ("PC",), ("FT", "FTp", "HC", "TABU"), (0, 100)),
    ("both PCART models beat FT everywhere", NETWORKS, ("PCART", "PCARTp"), ("FT",), (0, 5000)),
    ("the PCART models converge faster than FTp", NETWORKS[1:], ("PCART", "PCARTp"), ("FTp",), (0, 5000)),
)
#: With four, a tree's step 1 costs 10 to 600 seconds a sample.
MOST_PARENTS = 3


def run(options: argparse.Namespace) -> None:
    """Distances repeat by repeat, so that a run that is stopped has a few of each network."""
    kept = Kept(options.results / "recovery.json")
    networks = {name: an.read_bif(DATA / "networks" / f"{name}.bif.gz") for name in NETWORKS}
    repeats, sizes, most = (2, SIZES[:4:3], 2) if options.quick else (REPEATS, SIZES, MOST_PARENTS)
    for repeat in range(1, repeats + 1):
        for name, network in networks.items():
            key = f"{name} D={most} {repeat}"
            if key not in kept:
                kept[key] = _distances(network, most, sizes, repeat, options.jobs)
        say(f"recovery {repeat} of {repeats} repeats")


def _distances(
    network: an.BayesNet, max_parents: int, sizes: tuple[int, ...], seed: int, n_jobs: int
) -> dict[str, Any]:
    """Structural Hamming distances by method and number of rows."""
    learners = Learners(max_parents, time_limit=60)
    methods = learners.methods() | {"HC": _climb(0), "TABU": _climb(10), "PC": _pc}
    found = an.evaluate.structure_recovery(network, methods, sizes, 1, seed=seed, n_jobs=n_jobs)
    by_method: dict[str, Any] = {}
    for row in found.distances.iter_rows(named=True):
        by_method.setdefault(row["method"], {})[str(row["n_rows"])] = row["distance"]
    seconds: dict[str, Any] = {}
    for (method, n_rows), (first, second) in learners.seconds.items() if n_jobs == 1 else ():
        # A penalised form takes over the first step of its model.
        own = None if method.endswith("p") else round(first, 3)
        seconds.setdefault(method, {})[str(n_rows)] = [own, round(second, 3)]
    return {"distances": by_method, "cut short": learners.cut_short, "seconds": seconds}


def _climb(tabu: int) -> Callable[[an.Table], Found]:
    def climb(table: an.Table) -> Found:
        return an.search.hill_climb(table, an.BD(0.5), tabu=tabu, n_jobs=1)

    return climb


def _pc(table: an.Table) -> Found:
    return an.search.pc(table, alpha=0.05, n_jobs=1)


def page(options: argparse.Namespace) -> str:
    """Figures 3 and 4 from what is kept."""
    kept = Kept(options.results / "recovery.json")
    gathered = ((name, _gathered(kept, name)) for name in NETWORKS)
    by_network = {name: found for name, found in gathered if found is not None}
    if not by_network:
        return ""
    out = (
        "\n## Figures 3 and 4: structural Hamming distance to benchmark networks\n\n"
        "Between equivalence classes, mean ± standard error. Exact search under the four models, hill climbing (HC) "
        "and tabu search under BD(1/2) without a limit on parents, PC with the chi-squared test of mutual information "
        "at .05. The paper has ten samples of each size and at most four parents; its figures are curves without "
        "numbers, so ours can only be compared with its text.\n"
    )
    for name, (most, cut, by_method) in by_network.items():
        sizes = sorted(next(iter(by_method.values())))
        rows = [
            (method, *(f"{np.mean(by_rows[n]):.1f} ± {standard_error(by_rows[n]):.1f}" for n in sizes))
            for method, by_rows in by_method.items()
        ]
        repeats = len(by_method["FT"][sizes[0]])
        short = f"; {cut} searches ended at 60 s without a proof" if cut else ""
        out += f"\n### {name}: at most {most} parents, {repeats} samples of each size{short}\n\n"
        out += markdown(rows, ("method", *(f"{n} rows" for n in sizes)))
    folder = options.pages / "talvitie2019"
    for number, methods in ((3, ("FT", "FTp", "HC", "TABU", "PC")), (4, ("FT", "FTp", "PCART", "PCARTp"))):

        def draw(name: str, axis: Any, methods: tuple[str, ...] = methods) -> None:
            found = by_network[name][2]
            learning_curves(axis, {method: found[method] for method in methods}, "SHD")

        out += f"\n### Figure {number}\n" + panels(folder / f"figure{number}.svg", list(by_network), draw)
    claims = "\n### What the paper says of its figures, and ours\n\n" + "\n".join(_claims(by_network)) + "\n"
    return out + claims + _seconds(kept)


def _seconds(kept: Kept) -> str:
    """Means of the CPU seconds of both steps, where samples were learned from one at a time."""
    taken: dict[tuple[str, str, int], dict[str, list[list[float]]]] = {}
    for key in kept:
        name, most, _ = key.split()
        for method, by_rows in kept[key].get("seconds", {}).items():
            for n, both in by_rows.items():
                taken.setdefault((name, most, int(n)), {}).setdefault(method, []).append(both)
    if not taken:
        return ""
    rows = []
    for (name, most, n), of in sorted(taken.items()):
        first = [np.mean([one for one, _ in of[model]]) for model in ("FT", "PCART")]
        second = [np.mean([two for _, two in of[model]]) for model in of]
        rows.append((name, n, most, len(of["FT"]), *(f"{mean:.2f}" for mean in (*first, *second))))
    models = list(next(iter(taken.values())))
    head = ("network", "rows", "most parents", "samples", "step 1 FT, s", "step 1 PCART, s")
    return (
        "\n### Figure 7, the samples of the networks: step 1 and step 2\n\n"
        "Mean CPU seconds of one thread on a shared machine. A penalised form takes over the first step of its model. "
        "Searches end at 60 s of the clock.\n\n" + markdown(rows, (*head, *(f"step 2 {model}, s" for model in models)))
    )


Gathered = tuple[int, int, dict[str, dict[float, list[float]]]]


def _gathered(kept: Kept, name: str) -> Gathered | None:
    """The most parents, searches cut short, and distances by method and rows, over all repeats."""
    keys = [key for key in kept if key.startswith(f"{name} ")]
    if not keys:
        return None
    most = max(int(key.split()[1][2:]) for key in keys)
    by_method: dict[str, dict[float, list[float]]] = {}
    cut = 0
    for key in (key for key in keys if key.split()[1] == f"D={most}"):
        cut += kept[key]["cut short"]
        for method, by_rows in kept[key]["distances"].items():
            for rows, distance in by_rows.items():
                by_method.setdefault(method, {}).setdefault(int(rows), []).append(distance)
    return most, cut, by_method


def _claims(by_network: dict[str, Gathered]) -> list[str]:
    """The paper's sentences, each with how many of our means bear it out."""
    lines = []
    for claim, names, better, worse, (least, most) in CLAIMS:
        told = []
        for name in (name for name in names if name in by_network):
            by_method = by_network[name][2]
            held = [
                np.mean(by_method[a][n]) <= np.mean(by_method[b][n])
                for n in by_method["FT"]
                if least <= n <= most
                for a in better
                for b in worse
            ]
            told.append(f"{name} {sum(held)} of {len(held)}")
        lines.append(f"* {claim}: holds in " + ", ".join(told) + " comparisons of means")
    return lines
