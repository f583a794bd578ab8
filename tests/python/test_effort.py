"""A budget of counted steps for scoring and searching: it always ends, and the same everywhere."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arbornet as an
from arbornet._core import score_within, threads
from arbornet.graphs.constraints import resolved
from arbornet.scores.prepare import prepared
from arbornet.search.exact import exact
from arbornet.search.within import within
from arbornet.step1.effort import BUDGETS, CELL, Budget, budget_of, foreseen, seconds_a_step
from places import DATA


def _of(steps: float) -> Budget:
    return dataclasses.replace(BUDGETS["quick"], scoring=int(steps), sampling=1_000_000)


def _simulated(n_variables: int, n_rows: int, **wanted: Any) -> an.Table:
    made = an.simulate.network(n_variables, n_rows, arcs_per_node=1.3, seed=3, **wanted)
    return an.Table(made.frame, schema=made.schema)


def test_whatever_the_number_of_threads_a_budget_gives_the_same_bytes() -> None:
    table = _simulated(12, 200)
    one, eight = (an.score_parents(table, an.PCART(), "auto", n_jobs=n, effort=_of(3e7)) for n in (1, 8))
    assert one == eight
    assert one.given_up == eight.given_up
    assert one.n_evaluated == eight.n_evaluated
    assert one.given_up, "the budget is too large for this test"


@pytest.mark.parametrize("score", [an.PCART(), an.scores.BIC()], ids=["PCART", "BIC"])
def test_a_budget_that_suffices_gives_what_all_sets_give(score: Any) -> None:
    table = _simulated(7, 100, numbers=0.4 if isinstance(score, an.PCART) else 0.0)
    within_budget = an.score_parents(table, score, "auto", effort="quick")
    whole = an.score_parents(table, score, 4)
    assert within_budget == whole
    assert (within_budget.n_sets, within_budget.given_up) == (whole.n_sets, ())


def test_required_and_forbidden_arcs_hold_within_a_budget() -> None:
    table = _simulated(7, 100)
    rules = an.Constraints(required=[("X1", "X2")], forbidden=[("X3", "X4")], max_parents={"X5": 1})
    whole = an.score_parents(table, an.PCART(), 4, rules)
    assert an.score_parents(table, an.PCART(), "auto", rules, effort="quick") == whole
    few = an.score_parents(table, an.PCART(), "auto", rules, effort=_of(3e6))
    assert few.given_up
    assert all("X1" in parents for parents in few.child("X2")["parents"])
    assert not any("X3" in parents for parents in few.child("X4")["parents"])


def test_hundreds_of_columns_get_parents_and_what_was_left_out_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    base = rng.normal(size=(100, 100))
    frame = {f"a{i}": base[:, i] for i in range(100)} | {f"b{i}": base[:, i] + 0.1 for i in range(100)}
    frame = {name: values + 0.2 * rng.normal(size=100) for name, values in frame.items()}
    candidates = an.score_parents(an.Table(frame), an.PCART(), "auto", effort=_of(6e8))
    firsts = [candidates.child(name)["parents"][0].to_list() for name in frame]
    assert all(firsts), "a child without any parents"
    assert sum(f"{'ba'[name[0] == 'b']}{name[1:]}" in first for name, first in zip(frame, firsts, strict=True)) > 180
    assert "parent sets of two" in candidates.given_up[0]
    assert "the most promising" in candidates.given_up[0]


def test_more_columns_than_rows_end_within_a_budget() -> None:
    table = an.Table({f"x{i}": np.random.default_rng(i).normal(size=12) for i in range(40)})
    candidates = an.score_parents(table, an.PCART(), "auto", effort=_of(3e7))
    assert within(candidates, 1e8).dag.number_of_nodes() == 40


def test_a_dear_column_among_cheap_ones_costs_the_cheap_ones_nothing() -> None:
    rng = np.random.default_rng(1)
    cheap = {f"x{i}": rng.integers(0, 2, 500).astype(str) for i in range(6)}
    dear = {"dear": np.array(list("abcdefghijklmnop"))[rng.integers(0, 16, 500)]}
    cheap["y"] = np.where(rng.random(500) < 0.9, cheap["x0"], cheap["x1"])
    alone = an.score_parents(an.Table(cheap), an.PCART(penalised=False), 4)
    candidates = an.score_parents(an.Table(cheap | dear), an.PCART(penalised=False), "auto", effort=_of(2e8))
    for name in cheap:
        sets = candidates.child(name)
        without = sets.filter(~sets["parents"].list.contains("dear"))
        assert without["score"].to_list() == alone.child(name)["score"].to_list()


def test_a_cheap_column_among_dear_ones_gets_its_parents() -> None:
    rng = np.random.default_rng(2)
    levels = np.array(list("abcdefghijkl"))
    dear = {f"d{i}": levels[rng.integers(0, 12, 400)] for i in range(5)}
    frame = dear | {"x": rng.normal(size=400)}
    frame["y"] = frame["x"] + 0.1 * rng.normal(size=400)
    candidates = an.score_parents(an.Table(frame), an.PCART(), "auto", effort=_of(1e8))
    assert candidates.child("y")["parents"][0].to_list() == ["x"]


def test_a_budget_too_small_for_single_parents_says_so_and_what_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    table = _simulated(30, 200)
    net = an.learn(table, effort=_of(1e6))
    assert net.graph.number_of_nodes() == 30
    told = " ".join(capsys.readouterr().out.split())
    assert "left out: of the 870 parent sets of one" in told
    assert 'to look at more: effort="normal"' in told
    assert "that were looked at" in told


def test_many_rows_and_columns_are_screened_by_some_of_the_rows() -> None:
    rng = np.random.default_rng(4)
    base = rng.normal(size=(20_000, 15))
    frame = {f"a{i}": base[:, i] for i in range(15)}
    frame |= {f"b{i}": base[:, i] + 0.3 * rng.normal(size=20_000) for i in range(15)}
    table = an.Table(frame)
    candidates = an.score_parents(table, an.PCART(), "auto", effort=_of(2e8))
    assert "parent sets of one" in candidates.given_up[0]
    assert all(candidates.child(f"b{i}")["parents"][0].to_list()[:1] == [f"a{i}"] for i in range(15))
    again = an.Table({name: values[::-1] for name, values in frame.items()})
    assert an.score_parents(again, an.PCART(), "auto", effort=_of(2e8)) == candidates


def test_a_search_within_enough_steps_is_the_exact_one() -> None:
    candidates = an.score_parents(_simulated(15, 200, numbers=0.0, levels=(2, 3)), an.scores.BIC(), 3)
    found, proved = within(candidates, 1e10), exact(candidates)
    assert found.stopped == "proven"
    assert (found.score, sorted(found.dag.edges)) == (proved.score, sorted(proved.dag.edges))


def test_a_search_within_few_steps_has_a_network_and_a_bound_whatever_the_threads() -> None:
    candidates = an.score_parents(_simulated(40, 300, numbers=0.0, levels=(2, 3)), an.scores.BIC(), 2)
    one, two = (within(candidates, 1e3, n_jobs=n) for n in (1, 2))
    assert one.stopped == "finished"
    assert one.score <= exact(candidates).score <= one.bound
    assert (one.score, one.bound, sorted(one.dag.edges)) == (two.score, two.bound, sorted(two.dag.edges))


def test_what_was_given_up_is_kept_in_a_file(tmp_path: Any) -> None:
    candidates = an.score_parents(_simulated(12, 200), an.PCART(), "auto", effort=_of(1e7))
    candidates.save(tmp_path / "some.parquet")
    assert an.Candidates.load(tmp_path / "some.parquet").given_up == candidates.given_up != ()


def test_a_plan_of_a_frame_is_that_of_learn(capsys: pytest.CaptureFixture[str]) -> None:
    frame = an.example("penguins")
    plan = an.plan(frame)
    assert (plan.effort, plan.max_parents, plan.n_sets) == ("normal", 4, 792)
    an.learn(frame)
    told = " ".join(capsys.readouterr().out.split())
    assert f"to score: {plan.n_sets} parent sets of up to 4 parents, {plan.time(threads(-1))}" in told


def test_the_time_told_is_that_of_the_whole_call() -> None:
    rng = np.random.default_rng(0)
    tables = [
        an.Table({f"x{i}": rng.integers(0, 2, n_rows).astype(str) for i in range(4)}) for n_rows in (100, 200_000)
    ]
    few, many = (an.plan(table, effort="quick").seconds for table in tables)
    # Two levels are counted once, so scoring costs the same; reading and fitting do not.
    assert many - few > 0.5 * seconds_a_step() * CELL * 4 * 199_900
    wide = an.Table({f"x{i}": rng.normal(size=30) for i in range(60)})
    assert an.plan(wide, effort="quick").seconds > seconds_a_step() * BUDGETS["quick"].searching * 60 / 400


def test_efforts_are_known_by_name_and_do_not_go_with_what_waits(tmp_path: Any) -> None:
    with pytest.raises(an.ParameterError, match="effort='lazy': choose one of 'quick'"):
        an.learn(an.example("penguins"), effort="lazy")  # type: ignore[arg-type]
    with pytest.raises(an.ParameterError, match="leave out checkpoint"):
        an.learn(an.example("penguins"), effort="quick", checkpoint=tmp_path)
    assert budget_of(None, ["checkpoint"]) is None
    assert budget_of(None) == BUDGETS["normal"]


def test_a_time_limit_ends_the_whole_call(capsys: pytest.CaptureFixture[str]) -> None:
    net = an.learn(_simulated(25, 1000), time_limit=0.5)
    assert net.graph.number_of_nodes() == 25
    assert "depends on the machine" in " ".join(capsys.readouterr().out.split())


def test_a_family_at_its_cap_is_given_up_and_the_budget_holds() -> None:
    rng = np.random.default_rng(5)
    levels = np.array(list("abcdefghijklmnopqrst"))
    frame = {f"d{i}": levels[rng.integers(0, 20, 2000)] for i in range(3)} | {"y": rng.normal(size=2000)}
    table = an.Table(frame)
    handle, rules = prepared(table, an.PCART()), resolved(None, table.names)
    (_, n_sets, n_evaluated, n_skipped, skipped, *_), (steps, *_, dear, _) = score_within(
        handle, 3, rules.spec(), 10**8, 2
    )
    assert steps < 1.3e8
    assert dear == n_skipped > 0
    assert n_evaluated + n_skipped == n_sets
    assert any("takes too many steps" in reason for *_, reason in skipped)


def test_a_limit_on_a_child_ends_within_a_family() -> None:
    rng = np.random.default_rng(6)
    levels = np.array(list("abcdefghijklmnopqrstuv"))
    table = an.Table({f"d{i}": levels[rng.integers(0, 22, 3000)] for i in range(2)} | {"y": rng.normal(size=3000)})
    candidates = an.score_parents(table, an.PCART(), 2, child_time_limit=0.02)
    assert any("ended within this family" in skipped.reason for skipped in candidates.skipped)
    assert all(candidates.child(name)["parents"].list.len().min() == 0 for name in table.names)


def test_an_endless_time_limit_is_no_limit() -> None:
    frame = an.example("penguins")
    endless = an.learn(frame, time_limit=math.inf, verbose=False)
    assert endless.graph.edges == an.learn(frame, effort="unlimited", verbose=False).graph.edges


def test_what_was_left_out_limits_what_is_told_as_proved_also_once_saved(tmp_path: Path) -> None:
    table = _simulated(12, 200)
    candidates = an.score_parents(table, an.PCART(), "auto", effort=_of(3e7))
    assert candidates.given_up
    found = within(candidates, 1e10)
    assert found.stopped == "proven"
    assert "proved best of the parent sets looked at" in repr(found)
    net = an.fit(table, found, an.PCART())
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    again.report(tmp_path / "net.html")
    page = (tmp_path / "net.html").read_text("utf-8")
    assert "no network of the parent sets looked at scores higher (proved)" in page
    assert "no network within the parent limit" not in page.lower()
    assert all(text in page for text in candidates.given_up)
    whole = an.learn(an.example("penguins"), verbose=False)
    whole.report(tmp_path / "whole.html")
    assert "no network within the parent limit scores higher (proved)" in (tmp_path / "whole.html").read_text("utf-8")


def test_a_busy_machine_changes_no_byte() -> None:
    table = _simulated(12, 200)
    idle = an.score_parents(table, an.PCART(), "auto", n_jobs=2, effort=_of(3e7))
    forever = "import os\nos.nice(19)\nwhile True: pass"
    busy = [subprocess.Popen([sys.executable, "-c", forever]) for _ in range(4)]
    try:
        loaded = an.score_parents(table, an.PCART(), "auto", n_jobs=3, effort=_of(3e7))
        found = within(loaded, 1e8, n_jobs=3)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert (loaded, loaded.given_up) == (idle, idle.given_up)
    again = within(idle, 1e8, n_jobs=1)
    assert (found.score, found.bound, sorted(found.dag.edges)) == (again.score, again.bound, sorted(again.dag.edges))


def test_families_that_a_sample_leaves_early_are_foreseen() -> None:
    # Ten ordinal columns of ten levels: nearly all triples and quadruples take more than a sampled family may.
    table = an.Table(an.read(DATA / "uci" / "breast-cancer-wisconsin-original.csv.gz"))
    handle, rules = prepared(table, an.PCART()), resolved(None, table.names)
    budget = BUDGETS["normal"]
    told = foreseen(handle, rules, 4, budget)
    _, (steps, *_) = score_within(handle, 4, rules.spec(), budget.scoring // 30, 2)
    assert steps > 0.9 * budget.scoring // 30, "the table is too easy for this test"
    assert told.steps > budget.scoring / 3


def test_leaves_that_take_longer_are_counted_so_and_the_budget_holds() -> None:
    """Lines, histograms and counts take several times as long, as where columns are functions of others."""
    rng = np.random.default_rng(4)
    x = rng.gamma(2.0, 2.0, 150).round(1) + 0.1
    near = {"x": x, "lx": np.log(x), "y": x + rng.normal(size=150), "n": rng.poisson(x), "root": np.sqrt(x)}
    table = an.Table(near)

    def counted(table: an.Table, leaf: Any, steps: float) -> tuple[int, int]:
        handle, rules = prepared(table, an.PCART(leaf=leaf)), resolved(None, table.names)
        _, (taken, looked_at, *_) = score_within(handle, 4, rules.spec(), int(steps), 2)
        return taken, sum(looked_at)

    plain, n_sets = counted(table, "normal", 1e12)
    assert n_sets == 5 * 16
    for leaf in ("linear", "histogram", "counts"):
        kinds = {} if leaf == "linear" else {"n": an.Continuous(leaf=leaf)}
        of_kind = an.Table(near, an.infer_schema(near).with_types({"n": an.Continuous()} | kinds))
        taken, _ = counted(of_kind, "linear" if leaf == "linear" else "normal", 1e12)
        assert taken > (1.5 if leaf == "linear" else 1.2) * plain, leaf
    assert counted(table, "linear", plain / 2)[0] < 0.65 * plain


def test_weights_that_are_not_whole_are_counted_as_what_they_take() -> None:
    """Their sums stand in no table of log-gammas."""
    rng = np.random.default_rng(5)
    near = {name: rng.choice(list("abcdef"), 200) for name in "pqrs"}
    rules = resolved(None, list(near))

    def counted(weights: list[float] | None, steps: float) -> tuple[int, int]:
        handle = prepared(an.Table(near, weights=weights), an.PCART())
        _, (taken, looked_at, *_) = score_within(handle, 3, rules.spec(), int(steps), 2)
        return taken, sum(looked_at)

    whole = counted([1 + i % 2 for i in range(200)], 1e12)
    parts = counted([0.7 + 0.4 * (i % 2) for i in range(200)], 1e12)
    assert whole[1] == parts[1] == 4 * 8
    assert parts[0] > 2 * whole[0]
    assert counted([0.7 + 0.4 * (i % 2) for i in range(200)], whole[0])[0] < 1.5 * whole[0]
