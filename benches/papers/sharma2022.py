"""Figures 2 to 4 of Sharma and van Beek (2022): BN-FS-MARS beside BIC, GES and BOSS.

    python benches/papers/sharma2022.py                    # everything; about an hour of one core
    python benches/papers/sharma2022.py --quick            # within two minutes
    python benches/papers/sharma2022.py --parts networks --rows 1000 --names munin

Searches over candidates make a fixed number of rounds, so their graphs are the same on every machine unless
`--max-seconds` cuts them, which the page then says.

The paper prints curves, not numbers, so what is compared is their shape: who leads in F1 and in false positives.
Whatever is finished is kept in the results folder, and the same call goes on from there. Networks are sampled with our
sampler; Tetrad's random networks are replaced by our own of the same size and degrees, and GeneNetWeaver's samples of
1,000 and 5,000 rows by the DREAM4 data that were published (100 rows, or the 411 of the other experiments).
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
from common import DATA, arguments, machine, markdown
from pictures import panels

import arbornet as an

#: Table 1 of the paper.
NETWORKS = ("pathfinder", "munin1", "andes", "diabetes", "pigs", "link", "munin2", "munin4", "munin3", "munin")
SIZES = tuple(range(100, 1000, 100))
ROWS = (1000, 5000)
QUICK = {"networks": ("pathfinder", "munin1"), "simulated": ("100",), "dream4": ("1",)}
TITLES = {
    "simulated": "Figure 2: random networks of levels, at most three parents and children",
    "networks": "Figure 3: networks of the bnlearn repository",
    "dream4": "Figure 4: DREAM4, 100 genes (continuous)",
}
SHAPES = {
    "simulated": "BN-FS-MARS has the highest F1 and the most true positives, then GES; BIC with two parents finds next "
    "to nothing, true or false. GES has the most false positives. More rows help BN-FS-MARS and GES.",
    "networks": "BN-FS-MARS usually has the highest F1, then GES; GES has the most true and the most false positives; "
    "BIC with two parents finds next to nothing. On diabetes BN-FS-MARS gets worse with more rows.",
    "dream4": "All are close at 1,000 rows, BN-FS-MARS leads slightly at 5,000; GES has the most true and the most "
    "false positives, BIC with two parents the fewest of both.",
}
OTHERWISE = {
    "simulated": " Its networks were drawn by Tetrad, ours by this script, of the same size and degrees.",
    "networks": "",
    "dream4": " It drew 1,000 and 5,000 rows with GeneNetWeaver; ours are what DREAM4 published: 100 rows, or the 411 "
    "of the other experiments together.",
}
FIGURES = ("f1", "tp", "tp_wd", "fp", "shd")
#: With more variables, BIC2 looks at pairs of these candidates only.
MOST_ALL_PAIRS = 300


@dataclass(frozen=True)
class Effort:
    """What a search may spend."""

    rounds: int
    seconds: float
    jobs: int


@dataclass(frozen=True)
class Task:
    """A data set, and what is to be learned from it."""

    part: str
    name: str
    rows: int

    def key(self, method: str) -> str:
        """The name of one result."""
        return f"{self.part} {self.name} {self.rows} {method}"


class Kept:
    """Results, on disk after each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.runs: dict[str, dict[str, Any]] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                run = json.loads(line)
                self.runs[run["key"]] = run

    def add(self, run: dict[str, Any]) -> None:
        """Keeps a result."""
        self.runs[run["key"]] = run
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(run) + "\n")


Method = Callable[[Task, Effort], Any]


def tasks(part: str, quick: bool) -> Iterator[Task]:
    """All data sets of a part."""
    names = {"networks": NETWORKS, "simulated": tuple(map(str, SIZES)), "dream4": tuple("12345")}[part]
    for name in QUICK[part] if quick else names:
        for rows in (100, 411) if part == "dream4" else ROWS[:1] if quick else ROWS:
            yield Task(part, name, rows)


@cache
def data(task: Task) -> tuple[an.Table, nx.DiGraph]:
    """The table and the true graph."""
    if task.part == "networks":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "net.bif"
            path.write_bytes(gzip.decompress((DATA / "networks" / f"{task.name}.bif.gz").read_bytes()))
            net = an.read_bif(path)
        return _levels(net.sample(task.rows, seed=task.rows)), nx.DiGraph(net.graph)
    if task.part == "simulated":
        return _simulated(int(task.name), task.rows)
    return _dream4(task.name, task.rows)


def _levels(frame: pl.DataFrame) -> an.Table:
    kinds = dict.fromkeys(frame.columns, "categorical")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return an.Table(frame, schema=an.infer_schema(frame).with_types(kinds))


