"""Every score on offer is known to the core, with the parameters its dataclass writes."""

import math

import pytest

import arbornet as an
from arbornet import scores

LEVELS = {"x": list("abcab") * 8, "y": list("uvuuv") * 8, "z": list("ppqqr") * 8}
MIXED = {**LEVELS, "n": [0.5 * i for i in range(40)]}
CLASSES = [getattr(scores, name) for name in scores.__all__ if name != "Parameters"]


def test_there_are_scores_to_test():
    assert len(CLASSES) >= 11


@pytest.mark.parametrize("score", [cls() for cls in CLASSES], ids=lambda score: type(score).__name__)
def test_a_score_with_its_defaults_scores_fits_and_reports(score, tmp_path):
    table = an.Table(LEVELS)
    assert math.isfinite(an.local_score(table, "x", ["y", "z"], score))
    net = an.learn(table, score, max_parents=1, verbose=False)
    rows = net.log_likelihood(LEVELS)
    assert len(rows) == 40
    assert all(map(math.isfinite, rows))
    net.report(tmp_path / "x.html")
    assert "Local score" in (tmp_path / "x.html").read_text("utf-8")


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
