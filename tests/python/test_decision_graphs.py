"""Decision graphs from Python: scores, models that show their shared leaves, the combined search."""

import json
import math
import pickle
import re
import warnings

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.show.draw import Tree, tree_svg
from arbornet.show.draw.tree import tree_scene
from interrupting import ctrl_c
from places import DATA


@pytest.fixture(scope="module")
def xor():
    """Y is a's and b's agreement, with noise; c is noise: the graph of y needs two leaves where a tree has four."""
    rng = np.random.default_rng(3)
    a, b, c = rng.integers(0, 2, 500), rng.integers(0, 2, 500), rng.integers(0, 3, 500)
    agree = np.where(rng.random(500) < 0.15, 1 - (a == b), a == b)
    # A trace of a in y, so that greedy search finds the way in.
    y = np.where((rng.random(500) < 0.2) & (a == 1), 1, agree)
    return an.Table({"y": y.astype(str), "a": a.astype(str), "b": b.astype(str), "c": c.astype(str)})


@pytest.fixture(scope="module")
def survey():
    frame = an.example("survey").select("age", "education", "income", "area", "housing", "cars", "transport", "stress")
    return an.Table(frame)


def test_parameters_are_checked_and_written():
    assert repr(an.DecisionGraph("bm", 10, 0.5)) == "DecisionGraph(operators='BM', prior=10.0, kappa=0.5)"
    assert json.loads(an.DecisionGraph(prior=3).spec())["prior"] == {"ess": 3.0}
    for wrong in (
        {"operators": "M"},
        {"operators": "CX"},
        {"operators": ""},
        {"prior": "jeffreys"},
        {"prior": 0},
        {"prior": True},
        {"prior": None},
        {"kappa": 0},
        {"kappa": 1.5},
        {"schedule": "last"},
        {"thresholds": 1},
        {"lookahead": -1},
        {"max_splits": 17},
        {"ess": -1},
    ):
        with pytest.raises(an.ParameterError):
            an.DecisionGraph(**wrong)


def test_a_uniform_network_is_the_same_prior_as_a_number(xor):
    empty = nx.DiGraph()
    empty.add_nodes_from(xor.names)
    document = an.fit(xor, empty, an.K2())
    text = json.loads(document.handle.to_json())
    for model, name in zip(text["models"], xor.names, strict=True):
        k = 3 if name == "c" else 2
        for predictive in [*model["distributions"], model["unseen"]]:
            predictive["probabilities"] = [1 / k] * k
    from arbornet._core import NetworkHandle

    flat = an.BayesNet(NetworkHandle.from_json(json.dumps(text), "test"), xor.schema)
    for operators in ("C", "CBM"):
        even = an.local_score(xor, "y", ["a", "b", "c"], an.DecisionGraph(operators, prior=6))
        believed = an.local_score(xor, "y", ["a", "b", "c"], an.DecisionGraph(operators, prior=flat, ess=6))
        assert believed == pytest.approx(even, abs=1e-9)


def test_a_prior_network_must_know_the_table(xor):
    other = an.fit(an.Table({"q": ["a", "b"]}), nx.DiGraph(), an.K2())
    with pytest.raises(an.ColumnError, match="'y'"):
        an.local_score(xor, "y", ["a"], an.DecisionGraph(prior=other))


def test_shared_leaves_are_named_in_text_and_rules(xor):
    model = an.local_model(xor, "y", ["a", "b", "c"], an.DecisionGraph())
    text = model.text()
    names = set(re.findall(r"-> (.+?) \(shared\)", text))
    assert names
    assert all(text.count(f"[{name}]") == 1 for name in names)
    assert len(model.rules()) == len(model.leaves) == model.n_leaves
    assert any(", or if " in rule for rule in model.rules())
    assert any(leaf.also for leaf in model.leaves)
    assert sum(leaf.n for leaf in model.leaves) == xor.n_rows
    assert model.log_marginal == an.local_score(xor, "y", ["a", "b", "c"], an.DecisionGraph())


def test_rules_and_predictions_agree(xor, survey):
    for table, child, parents in (
        (xor, "y", ["a", "b", "c"]),
        (survey, "transport", ["area", "cars", "housing", "age", "income"]),
    ):
        model = an.local_model(table, child, parents, an.DecisionGraph(prior=2))
        frame = {name: table.schema[name].levels for name in model.parents}
        rng = np.random.default_rng(1)
        for _ in range(200):
            given = {name: levels[rng.integers(len(levels))] for name, levels in frame.items()}
            ways = [
                (leaf, way)
                for leaf in model.leaves
                for way in (leaf.conditions, *leaf.also)
                if all(condition.holds(given[condition.variable]) for condition in way)
            ]
            assert len({id(leaf) for leaf, _ in ways}) == 1
            assert model.distribution(given) == ways[0][0].distribution


def test_it_pickles_and_comes_back_from_a_dict(xor):
    model = an.local_model(xor, "y", ["a", "b"], an.DecisionGraph())
    assert pickle.loads(pickle.dumps(model)) == model
    back = an.LocalModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert back == model
    assert back.log_marginal == model.log_marginal