def _simulated(n: int, rows: int) -> tuple[an.Table, nx.DiGraph]:
    """A random DAG with as many arcs as variables, two to four levels each, and Dirichlet(1/2) tables."""
    random = np.random.default_rng(n)
    graph = nx.DiGraph()
    graph.add_nodes_from(f"v{i}" for i in range(n))
    while graph.number_of_edges() < n:
        a, b = sorted(random.choice(n, 2, replace=False))
        if graph.out_degree(f"v{a}") < 3 and graph.in_degree(f"v{b}") < 3:
            graph.add_edge(f"v{a}", f"v{b}")
    sizes = random.integers(2, 5, n)
    columns: dict[str, Any] = {}
    for i in range(n):
        parents = list(graph.predecessors(f"v{i}"))
        cell = np.zeros(rows, dtype=np.int64)
        cells = 1
        for parent in parents:
            size = int(sizes[int(parent[1:])])
            cell, cells = cell * size + columns[parent], cells * size
        table = random.dirichlet(np.full(sizes[i], 0.5), cells).cumsum(axis=1)
        draws = random.random(rows)
        columns[f"v{i}"] = (draws[:, None] > table[cell][:, :-1]).sum(axis=1)
    return _levels(pl.DataFrame(columns)), graph


def _dream4(name: str, rows: int) -> tuple[an.Table, nx.DiGraph]:
    folder = DATA / "dream4"
    sub = rows == 100
    kinds = ("multifactorial",) if sub else ("knockouts", "knockdowns", "timeseries", "wildtype")
    frames = []
    for kind in kinds:
        path = folder / f"size100_{name}_{kind}.csv.gz"
        frame = pl.read_csv(path)
        frames.append(frame.select([c for c in frame.columns if c.startswith("G")]).cast(pl.Float64))
    frame = pl.concat([f.select(frames[0].columns) for f in frames])
    gold = folder / f"size100_{name}_{'multifactorial_' if sub else ''}gold_standard.csv.gz"
    graph = nx.DiGraph()
    graph.add_nodes_from(frame.columns)
    graph.add_edges_from(pl.read_csv(gold).select("from", "to").rows())
    return an.Table(frame, schema=an.infer_schema(frame).with_types(dict.fromkeys(frame.columns, "continuous"))), graph


@cache
def ranks(task: Task, jobs: int) -> pl.DataFrame:
    """Parents by forest."""
    return an.rank_parents(data(task)[0], n_jobs=jobs)


def searched(candidates: an.Candidates, effort: Effort) -> an.search.Found:
    """The best graph found among candidates."""
    return an.search.anytime(candidates, time_limit=effort.seconds, rounds=effort.rounds, n_jobs=effort.jobs)


def by_candidates(score: Any) -> Method:
    """A search among the five candidates that the forest ranks highest."""

    def learned(task: Task, effort: Effort) -> Any:
        chosen = ranks(task, effort.jobs)
        return searched(an.score_parents(data(task)[0], score, "auto", parents=chosen, n_jobs=effort.jobs), effort)

    return learned


def on_demand(search: Callable[..., Any], max_parents: int) -> Method:
    """A search that scores what it needs, with BIC (of levels, or of a Gaussian)."""

    def learned(task: Task, effort: Effort) -> Any:
        limits = {"max_parents": max_parents, "time_limit": effort.seconds, "n_jobs": effort.jobs}
        return search(data(task)[0], bic(task), **limits)

    return learned


def bic2(task: Task, effort: Effort) -> Any:
    """BIC with at most two parents among all variables, or among the candidates where there are too many sets."""
    table = data(task)[0]
    chosen = ranks(task, effort.jobs) if len(table.names) > MOST_ALL_PAIRS else None
    return searched(an.score_parents(table, bic(task), 2, parents=chosen, n_candidates=20, n_jobs=effort.jobs), effort)


def bic(task: Task) -> Any:
    """BIC for the kind of data: of levels, or of a Gaussian."""
    return an.DegenerateGaussian() if task.part == "dream4" else an.BIC()


METHODS: dict[str, Method] = {
    "BN-FS-MARS": by_candidates(an.MARS()),
    "BN-FS-MARS (BIC)": by_candidates(an.MARS(criterion="bic")),
    "BIC2": bic2,
    "fGES": on_demand(an.search.fges, 5),
    "BOSS": on_demand(partial(an.search.boss, restarts=0), 5),
}
ON_DEMAND = ("fGES", "BOSS")
#: What the paper's figures show.
PRINTED_METHODS = ("BN-FS-MARS", "BIC2", "fGES")


