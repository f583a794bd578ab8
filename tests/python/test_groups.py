"""Categories of many levels: groups in order, and what is said of them."""

import json
import pickle
import subprocess
import sys
import textwrap

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.step1.candidates import Grouped, InOrder


def many_levels(n_levels=60, n_rows=600, seed=0):
    """A number and a class that depend on a category of many levels."""
    random = np.random.default_rng(seed)
    zone = random.integers(0, n_levels, n_rows)
    effect = 4.0 * random.normal(size=n_levels)
    price = effect[zone] + random.normal(size=n_rows)
    shop = np.array(["a", "b", "c"])[np.digitize(price + random.normal(size=n_rows), [-2.0, 2.0])]
    noise = {"size": random.normal(size=n_rows), "lift": np.array(["yes", "no"])[random.integers(0, 2, n_rows)]}
    frame = {"zone": [f"z{i:03d}" for i in zone], "price": price, "shop": shop} | noise
    schema = an.infer_schema(frame).with_types(zone=an.Categorical())
    return an.Table(frame, schema=schema)


@pytest.fixture(scope="module")
def table():
    return many_levels()


@pytest.fixture(scope="module")
def candidates(table):
    return an.score_parents(table, an.PCART(penalised=False), max_parents=2)


def test_more_than_24_levels_are_scored_and_their_scores_said_to_be_lower_bounds(table, candidates):
    assert candidates.n_skipped == 0
    # Not among them: zone given shop and price, whose own levels are few.
    assert 0 < candidates.n_in_order < candidates.n_evaluated
    first = candidates.in_order[0]
    assert isinstance(first, InOrder)
    assert "zone" in first.parents
    assert all("zone" in family.parents for family in candidates.in_order)
    assert first.groups == (Grouped("zone", len(table.schema["zone"].levels), 60),)
    assert f"{candidates.n_in_order} by groups in order" in repr(candidates)
    best = candidates.child("price").row(0, named=True)
    assert "zone" in best["parents"], "the category explains the price"


def test_every_score_that_is_not_exact_is_among_those_named(table, candidates):
    with pytest.raises(an.FamilyError, match=r"'zone' has 60 levels.*grouping=\"auto\""):
        an.local_score(table, "price", ["zone"], an.PCART(grouping="exact"))
    exact = an.score_parents(table, an.PCART(penalised=False, grouping="exact"), max_parents=2)
    assert exact.n_in_order == 0
    refused = {(skipped.child, skipped.parents) for skipped in exact.skipped}
    assert {(family.child, family.parents) for family in candidates.in_order} <= refused
    for child in ("price", "shop", "zone"):
        kept = {tuple(parents): score for parents, score in exact.child(child).iter_rows()}
        ours = {tuple(parents): score for parents, score in candidates.child(child).iter_rows()}
        assert all(ours.get(parents, score) == score for parents, score in kept.items())


def test_files_pickles_priors_and_threads_keep_what_is_known(tmp_path, table, candidates):
    one = an.score_parents(table, an.PCART(penalised=False), max_parents=2, n_jobs=1)
    assert one == candidates
    assert (one.n_in_order, one.in_order) == (candidates.n_in_order, candidates.in_order)
    candidates.save(tmp_path / "c.parquet")
    for again in (an.Candidates.load(tmp_path / "c.parquet"), pickle.loads(pickle.dumps(candidates))):
        assert again == candidates
        assert (again.n_in_order, again.in_order) == (candidates.n_in_order, candidates.in_order)
    under = candidates.with_prior(an.priors.ParentCount())
    kept = {(row["child"], tuple(row["parents"])) for row in under.frame().iter_rows(named=True)}
    assert {(family.child, family.parents) for family in under.in_order} <= kept
    assert under.in_order
    assert under.n_in_order == candidates.n_in_order


def test_a_checkpoint_keeps_what_is_known(tmp_path, table, candidates):
    for _ in range(2):
        made = an.score_parents(table, an.PCART(penalised=False), max_parents=2, checkpoint=tmp_path / "run")
        assert (made.n_in_order, made.in_order) == (candidates.n_in_order, candidates.in_order)