def test_unused_parents_are_told_and_dropped():
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    y = np.where(rng.random(300) < 0.1, 0, a % 2)
    table = an.Table({"y": y.astype(str), "a": a.astype(str), "b": b.astype(str)})
    model = an.local_model(table, "y", ["a", "b"], an.DecisionGraph(kappa=0.1))
    assert model.unused == ["b"]
    fewer = model.without_unused()
    assert fewer.parents == ["a"]
    assert fewer.unused == []
    for level in "012":
        assert fewer.distribution({"a": level}) == model.distribution({"a": level, "b": "0"})


def test_the_picture_shows_each_leaf_once_and_every_way(xor, tmp_path):
    model = an.local_model(xor, "y", ["a", "b", "c"], an.DecisionGraph())
    scene = tree_scene(Tree.of(model.description))
    roles = [group.role for group in scene.groups]
    assert roles.count("leaf") == model.n_leaves
    assert roles.count("again") == model.text().count("(shared)") > 0
    for mark in (mark for group in scene.groups for mark in group.marks):
        for x, y in getattr(mark, "points", None) or [(mark.x, mark.y)]:
            assert -1 <= x <= scene.width + 1
            assert -1 <= y <= scene.height + 1
    assert "Decision graph" in tree_svg(model.description)
    for path in (tmp_path / "graph.svg", tmp_path / "graph.png"):
        model.draw(path)
        assert path.stat().st_size > 1000
    net = an.fit(xor, nx.DiGraph([("a", "y"), ("b", "y"), ("c", "y")]), an.DecisionGraph())
    net.report(tmp_path / "net.html")
    assert "Decision graph of y" in (tmp_path / "net.html").read_text("utf-8")


def test_numbers_and_grades_are_split_by_threshold_if_asked():
    frame = an.example("patients").drop_nulls()
    table = an.Table(frame)
    with pytest.raises(an.ColumnError, match="thresholds"):
        an.local_score(table, "readmitted", ["age"], an.DecisionGraph())
    score = an.DecisionGraph(thresholds=True)
    model = an.local_model(table, "diabetes", ["age", "bmi", "glucose"], score)
    assert any(condition.low is not None for leaf in model.leaves for condition in leaf.conditions)
    assert sum(leaf.n for leaf in model.leaves) == table.n_rows
    with pytest.raises(an.ColumnError, match="needs levels"):
        an.local_score(table, "age", ["diabetes"], score)


def test_the_combined_search_keeps_exactly_its_graphs(survey):
    score = an.DecisionGraph()
    found = an.search.decision_graphs(survey, score)
    assert found.stopped == "finished"
    assert nx.is_directed_acyclic_graph(found.dag)
    assert found.score == pytest.approx(sum(model.log_marginal for model in found.models.values()))
    for net in (found.network, an.fit(survey, found, score)):
        assert all(net[name] == found.models[name] for name in survey.names)
        assert set(net.graph.edges) == set(found.dag.edges)
        assert net.graph.nodes["transport"]["score"] == found.models["transport"].log_marginal
    # Another score means other models under the same graph.
    other = an.fit(survey, found, an.DecisionGraph("B"))
    assert set(other.graph.edges) == set(found.dag.edges)
    empty = sum(an.local_score(survey, name, [], score) for name in survey.names)
    assert found.score > empty


def test_a_network_of_decision_graphs_goes_the_whole_road(survey, tmp_path):
    net = an.search.decision_graphs(survey, an.DecisionGraph(prior=5)).network
    frame = an.example("survey")
    assert np.isfinite(net.log_likelihood(frame.drop_nulls())).all()
    shares = net.predict_proba(frame.head(50), "transport")
    assert np.allclose(shares.sum_horizontal(), 1)
    assert net.sample(20, seed=1).shape == (20, len(net.names))
    net.save(tmp_path / "net.json")
    back = an.load(tmp_path / "net.json")
    assert back == net
    assert back["transport"].text() == net["transport"].text()
    assert "transport" in str(net.explain("transport"))
    net.to_bif(tmp_path / "net.bif")
    read = an.read_bif(tmp_path / "net.bif")
    assert np.allclose(read.predict_proba(frame.head(20), "transport"), net.predict_proba(frame.head(20), "transport"))


def test_threads_change_nothing(survey):
    one = an.search.decision_graphs(survey, n_jobs=1)
    two = an.search.decision_graphs(survey, n_jobs=2)
    assert one.handle.to_json() == two.handle.to_json()
    assert one.score == two.score


