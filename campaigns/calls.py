"""Every long public call, each prepared so that it takes some seconds: what campaigns interrupt and limit in time."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import networkx as nx
import numpy as np
import polars as pl
import pyarrow as pa

import arbornet as an

Call = Callable[[], object]
Search = Callable[[float], object]
#: Name -> what prepares the call.
CALLS: dict[str, Callable[[], Call]] = {}
#: Searches under a time limit: name -> what prepares a call of the limit.
LIMITED: dict[str, Callable[[], Search]] = {}


def call(name: str) -> Callable[[Callable[[], Call]], Callable[[], Call]]:
    """Registers what prepares a call."""

    def register(prepare: Callable[[], Call]) -> Callable[[], Call]:
        CALLS[name] = prepare
        return prepare

    return register


def limited(name: str) -> Callable[[Callable[[], Search]], Callable[[], Search]]:
    """Registers what prepares a search that takes a time limit; without one it is a call like the others."""

    def register(prepare: Callable[[], Search]) -> Callable[[], Search]:
        LIMITED[name] = prepare
        CALLS[name] = lambda: partial(prepare(), 1e6)
        return prepare

    return register


def numbers(n_rows: int, n_columns: int, seed: int = 1) -> pl.DataFrame:
    """Each number leans on two before it."""
    rng = np.random.default_rng(seed)
    columns = [rng.normal(size=n_rows) for _ in range(n_columns)]
    for v in range(2, n_columns):
        columns[v] += 0.6 * columns[rng.integers(v)] - 0.4 * columns[rng.integers(v)] ** 2 / 3
    return pl.DataFrame({f"x{v}": column for v, column in enumerate(columns)})


def levels(n_rows: int, n_columns: int, n_levels: int = 3, seed: int = 1) -> pl.DataFrame:
    """Each column copies one before it now and then."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n_levels, n_rows)]
    for v in range(1, n_columns):
        copied = columns[rng.integers(max(0, v - 5), v)]
        columns.append(np.where(rng.random(n_rows) < 0.5, copied, rng.integers(0, n_levels, n_rows)))
    codes = pl.DataFrame({f"c{v}": column for v, column in enumerate(columns)})
    return codes.select(pl.format("l{}", pl.col(name)).alias(name) for name in codes.columns)


def mixed(n_rows: int, n_columns: int, seed: int = 1) -> pl.DataFrame:
    half = n_columns // 2
    return pl.concat([numbers(n_rows, n_columns - half, seed), levels(n_rows, half, 3, seed)], how="horizontal")


@cache
def table(kind: str, n_rows: int, n_columns: int) -> an.Table:
    return an.Table({"numbers": numbers, "levels": levels, "mixed": mixed}[kind](n_rows, n_columns))


@cache
def network(kind: str = "mixed", n_rows: int = 2000, n_columns: int = 20, n_parents: int = 3) -> an.BayesNet:
    """Fitted over a graph in which every variable has the few before it as parents."""
    dag = nx.DiGraph()
    names = list(table(kind, n_rows, n_columns).schema)
    dag.add_nodes_from(names)
    dag.add_edges_from((names[p], names[v]) for v in range(len(names)) for p in range(max(0, v - n_parents), v))
    score = an.PCART() if n_parents < 5 else an.BDeu()
    return an.fit(table(kind, n_rows, n_columns), dag, score, arc_scores=False)


# --- frames in -------------------------------------------------------------------------------------------------------


@call("Table of text")
def table_of_text() -> Call:
    text = pl.Series([f"value {i % 50_000}" for i in range(1_000_000)])
    frame = pl.DataFrame({f"t{v}": text.sample(fraction=1, shuffle=True, seed=v) for v in range(8)})
    return lambda: an.Table(frame)


@call("Table of numbers")
def table_of_numbers() -> Call:
    frame = pl.DataFrame({f"x{v}": np.random.default_rng(v).normal(size=8_000_000) for v in range(12)})
    return lambda: an.Table(frame)