def test_files_of_exact_scores_say_nothing_new(tmp_path):
    made = an.score_parents(an.Table({"a": [0.0, 1.0, 3.0], "b": ["x", "y", "x"]}), an.PCART(), max_parents=1)
    made.save(tmp_path / "c.parquet")
    about = json.loads(pl.read_parquet_metadata(tmp_path / "c.parquet")["arbornet"])
    assert "n_in_order" not in about
    assert "in_order" not in about
    assert "grouping" not in about["score"]
    assert '"grouping":"ordered"' in an.score_parents(many_levels(5, 40), an.PCART(grouping="ordered"), 1).score


@pytest.mark.parametrize(
    "damaged", [{"n_in_order": -1}, {"in_order": [["price"]]}, {"in_order": [["a", [], [["b", 0, 1]]]]}]
)
def test_a_file_with_damaged_groups_is_refused(tmp_path, candidates, damaged):
    path = tmp_path / "c.parquet"
    candidates.save(path)
    about = json.loads(pl.read_parquet_metadata(path)["arbornet"]) | damaged
    pl.read_parquet(path).write_parquet(path, metadata={"arbornet": json.dumps(about)})
    with pytest.raises(an.FormatError, match=f"its entry '{next(iter(damaged))}' is damaged"):
        an.Candidates.load(path)


def test_learn_says_how_many_scores_are_lower_bounds_and_what_is_proved(table, capsys):
    net = an.learn(table, max_parents=2, time_limit=60)
    told = " ".join(capsys.readouterr().out.split())
    n = net.origin.search["n_in_order"]
    scored = net.origin.search["n_scored"]
    assert (
        f"lower bounds: {n} of {scored} parent sets have scores that are lower bounds, as levels were grouped" in told
    )
    assert "proved: no network within the parent limit, by these scores, scores higher" in told
    assert net.origin.in_order == {"price": {"zone": (60, 60)}} or "zone" in next(iter(net.origin.in_order.values()))


def test_a_network_with_such_trees_predicts_answers_reports_and_is_saved(tmp_path, table):
    found = an.search.exact(an.score_parents(table, an.PCART(), max_parents=2))
    assert found.details["n_in_order"] > 0
    assert "lower bounds" in repr(found)
    net = an.fit(table, found, an.PCART())
    assert net.origin.in_order
    net.save(tmp_path / "net.json")
    again = an.load(tmp_path / "net.json")
    assert again.origin.in_order == net.origin.in_order
    rows = {"zone": ["z000", "z001", "never seen"], "shop": ["a", "b", "c"]}
    predicted = again.predict(rows, "price", unseen="missing")
    assert np.isfinite(np.asarray(predicted).astype(float)).all()
    answer = again.query("shop", given={"zone": "z003"})
    assert abs(answer["probability"].sum() - 1.0) < 1e-9
    net.report(tmp_path / "net.html")
    page = (tmp_path / "net.html").read_text()
    assert "Groups in order" in page
    assert "zone (60 levels)" in page
    assert "another tree could score higher" in page


def test_grouping_is_checked():
    with pytest.raises(an.ParameterError, match="grouping='sorted': choose 'auto', 'exact' or 'ordered'"):
        an.PCART(grouping="sorted")
    assert an.PCART() == an.PCART(grouping="auto")
    assert "grouping" not in an.PCART().document()


def test_a_plan_has_no_family_that_cannot_be_scored_for_its_levels(table):
    plan = an.plan(table, an.PCART(), max_parents=2, seconds=0.05)
    assert plan.n_unscorable == 0


def test_hash_seeds_change_nothing(table):
    program = textwrap.dedent("""
        import sys; sys.path.insert(0, "tests/python")
        from test_groups import many_levels
        import arbornet as an
        table = many_levels(40, 300)
        made = an.score_parents(table, an.PCART(), max_parents=2)
        print([made.handle.child(v)[0].tobytes().hex() for v in range(5)], made.in_order)
    """)
    told = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=of).stdout
        for of in ({**_environment(), "PYTHONHASHSEED": seed} for seed in "01")
    }
    assert len(told) == 1


def _environment():
    import os

    return dict(os.environ)
