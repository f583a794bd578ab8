"""Rows with missing values are learned from: `missing="learn"`, its draws, its rounds and what they are told as."""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import sys

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.gaps import rounds, with_families
from arbornet.gaps.draws import Completion
from arbornet.gaps.last import fitted, repeated
from arbornet.gaps.start import available
from arbornet.graphs.constraints import resolved
from interrupting import SOON, ctrl_c
from places import NETWORKS


def whole(n=300, seed=0):
    """Rows without gaps: a number and two levels that depend on one another, and noise."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    size = 2.0 * sex + rng.normal(size=n)
    dose = np.where(size > 1, rng.random(n) < 0.85, rng.random(n) < 0.15)
    return pl.DataFrame(
        {
            "sex": np.array(["f", "m"])[sex],
            "size": size.round(3),
            "dose": np.array(["low", "high"])[dose.astype(int)],
            "noise": rng.normal(size=n).round(3),
        }
    )


def blanked(frame, share=0.2, seed=1, columns=None):
    """The frame with cells blank at random."""
    rng = np.random.default_rng(seed)
    gone = {
        name: rng.random(len(frame)) < (share if columns is None or name in columns else 0) for name in frame.columns
    }
    return frame.with_columns(
        [pl.when(pl.Series(gone[name])).then(None).otherwise(pl.col(name)).alias(name) for name in frame.columns]
    )


def learned(frame, **how):
    return an.learn(frame, **{"max_parents": 2, "verbose": False, "effort": "quick", **how})


def test_without_gaps_the_network_is_that_of_dropping_rows_to_the_byte():
    frame = whole()
    for missing in ("learn", "indicator", None):
        told, dropped = (learned(frame, missing=way) for way in (missing, "drop"))
        assert told.handle.to_json() == dropped.handle.to_json()
        assert told.origin.family_scores == dropped.origin.family_scores
        assert not told.origin.gaps


def test_a_row_without_any_value_changes_nothing():
    frame = blanked(whole())
    more = pl.concat([frame, pl.DataFrame({name: [None] * 3 for name in frame.columns}, schema=frame.schema)])
    assert learned(more).handle == learned(frame).handle
    only = pl.concat([whole(), pl.DataFrame({name: [None] for name in frame.columns}, schema=frame.schema)])
    assert learned(only, missing="learn").handle == learned(whole()).handle


def test_rows_with_gaps_are_used_and_it_is_said(capsys):
    frame = blanked(whole())
    net = an.learn(frame, max_parents=2, effort="quick")
    said = " ".join(capsys.readouterr().out.split())
    n = frame.filter(pl.any_horizontal(pl.all().is_null())).height
    assert f"rows: 300 used; {n} rows with missing values kept (" in said
    assert "missing values: " in said
    assert "round 1: score -" in said
    assert "missing information: " in said
    assert "for the rows as they were completed last" in said
    assert net.origin.n_rows == 300
    assert net.origin.gaps["rows"] == n
    assert net.origin.gaps["missing"] == {name: frame[name].null_count() for name in frame.columns}


def test_few_rows_with_gaps_are_dropped_unless_asked_for():
    frame = whole().with_columns(pl.when(pl.int_range(300) < 3).then(None).otherwise(pl.col("size")).alias("size"))
    assert learned(frame).origin.n_rows == 297
    assert learned(frame, missing="learn").origin.n_rows == 300


def test_the_true_arcs_are_found_that_dropping_rows_loses():
    frame = blanked(whole(200), 0.5)
    found = {frozenset(arc) for arc in learned(frame).graph.edges}
    assert found >= {frozenset(("sex", "size")), frozenset(("size", "dose"))}
    dropped = {frozenset(arc) for arc in learned(frame, missing="drop").graph.edges}
    assert not dropped >= {frozenset(("sex", "size")), frozenset(("size", "dose"))}


def test_the_result_is_the_same_at_any_number_of_threads_and_for_any_order_of_rows():
    frame = blanked(whole(200))
    one, many = (learned(frame, n_jobs=jobs) for jobs in (1, 7))
    assert one.handle.to_json() == many.handle.to_json()
    assert one.origin.gaps == many.origin.gaps
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=5)
    assert learned(shuffled).handle.to_json() == one.handle.to_json()


BLANKS = {
    "polars": lambda columns: pl.DataFrame(columns),
    "None": lambda columns: columns,
    "NaN": lambda columns: pd.DataFrame(columns),
    "pandas NA": lambda columns: pd.DataFrame(columns).convert_dtypes(),
}


@pytest.mark.parametrize("kind", BLANKS)
def test_every_frames_blanks_are_gaps(kind):
    frame = blanked(whole(120), 0.15)
    columns = {name: frame[name].to_list() for name in frame.columns}
    net = learned(BLANKS[kind](columns))
    assert net.handle.to_json() == learned(frame).handle.to_json()
    assert net.origin.gaps["missing"] == {name: frame[name].null_count() for name in frame.columns}


def test_a_missing_date_is_a_gap():
    days = [datetime.datetime(2020, 1, 1) + datetime.timedelta(days=7 * i) for i in range(60)]
    stays = ["long" if i % 3 else "short" for i in range(60)]
    frame = pd.DataFrame({"day": pd.Series(days).where(np.arange(60) % 5 > 0), "stay": stays})
    assert frame["day"].isna().sum() == 12  # NaT
    net = learned(frame)
    assert net.origin.gaps["missing"] == {"day": 12}
    assert net.impute(frame)["day"].notna().all()


@pytest.mark.parametrize("where", [["sex"], ["dose"]])
def test_gaps_only_in_a_parent_or_only_in_a_child(where):
    net = learned(blanked(whole(), 0.4, columns=where))
    assert {frozenset(arc) for arc in net.graph.edges} >= {frozenset(("sex", "size")), frozenset(("size", "dose"))}
    assert list(net.origin.gaps["missing"]) == where


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_a_column_without_any_value_is_left_out_or_named():
    frame = blanked(whole(100)).with_columns(pl.lit(None, dtype=pl.Float64).alias("empty"))
    assert "empty" not in learned(frame).names
    with pytest.raises(an.ColumnError, match=r"'empty'.*no value"):
        learned(frame, schema=an.infer_schema(frame).with_types(empty="continuous"))


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_a_column_with_one_value_ends_in_a_network():
    frame = blanked(whole(100)).with_columns(
        pl.Series("once", [1.5] + [None] * 99), pl.Series("said", ["yes"] + [None] * 99)
    )
    schema = an.infer_schema(frame).with_types(once="continuous", said="categorical")
    net = learned(frame, schema=schema)
    assert net.origin.n_rows == frame.filter(~pl.all_horizontal(pl.all().is_null())).height
    assert net.impute(frame)["once"].to_list() == [1.5] * 100


def test_a_table_in_which_no_row_is_complete_is_learned_from():
    frame = whole(200)
    columns = frame.columns
    holes = [
        pl.when(pl.int_range(200) % 4 == i).then(None).otherwise(pl.col(c)).alias(c) for i, c in enumerate(columns)
    ]
    net = learned(frame.with_columns(holes))
    assert {frozenset(arc) for arc in net.graph.edges} >= {frozenset(("size", "dose"))}


def test_draws_follow_the_conditional_distribution():
    net = an.fit(an.Table(whole(2000)), nx.DiGraph([("sex", "size"), ("size", "dose")]), an.PCART())
    rows = pl.DataFrame(
        {"sex": [None] * 20_000, "size": [None] * 20_000, "dose": ["high"] * 20_000, "noise": [0.0] * 20_000}
    )
    drawn = net.impute(rows)
    asked = net.query("sex", given={"dose": "high"})
    expected = dict(asked.select("sex", "probability").iter_rows())
    share = (drawn["sex"] == "m").mean()
    assert share == pytest.approx(expected["m"], abs=5 * math.sqrt(0.25 / len(drawn)))
    for p, value in net.query("size", given={"dose": "high"}).select("quantile", "size").iter_rows():
        assert (drawn["size"] < value).mean() == pytest.approx(p, abs=0.02)


def test_a_start_by_available_cases_keeps_an_independent_parent_with_gaps_out():
    wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        frame = pl.DataFrame({"x": rng.integers(0, 2, 400).astype(str), "y": rng.integers(0, 2, 400).astype(str)})
        gaps = Incomplete(blanked(frame, 0.3, seed, ["x"]))
        rules = resolved(None, gaps.names)
        candidates = available(gaps, an.BDeu(1), rules, 2, 1e9, 1)
        wrong += candidates.child("y")["parents"][0].to_list() != []
    assert wrong <= 2


def test_arcs_that_the_start_misses_are_found_as_rows_are_drawn_with_more_arcs(monkeypatch):
    network = an.read_bif(NETWORKS / "sachs.bif.gz")

    def wrong():
        n = 0
        for seed in range(4):
            frame = network.sample(1000, seed=seed)
            names = np.random.default_rng(seed).permutation(frame.columns)[:5].tolist()
            net = an.learn(blanked(frame, 0.5, seed, names), an.BIC(), "boss", verbose=False)
            n += an.metrics.shd(network.graph, net.graph)
        return n

    counted = wrong()
    monkeypatch.setattr(rounds, "times", lambda gaps: 1)
    assert counted < 0.7 * wrong()


def test_rows_are_counted_as_often_as_their_weights_say():
    frame, w = weighted()
    repeated_rows = frame[np.repeat(np.arange(len(frame)), w).tolist()]
    assert rounds.times(Incomplete(frame, weights=w)) == rounds.times(Incomplete(repeated_rows)) > 1
    counted = Incomplete(frame, weights=w).counted(3)
    assert counted.weight_of(counted.known[0]) == 3 * w[frame["sex"].is_not_null().to_numpy()].sum()


def test_a_start_of_complete_rows_is_what_scores_say():
    gaps = Incomplete(whole())
    candidates = available(gaps, an.PCART(), resolved(None, gaps.names), 1, 1e12, 1)
    for parents, score in candidates.child("size").iter_rows():
        assert score == pytest.approx(an.local_score(an.Table(whole()), "size", parents, an.PCART()), rel=1e-12)


def test_constraints_hold_in_every_round_and_at_the_end():
    frame = blanked(whole())
    rules = an.Constraints(required=[("noise", "dose")], forbidden=[("size", "dose")])
    net = learned(frame, constraints=rules)
    assert net.graph.has_edge("noise", "dose")
    assert not net.graph.has_edge("size", "dose")


@pytest.mark.parametrize(
    "score", [an.FullTable(), an.ConditionalGaussian(), an.DegenerateGaussian(), an.MARS(), an.BlockGaussian()]
)
def test_other_scores_learn_from_gaps_too(score):
    net = learned(blanked(whole(150)), score=score, max_parents=1)
    assert net.origin.n_rows == 150
    assert np.isfinite(net.log_likelihood(blanked(whole(20, 3)))).all()


@pytest.mark.parametrize("search", ["hill_climb", "boss", "chow_liu", "anytime"])
def test_every_kind_of_search_learns_from_gaps(search):
    net = learned(blanked(whole(150)), search=search)
    assert net.origin.n_rows == 150
    assert net.origin.gaps["rounds"] >= 1


def test_a_score_without_models_is_refused_before_the_start():
    called = []
    score = an.CustomScore(lambda table, child, parents: called.append(child) or -float(len(parents)))
    with pytest.raises(an.ArbornetError, match="model"):
        learned(blanked(whole(50)), score=score)
    assert not called


def test_an_interrupted_call_returns_the_network_of_the_last_round(monkeypatch, capsys):
    frame = blanked(whole())
    one = rounds._Rounds._round
    done = []

    def second_is_interrupted(self, budget):
        if done:
            raise KeyboardInterrupt
        one(self, budget)
        done.append(self.net.handle.to_json())

    monkeypatch.setattr(rounds._Rounds, "_round", second_is_interrupted)
    net = an.learn(frame, max_parents=2, effort="quick")
    assert net.handle.to_json() == done[0]
    assert net.origin.gaps["ended"] == "interrupted"
    assert "interrupted: the network is that of round 1" in capsys.readouterr().out


def test_ctrl_c_ends_the_rounds_within_a_second():
    frame = blanked(pl.DataFrame({f"x{i}": np.random.default_rng(i).normal(size=2000) for i in range(12)}), 0.1)
    schema = an.infer_schema(frame)
    with ctrl_c(1.0) as pressed:
        with contextlib.suppress(KeyboardInterrupt):  # before the first round has ended there is nothing to return
            an.learn(frame, schema=schema, verbose=False, effort="thorough")
        waited = pressed.ago()
    assert waited < SOON


def test_rounds_go_on_from_a_checkpoint_to_the_same_bytes(tmp_path, monkeypatch, capsys):
    frame = blanked(whole())
    straight = an.learn(frame, max_parents=2, checkpoint=tmp_path / "a", verbose=False)
    one = rounds._Rounds._round

    def second_fails(self, budget):
        if self.scores:
            raise an.ArbornetError("the power went")
        one(self, budget)

    with monkeypatch.context() as broken:
        broken.setattr(rounds._Rounds, "_round", second_fails)
        with pytest.raises(an.ArbornetError, match="power"):
            an.learn(frame, max_parents=2, checkpoint=tmp_path / "b", verbose=False)
    again = an.learn(frame, max_parents=2, checkpoint=tmp_path / "b")
    assert "going on after round 1" in capsys.readouterr().out
    assert again.handle.to_json() == straight.handle.to_json()
    assert again.origin.gaps == straight.origin.gaps
    with pytest.raises(an.ArbornetError, match="another table"):
        an.learn(frame.head(200), max_parents=2, checkpoint=tmp_path / "b", verbose=False)


def test_what_is_missing_is_in_the_file_and_in_the_report(tmp_path):
    frame = blanked(whole())
    net = learned(frame)
    net.save(tmp_path / "net.json")
    assert an.load(tmp_path / "net.json") == net
    net.report(tmp_path / "net.html", frame)
    page = (tmp_path / "net.html").read_text("utf-8")
    share = frame["size"].null_count() / 300
    information = net.origin.gaps["information"]["size"]
    assert f"{share:.0%} of the values missing, {information:.0%} of the information" in page
    told = json.loads((tmp_path / "net.json").read_text("utf-8"))
    told["origin"]["gaps"]["missing"]["size"] = "many"
    (tmp_path / "bad.json").write_text(json.dumps(told), "utf-8")
    with pytest.raises(an.FormatError, match=r"gaps\.missing"):
        an.load(tmp_path / "bad.json")


def test_missing_information_is_none_for_what_others_tell_and_all_for_what_they_do_not():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 500)
    frame = pl.DataFrame(
        {"a": a.astype(str), "twin": (1 - a).astype(str), "alone": rng.integers(0, 2, 500).astype(str)}
    )
    gone = pl.int_range(500) < 100
    frame = frame.with_columns(
        [pl.when(gone).then(None).otherwise(pl.col(name)).alias(name) for name in ("twin", "alone")]
    )
    told = learned(frame, missing="learn").origin.gaps["information"]
    assert told["twin"] < 0.02
    assert told["alone"] == pytest.approx(0.2, abs=0.02)


def test_missing_information_is_rubins_fraction_of_a_regression_estimate():
    """Against the variances of estimates of a mean, over many tables: of whole columns, and by regression on a twin."""
    rng = np.random.default_rng(4)
    n, m = 400, 60
    whole_, by_twin = [], []
    for _ in range(3000):
        x = rng.normal(size=n)
        y = x + 0.7 * rng.normal(size=n)
        slope, constant = np.polyfit(x[:m], y[:m], 1)
        whole_.append(y.mean())
        by_twin.append(constant + slope * x.mean())
    fraction = 1 - np.var(whole_) / np.var(by_twin)
    x = rng.normal(size=n)
    y = x + 0.7 * rng.normal(size=n)
    frame = pl.DataFrame({"x": x, "y": [value if i < m else None for i, value in enumerate(y)]})
    net = learned(frame, missing="learn")
    assert net.origin.gaps["information"]["y"] == pytest.approx(fraction, abs=0.08)


def test_an_indicator_says_where_a_column_is_missing():
    frame = whole(400)
    gone = (frame["sex"] == "m") & (pl.Series(np.random.default_rng(0).random(400) < 0.7))
    frame = frame.with_columns(
        pl.when(gone).then(None).otherwise(pl.col("noise")).alias("noise"),
        pl.when(gone).then(None).otherwise(pl.col("dose")).alias("dose"),
    )
    net = learned(frame, missing="indicator")
    assert net.names == [*frame.columns, "dose missing"]  # both are missing in the same rows
    assert net.graph.has_edge("sex", "dose missing") or net.graph.has_edge("dose missing", "sex")
    chance = net.query({"dose missing": "yes"}, given={"sex": "m"})
    assert chance == pytest.approx(gone.sum() / (frame["sex"] == "m").sum(), abs=0.05)


def test_a_way_that_does_not_exist_is_refused():
    with pytest.raises(an.ParameterError, match=r"missing='guess'.*'learn'"):
        learned(whole(), missing="guess")
    with pytest.raises(an.ParameterError, match="missing='learn'"):
        an.Table(whole(), missing="learn")


def test_the_score_of_the_graph_stays_when_more_is_looked_at():
    frame = blanked(whole())
    net = learned(frame)
    gaps = rows_of(frame, an.infer_schema(frame))
    completion = Completion(gaps, 1)
    table = completion.table(completion.drawn(net.handle)[0])
    assert table.n_rows == 300
    observed = frame["size"].is_not_null()
    kept = table.to_polars()["size"].filter(observed)
    assert np.allclose(kept, frame["size"].filter(observed))


def test_a_plan_counts_all_rows_that_are_learned_from():
    frame = whole(200)
    hole = pl.int_range(200) % 4
    holes = [pl.when(hole == i).then(None).otherwise(c).alias(c) for i, c in enumerate(frame.columns)]
    planned = an.plan(frame.with_columns(holes))  # not one row is complete
    assert planned.n_sets == an.plan(frame).n_sets


def test_the_last_fit_shares_the_weight_of_a_row_among_its_draws():
    graph = nx.DiGraph([("sex", "size"), ("size", "dose")])
    net = an.fit(an.Table(whole()), graph, an.PCART())
    gaps = Incomplete(blanked(whole()))
    completion = Completion(gaps, 1)
    copies = completion.drawn(net.handle, 10)
    table = repeated(gaps, completion, copies)
    complete = int(gaps.complete().sum())
    assert 0 < complete < gaps.n_rows and table.n_rows == complete + 10 * (gaps.n_rows - complete)
    assert table.total_weight == pytest.approx(gaps.n_rows, rel=1e-12)
    last = fitted(gaps, completion, net.handle, an.PCART(), copies, 1)
    assert [last.parents(v) for v in range(len(gaps.names))] == [net.handle.parents(v) for v in range(len(gaps.names))]
    assert last.to_json() != net.handle.to_json()
    for score in (an.FullTable(), an.MARS(), an.LogisticRegression()):
        one = an.fit(completion.table(copies[0]), graph, score)
        assert fitted(gaps, completion, one.handle, score, copies, 1).to_json() != one.handle.to_json()
    # One that takes whole weights only keeps the models of one draw.
    whole_only = an.FullTable(published=True)
    plain = an.fit(completion.table(copies[0]), graph, whole_only)
    assert fitted(gaps, completion, plain.handle, whole_only, copies, 1) is plain.handle


def weighted(seed=0):
    """Rows with gaps and whole weights, some of them 0."""
    frame = blanked(whole(200, seed))
    return frame, np.random.default_rng(seed).integers(0, 4, 200)


def test_weights_stand_beside_gaps(capsys):
    frame, w = weighted()
    net = an.learn(frame.with_columns(w=pl.Series(w)), max_parents=2, effort="quick", weights="w")
    said = " ".join(capsys.readouterr().out.split())
    assert f"weights sum to {w.sum()}; {(w == 0).sum()} rows of weight 0 left out" in said
    assert "rows with missing values kept" in said
    assert net.names == frame.columns
    assert net.origin.n_rows == (w > 0).sum()
    assert net.origin.weights["total"] == w.sum()
    kept = frame.filter(pl.Series(w > 0))
    assert net.origin.gaps["missing"] == {name: kept[name].null_count() for name in frame.columns}
    assert {frozenset(arc) for arc in net.graph.edges} >= {frozenset(("sex", "size")), frozenset(("size", "dose"))}


def test_the_start_with_weights_is_that_of_repeated_rows():
    frame, w = weighted()
    schema = an.infer_schema(frame)
    one = Incomplete(frame, schema, weights=w)
    other = Incomplete(frame[np.repeat(np.arange(200), w)], schema)
    assert [column.scale for column in one.schema.used] == [column.scale for column in other.schema.used]
    rules = resolved(None, one.names)
    found = [available(gaps, an.PCART(), rules, 2, math.inf, 1) for gaps in (one, other)]
    for v in range(4):
        children = [candidates.handle.child(v) for candidates in found]
        np.testing.assert_allclose(children[0][0], children[1][0], rtol=1e-9)
        assert [list(part) for part in children[0][1:]] == [list(part) for part in children[1][1:]]


def test_equal_weights_are_no_weights_and_the_unit_of_a_survey_says_nothing():
    frame, w = weighted()
    ones = learned(frame, weights=np.ones(200))
    assert ones.handle.to_json() == learned(frame).handle.to_json()
    assert learned(frame, weights=np.full(200, 9.0), weights_are="survey").handle.to_json() == ones.handle.to_json()
    one, other = (learned(frame, weights=w * unit, weights_are="survey") for unit in (1.0, 8.0))
    assert one.handle == other.handle


def test_a_rows_draws_share_its_weight():
    frame, w = weighted()
    gaps = Incomplete(frame, weights=w + 0.5)
    completion = Completion(gaps, 1)
    net = learned(whole(200))
    network = an.fit(gaps.as_if_complete(), net.graph, an.PCART()).handle
    table = repeated(gaps, completion, completion.drawn(network, 10))
    assert table.total_weight == pytest.approx((w + 0.5).sum(), rel=1e-12)
    n_whole = int(gaps.complete().sum())
    np.testing.assert_allclose(table.weights[:n_whole], (w + 0.5)[gaps.complete()])
    draws = table.weights[n_whole:].reshape(10, -1)
    np.testing.assert_allclose(draws, np.tile((w + 0.5)[~gaps.complete()] / 10, (10, 1)))


def test_weights_that_a_score_does_not_take_are_refused_before_the_start():
    frame, w = weighted()
    with pytest.raises(an.ParameterError, match="score=full_table: takes rows with weights only"):
        learned(frame, score=an.FullTable(published=True), weights=w + 0.5)
    assert learned(frame, score=an.FullTable(published=True), weights=w).origin.gaps["rows"] > 0


def test_the_graph_of_the_last_round_is_among_what_the_last_search_looks_at():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    table = an.Table({"a": ["xy"[i] for i in a], "b": ["xy"[i] for i in b], "c": ["xy"[i] for i in a ^ b]})
    score = an.BDeu()
    few = an.score_parents(table, score, 1)  # single parents of c tell nothing
    assert an.search.exact(few).dag.number_of_edges() == 0
    more = with_families(few, table, score, [[], [], [0, 1]])
    found = an.search.exact(more)
    assert set(found.dag.edges) == {("a", "c"), ("b", "c")}
    of_graph = sum(an.local_score(table, name, of, score) for name, of in [("a", []), ("b", []), ("c", ["a", "b"])])
    assert found.score == pytest.approx(of_graph)
    assert with_families(few, table, score, [[], [0], []]) is few  # a lower score than without
    whole_sets = an.score_parents(table, score, 2)
    assert with_families(whole_sets, table, score, [[], [], [0, 1]]) is whole_sets


def test_the_last_search_is_given_the_last_rounds_graph(monkeypatch):
    given_to = []

    def spied(candidates, table, score, families):
        given_to.append([list(of) for of in families])
        return with_families(candidates, table, score, families)

    monkeypatch.setattr(sys.modules["arbornet.learn"], "with_families", spied)
    learned(blanked(whole(150)))
    assert len(given_to) == 1
    assert len(given_to[0]) == 4