def figures(true: nx.DiGraph, found: Any) -> dict[str, float]:
    """F1 of the skeleton, and the paper's counts over classes, divided by the number of true edges."""
    compared = an.metrics.compare(true, found)
    true_class, learned = _class(true), found.cpdag
    marks: list[dict[frozenset[Any], set[Any]]] = [{}, {}]
    for of, graph in zip(marks, (true_class, learned), strict=True):
        for edge in graph.edges:
            of.setdefault(frozenset(edge), set()).add(edge)
    shared = marks[0].keys() & marks[1].keys()
    m = max(true.number_of_edges(), 1)
    tp = sum(marks[0][pair] == marks[1][pair] for pair in shared)
    fp = len(marks[1].keys() - marks[0].keys())
    return {"f1": compared.f1, "tp": tp / m, "tp_wd": len(shared) / m, "fp": fp / m, "shd": compared.shd / m}


def _class(graph: nx.DiGraph) -> nx.DiGraph:
    if nx.is_directed_acyclic_graph(graph):
        from arbornet.graphs import cpdag

        return cpdag(graph)
    return graph  # a gold standard may have feedback: its arcs are taken as they are


def run(task: Task, method: str, effort: Effort) -> dict[str, Any]:
    """Learns and compares."""
    table, true = data(task)
    true = nx.DiGraph(true.subgraph(table.names))
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    found = METHODS[method](task, effort)
    spent = resource.getrusage(resource.RUSAGE_SELF).ru_utime - before
    told = {"stopped": found.stopped, "gap": found.gap if np.isfinite(found.gap) else None}
    took = {"user_seconds": spent, "seconds": time.perf_counter() - began}
    sizes = {"variables": len(table.names), "edges": true.number_of_edges()}
    memory = {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}
    return {
        "key": task.key(method),
        **asdict(task),
        "method": method,
        **figures(true, found),
        **told,
        "limit": effort.seconds,
        "rounds": effort.rounds,
        **took,
        **sizes,
        **memory,
    }


#: What the paper's figures show, (a) to (d).
CURVES = {
    "F1": "f1",
    "true edges found": "tp",
    "true edges found, either direction": "tp_wd",
    "false edges": "fp",
}
HEAD = ("data", "variables", "edges", "rows", "method", "F1", "TP", "TP+WD", "FP", "SHD", "gap", "seconds", "run")


