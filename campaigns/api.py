"""Random calls of the public functions, with arguments that fit and arguments that do not.

    python campaigns/api.py 100000 [seed]      # so many calls

A machine keeps tables, schemas, scores, candidates, graphs and networks that earlier calls returned and draws calls on
them: arguments come from the pool by the parameter's name, and in most calls one is odd. What may come back is a result
that is consistent (finite or minus infinity and never NaN, equal after saving and loading, the same bytes when asked
again), or one of arbornet's errors, or a builtin one that is documented: OSError for files, MemoryError for limits,
Python's own TypeError or OverflowError where it names the argument.
"""

from __future__ import annotations

import contextlib
import faulthandler
import functools
import inspect
import logging
import math
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import polars as pl
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.errors import FlakyStrategyDefinition, StopTest
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import arbornet as an
from arbornet.data.question import Method

ALLOWED: tuple[type[BaseException], ...] = (an.ArbornetError, OSError, MemoryError)
COUNTS: Counter[str] = Counter()
FAILED: Counter[str] = Counter()
COLLECT = False
SECONDS = 30
rng = np.random.default_rng(7)
N = 40
A, B, X = rng.integers(0, 2, N), rng.integers(0, 3, N), rng.normal(size=N)
COLUMNS: dict[str, Any] = {
    "a": [("no", "yes")[i] for i in A],
    "b": [("I", "II", "III")[i] for i in B],
    "t": [bool(i) for i in A ^ (B == 2)],
    "x": (X + A).round(2).tolist(),
    "y": (X - B + rng.normal(size=N)).round(2).tolist(),
    "c d": rng.integers(1, 4, N).tolist(),
}
GAPS = {**COLUMNS, "x": [None, *COLUMNS["x"][1:]], "a": [*COLUMNS["a"][1:], None]}
FRAMES: list[Any] = [
    COLUMNS,
    GAPS,
    pl.DataFrame(COLUMNS),
    {k: COLUMNS[k] for k in ("a", "b", "t")},
    {k: COLUMNS[k] for k in ("x", "y")},
    {k: v[:3] for k, v in COLUMNS.items()},
    {k: v[:1] for k, v in COLUMNS.items()},
    pl.DataFrame(COLUMNS).select("y", "x", "a"),
    {"a": ["yes", "other"], "x": [0.5, -0.5], "b": ["I", "I"]},
]
ODD_FRAMES: list[Any] = [
    None,
    3,
    "x",
    {},
    {"a": []},
    {"a": [1], "b": [1, 2]},
    {"a": [object()]},
    [1, 2],
    {"x": ["u", "v"]},
]
ODD: list[Any] = [None, -1, 0, 2**70, 1.5, math.nan, math.inf, -math.inf, "nope", "", True, [], {}, object(), b"x"]
NAMES = [*COLUMNS]
SCORES: list[Any] = [
    an.PCART(max_splits=2), an.FullTable(), an.BIC(), an.AIC(), an.BDeu(1.0), an.K2(), an.QNML(), an.NML(), an.MIT(),
    an.LogLikelihood(), an.BD(), an.ConditionalGaussian(), an.ConditionalGaussian(discretise=True), an.MARS(),
    an.DegenerateGaussian(), an.MixedPolynomial(), an.LogisticRegression(), an.Multinomial(), an.BasisFunctions(),
    an.DecisionGraph(), an.BIC(prior=an.priors.EBIC()),
]  # fmt: skip
#: What the estimators answer once they are fitted.
ASKED_OF_FITTED: dict[Any, tuple[str, ...]] = {
    an.NaiveBayes: ("predict", "predict_proba", "predict_log_proba"),
    an.TANClassifier: ("predict", "predict_proba", "predict_log_proba"),
    an.ChowLiu: ("score_samples", "score"),
    an.NetworkLearner: ("score_samples", "score"),
}
ROOM = Path(tempfile.mkdtemp(prefix="arbornet-api-"))
FILES = [
    ROOM / name for name in ("n.json", "n.bif", "n.net", "n.xml", "c.jkl", "c.parquet", "s.json", "none.json", "d.svg")
]
ODD_FILES: list[Any] = [ROOM, ROOM / "no" / "where.json", "", "\0", ROOM / "odd.ending"]