@call("Table of Python lists")
def table_of_python_lists() -> Call:
    frame = {f"t{v}": [f"value {i % 50}" for i in range(1_500_000)] for v in range(10)}
    return lambda: an.Table(frame)


@call("Table of Python objects")
def table_of_python_objects() -> Call:
    frame = {f"t{v}": np.array([i % 50 for i in range(2_000_000)], dtype=object) for v in range(10)}
    return lambda: an.Table(frame)


@call("infer_schema")
def infer_schema() -> Call:
    text = pl.Series([f"value {i}" for i in range(1_500_000)])
    frame = pl.DataFrame({f"t{v}": text for v in range(10)})
    return lambda: an.infer_schema(frame)


@call("Schema.encode")
def schema_encode() -> Call:
    frame = levels(1_000_000, 3)
    schema = an.infer_schema(frame)
    frame = pl.concat([frame] * 20)
    return lambda: schema.encode(frame)


@call("Table of a LazyFrame")
def table_of_a_lazyframe() -> Call:
    frame = numbers(300_000, 4).lazy()
    for _ in range(30):
        frame = frame.with_columns((pl.all().sort() * 1.01).name.keep())
    return lambda: an.Table(frame)


@call("Table of a slow Arrow stream")
def table_of_a_slow_arrow_stream() -> Call:
    schema = pa.schema([("x", pa.float64())])

    def chunks():
        for _ in range(2000):
            time.sleep(0.005)
            yield pa.record_batch([pa.array(np.arange(1000.0))], schema=schema)

    return lambda: an.Table(pa.RecordBatchReader.from_batches(schema, chunks()))


@call("Table of a slow DuckDB query")
def table_of_a_slow_duckdb_query() -> Call:
    import duckdb

    pairs = "select a.range as a, b.range as b, sin(a.range * b.range) as c from range(10000) a, range(10000) b"
    return lambda: an.Table(duckdb.sql(f"select a % 7 as a, sum(c) as c from ({pairs}) group by a % 7, b"))


@call("read")
def read_csv() -> Call:
    path = Path(tempfile.mkdtemp()) / "large.csv"
    pl.concat([numbers(500_000, 20)] * 3).write_csv(path)
    return lambda: an.read(path)


# --- Step 1 ----------------------------------------------------------------------------------------------------------


def scored(kind: str, score: object, n_rows: int, n_columns: int, max_parents: int) -> Call:
    data = table(kind, n_rows, n_columns)
    return lambda: an.score_parents(data, score, max_parents, n_jobs=2)


SCORES = {
    "PCART": lambda: scored("mixed", an.PCART(), 5000, 20, 4),
    "FullTable": lambda: scored("mixed", an.FullTable(), 20_000, 20, 4),
    "BIC": lambda: scored("levels", an.BIC(), 100_000, 30, 4),
    "BDeu": lambda: scored("levels", an.BDeu(10), 100_000, 30, 4),
    "QNML": lambda: scored("levels", an.QNML(), 100_000, 30, 4),
    "MIT": lambda: scored("levels", an.MIT(), 100_000, 30, 4),
    "ConditionalGaussian": lambda: scored("mixed", an.ConditionalGaussian(), 20_000, 30, 4),
    "DegenerateGaussian": lambda: scored("mixed", an.DegenerateGaussian(), 20_000, 60, 4),
    "BasisFunctions": lambda: scored("mixed", an.BasisFunctions(), 20_000, 60, 4),
    "MixedPolynomial": lambda: scored("mixed", an.MixedPolynomial(), 20_000, 30, 4),
    "LogisticRegression": lambda: scored("mixed", an.LogisticRegression(), 20_000, 30, 4),
    "Multinomial": lambda: scored("mixed", an.Multinomial(), 20_000, 30, 4),
    "MARS": lambda: scored("numbers", an.MARS(), 20_000, 20, 3),
    "DecisionGraph": lambda: scored("levels", an.DecisionGraph(), 20_000, 20, 4),
    "CustomScore": lambda: scored("mixed", an.CustomScore(lambda table, child, parents: -1.0), 1000, 30, 4),
}
for _name, _prepare in SCORES.items():
    CALLS[f"score_parents {_name}"] = _prepare


