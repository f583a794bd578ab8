import logging
import math
import re

import numpy as np
import polars as pl
import pytest

import arbornet as an
from small_tables import BIC, chain


def test_a_plan_counts_what_will_be_scored():
    table = chain(7, 100)
    constraints = an.Constraints(required=[("v0", "v1")], forbidden=[("v2", "v3")], max_parents={"v4": 1})
    plan = an.plan(table, BIC(), max_parents=3, constraints=constraints, seconds=0.05)
    done = an.score_parents(table, BIC(), max_parents=3, constraints=constraints)
    assert plan.n_sets == done.n_sets == sum(plan.by_size)
    assert plan.per_child[1] == sum(math.comb(5, k) for k in range(3))
    assert plan.seconds > 0


def test_a_plan_reads_as_sentences():
    text = str(an.plan(chain(4, 50), an.CustomScore(lambda *_: 0.0), max_parents=2, seconds=0.01))
    assert "28 parent sets of up to 2 parents, 4 variables" in text
    assert "by number of parents: 0: 4, 1: 12, 2: 12" in text
    assert "7 each" in text
    assert re.search(r"^time: .+ on \d+ cores?$", text, re.MULTILINE)


def test_a_plan_names_the_families_that_are_too_large_and_what_to_do():
    rng = np.random.default_rng(0)
    numbers = {f"x{i}": rng.normal(size=30) for i in range(7)}
    table = an.Table(pl.DataFrame(numbers))
    plan = an.plan(table, an.PCART(max_splits=16), max_parents=4, seconds=0.05)
    # 17 bits a parent: three fit into 64.
    assert plan.n_unscorable == 7 * math.comb(6, 4)
    assert all(len(skipped.parents) == 4 for skipped in plan.unscorable)
    assert f"{plan.n_unscorable:,} sets cannot be scored" in str(plan)
    assert "max_splits" in plan.unscorable[0].reason
    done = an.score_parents(table, an.PCART(max_splits=16), max_parents=4, constraints=an.Constraints(max_parents=4))
    assert done.n_skipped == plan.n_unscorable
    assert done.skipped[0] == plan.unscorable[0]


def test_auto_takes_four_parents_where_that_is_cheap_and_fewer_where_it_is_not():
    assert an.plan(chain(6, 100), BIC(), max_parents="auto", seconds=0.01).max_parents == 4
    wide = an.plan(chain(150, 500), BIC(), max_parents="auto", seconds=0.01)
    assert 0 < wide.max_parents < 4
    assert f"chosen automatically: {wide.max_parents} (" in str(wide)
    assert "would take about" in str(wide)


def test_auto_says_its_choice_in_the_log(caplog):
    with caplog.at_level(logging.INFO, logger="arbornet"):
        candidates = an.score_parents(chain(5, 50), BIC(), max_parents="auto")
    assert candidates.max_parents == 4
    assert "max_parents=4: 4 is the most it tries" in caplog.text


def test_auto_makes_room_for_required_parents():
    table = chain(8, 50)
    constraints = an.Constraints(required=[(f"v{i}", "v7") for i in range(6)])
    assert an.plan(table, BIC(), max_parents="auto", constraints=constraints, seconds=0.01).max_parents == 6


@pytest.mark.parametrize("n_vars", [0, 1])
def test_tiny_tables_have_plans_and_candidates_too(n_vars):
    table = chain(1, 10) if n_vars else an._core.TableHandle.from_columns([], [], [], [])
    assert an.plan(table, BIC(), seconds=0.01).n_sets == n_vars
    assert an.score_parents(table, BIC(), max_parents="auto").n_kept == n_vars


@pytest.mark.parametrize("score", [an.PCART(), an.PCART(ess=1.0), an.FullTable()], ids=repr)
def test_what_families_cost_is_counted_alike_every_time_or_not_at_all(score):
    rng = np.random.default_rng(0)
    table = an.Table({"y": list("ab") * 50} | {f"x{i}": rng.normal(size=100) for i in range(4)})
    plans = [an.plan(table, score, max_parents="auto", seconds=0.01) for _ in range(3)]
    assert len({plan.why for plan in plans}) == 1
    assert plans[0].max_parents == 4