def step(body: Callable[[Any, Any], None]) -> Any:
    """A rule. In a campaign what goes wrong is written down, once a place, and the machine goes on."""

    @functools.wraps(body)
    def guarded(self: Any, data: Any) -> None:
        if not COLLECT:
            return body(self, data)
        try:
            signal.alarm(SECONDS)
            body(self, data)
        except (StopTest, FlakyStrategyDefinition, KeyboardInterrupt):
            raise
        except BaseException as error:
            where = [
                f
                for f in traceback.extract_tb(error.__traceback__)
                if "arbornet/" in f.filename or "api.py" in f.filename
            ]
            place = f"{type(error).__name__} in {Path(where[-1].filename).name}:{where[-1].lineno} {where[-1].name}"
            if place not in FAILED:
                print(f"{place}: {str(error)[:300]}\n    {getattr(error, '__notes__', [''])[0][:600]}", flush=True)
            FAILED[place] += 1
        finally:
            signal.alarm(0)

    return rule(data=st.data())(guarded)


class Calls(RuleBasedStateMachine):
    """What earlier calls returned, and calls on it."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Any] = [an.Table(COLUMNS)]
        self.schemas: list[Any] = [None, an.infer_schema(COLUMNS)]
        self.candidates: list[Any] = []
        self.graphs: list[Any] = []
        self.nets: list[Any] = []

    # Arguments by the parameter's name: what fits, what is odd.

    def fits(self, name: str, draw: Callable[[Any], Any]) -> Any:
        def one(of: list[Any]) -> Any:
            return draw(st.sampled_from(of)) if of else None

        names = draw(st.lists(st.sampled_from(NAMES), max_size=3, unique=True))
        match name:
            case "table" | "source":
                return one([*self.tables, *FRAMES[:3], *self.candidates[-1:]])
            case "frame" | "data":
                return one(FRAMES)
            case "schema":
                return one(self.schemas)
            case "candidates":
                return one(self.candidates) or an.score_parents(self.tables[0], an.PCART(), 1)
            case "score" | "local_score":
                return one(SCORES)
            case "dag" | "start" | "true" | "learned" | "first" | "second":
                return one(self.graphs) or nx.DiGraph([("a", "b")])
            case "net" | "network":
                return one(self.nets)
            case "path" | "target_file":
                return one(FILES)
            case "child" | "x" | "y" | "target" | "variable" | "parent" | "class_" | "root":
                return one(NAMES)
            case "parents" | "given_names":
                return names
            case "targets":
                return one([names, one(NAMES), self.evidence(names, draw)])
            case "given" | "do":
                return self.evidence(names, draw)
            case "constraints":
                return one([None, self.constraints(draw)])
            case "max_parents":
                return one([0, 1, 2, "auto"])
            case "n_jobs":
                return one([1, 2, -1])
            case "time_limit" | "child_time_limit":
                return one([0, 0.05, 1.0])
            case "memory_limit":
                return one([None, 2**28, "1 GB"])
            case "seed":
                return one([0, 1, 2**31])
            case "n" | "n_rows":
                return one([0, 1, 5, 30])
            case "k" | "restarts" | "rounds" | "depth" | "uncovered" | "chains" | "tabu" | "patience" | "perturb":
                return one([1, 2, 3])
            case "missing":
                return one(["drop", "error", "level"])
            case "weights":
                return one([None, [1.0 + i % 3 for i in range(len(COLUMNS["a"]))]])
            case "weights_are":
                return one(["frequency", "survey"])
            case "unseen":
                return one(["error", "missing"])
            case "method":
                return one(list(get_args(Method)))
            case "particles":
                return one([10, 50])
            case "mass" | "alpha" | "gap" | "margin" | "threshold":
                return one([0.05, 0.5, 0.9])
            case "by":
                return one([None, "node"])
            case "bins":
                return one([None, 3, {"x": 2, "y": 3}])
            case "folds" | "n_bootstrap" | "n_candidates" | "n_trees" | "max_given" | "max_moves" | "window":
                return one([2, 3])
            case "n_variables":
                return one([3, 6])
            case _:
                return one([True, False])

    def evidence(self, names: list[str], draw: Callable[[Any], Any]) -> dict[str, Any]:
        values = {name: [COLUMNS[name][0], COLUMNS[name][5]] for name in names}
        return {name: draw(st.sampled_from(of)) for name, of in values.items()}

    def constraints(self, draw: Callable[[Any], Any]) -> Any:
        arcs = st.lists(st.tuples(*[st.sampled_from([*NAMES, "nope"])] * 2), max_size=2)
        given = {"required": arcs, "forbidden": arcs, "roots": st.lists(st.sampled_from(NAMES), max_size=1)}
        given |= {"max_parents": st.sampled_from([None, 0, 1, -1, {"a": 1}]), "leaves": given["roots"]}
        try:
            return an.Constraints(
                **{key: draw(given[key]) for key in draw(st.lists(st.sampled_from([*given]), max_size=2, unique=True))}
            )
        except an.ArbornetError:
            return None

    def odd(self, name: str, draw: Callable[[Any], Any]) -> Any:
        cycle = nx.DiGraph([("a", "b"), ("b", "a")])
        special: dict[str, list[Any]] = {
            "frame": ODD_FRAMES,
            "data": ODD_FRAMES,
            "table": [*ODD_FRAMES, *FRAMES[5:]],
            "dag": [cycle, nx.DiGraph([("a", "nope")]), nx.Graph([("a", "b")]), *ODD],
            "start": [cycle, nx.DiGraph([("a", "nope")]), *ODD],
            "path": ODD_FILES,
            "score": [an.BIC, "BIC", SCORES[0].spec(), *ODD],
            "given": [{"nope": 1}, {"a": "other"}, {"x": math.nan}, {"x": "u"}, {"a": None}, {"x": math.inf}, *ODD],
            "parents": [["nope"], ["a", "a"], [[]], "a", [1], *ODD],
        }
        special["do"] = special["targets"] = special["given"]
        return draw(st.sampled_from(special.get(name, ODD)))

    # Calls.

    def arguments(self, of: Any, data: Any, without: tuple[str, ...] = ()) -> dict[str, Any]:
        parameters = {
            name: p
            for name, p in inspect.signature(of).parameters.items()
            if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
            and name not in ("self", "client", "progress", "checkpoint", "resume", "strategy", "learner", *without)
        }
        chosen = [name for name, p in parameters.items() if p.default is p.empty or data.draw(st.integers(0, 3)) == 0]
        if "time_limit" in parameters and "time_limit" not in chosen:
            chosen.append("time_limit")
        oddity = data.draw(st.sampled_from(["none", "one", "one", "some"]))
        odd = set() if not chosen else {data.draw(st.sampled_from(chosen))} if oddity == "one" else set()
        if oddity == "some":
            odd = set(data.draw(st.lists(st.sampled_from(chosen), unique=True))) if chosen else odd
        return {name: (self.odd if name in odd else self.fits)(name, data.draw) for name in chosen}

    def call(self, of: Callable[..., Any], arguments: dict[str, Any], *also: type[BaseException]) -> Any:
        """The result, or None if it was refused as it may be."""
        name = getattr(of, "__qualname__", str(of))
        faulthandler.dump_traceback_later(120, exit=True)
        COUNTS["calls"] += 1
        try:
            result = of(**arguments)
        except TimeoutError:
            raise
        except (TypeError, OverflowError) as error:
            # What is of a type that the core's own border refuses is Python's error, and names the argument.
            if TypeError not in also and not any(
                "while processing" in note for note in getattr(error, "__notes__", [])
            ):
                error.add_note(f"{name}({arguments})")
                raise
            COUNTS[f"refused {name}"] += 1
            return None
        except (*ALLOWED, *also) as error:
            assert str(error).strip(), f"{name}({arguments}): {type(error).__name__} without a word"
            COUNTS[f"refused {name}"] += 1
            return None
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            error.add_note(f"{name}({arguments})")
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        COUNTS[f"done {name}"] += 1
        return result

    @step
    def make_table(self, data: Any) -> None:
        table = self.call(an.Table, self.arguments(an.Table, data))
        if table is not None:
            assert (
                table.n_rows > 0 and np.isfinite(table.handle.reals(table.names.index("x"))).all()
                if "x" in table.names and table.handle.levels(table.names.index("x")) is None
                else True
            )
            assert pickle.loads(pickle.dumps(table)).to_polars().equals(table.to_polars())
            self.tables = [*self.tables[-3:], table]
            self.schemas = [*self.schemas[:2], table.schema]

    @step
    def make_schema(self, data: Any) -> None:
        schema = self.call(an.infer_schema, self.arguments(an.infer_schema, data))
        if schema is None:
            return
        kinds = [
            an.Ordinal,
            an.Categorical(["yes", "no"]),
            an.Binned(2),
            "continuous",
            "categorical",
            "nope",
            3,
            an.Binned(cuts=[0.0]),
        ]
        changed = self.call(
            schema.with_types, {data.draw(st.sampled_from([*NAMES, "nope"])): data.draw(st.sampled_from(kinds))}
        )
        schema = changed if changed is not None else schema
        path = data.draw(st.sampled_from([*FILES, *ODD_FILES]))
        if self.call(lambda path: schema.save(path) or True, {"path": path}, ValueError):
            assert an.Schema.load(path) == schema
        self.schemas = [*self.schemas[:2], schema]

    @step
    def score_a_family(self, data: Any) -> None:
        arguments = self.arguments(an.local_score, data)
        score = self.call(an.local_score, arguments)
        if score is not None:
            assert not math.isnan(score) and score < math.inf, (score, arguments)
            assert an.local_score(**arguments) == score
        model = self.call(an.local_model, arguments)
        if model is not None:
            assert model.text() and isinstance(model.to_dict(), dict) and model.leaves is not None
            assert pickle.loads(pickle.dumps(model)) == model

    @step
    def candidates_of(self, data: Any) -> None:
        arguments = self.arguments(an.score_parents, data)
        found = self.call(an.score_parents, arguments)
        if found is None:
            return
        if arguments.get("child_time_limit") is None:
            assert an.score_parents(**{**arguments, "n_jobs": 2}) == found
        path = ROOM / data.draw(st.sampled_from(["c.jkl", "c.parquet", "c.jkl.gz"]))
        found.save(path)
        assert an.Candidates.load(path) == found
        frames = [self.call(found.child, {"name": data.draw(st.sampled_from([*NAMES, *map(str, ODD)]))})]
        assert all(frame is None or not frame["score"].is_nan().any() for frame in frames)
        self.candidates = [*self.candidates[-2:], found]

    @step
    def search(self, data: Any) -> None:
        name = data.draw(
            st.sampled_from(
                [
                    "exact",
                    "anytime",
                    "hill_climb",
                    "fges",
                    "boss",
                    "grasp",
                    "pc",
                    "cpc",
                    "tan",
                    "chow_liu",
                    "k_best",
                    "decision_graphs",
                ]
            )
        )
        of = getattr(an.search, name)
        found = self.call(of, self.arguments(of, data))
        if found is None:
            return
        for one in getattr(found, "graphs", [found]):
            assert nx.is_directed_acyclic_graph(one.dag) and one.stopped in (
                "proven",
                "time",
                "memory",
                "interrupted",
                "finished",
            ), one
            repr(one)
            self.graphs = [*self.graphs[-3:], one, one.dag]

    @step
    def fit(self, data: Any) -> None:
        of = data.draw(st.sampled_from([an.fit, an.learn]))
        net = self.call(
            of, self.arguments(of, data, without=("verbose",)) | ({"verbose": False} if of is an.learn else {})
        )
        if net is not None:
            self.keep(net)

    def keep(self, net: Any) -> None:
        path = ROOM / "kept.json"
        net.save(path)
        again = an.load(path)
        assert again == net and pickle.loads(pickle.dumps(net)) == net
        again.save(ROOM / "again.json")
        assert (ROOM / "again.json").read_bytes() == path.read_bytes()
        self.nets = [*self.nets[-2:], net]

    @step
    def ask(self, data: Any) -> None:
        if not self.nets:
            self.nets = [an.fit(an.Table(COLUMNS), nx.DiGraph([("a", "x")]), an.PCART())]
        net = data.draw(st.sampled_from(self.nets))
        asked = [
            "sample",
            "log_likelihood",
            "predict",
            "predict_proba",
            "predict_interval",
            "query",
            "explain",
            "parents",
            "markov_blanket",
            "arc_score",
            "cpdag",
            "report",
            "to_bif",
            "to_net",
            "to_xmlbif",
            "to_dot",
            "to_graphml",
            "save",
        ]
        name = data.draw(st.sampled_from(asked))
        of = getattr(net, name)
        arguments = self.arguments(of, data)
        result = self.call(of, arguments)
        if result is None:
            return
        if name == "sample":
            assert result.equals(of(**arguments)) and result.columns == net.names
        if name == "log_likelihood":
            values = result.to_numpy() if isinstance(result, pl.DataFrame) else result
            assert not (np.asarray(values) == math.inf).any()
        if name == "predict_proba":
            sums = result.sum_horizontal().drop_nulls().drop_nans()
            assert ((sums - 1.0).abs() < 1e-6).all() or len(sums) == 0, result

    @step
    def draw(self, data: Any) -> None:
        if self.nets:
            net = data.draw(st.sampled_from(self.nets))
            target = data.draw(st.sampled_from([None, ROOM / "d.svg", ROOM / "d.xyz", 3, ROOM]))
            self.call(net.draw, {"target": target}, ValueError)
            model = self.call(lambda name: net[name], {"name": data.draw(st.sampled_from([*NAMES, "nope", 3, None]))})
            if model is not None:
                self.call(data.draw(st.sampled_from([model.draw, model.text, model.rules])), {})

    @step
    def read_a_file(self, data: Any) -> None:
        of = data.draw(
            st.sampled_from(
                [
                    an.load,
                    an.read_bif,
                    an.read_net,
                    an.read_xmlbif,
                    an.read_network,
                    an.Candidates.load,
                    an.Schema.load,
                    an.read,
                ]
            )
        )
        read = self.call(of, {"path": data.draw(st.sampled_from([*FILES, *ODD_FILES]))}, ValueError)
        if isinstance(read, an.BayesNet):
            self.keep(read)

    @step
    def convert(self, data: Any) -> None:
        if self.nets:
            net = data.draw(st.sampled_from(self.nets))
            ending = data.draw(st.sampled_from(["bif", "net", "xml"]))
            of = {"bif": net.to_bif, "net": net.to_net, "xml": net.to_xmlbif}[ending]
            if self.call(of, {"path": ROOM / f"n.{ending}", "bins": data.draw(st.sampled_from([None, 2, 3]))}):
                self.keep(an.read_network(ROOM / f"n.{ending}"))

    @step
    def judge(self, data: Any) -> None:
        of = data.draw(
            st.sampled_from(
                [
                    an.metrics.compare,
                    an.metrics.shd,
                    an.independence.test,
                    an.plan,
                    an.rank_parents,
                    an.simulate.mixed_network,
                    an.simulate.network,
                ]
            )
        )
        arguments = self.arguments(of, data)
        result = self.call(of, arguments)
        if of is an.independence.test and result is not None:
            assert 0.0 <= result.p_value <= 1.0, (result, arguments)

    @step
    def evaluate(self, data: Any) -> None:
        if data.draw(st.integers(0, 9)) == 0:
            of = data.draw(st.sampled_from([an.evaluate.cross_validate, an.evaluate.arc_strength, an.evaluate.tuned]))
            arguments = {"folds": 2, "repeats": 1, "n_bootstrap": 2} | self.arguments(of, data)
            known = inspect.signature(of).parameters
            self.call(of, {name: value for name, value in arguments.items() if name in known})

    @step
    def make_a_score(self, data: Any) -> None:
        kinds = [type(score) for score in SCORES]
        of = data.draw(st.sampled_from(kinds))
        score = self.call(
            of,
            {
                name: data.draw(st.sampled_from([*ODD, 1, 2, 0.5, "log"]))
                for name in [*inspect.signature(of).parameters][:2]
                if data.draw(st.booleans())
            },
        )
        if score is not None:
            assert pickle.loads(pickle.dumps(score)) == score or "nan" in repr(score)
            family = {"table": an.Table(COLUMNS), "child": "a", "parents": ["b"]}
            found = self.call(an.local_score, family | {"score": score})
            assert found is None or not math.isnan(found), (score, found)

    @step
    def estimators(self, data: Any) -> None:
        of = data.draw(st.sampled_from(list(ASKED_OF_FITTED)))
        made = self.call(of, self.arguments(of, data))
        frame = data.draw(st.sampled_from([*FRAMES, *ODD_FRAMES]))
        if made is None:
            return
        arguments = {"X": frame}
        if of in (an.NaiveBayes, an.TANClassifier):
            frame = {k: v for k, v in COLUMNS.items() if k != "a"}
            arguments = {
                "X": data.draw(st.sampled_from([frame, frame, *ODD_FRAMES])),
                "y": data.draw(st.sampled_from([COLUMNS["a"], COLUMNS["b"], [1], None])),
            }
        fitted = self.call(made.fit, arguments, ValueError, TypeError)
        if fitted is not None:
            for asked in ASKED_OF_FITTED[of]:
                self.call(
                    getattr(fitted, asked),
                    {"X": data.draw(st.sampled_from([frame, *FRAMES, *ODD_FRAMES]))},
                    ValueError,
                    TypeError,
                )


def quiet() -> None:
    warnings.simplefilter("ignore")
    logging.getLogger("arbornet").setLevel(logging.CRITICAL)


def late(*_: object) -> None:
    raise TimeoutError(f"it took more than {SECONDS} seconds")


def main() -> None:
    global COLLECT
    COLLECT = True
    quiet()
    signal.signal(signal.SIGALRM, late)
    calls, start = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    began = time.process_time()
    steps = settings(max_examples=200, stateful_step_count=50, deadline=None, database=None, print_blob=False,
                     suppress_health_check=list(HealthCheck), phases=[Phase.generate])  # fmt: skip
    while COUNTS["calls"] < calls:
        # What a time limit cut short differs from run to run; hypothesis may end a run for that.
        with contextlib.suppress(FlakyStrategyDefinition):
            run_state_machine_as_test(seed(start)(Calls), settings=steps)
        start += 1
        print(f"{COUNTS['calls']} calls, {time.process_time() - began:.0f} processor seconds", flush=True)
    for what, n in sorted(COUNTS.items()):
        print(f"  {what}: {n}")
    print(f"failed: {dict(FAILED)}")
    sys.exit(bool(FAILED))


if __name__ == "__main__":
    main()
