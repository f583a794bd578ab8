"""Every score on offer is known to the core, with the parameters its dataclass writes, and goes every road."""

import json
import math

import networkx as nx
import polars as pl
import pytest

import arbornet as an
from arbornet import scores

LEVELS = {"x": list("abcab") * 8, "y": list("uvuuv") * 8, "z": list("ppqqr") * 8}
MIXED = {**LEVELS, "n": [0.5 * i for i in range(40)]}
CLASSES = [getattr(scores, name) for name in scores.__all__ if name != "Parameters"]


def test_there_are_scores_to_test():
    assert len(CLASSES) >= 12


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
def test_the_number_of_threads_changes_no_byte(score, tmp_path):
    frame = an.example("penguins").drop_nulls()

    def written(n_jobs):
        path = tmp_path / "x.jkl"
        an.score_parents(an.Table(frame), score, max_parents=2, n_jobs=n_jobs).save(path)
        return path.read_bytes()

    assert written(2) == written(1)
