"""The tables of Chickering, Heckerman and Meek (1997), ours beside the printed figures.

    python benches/papers/chickering1997.py [--quick]

Tables 1 and 2 are of one data set each and come out as printed, where ties allow. Tables 3 to 6 are of 1,000 rows drawn
from ALARM, which are not the paper's: ours are means over several draws, with their standard deviation. Beyond the
paper: how far the greedy tree is from the best one, which PCART finds. Everything computed is kept as JSON and not
computed again. Writes docs/papers/chickering1997.md.
"""

from __future__ import annotations

import json
import math
import resource
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import polars as pl
from common import DATA, arguments, machine, markdown

import arbornet as an

SCHEDULES = ("best", "splits_first")
COLUMNS = ("C", "B", "CB", "CM", "BM", "CBM")
TABLE_1 = {
    "uniform": (0, 13.62, 6.07, 22.13, 26.11, 26.11),
    "U-PN 10": (0, 6.12, 4.21, 9.5, 10.82, 12.93),
    "U-PN 20": (0, 5.09, 3.34, 14.11, 12.11, 14.12),
    "U-PN 30": (0, 4.62, 2.97, 10.93, 12.98, 16.65),
    "U-PN 40": (0, 3.14, 1.27, 16.3, 13.54, 16.02),
    "U-PN 50": (0, 2.99, 1.12, 15.76, 15.54, 17.54),
}
TABLE_2 = (0, 383, 363, 464, 655, 687)
TABLE_6 = {
    "S": (278, 412, 464, 443, 534, 548, 548),
    "U": (255, 0, 256, 241, 869, 976, 1136),
    "C": (336, 515, 670, 643, 889, 1064, 1126),
}
SITUATIONS = {
    "S": "Table 3: local searches in the true graph; COMP its complete tables",
    "U": "Table 4: the combined search from no arcs; COMP greedy search over graphs of complete tables",
    "C": "Table 5: only non-descendants in the true graph as parents; COMP greedy search from the true graph",
}


class Kept:
    """Results by name, on disk after each."""

    def __init__(self, path: Path):
        self.path = path
        self.values: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def get(self, name: str, compute: Callable[[], Any]) -> Any:
        """The result of that name, computed if it is not there."""
        if name not in self.values:
            self.values[name] = compute()
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self.values, indent=1))
        return self.values[name]


