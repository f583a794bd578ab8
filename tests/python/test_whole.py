"""What is saved is there whole, or what was there before is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli.files import write_table
from arbornet.io.whole import write_whole
from small_tables import BIC, chain


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_save_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path, monkeypatch):
    table = an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    net = an.learn(table, an.BIC(), verbose=False)
    saves = [net.save, net.report, net.to_bif, net.to_net, net.to_xmlbif, net.to_dot, net.schema.save]
    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "kept.jkl"
    for save in [*saves, an.score_parents(chain(3, 20), BIC(), 1).save]:
        path.write_bytes(b"precious")
        with pytest.raises(OSError, match="No space left"):
            save(path)
        assert path.read_bytes() == b"precious"
        assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["kept.svg", "kept.png", "kept.pdf"])
def test_a_picture_that_fails_leaves_the_one_before(name, tmp_path, monkeypatch):
    net = an.learn(an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5}), an.BIC(), verbose=False)
    path = tmp_path / name
    net.draw(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        net.draw(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_tables_that_fail_leave_those_before(tmp_path, monkeypatch):
    table = an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    net, candidates = an.learn(table, an.BIC(), verbose=False), an.score_parents(table, an.BIC(), 1)
    monkeypatch.setattr(os, "fsync", full)
    saves = {
        "kept.parquet": candidates.save,
        "kept.csv": lambda path: write_table(pl.DataFrame({"a": [1]}), str(path)),
        "kept.graphml": net.to_graphml,
    }
    for name, save in saves.items():
        (tmp_path / name).write_bytes(b"precious")
        with pytest.raises(OSError, match="No space left"):
            save(tmp_path / name)
        assert (tmp_path / name).read_bytes() == b"precious"
    assert len(list(tmp_path.iterdir())) == len(saves)


def test_links_and_rights_stay_as_they_are(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "real").chmod(0o640)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "new"
    assert (tmp_path / "real").stat().st_mode & 0o777 == 0o640


def test_what_is_no_file_is_written_to():
    if Path("/dev/full").exists():
        with pytest.raises(OSError, match="No space left"):
            write_whole("/dev/full", "x" * 100_000)
    write_whole(os.devnull, b"x")
