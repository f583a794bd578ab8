"""Every score on offer is known to the core, with the parameters its dataclass writes, and goes every road."""

import json
import math
import re

import networkx as nx
import polars as pl
import pytest

import arbornet as an
from arbornet import scores

LEVELS = {"x": list("abcab") * 8, "y": list("uvuuv") * 8, "z": list("ppqqr") * 8}
MIXED = {**LEVELS, "n": [0.5 * i for i in range(40)]}
CLASSES = [getattr(scores, name) for name in scores.__all__ if name != "ScoreParameters"]


def test_every_score_that_the_package_offers_is_tested_here_and_every_one_of_the_cores_is_offered():
    offered = {name for name in an.__all__ if isinstance(getattr(an, name), type)
               and issubclass(getattr(an, name), scores.ScoreParameters)}  # fmt: skip
    assert offered == {cls.__name__ for cls in CLASSES}
    with pytest.raises(an.ParameterError, match="unknown variant `nobody`, expected one of") as told:
        an.local_score(an.Table(LEVELS), "x", [], Nobody())
    known = set(re.findall(r"`(\w+)`", str(told.value).split("expected one of")[1]))
    assert known == {json.loads(made(cls).spec())["score"] for cls in CLASSES}


class Nobody(scores.ScoreParameters):
    """A score that the core does not know."""

    def document(self):
        return {"score": "nobody"}


def made(cls):
    """A score with its defaults; BDe has none for the prior network."""
    if cls is not scores.BDe:
        return cls()
    return cls(an.fit(an.Table(LEVELS), nx.DiGraph([("x", "y"), ("y", "z")]), an.K2()))


every_score = pytest.mark.parametrize("score", [made(cls) for cls in CLASSES], ids=lambda score: type(score).__name__)


@every_score
def test_a_score_with_its_defaults_scores_fits_and_reports(score, tmp_path):
    table = an.Table(LEVELS)
    assert math.isfinite(an.local_score(table, "x", ["y", "z"], score))
    net = an.learn(table, score, max_parents=1, verbose=False)
    rows = net.log_likelihood(LEVELS)
    assert len(rows) == 40
    assert all(map(math.isfinite, rows))
    net.report(tmp_path / "x.html")
    assert "Local score" in (tmp_path / "x.html").read_text("utf-8")


@every_score
def test_every_search_takes_it_and_totals_what_local_score_says(score):
    table = an.Table(LEVELS)
    candidates = an.score_parents(table, score, max_parents=2)
    best = an.search.exact(candidates)
    climbed = an.search.hill_climb(table, score, max_parents=2)
    for found in (best, climbed, an.search.hill_climb(candidates), an.search.anytime(candidates, rounds=5)):
        total = sum(an.local_score(table, v, list(found.dag.predecessors(v)), score) for v in found.dag)
        assert found.score == pytest.approx(total, rel=1e-12)
        assert found.score <= best.score + 1e-9
    assert best.stopped == "proven"


@every_score
def test_the_shell_learns_with_it(score, tmp_path, capsys, monkeypatch):
    from arbornet.cli import main

    monkeypatch.chdir(tmp_path)
    pl.DataFrame(LEVELS).write_csv("levels.csv")
    name = type(score).__name__
    if isinstance(score, scores.BDe):
        score.prior_network.to_bif("prior.bif")
        name = "BDe('prior.bif', 1)"
    main(["learn", "levels.csv", "--score", name, "--max-parents", "2", "--json", "--quiet", "-o", "net.json"])
    told = json.loads(capsys.readouterr().out)
    net = an.learn(an.Table(LEVELS), score, max_parents=2, verbose=False)
    assert told["score"] == pytest.approx(net.origin.search["score"], rel=1e-9)
    assert an.load("net.json").names == ["x", "y", "z"]


@pytest.mark.parametrize("score", [an.PCART(), an.PCART(ess=2.0), an.FullTable()], ids=repr)
def test_scores_for_mixed_columns_take_them(score):
    table = an.Table(MIXED)
    assert math.isfinite(an.local_score(table, "x", ["n", "y"], score))
    assert math.isfinite(an.local_score(table, "n", ["x"], score))


@pytest.mark.parametrize("score", [an.PCART(), an.FullTable()], ids=repr)
def test_threads_and_the_order_of_rows_change_no_byte(score, tmp_path):
    frame = an.example("penguins").drop_nulls()
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)

    def written(df, n_jobs):
        path = tmp_path / "x.jkl"
        an.score_parents(an.Table(df), score, max_parents=2, n_jobs=n_jobs).save(path)
        return path.read_bytes()

    first = written(frame, 1)
    assert written(frame, 2) == first
    assert written(shuffled, 2) == first


@pytest.mark.parametrize("score", [an.PCART(), an.FullTable()], ids=repr)
def test_any_order_of_the_rows_makes_the_same_model(score):
    frame = an.example("patients").select("readmitted", "diabetes", "days")
    orders = [frame.sample(fraction=1.0, shuffle=True, seed=seed) for seed in range(8)] + [frame.sort("days")]

    def made(df):
        table = an.Table(df)
        model = an.local_model(table, "readmitted", ["diabetes", "days"], score)
        return an.local_score(table, "readmitted", ["diabetes", "days"], score), model.to_dict()

    assert all(made(df) == made(frame) for df in orders)


def test_whole_numbers_on_the_midpoints_of_their_range_are_told_apart_there():
    """Days 1 to 17: the first midpoint is 9, and 9 itself goes right, whatever the mean and the deviation are."""
    for days in ([1, *range(1, 18), 17], [1, 1, 1, *range(2, 18)], [*range(1, 18)] * 3 + [4, 16, 16]):
        frame = pl.DataFrame({"days": [float(d) for d in days], "late": ["yes" if d >= 9 else "no" for d in days]})
        tree = str(an.local_model(an.Table(frame), "late", ["days"], an.PCART()))
        assert "days < 9:" in tree and "days >= 9:" in tree and tree.count("\n") == 2
