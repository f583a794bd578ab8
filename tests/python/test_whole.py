"""What is saved is there whole, or what was there before is."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.io.tables import ENDINGS, write_table
from arbornet.system.whole import try_to_write, write_whole
from small_tables import BIC, chain


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_save_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path, monkeypatch):
    table = an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    net = an.learn(table, an.BIC(), verbose=False)
    saves = [net.save, net.to_bif, net.to_net, net.to_xmlbif, net.to_dot, net.schema.save]
    monkeypatch.setattr(os, "fsync", full)
    path = tmp_path / "kept.jkl"
    for save in [*saves, an.score_parents(chain(3, 20), BIC(), 1).save]:
        path.write_bytes(b"precious")
        with pytest.raises(OSError, match="No space left"):
            save(path)
        assert path.read_bytes() == b"precious"
        assert list(tmp_path.iterdir()) == [path]
    page = path.rename(tmp_path / "kept.html")
    with pytest.raises(OSError, match="No space left"):
        net.report(page)
    assert page.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [page]


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


def test_what_is_no_file_is_written_to_and_not_replaced():
    write_whole(os.devnull, b"x")
    assert not Path(os.devnull).is_file()


needs_a_full_device = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full (Linux has it)")


@needs_a_full_device
def test_what_is_no_file_and_full_is_told():
    with pytest.raises(OSError, match="No space left"):
        write_whole("/dev/full", "x" * 100_000)


def saves(table: an.Table) -> dict[str, object]:
    """Everything that writes a file, by a name for it."""
    net, candidates = an.learn(table, an.BIC(), verbose=False), an.score_parents(table, an.BIC(), 1)
    frame = pl.DataFrame({"a": [1, 2]})
    return {
        "f.json": net.save,
        "f.html": net.report,
        "f.bif": net.to_bif,
        "f.net": net.to_net,
        "f.xmlbif": net.to_xmlbif,
        "f.dot": net.to_dot,
        "f.graphml": net.to_graphml,
        "f.svg": net.draw,
        "f.png": net.draw,
        "f.pdf": net.draw,
        "f.schema": net.schema.save,
        "f.jkl": candidates.save,
        "f.parquet": candidates.save,
        **{f"t{ending}": lambda path: write_table(frame, path) for ending in ENDINGS},
    }


TABLE = an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})


def test_a_read_only_file_is_refused_and_stays_as_it_is(tmp_path):
    for name, save in saves(TABLE).items():
        path = tmp_path / name
        path.write_text("precious")
        path.chmod(0o444)
        for writes in (save, try_to_write):
            with pytest.raises(PermissionError, match="read-only") as refused:
                writes(path)
            assert refused.value.filename == str(path)
        assert path.read_text() == "precious" and stat.S_IMODE(path.stat().st_mode) == 0o444


def test_rings_of_links_are_refused_as_such(tmp_path):
    for name, save in saves(TABLE).items():
        (tmp_path / name).symlink_to(tmp_path / f"other{name}")
        (tmp_path / f"other{name}").symlink_to(tmp_path / name)
        for writes in (save, try_to_write):
            with pytest.raises(OSError, match="Too many levels") as refused:
                writes(tmp_path / name)
            assert refused.value.errno == errno.ELOOP


@needs_a_full_device
def test_what_leads_to_a_full_device_says_so_and_names_the_file(tmp_path):
    for name, save in saves(TABLE).items():
        (tmp_path / name).symlink_to("/dev/full")
        with pytest.raises(OSError, match="No space left") as refused:
            save(tmp_path / name)
        assert refused.value.errno == errno.ENOSPC and refused.value.filename == str(tmp_path / name), name
    assert not list(Path("/dev").glob("full?*"))


def test_a_disk_that_fills_says_so_and_names_the_file(tmp_path):
    code = """
import resource, signal, sys
import polars as pl
import arbornet as an
from arbornet.io.tables import ENDINGS, write_table

frame = an.example("penguins")
table = an.Table(frame)
net = an.fit(table, an.search.hill_climb(an.score_parents(table, an.PCART(), 1)), an.PCART())
saves = {"n.svg": net.draw, "n.png": net.draw, "n.pdf": net.draw, "n.json": net.save, "n.html": net.report}
saves |= {f"t{ending}": lambda path: write_table(pl.concat([frame] * 9), path) for ending in ENDINGS}
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
for name, save in saves.items():
    try:
        save(name)
        print("written:", name)
    except OSError as error:
        print(error.strerror, error.filename == name)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(run.stdout.splitlines()) == {"File too large True"}, run.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_link_is_written_in_the_format_of_its_own_name(tmp_path):
    made = saves(TABLE)
    starts = {"f.svg": b"<svg", "f.png": b"\x89PNG", "f.pdf": b"%PDF", "f.graphml": b"<"}
    for name, start in starts.items():
        for target in ("a.gz", "b.png", "c.pdf", "d"):
            (tmp_path / name).unlink(missing_ok=True)
            (tmp_path / name).symlink_to(tmp_path / target)
            made[name](tmp_path / name)
            assert (tmp_path / target).read_bytes().startswith(start), (name, target)


def test_plots_go_where_their_name_leads(tmp_path):
    strengths = an.evaluate.arc_strength(TABLE, an.BIC(), n_bootstrap=2)
    (tmp_path / "plot.svg").symlink_to(tmp_path / "real.png")
    strengths.plot(tmp_path / "plot.svg")
    assert b"<svg" in (tmp_path / "real.png").read_bytes()
    with pytest.raises(an.ParameterError, match=r"ending in .*\.png"):
        strengths.plot(tmp_path / "plot.v2")
    if Path("/dev/full").exists():
        with pytest.raises(OSError, match="No space left"):
            strengths.plot("/dev/full")
        assert not Path("/dev/full.png").exists()


def test_trying_a_file_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "old").write_text("old")
    for name in ("old", "new"):
        try_to_write(tmp_path / name)
    try_to_write(os.devnull)
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
    for name in ("nodir/x", ".", "x" * 300, "old/x"):
        with pytest.raises(OSError, match=r"\[Errno"):
            try_to_write(tmp_path / name)