@call("score_parents parents by forests")
def score_parents_parents_by_forests() -> Call:
    data = table("mixed", 20_000, 100)
    return lambda: an.score_parents(data, an.PCART(), 2, parents="forest")


@call("rank_parents")
def rank_parents() -> Call:
    data = table("mixed", 50_000, 40)
    return lambda: an.rank_parents(data, n_trees=200)


@call("local_score PCART wide")
def local_score_pcart_wide() -> Call:
    data = table("numbers", 200_000, 6)
    return lambda: an.local_score(data, "x0", ["x1", "x2", "x3", "x4"], an.PCART())


@call("local_model MARS")
def local_model_mars() -> Call:
    data = table("numbers", 400_000, 12)
    return lambda: an.local_model(data, "x11", [f"x{v}" for v in range(11)], an.MARS())


@call("local_model PCART")
def local_model_pcart() -> Call:
    data = table("numbers", 200_000, 6)
    return lambda: an.local_model(data, "x0", ["x1", "x2", "x3", "x4"], an.PCART())


@call("plan")
def plan() -> Call:
    data = table("mixed", 20_000, 40)
    return lambda: an.plan(data, an.PCART(), 4, seconds=10)


@call("plan auto")
def plan_auto() -> Call:
    data = table("mixed", 1_000_000, 20)
    return lambda: an.plan(data, an.FullTable(), "auto", seconds=10)


# --- searches --------------------------------------------------------------------------------------------------------


def hard(n_variables: int, n_sets: int, seed: int = 1) -> an.Candidates:
    """Random sets with scores by size: much to search."""
    rng = np.random.default_rng(seed)
    lines = [str(n_variables)]
    for v in range(n_variables):
        others = [u for u in range(n_variables) if u != v]
        sets = {(): -100.0}
        for _ in range(n_sets):
            chosen = tuple(sorted(rng.choice(others, rng.integers(1, 5), replace=False).tolist()))
            sets[chosen] = -100.0 + 3 * len(chosen) + 2 * rng.random()
        lines.append(f"{v} {len(sets)}")
        lines += [f"{score} {len(chosen)} {' '.join(map(str, chosen))}" for chosen, score in sets.items()]
    path = Path(tempfile.mkdtemp()) / "hard.jkl"
    path.write_text("\n".join(lines) + "\n")
    return an.Candidates.load(path)


@limited("exact")
def exact() -> Search:
    candidates = hard(40, 500)
    return lambda seconds: an.search.exact(candidates, time_limit=seconds, memory_limit="1 GB")


@limited("exact 24 variables")
def exact_24_variables() -> Search:
    candidates = hard(24, 2000)
    return lambda seconds: an.search.exact(candidates, time_limit=seconds, memory_limit="1 GB")


@limited("exact two million sets")
def exact_two_million_sets() -> Search:
    candidates = hard(60, 30_000)
    return lambda seconds: an.search.exact(candidates, time_limit=seconds, memory_limit="1 GB")


@limited("anytime")
def anytime() -> Search:
    candidates = hard(60, 500)
    return lambda seconds: an.search.anytime(candidates, time_limit=seconds)


@limited("anytime two million sets")
def anytime_two_million_sets() -> Search:
    candidates = hard(60, 30_000)
    return lambda seconds: an.search.anytime(candidates, time_limit=seconds)


@limited("k_best")
def k_best() -> Search:
    candidates = hard(22, 300)
    return lambda seconds: an.search.k_best(candidates, 200, time_limit=seconds, memory_limit="2 GB")


@limited("hill_climb over candidates")
def hill_climb_over_candidates() -> Search:
    candidates = hard(60, 500)
    return lambda seconds: an.search.hill_climb(candidates, restarts=100_000, time_limit=seconds)


@limited("hill_climb")
def hill_climb() -> Search:
    data = table("levels", 200_000, 60)
    return lambda seconds: an.search.hill_climb(data, an.BIC(), time_limit=seconds, restarts=50)