def discrete(frame: pl.DataFrame) -> an.Table:
    """Every column a category of its own texts."""
    schema = an.infer_schema(frame).with_types(dict.fromkeys(frame.columns, "categorical"))
    return an.Table(frame, schema=schema)


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """A value and the user CPU seconds it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    value = work()
    return value, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before


def local(table: an.Table, child: str, parents: list[str], **parameters: Any) -> float:
    """The score of the graph grown under a node."""
    return an.local_score(table, child, parents, an.DecisionGraph(**parameters))


def classes(kept: Kept) -> str:
    """Tables 1 and 2."""
    out = []
    frame = pl.read_csv(DATA / "chickering" / "promoters.csv.gz", infer_schema=False)
    promoters = discrete(frame)
    bases = [name for name in frame.columns if name != "class"]
    rows: list[list[Any]] = []
    for name, printed in TABLE_1.items():
        prior: Any = "uniform" if name == "uniform" else float(name.split()[1])
        for schedule in SCHEDULES:
            ours = [
                kept.get(
                    f"promoters {name} {operators} {schedule}",
                    lambda o=operators, p=prior, s=schedule: local(
                        promoters, "class", bases, operators=o, prior=p, schedule=s
                    ),
                )
                for operators in COLUMNS
            ]
            shown = [f"{score - ours[0]:.2f}" for score in ours]
            rows.append([name, schedule, f"{ours[0]:.2f}", *shown])
        rows.append([name, "printed", "", *(f"{value:.2f}" for value in printed)])
    out.append("## Table 1: promoters, the class given 57 bases (106 rows)\n")
    out.append(markdown(rows, ["prior", "schedule", "C absolute", *COLUMNS]))
    out.append(
        "The paper prints the last row, ess 50, as a second U-PN 40. The merge columns of the U-PN rows depend on how"
        " ties are broken.\n"
    )
    frame = pl.read_csv(DATA / "chickering" / "splice-junction.csv.gz", infer_schema=False)
    splice = discrete(frame)
    bases = [name for name in frame.columns if name != "class"]
    rows = []
    for schedule in SCHEDULES:
        found = [
            kept.get(
                f"splice {operators} {schedule}",
                lambda o=operators, s=schedule: timed(lambda: local(splice, "class", bases, operators=o, schedule=s)),
            )
            for operators in COLUMNS
        ]
        rows.append([schedule, *(f"{score - found[0][0]:.1f}" for score, _ in found)])
        rows.append([f"{schedule}: CPU seconds", *(f"{seconds:.3f}" for _, seconds in found)])
    rows.append(["printed", *map(str, TABLE_2)])
    out.append("## Table 2: splice junctions, the class given 60 bases (3,190 rows), uniform prior\n")
    out.append(markdown(rows, ["schedule", *COLUMNS]))
    return "\n".join(out)


def alarm_scores(net: an.BayesNet, seed: int) -> dict[str, list[float]]:
    """One draw of 1,000 rows: the total scores of the three situations, COMP first; and the seconds of CBM."""
    frame = net.sample(1000, seed=seed)
    schema = an.infer_schema(frame).with_types(
        {column.name: an.Categorical(list(column.levels)) for column in net.schema.used}
    )
    table = an.Table(frame, schema=schema)
    graph: nx.DiGraph = nx.DiGraph(net.graph.edges)
    graph.add_nodes_from(net.names)
    names = net.names

    def complete(dag: nx.DiGraph) -> float:
        return math.fsum(an.local_score(table, v, list(dag.predecessors(v)), an.K2()) for v in names)

    def inside(operators: str, schedule: str) -> float:
        score = an.DecisionGraph(operators=operators, schedule=schedule)
        return math.fsum(an.local_score(table, v, list(graph.predecessors(v)), score) for v in names)

    earlier = {v: sorted(set(names) - nx.descendants(graph, v) - {v}) for v in names}
    rules = an.Constraints(allowed_parents=earlier)

    def grown(operators: str, schedule: str, constraints: an.Constraints | None) -> float:
        score = an.DecisionGraph(operators=operators, schedule=schedule)
        return an.search.decision_graphs(table, score, constraints=constraints).score

    _, seconds = timed(lambda: grown("CBM", "best", None))
    out = {"seconds": [seconds]}
    tables = {
        "S": complete(graph),
        "U": an.search.hill_climb(table, an.K2(), tabu=0).score,
        "C": an.search.hill_climb(table, an.K2(), tabu=0, start=graph).score,
    }
    for schedule in SCHEDULES:
        out[f"S {schedule}"] = [tables["S"], *(inside(operators, schedule) for operators in COLUMNS)]
        out[f"U {schedule}"] = [tables["U"], *(grown(operators, schedule, None) for operators in COLUMNS)]
        out[f"C {schedule}"] = [tables["C"], *(grown(operators, schedule, rules) for operators in COLUMNS)]
    return out


def alarm(kept: Kept, quick: bool) -> str:
    """Tables 3 to 6."""
    net = an.read_bif(DATA / "networks" / "alarm.bif.gz")
    draws = [
        kept.get(f"alarm, both schedules, {seed}", lambda s=seed: alarm_scores(net, s))
        for seed in range(2 if quick else 10)
    ]
    head = ["", "COMP", *COLUMNS]
    out = []

    def told(relative: list[list[float]]) -> list[str]:
        columns = list(zip(*relative, strict=True))
        spread = [statistics.stdev(column) if len(column) > 1 else 0.0 for column in columns]
        return [f"{statistics.mean(c):.0f} ± {s:.0f}" for c, s in zip(columns, spread, strict=True)]

    rows: list[list[str]] = []
    for key, title in SITUATIONS.items():
        rows = []
        for schedule in SCHEDULES:
            relative = [[s - min(draw[f"{key} {schedule}"]) for s in draw[f"{key} {schedule}"]] for draw in draws]
            rows.append([f"ours, {schedule}", *told(relative)])
        printed = [value - min(TABLE_6[key]) for value in TABLE_6[key]]
        out.append(f"## {title}\n")
        out.append(markdown([*rows, ["printed", *map(str, printed)]], head))
    rows = []
    for key in SITUATIONS:
        for schedule in SCHEDULES:
            lowest = [min(min(draw[f"{k} {schedule}"]) for k in SITUATIONS) for draw in draws]
            own = [draw[f"{key} {schedule}"] for draw in draws]
            relative = [[score - low for score in scores] for scores, low in zip(own, lowest, strict=True)]
            rows.append([f"{key}, {schedule}", *told(relative)])
        rows.append([f"{key} printed", *map(str, TABLE_6[key])])
    out.append("## Table 6: all together (S static, U unconstrained, C constrained)\n")
    out.append(markdown(rows, head))
    seconds = statistics.mean(draw["seconds"][0] for draw in draws)
    out.append(
        f"Means and standard deviations over {len(draws)} draws of 1,000 rows (the paper has a single draw, which is "
        "not among ours). The"
        f" unconstrained CBM search takes {seconds:.2f} s of CPU.\n"
    )
    return "\n".join(out)


def optimum(table: an.Table, child: str, parents: list[str]) -> dict[str, float]:
    """Trees and graphs under one node by the objective of PCART: equal odds of a leaf and of a split, alpha 1."""
    levels = {column.name: len(column.levels or ()) for column in table.schema.used}
    splits = sum(2 ** (levels[p] - 1) - 1 for p in parents)
    log_gamma = -math.log(4 * splits)
    kappa = math.exp(log_gamma / (levels[child] - 1))
    tree = an.local_model(table, child, parents, an.PCART(penalised=False, alpha=1.0, grouping="exact"))

    def marginal(counts: list[float]) -> float:
        r = len(counts)
        return math.lgamma(r) - math.lgamma(sum(counts) + r) + math.fsum(math.lgamma(n + 1) for n in counts)

    leaves = [node for node in tree.to_dict()["model"]["nodes"] if node["node"] == "leaf"]
    best = math.fsum(marginal(leaf["statistic"]) + log_gamma for leaf in leaves)

    def greedy(operators: str, **more: Any) -> float:
        return local(table, child, parents, operators=operators, kappa=kappa, **more)

    return {
        "best tree": best,
        "B": greedy("B"),
        "B, lookahead 8": greedy("B", lookahead=8),
        "B, 20 restarts": greedy("B", restarts=20),
        "CB": greedy("CB"),
        "BM": greedy("BM"),
        "BM, lookahead 8": greedy("BM", lookahead=8),
        "BM, 20 restarts": greedy("BM", restarts=20),
    }


def greediness(kept: Kept, quick: bool) -> str:
    """How far greedy trees are from the best, node by node."""
    net = an.read_bif(DATA / "networks" / "alarm.bif.gz")
    problems: list[tuple[str, an.Table, str, list[str]]] = []
    for n in (1000,) if quick else (1000, 10_000):
        frame = net.sample(n, seed=0)
        schema = an.infer_schema(frame).with_types(
            {column.name: an.Categorical(list(column.levels)) for column in net.schema.used}
        )
        table = an.Table(frame, schema=schema)
        for v in net.names:
            parents = list(net.graph.predecessors(v))
            if parents:
                problems.append((f"ALARM, {n:,} rows", table, v, parents))
    for name in ("tic-tac-toe-endgame", "spect-heart", "congressional-voting-records"):
        frame = pl.read_csv(DATA / "uci" / f"{name}.csv.gz", infer_schema=False).drop_nulls()
        table = discrete(frame)
        names = frame.columns
        for i, child in enumerate(names):
            problems.append((name, table, child, [names[(i + step) % len(names)] for step in (1, 2, 3, 4, 5)]))
    groups: dict[str, list[dict[str, float]]] = {}
    for group, table, child, parents in problems:
        found = kept.get(f"optimum {group} {child}", lambda t=table, c=child, p=parents: optimum(t, c, p))
        groups.setdefault(group, []).append(found)
    ways = [way for way in next(iter(groups.values()))[0] if way != "best tree"]
    rows = []
    for group, each in groups.items():
        row: list[str] = [group, str(len(each))]
        for way in ways:
            gaps = [found[way] - found["best tree"] for found in each]
            short = sum(gap < -1e-6 for gap in gaps)
            row.append(f"{math.fsum(gaps):+.1f} ({short} below)")
        rows.append(row)
    return "\n".join(
        [
            "## Beyond the paper: how far greedy is from the best tree\n",
            markdown(rows, ["nodes", "number", *ways]),
            "Sums over the nodes of the score minus that of the best tree (natural logarithm), and for how many "
            "nodes it is lower. The best tree is PCART's exact optimum over all trees of two-way splits of the "
            "levels; all"
            " score alpha = 1 and PCART's own cost of a leaf. ALARM: with the true parents; the other tables: each "
            "column with the next five as parents. Graphs with merges (BM) can do better than any tree.\n",
        ]
    )


WHY = """\
## Where ours differ, and why