def write(kept: Kept, options: argparse.Namespace) -> None:
    """The page, and its numbers as JSON."""
    text = [
        "# Sharma and van Beek 2022: MARS and a thousand variables\n",
        f"Written by `benches/papers/sharma2022.py`; {machine()}, shared with other work. One data set a size and "
        "number of rows. F1 is of the skeleton; TP, TP+WD (wrong direction), FP and SHD are over equivalence classes, "
        "divided by the number of true edges. Constant columns are left out, and their edges with them. gap: how far "
        "the graph's score may be from the best among the candidates, in the score's own unit. seconds: user CPU, "
        "forests included where a method is the first to need them. run: in full (so many rounds of each of four "
        "chains, or to the search's own end), or where it was cut. What was not run stands below each table.\n",
        "The paper's figures are curves without numbers: above each table stands what they show, below it what ours "
        f"show. BIC2: at most two parents, among all variables up to {MOST_ALL_PAIRS} of them, above among 20 "
        "candidates by forest. fGES and BOSS (from the order that fGES finds): BIC, at most five parents. The paper's "
        "GES is that of R's pcalg, its BIC2 is GOBNILP; its data sets and ours are other draws. Its table 1, the sizes "
        "of the networks, is in the columns of figure 3; its figure 1 illustrates splines.\n",
    ]
    results = list(kept.runs.values())
    for part, title in TITLES.items():
        runs = [r for r in results if r["part"] == part]
        if not runs:
            continue
        runs.sort(key=lambda r: (r["variables"], r["name"], r["rows"], list(METHODS).index(r["method"])))
        table = markdown(map(_row, runs), HEAD)
        text += [
            f"## {title}\n",
            f"The paper: {SHAPES[part]}{OTHERWISE[part]}\n",
            table,
            _shapes(runs),
            "Dashed: the fewer rows. What was not run is missing.\n"
            + panels(options.pages / "sharma2022" / f"{part}.svg", list(CURVES), partial(_draw, runs), 2),
            _not_run(part, kept),
        ]
    options.pages.mkdir(parents=True, exist_ok=True)
    (options.pages / "sharma2022.md").write_text("\n".join(text), encoding="utf-8")
    (options.pages / "sharma2022.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


def _draw(runs: list[dict[str, Any]], title: str, axis: Any) -> None:
    """One figure of every method by data set, in the order of the table; fewer rows as a dashed line."""
    figure = CURVES[title]
    names = list(dict.fromkeys(r["name"] for r in runs))
    few, *many = sorted({r["rows"] for r in runs})
    for colour, method in enumerate(METHODS):
        for rows in (few, *many):
            of = {r["name"]: r[figure] for r in runs if r["method"] == method and r["rows"] == rows}
            # What was not run is a gap in the line.
            values = [of.get(name, np.nan) for name in names]
            label = method if rows == few else None
            axis.plot(values, "--" if rows == few else "-", marker=".", color=f"C{colour}", label=label)
    axis.set_xticks(range(len(names)), names, rotation=45, ha="right")
    if figure == "f1":
        axis.legend(framealpha=0.7, fontsize=5)


def _row(r: dict[str, Any]) -> list[Any]:
    if r["stopped"] == "time":
        how = f"cut at {r['limit']:g} s by the clock"
    elif r["method"] in ON_DEMAND:
        how = "in full"
    else:
        how = f"in full, {r['rounds']:,} rounds" + (", proved best" if r["stopped"] == "proven" else "")
    shown = [r["name"], r["variables"], r["edges"], r["rows"], r["method"], *(round(r[f], 3) for f in FIGURES)]
    gap = None if r["gap"] is None else float(f"{max(0.0, r['gap']):.3g}")
    return [*shown, gap if gap is None or gap > 1e-6 else 0, round(r["user_seconds"], 1), how]


def _complete(runs: list[dict[str, Any]]) -> dict[tuple[str, int], dict[str, dict[str, Any]]]:
    """By data set, the runs by method, of those data sets that all methods have seen."""
    by_data: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for r in runs:
        by_data.setdefault((r["name"], r["rows"]), {})[r["method"]] = r
    return {data: of for data, of in by_data.items() if len(of) == len(METHODS)}


def _shapes(runs: list[dict[str, Any]]) -> str:
    """Who leads in what, among the paper's three methods and among all; and what more rows do."""
    complete = _complete(runs)
    if not complete:
        return ""

    def leaders(methods: tuple[str, ...]) -> str:
        told = []
        for figure, what in (("f1", "highest F1"), ("tp_wd", "most of the true edges"), ("fp", "most false positives")):
            first = [max(methods, key=lambda m, of=of: of[m][figure]) for of in complete.values()]
            told.append(f"{what}: " + ", ".join(f"{m} {first.count(m)}" for m in methods if m in first))
        return "; ".join(told)

    lines = [
        f"Ours, {len(complete)} data sets that all methods have seen. Of the paper's three methods, "
        f"{leaders(PRINTED_METHODS)}. Of all five, {leaders(tuple(METHODS))}."
    ]
    few, many = sorted({rows for _, rows in complete})[0], sorted({rows for _, rows in complete})[-1]
    both = [name for name, rows in complete if rows == few and (name, many) in complete]
    if few < many and both:
        better = {m: sum(complete[n, many][m]["f1"] > complete[n, few][m]["f1"] for n in both) for m in METHODS}
        told = ", ".join(f"{m} {k}" for m, k in better.items())
        lines.append(f"F1 rises from {few:,} to {many:,} rows, of {len(both)} data sets: {told}.")
    return " ".join(lines) + "\n"


def _not_run(part: str, kept: Kept) -> str:
    """Data sets that were not run, or not by all methods."""
    missing = []
    for task in tasks(part, quick=False):
        lacking = [m for m in METHODS if task.key(m) not in kept.runs]
        if lacking:
            by = "" if len(lacking) == len(METHODS) else f" ({', '.join(lacking)})"
            missing.append(f"{task.name} at {task.rows:,} rows{by}")
    return f"Not run: {'; '.join(missing)}.\n" if missing else "All of it was run.\n"


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=list(TITLES), default=list(TITLES))
    parser.add_argument("--names", nargs="+", help="only these data sets")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--rows", nargs="+", type=int, help="only data sets of so many rows")
    parser.add_argument("--rounds", type=int, default=2000, help="of each of the four chains of a search")
    parser.add_argument("--max-seconds", type=float, default=300.0, help="wall seconds after which a search is cut")
    options = parser.parse_args()
    effort = Effort(options.rounds, options.max_seconds, options.jobs)
    kept = Kept(options.results / "sharma2022.jsonl")
    for part in options.parts:
        for task in tasks(part, options.quick):
            if (options.names and task.name not in options.names) or (options.rows and task.rows not in options.rows):
                continue
            for method in options.methods:
                if task.key(method) not in kept.runs:
                    kept.add(run(task, method, effort))
                    r = kept.runs[task.key(method)]
                    print(f"{r['key']}: F1 {r['f1']:.3f}, FP {r['fp']:.3f}, {r['user_seconds']:.1f} s", flush=True)
                    write(kept, options)
            data.cache_clear()
            ranks.cache_clear()
    write(kept, options)


if __name__ == "__main__":
    main()