@limited("hill_climb PCART")
def hill_climb_pcart() -> Search:
    data = table("mixed", 50_000, 40)
    return lambda seconds: an.search.hill_climb(data, an.PCART(), time_limit=seconds)


@limited("fges")
def fges() -> Search:
    data = table("mixed", 50_000, 120)
    return lambda seconds: an.search.fges(data, an.ConditionalGaussian(), time_limit=seconds)


@limited("boss")
def boss() -> Search:
    data = table("mixed", 5000, 200)
    return lambda seconds: an.search.boss(data, an.DegenerateGaussian(), restarts=20, time_limit=seconds)


@limited("grasp")
def grasp() -> Search:
    data = table("mixed", 5000, 200)
    return lambda seconds: an.search.grasp(data, an.DegenerateGaussian(), restarts=20, time_limit=seconds)


@limited("pc")
def pc() -> Search:
    data = table("levels", 100_000, 60)
    return lambda seconds: an.search.pc(data, an.BIC(), alpha=0.5, time_limit=seconds)


@limited("cpc")
def cpc() -> Search:
    data = table("levels", 100_000, 60)
    return lambda seconds: an.search.cpc(data, an.BIC(), alpha=0.5, time_limit=seconds)


@limited("decision_graphs")
def decision_graphs() -> Search:
    data = table("levels", 50_000, 60)
    return lambda seconds: an.search.decision_graphs(data, time_limit=seconds)


@call("chow_liu")
def chow_liu() -> Call:
    data = table("mixed", 50_000, 100)
    return lambda: an.chow_liu(data, an.PCART())


@call("tan")
def tan() -> Call:
    data = table("mixed", 50_000, 60)
    return lambda: an.search.tan(data, "c0", an.PCART())


@call("independence.test")
def independence_test() -> Call:
    data = table("mixed", 400_000, 40)
    given = [f"x{v}" for v in range(2, 16)] + ["c0", "c1", "c2"]
    return lambda: an.independence.test(data, "x0", "x1", given, an.ConditionalGaussian())


# --- evaluation ------------------------------------------------------------------------------------------------------


@call("cross_validate")
def cross_validate() -> Call:
    data = mixed(3000, 12)
    return lambda: an.evaluate.cross_validate(data, an.PCART(), max_parents=3, n_jobs=2)


@call("intersection_validation")
def intersection_validation() -> Call:
    data = mixed(3000, 12)
    return lambda: an.evaluate.intersection_validation(
        data, {"pcart": an.PCART(), "full": an.FullTable()}, max_parents=3
    )


@call("structure_recovery")
def structure_recovery() -> Call:
    net = network()
    return lambda: an.evaluate.structure_recovery(net, {"pcart": an.PCART()}, max_parents=3)


@call("arc_strength")
def arc_strength() -> Call:
    data = mixed(3000, 12)
    return lambda: an.evaluate.arc_strength(data, an.PCART(), max_parents=3)


@call("tuned")
def tuned() -> Call:
    data = table("mixed", 20_000, 20)
    return lambda: an.evaluate.tuned(data, an.PCART(lam="each"))


@call("learn")
def learn() -> Call:
    data = mixed(20_000, 25)
    return lambda: an.learn(data, verbose=False)


@call("NetworkLearner.fit")
def networklearner_fit() -> Call:
    data = mixed(20_000, 25)
    return lambda: an.NetworkLearner().fit(data)


@call("FayyadIrani.fit")
def fayyadirani_fit() -> Call:
    data = numbers(2_000_000, 8)
    y = np.random.default_rng(1).integers(0, 3, len(data))
    return lambda: an.FayyadIrani().fit(data, y)


@call("TANClassifier.fit")
def tanclassifier_fit() -> Call:
    data = mixed(400_000, 60)
    return lambda: an.TANClassifier().fit(data.drop("c0"), data["c0"])


# --- fitted networks -------------------------------------------------------------------------------------------------