* **Tables 1 and 2, without merges (C, B, CB)** agree with the printed figures, up to rounding.
* **Table 1, with merges.** The uniform row agrees under `splits_first`. In the U-PN rows ours are between 7 below and 3
  above the printed figures: where operators have nearly the same gain, the result of a greedy search depends on which
  is applied first, and the paper does not say. Both of our schedules are shown; neither is always closer.
* **Table 2, with merges.** The same: `splits_first` ends 11 below to 24 above the printed figures, `best` 29 to 115
  below.
* **Tables 3 to 6.** The 1,000 rows are not the paper's, which are not published; our standard deviations show how much
  draws differ.
* **Table 3.** With merges the printed figures are within one standard deviation of ours. Without them, the gain over
  complete tables is 45 to 52 less than printed, more than draws differ by: unexplained. Schedules have no effect
  without merges. Which file of ALARM's parameters the paper sampled from is not known; ours is that of the bnlearn
  repository.
* **Tables 4 and 6 (U).** In the paper greedy search over complete tables ends above the local searches C and CB, in
  ours below all of them. Ours starts from the empty graph and adds, deletes and reverses single arcs, as the paper
  describes its own; why that ended so much higher is unexplained. The order of the others is as printed, except that B
  and CB are exchanged.
* **Table 5.** The order of the columns is as printed; the gains are 0.6 to 0.8 of the printed ones under `best`, and
  0.9 with merges under `splits_first`.

Figures 1 to 5 of the paper illustrate its method and contain no measurements.
"""


def main() -> None:
    """Computes what is missing and writes the page."""
    asked = arguments(__doc__.split("\n")[0]).parse_args()
    kept = Kept(asked.results / "chickering1997.json")
    parts = [
        "# Chickering, Heckerman and Meek 1997: local structure\n",
        "Made by `python benches/papers/chickering1997.py`. Scores are natural logarithms relative to the lowest of"
        " each row. Operators: C complete split, B binary split, M merge; COMP complete tables. Schedule `best` applies"
        f" the best operator, `splits_first` merges only when no split raises the score. Machine: {machine()}.\n",
        classes(kept),
        alarm(kept, asked.quick),
        WHY,
        greediness(kept, asked.quick),
    ]
    asked.pages.mkdir(parents=True, exist_ok=True)
    page = asked.pages / "chickering1997.md"
    page.write_text("\n".join(parts), encoding="utf-8")
    print(page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
