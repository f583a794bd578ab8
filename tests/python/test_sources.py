"""What is read has an end: devices are refused, pipes are read once, whoever made them."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import arbornet as an
from arbornet.system.sources import bytes_of

TABLE = an.Table({"a": ["x", "y", "y"] * 10, "b": ["u", "v", "u"] * 10})
READERS = {
    ".csv": an.read,
    ".parquet": an.read,
    ".arrow": an.read,
    ".ndjson": an.read,
    ".json": an.load,
    ".bif": an.read_bif,
    ".net": an.read_network,
    ".jkl": an.Candidates.load,
    ".schema": an.Schema.load,
}


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero")
@pytest.mark.parametrize("ending", READERS)
def test_a_device_without_an_end_is_refused(ending, tmp_path):
    link = tmp_path / f"x{ending}"
    link.symlink_to("/dev/zero")
    with pytest.raises(an.ArbornetError, match="a device, not a file, and may never end"):
        READERS[ending](link)


def piped(data: bytes):
    """The name under which data come through a pipe, as the shell's `<(...)` gives it, and the thread that sends."""
    read, write = os.pipe()

    def send() -> None:
        with os.fdopen(write, "wb") as stream:
            stream.write(data)

    sender = threading.Thread(target=send)
    sender.start()
    return f"/dev/fd/{read}", sender, read


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="no /dev/fd")
def test_what_comes_through_a_pipe_is_read_whole(tmp_path):
    candidates = an.score_parents(TABLE, an.BDeu(), 1)
    net = an.fit(TABLE, an.search.exact(candidates), an.BDeu())
    candidates.save(tmp_path / "x.jkl.gz")
    net.save(tmp_path / "x.json")
    net.schema.save(tmp_path / "x.schema.json")
    for name, load, expected in (
        ("x.jkl.gz", an.Candidates.load, candidates),
        ("x.json", an.load, net),
        ("x.schema.json", an.Schema.load, net.schema),
    ):
        path, sender, descriptor = piped((tmp_path / name).read_bytes())
        try:
            assert load(path) == expected
        finally:
            sender.join()
            os.close(descriptor)


def test_more_than_a_limit_is_not_taken_in(tmp_path):
    (tmp_path / "x").write_bytes(bytes(3000))
    assert len(bytes_of(tmp_path / "x", 3000)) == 3000
    with pytest.raises(an.FormatError, match="more than"):
        bytes_of(tmp_path / "x", 2999)
    if hasattr(os, "mkfifo"):
        path, sender, descriptor = piped(np.random.default_rng(0).bytes(30_000))
        with pytest.raises(an.FormatError, match="more than"):
            bytes_of(path, 100)
        sender.join()
        os.close(descriptor)