@call("fit")
def fit() -> Call:
    data = table("mixed", 100_000, 20)
    names = list(data.schema)
    dag = nx.DiGraph([(names[p], names[v]) for v in range(20) for p in range(max(0, v - 4), v)])
    return lambda: an.fit(data, dag, an.PCART())


@cache
def many_rows(share: float = 0.0) -> pl.DataFrame:
    frame = network().sample(1_000_000, seed=1)
    if not share:
        return frame
    rng = np.random.default_rng(1)
    return frame.with_columns(
        pl.when(pl.Series(rng.random(len(frame)) >= share)).then(pl.col(name)).alias(name) for name in frame.columns
    )


@call("log_likelihood")
def log_likelihood() -> Call:
    frame = many_rows()
    return lambda: network().log_likelihood(frame)


@call("log_likelihood with gaps")
def log_likelihood_with_gaps() -> Call:
    frame = many_rows(0.3)
    return lambda: network().log_likelihood(frame)


@call("predict")
def predict() -> Call:
    frame = many_rows()
    return lambda: network().predict(frame, "x3")


@call("predict_proba with gaps")
def predict_proba_with_gaps() -> Call:
    frame = many_rows(0.3)
    return lambda: network().predict_proba(frame, "c3")


@call("sample")
def sample() -> Call:
    net = network()
    return lambda: net.sample(30_000_000, seed=1)


@call("query wide")
def query_wide() -> Call:
    net = network("levels", 2000, 300, 8)
    return lambda: net.query("c3", given={"c299": "l1"})


@call("query numbers")
def query_numbers() -> Call:
    net = network("mixed", 2000, 60, 4)
    return lambda: [net.query(["c3", "c7"], given={"x20": (0, 1), "c20": ["l1", "l2"]}) for _ in range(20)][-1]


@call("to_bif")
def to_bif() -> Call:
    net = network("mixed", 5000, 30, 4)
    return lambda: net.to_bif(bins=8)


@call("report 1000 variables")
def report_1000_variables() -> Call:
    net = network("levels", 500, 1000, 3)
    path = Path(tempfile.mkdtemp()) / "report.html"
    return lambda: net.report(path)


@call("draw 1000 variables")
def draw_1000_variables() -> Call:
    net = network("levels", 500, 1000, 3)
    path = Path(tempfile.mkdtemp()) / "net.svg"
    return lambda: net.draw(path)


@call("save")
def save() -> Call:
    net = network("numbers", 20_000, 300, 3)
    path = Path(tempfile.mkdtemp()) / "net.json"
    return lambda: [net.save(path) for _ in range(20)][-1]


@call("load")
def load() -> Call:
    path = Path(tempfile.mkdtemp()) / "net.json"
    network("numbers", 20_000, 300, 3).save(path)
    return lambda: [an.load(path) for _ in range(20)][-1]


@call("Candidates.load")
def candidates_load() -> Call:
    path = Path(tempfile.mkdtemp()) / "candidates.jkl"
    hard(60, 30_000).save(path)
    return lambda: [an.Candidates.load(path) for _ in range(4)][-1]


@call("Candidates.save")
def candidates_save() -> Call:
    candidates = hard(60, 30_000)
    path = Path(tempfile.mkdtemp()) / "candidates.jkl"
    return lambda: candidates.save(path)


@call("Candidates.frame")
def candidates_frame() -> Call:
    candidates = hard(60, 30_000)
    return lambda: candidates.frame()


@call("simulate.mixed_network")
def simulate_mixed_network() -> Call:
    return lambda: an.simulate.mixed_network(2000, 4, 20_000)


@call("simulate.network")
def simulate_network() -> Call:
    return lambda: an.simulate.network(1000, 20_000)


@call("metrics.compare")
def metrics_compare() -> Call:
    rng = np.random.default_rng(1)
    graphs = []
    for _ in range(2):
        dag = nx.DiGraph()
        dag.add_nodes_from(range(1500))
        dag.add_edges_from((int(a), int(b)) for a, b in rng.integers(0, 1500, (20_000, 2)) if a < b)
        graphs.append(dag)
    return lambda: an.metrics.compare(*graphs)
