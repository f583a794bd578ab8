"""What is saved is there whole, or what was there before is."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

import arbornet as an
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