def test_constraints_bind_the_combined_search(survey):
    rules = an.Constraints(
        required=[("stress", "age")], forbidden=[("area", "transport")], tiers=[["age"], ["income"]], max_parents=2
    )
    with pytest.raises(an.ParameterError):
        an.search.decision_graphs(survey, constraints=an.Constraints(required=[("age", "nobody")]))
    for drop in (False, True):
        found = an.search.decision_graphs(survey, constraints=rules, drop_unused=drop)
        assert found.dag.has_edge("stress", "age")
        assert not found.dag.has_edge("area", "transport")
        assert not found.dag.has_edge("income", "age")
        assert max(degree for _, degree in found.dag.in_degree()) <= 2
        if drop:
            assert set(found.unused) <= {"age"}
    limited = an.search.decision_graphs(survey, max_parents=1, max_steps=4)
    assert limited.details["steps"] == 4
    assert max(degree for _, degree in limited.dag.in_degree()) <= 1


def test_mistakes_are_told():
    numbers = an.Table({"x": [0.5 * i for i in range(40)], "y": list("ab") * 20})
    with pytest.raises(an.ColumnError, match="'x'"):
        an.search.decision_graphs(numbers)
    with pytest.raises(an.ParameterError, match="DecisionGraph"):
        an.search.decision_graphs(an.Table({"y": list("ab") * 20}), an.K2())
    with pytest.raises(an.ParameterError, match="max_steps"):
        an.search.decision_graphs(an.Table({"y": list("ab") * 20}), max_steps=-1)


def test_learn_and_the_shell_grow_decision_graphs(tmp_path, monkeypatch, capsys):
    from arbornet.cli import main

    monkeypatch.chdir(tmp_path)
    frame = an.example("survey").select("age", "area", "cars", "transport").drop_nulls()
    frame.write_csv("survey.csv")
    net = an.learn(frame, search="decision_graphs", verbose=False)
    told = ["--quiet", "--json", "-o", "net.json"]
    main(["learn", "survey.csv", "--score", "decision-graph", "--search", "decision_graphs", *told])
    assert json.loads(capsys.readouterr().out)["score"] == pytest.approx(net.origin.search["score"])
    assert an.load("net.json")["transport"] == net["transport"]
    main(["learn", "survey.csv", "--score", "decision-graph('BM', prior=10)", *told])
    assert json.loads(an.load("net.json").origin.score)["operators"] == "BM"


def big():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 3, (200_000, 60))
    for v in range(2, 60):
        mix = rng.random(len(base)) < 0.7
        base[:, v] = np.where(mix, (base[:, v - 1] + base[:, v - 2]) % 3, base[:, v])
    return an.Table({f"v{v}": base[:, v] for v in range(60)}, schema=None)


def test_a_time_limit_and_ctrl_c_end_it_soon_with_what_there_is():
    table = big()
    limited = an.search.decision_graphs(table, time_limit=0.0)
    assert limited.stopped == "time"
    assert nx.is_directed_acyclic_graph(limited.dag)
    with ctrl_c(0.7) as pressed:
        found = an.search.decision_graphs(table, n_jobs=1)
        # A loaded machine counts its seconds slowly; alone this returns within a tenth of one after the signal.
        assert pressed.ago() < 10
    assert found.stopped == "interrupted"
    assert nx.is_directed_acyclic_graph(found.dag)


@pytest.mark.parametrize(
    "columns",
    [
        {"x": ["a"] * 6, "y": list("uvuvuv")},
        {"x": ["a"], "y": ["u"]},
        {"x": ["a"] * 5, "y": ["u"] * 5},
    ],
    ids=["one level", "one row", "constant"],
)
def test_degenerate_tables_are_answered(columns):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        schema = an.infer_schema(columns).with_types(dict.fromkeys(columns, "categorical"))
    table = an.Table(columns, schema=schema)
    found = an.search.decision_graphs(table)
    assert found.dag.number_of_edges() == 0
    model = an.local_model(table, "x", ["y"], an.DecisionGraph())
    assert model.n_leaves >= 1


def test_levels_never_seen_are_predicted():
    schema = an.infer_schema({"y": list("uuvv"), "x": list("aabb")}).with_types(
        y=an.Categorical(["u", "v", "w"]), x=an.Categorical(["a", "b", "never"])
    )
    table = an.Table({"y": list("uuvv") * 10, "x": list("aabb") * 10}, schema=schema)
    for operators in ("C", "B", "CBM"):
        model = an.local_model(table, "y", ["x"], an.DecisionGraph(operators))
        shares = model.distribution({"x": "never"}).probabilities
        assert math.isclose(sum(shares.values()), 1)
        assert all(p > 0 for p in shares.values())


def test_the_promoters_come_out_as_printed_from_python():
    frame = pl.read_csv(DATA / "chickering" / "promoters.csv.gz", infer_schema=False)
    table = an.Table(frame, schema=an.infer_schema(frame).with_types(dict.fromkeys(frame.columns, "categorical")))
    bases = [name for name in frame.columns if name != "class"]

    def score(**parameters):
        return an.local_model(table, "class", bases, an.DecisionGraph(**parameters)).log_marginal

    low = score(operators="C")
    assert low == pytest.approx(-34.09, abs=0.005)
    assert score(operators="BM") == pytest.approx(-2 * math.log(54), abs=1e-9)
    assert score() - low == pytest.approx(22.13, abs=0.01)
    assert score(schedule="splits_first") - low == pytest.approx(26.12, abs=0.01)
