"""A network learned again is the same: equal, and the same bytes in its file."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import arbornet as an


def learned(frame: pl.DataFrame, path: Path, n_jobs: int = 1) -> tuple[an.BayesNet, bytes]:
    net = an.learn(frame, verbose=False, n_jobs=n_jobs)
    net.save(path)
    return net, path.read_bytes()


@pytest.mark.parametrize("name", ["patients", "penguins", "survey"])
def test_learning_again_makes_an_equal_network_and_the_same_file(name: str, tmp_path: Path) -> None:
    frame = an.example(name)
    net, saved = learned(frame, tmp_path / "a.json")
    # Blanks of these tables hide information, which is a sum over rows.
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    for other, threads in ((frame, 2), (shuffled, 1)):
        again, bytes_again = learned(other, tmp_path / "b.json", threads)
        assert again == net
        assert bytes_again == saved


def test_the_time_that_a_search_took_is_told_and_not_saved(tmp_path: Path) -> None:
    net, _ = learned(an.example("penguins"), tmp_path / "a.json")
    assert net.origin.search["seconds"] > 0
    loaded = an.load(tmp_path / "a.json")
    assert "seconds" not in loaded.origin.search
    assert loaded == net
    assert loaded.origin.search["score"] == net.origin.search["score"]


def test_networks_that_searches_found_in_other_ways_are_not_equal(tmp_path: Path) -> None:
    net, _ = learned(an.example("penguins"), tmp_path / "a.json")
    other = an.load(tmp_path / "a.json")
    other.origin.search["method"] = "hill_climb"
    assert other != net
