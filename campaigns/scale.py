"""Large tables: processor seconds and peak memory, each task in a process of its own with a limit on its memory.

    python campaigns/scale.py [task ...]              # tasks of fixed size
    python campaigns/scale.py --curves [curve ...]    # cost against rows, columns and levels, doubled over and over

Every process is killed at 6 GB of address space beyond the interpreter's own and at half an hour. Seconds are the
processor's (user and system, all threads), memory is the peak of resident pages, and its rise over before the call.
The exponents are fitted to the last three doublings, where fixed costs no longer show.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
from calls import hard, levels, mixed, numbers

import arbornet as an

Task = Callable[[], object]
GB = 1 << 30
LIMIT = 6 * GB


def wide(n_rows: int, n_columns: int) -> an.Table:
    return an.Table(mixed(n_rows, n_columns))


def large() -> pl.DataFrame:
    """A million rows of 25 numbers and 25 texts."""
    return mixed(1_000_000, 50)


def ingestion() -> Task:
    frame = large()
    return lambda: an.Table(frame)


def climbed(score: object) -> Callable[[], Task]:
    def prepare() -> Task:
        table = an.Table(large() if not isinstance(score, an.BIC) else levels(1_000_000, 50))
        return lambda: an.search.hill_climb(table, score)

    return prepare


def pcart_200() -> Task:
    table = wide(1000, 200)
    return lambda: an.score_parents(table, an.PCART(), 2)


def planned_pcart_200() -> Task:
    table = wide(1000, 200)
    return lambda: print("plan:", an.plan(table, an.PCART(), 2), file=sys.stderr)


def simulated(n_variables: int) -> an.Table:
    drawn = an.simulate.mixed_network(n_variables, 2, 1000, seed=1)
    return an.Table(drawn.frame, drawn.schema)


def by(search: Callable[..., object], n_variables: int, score: object, **how: object) -> Callable[[], Task]:
    def prepare() -> Task:
        table = simulated(n_variables)
        return lambda: search(table, score, **how)

    return prepare


def exact_40() -> Task:
    candidates = hard(40, 3000)
    return lambda: an.search.exact(candidates, memory_limit="2 GiB", time_limit=120)


def many_levels() -> Task:
    rng = np.random.default_rng(1)
    codes = rng.permutation(np.repeat(np.arange(60_000), 10))
    frame = pl.DataFrame({"id": [f"level {c}" for c in codes], "x": rng.choice(["a", "b"], len(codes)), "y": codes % 3})
    schema = an.infer_schema(frame).with_types(id=an.Categorical())
    return lambda: an.search.hill_climb(an.Table(frame, schema=schema), an.BIC())


def too_many_levels() -> Task:
    frame = pl.DataFrame({"id": [f"level {c % 100_000}" for c in range(300_000)], "y": [c % 3 for c in range(300_000)]})

    def refused() -> None:
        schema = an.infer_schema(frame)
        try:
            an.Table(frame, schema=schema.with_types(id=an.Categorical()))
        except an.ArbornetError as error:
            print("refused:", error, file=sys.stderr)
        else:
            raise AssertionError("100,000 levels were accepted")

    return refused


def every_heuristic() -> Task:
    frame = mixed(100, 1000)
    table = an.Table(frame)
    discrete = an.Table(levels(100, 1000))

    def each() -> None:
        an.search.hill_climb(table, an.DegenerateGaussian(), max_moves=2000, time_limit=60)
        an.search.fges(table, an.DegenerateGaussian(), time_limit=60)
        an.search.boss(table, an.DegenerateGaussian(), time_limit=60)
        an.search.grasp(table, an.DegenerateGaussian(), time_limit=60)
        an.search.pc(table, an.DegenerateGaussian(), max_given=1, time_limit=60)
        an.search.decision_graphs(discrete, time_limit=60)
        an.chow_liu(discrete, an.BIC())
        an.search.tan(discrete, "c0", an.BIC())
        candidates = an.score_parents(discrete, an.BIC(), 1)
        an.search.anytime(candidates, time_limit=10)
        an.search.hill_climb(candidates)

    return each


def chained(n_columns: int, n_rows: int = 2000, n_parents: int = 2) -> an.BayesNet:
    table = an.Table(mixed(n_rows, n_columns))
    names = table.names
    dag = nx.DiGraph()
    dag.add_nodes_from(names)
    dag.add_edges_from((names[p], names[v]) for v in range(len(names)) for p in range(max(0, v - n_parents), v))
    return an.fit(table, dag, an.PCART(), arc_scores=False)


def used(of: Callable[[an.BayesNet, pl.DataFrame], object], n_rows: int = 1_000_000) -> Callable[[], Task]:
    def prepare() -> Task:
        net = chained(50)
        frame = net.sample(n_rows, seed=1)
        return lambda: of(net, frame)

    return prepare


def report_1000() -> Task:
    net = chained(1000, 500)
    path = Path(tempfile.mkdtemp()) / "report.html"
    return lambda: net.report(path)


TASKS: dict[str, Callable[[], Task]] = {
    "Table, 1,000,000 x 50": ingestion,
    "hill_climb, BIC, 1,000,000 x 50 levels": climbed(an.BIC()),
    "hill_climb, DegenerateGaussian, 1,000,000 x 50 mixed": climbed(an.DegenerateGaussian()),
    "hill_climb, ConditionalGaussian, 1,000,000 x 50 mixed": climbed(an.ConditionalGaussian()),
    "plan, PCART, 200 columns x 1,000, D=2": planned_pcart_200,
    "score_parents, PCART, 200 columns x 1,000, D=2": pcart_200,
    "boss, DegenerateGaussian, 1,000 columns x 1,000, one start": by(
        an.search.boss, 1000, an.DegenerateGaussian(), restarts=0
    ),
    "fges, DegenerateGaussian, 1,000 columns x 1,000": by(an.search.fges, 1000, an.DegenerateGaussian()),
    "exact, 40 variables, 120,000 sets, 2 GiB, 120 s": exact_40,
    "hill_climb, BIC, 60,000 levels, 600,000 rows": many_levels,
    "Table, 100,000 levels": too_many_levels,
    "every heuristic, 1,000 columns x 100": every_heuristic,
    "predict, 1,000,000 x 50": used(lambda net, frame: net.predict(frame, "c3")),
    "log_likelihood, 1,000,000 x 50": used(lambda net, frame: net.log_likelihood(frame)),
    "sample, 1,000,000 x 50": used(lambda net, frame: net.sample(1_000_000, seed=2)),
    "query, 50 variables": used(lambda net, frame: net.query("c3", given={"x20": (0, 1), "c20": "l1"}), 10),
    "report, 1,000 variables": report_1000,
}


def doubled(sizes: list[int], prepare: Callable[[int], Task]) -> list[tuple[int, Callable[[], Task]]]:
    return [(size, lambda size=size: prepare(size)) for size in sizes]


def on(frame: Callable[[int], object], call: Callable[[an.Table], object]) -> Callable[[int], Task]:
    def prepare(size: int) -> Task:
        table = an.Table(frame(size))
        return lambda: call(table)

    return prepare


def one_family(score: object, *parents: str) -> Callable[[an.Table], object]:
    return lambda table: an.local_score(table, table.names[-1], [table.names[int(p)] for p in parents], score)


ROWS = [1 << k for k in range(14, 21)]
COLUMNS = [50, 100, 200, 400, 800]
LEVELS = [1 << k for k in range(8, 16)]


def two_columns(n_levels: int) -> pl.DataFrame:
    """200,000 rows of a column of so many levels, and one of three."""
    rng = np.random.default_rng(1)
    codes = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 200_000 - n_levels)])
    return pl.DataFrame({"many": [f"l{c}" for c in codes], "few": [f"f{c % 3}" for c in codes]})


def of_levels(score: object, child: str, parent: str) -> Callable[[int], Task]:
    def prepare(n_levels: int) -> Task:
        frame = two_columns(n_levels)
        table = an.Table(frame, schema=an.infer_schema(frame).with_types(many=an.Categorical()))
        return lambda: [an.local_score(table, child, [parent], score) for _ in range(5)]

    return prepare


def table_of_levels(n_levels: int) -> Task:
    frame = two_columns(n_levels)
    return partial(an.Table, frame, an.infer_schema(frame).with_types(many="categorical"))


CURVES: dict[str, list[tuple[int, Callable[[], Task]]]] = {
    "rows: Table of 20 mixed columns": doubled(ROWS, lambda n: partial(an.Table, mixed(n, 20))),
    "rows: PCART, two numbers for a level": doubled(
        ROWS[:-2], on(lambda n: mixed(n, 6), one_family(an.PCART(), "0", "1"))
    ),
    "rows: FullTable, the same": doubled(ROWS, on(lambda n: mixed(n, 6), one_family(an.FullTable(), "0", "1"))),
    "rows: MARS of two numbers": doubled(ROWS[:-1], on(lambda n: numbers(n, 3), one_family(an.MARS(), "0", "1"))),
    "rows: ConditionalGaussian": doubled(
        ROWS, on(lambda n: mixed(n, 6), one_family(an.ConditionalGaussian(), "0", "1", "3"))
    ),
    "rows: LogisticRegression": doubled(ROWS, on(lambda n: mixed(n, 6), one_family(an.LogisticRegression(), "0", "1"))),
    "rows: DecisionGraph": doubled(ROWS, on(lambda n: levels(n, 4), one_family(an.DecisionGraph(), "0", "1", "2"))),
    "rows: BDeu, all sets of two of eight": doubled(
        ROWS, on(lambda n: levels(n, 8), lambda table: an.score_parents(table, an.BDeu(1), 2))
    ),
    "rows: forests of 10 columns": doubled(ROWS[:-1], on(lambda n: mixed(n, 10), lambda table: an.rank_parents(table))),
    "columns: hill_climb, DegenerateGaussian, 500 rows": doubled(
        COLUMNS, on(lambda n: mixed(500, n), lambda table: an.search.hill_climb(table, an.DegenerateGaussian()))
    ),
    "columns: boss, the same": doubled(
        COLUMNS[:-1], on(lambda n: mixed(500, n), lambda table: an.search.boss(table, an.DegenerateGaussian()))
    ),
    "columns: fges, the same": doubled(
        COLUMNS, on(lambda n: mixed(500, n), lambda table: an.search.fges(table, an.DegenerateGaussian()))
    ),
    "columns: chow_liu, BIC, 500 rows": doubled(
        COLUMNS, on(lambda n: levels(500, n), lambda table: an.chow_liu(table, an.BIC()))
    ),
    "columns: Table of 1,000 rows": doubled(COLUMNS, lambda n: partial(an.Table, mixed(1000, n))),
    "columns: report": doubled(
        COLUMNS, lambda n: partial(chained(n, 300).report, Path(tempfile.mkdtemp()) / "report.html")
    ),
    "levels: Table": doubled(LEVELS, table_of_levels),
    "levels: BIC of many given few": doubled(LEVELS, of_levels(an.BIC(), "many", "few")),
    "levels: BDeu of few given many": doubled(LEVELS, of_levels(an.BDeu(1), "few", "many")),
    "levels: QNML of many given few": doubled(LEVELS, of_levels(an.QNML(), "many", "few")),
    "sets: exact presolve of 30 variables": doubled(
        [1000, 2000, 4000, 8000, 16000], lambda n: partial(an.search.exact, hard(30, n), time_limit=0)
    ),
}


def measured(prepare: Callable[[], Task]) -> None:
    """Runs a task and prints what it took."""
    address_space = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (address_space + LIMIT,) * 2)
    call = prepare()
    resident = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = resource.getrusage(resource.RUSAGE_SELF)
    told = call()
    after = resource.getrusage(resource.RUSAGE_SELF)
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    peak = int(status["VmHWM"].split()[0]) * 1024
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        json.dumps(
            {"seconds": seconds, "peak": peak, "rise": peak - resident, "told": str(told).partition("\n")[0][:160]}
        )
    )


def in_process(kind: str, name: str, size: int = 0) -> dict[str, object]:
    command = [sys.executable, __file__, "--child", kind, name, str(size)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=1800)
    except subprocess.TimeoutExpired:
        return {"failed": "half an hour"}
    for line in done.stderr.splitlines():
        if line.startswith(("plan:", "memory:", "refused:", "about")):
            print(" ", line, flush=True)
    if done.returncode:
        return {"failed": (done.stderr.strip().splitlines() or [f"signal {-done.returncode}"])[-1][:200]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def exponent(points: list[tuple[int, float]]) -> float:
    """Of the power law through the last three doublings."""
    last = [(math.log(size), math.log(cost)) for size, cost in points[-4:] if cost > 0]
    return float(np.polyfit(*zip(*last, strict=True), 1)[0]) if len(last) > 1 else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--curves", action="store_true")
    parser.add_argument("--child", nargs=3)
    asked = parser.parse_args()
    if asked.child:
        kind, name, size = asked.child
        measured(TASKS[name] if kind == "task" else dict(CURVES[name])[int(size)])
        return
    if not asked.curves:
        print("| task | processor s | peak MB | rise MB | what came of it |\n|---|---|---|---|---|")
        for name in asked.names or TASKS:
            row = in_process("task", name)
            if "failed" in row:
                print(f"| {name} | - | - | - | {row['failed']} |", flush=True)
            else:
                memory = f"{row['peak'] / 1e6:.0f} | {row['rise'] / 1e6:.0f}"
                print(f"| {name} | {row['seconds']:.2f} | {memory} | {row['told']} |", flush=True)
        return
    print("| cost against | sizes | processor s | exponent | peak MB | exponent |\n|---|---|---|---|---|---|")
    for name in asked.names or CURVES:
        rows = [(size, in_process("curve", name, size)) for size, _ in CURVES[name]]
        ran = [(size, row) for size, row in rows if "failed" not in row]
        seconds = [(size, max(row["seconds"], 1e-4)) for size, row in ran]
        rises = [(size, max(row["rise"], 1.0)) for size, row in ran]
        told = " ".join(f"{s:.3g}" for _, s in seconds)
        peaks = " ".join(f"{r / 1e6:.0f}" for _, r in rises)
        sizes = f"{rows[0][0]:,} to {rows[-1][0]:,}"
        print(f"| {name} | {sizes} | {told} | {exponent(seconds):.2f} | {peaks} | {exponent(rises):.2f} |", flush=True)
        for size, row in rows:
            if "failed" in row:
                print(f"  {name} at {size}: {row['failed']}", flush=True)


if __name__ == "__main__":
    main()
