import gzip
import lzma
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arbornet import FormatError
from arbornet._core import CandidatesHandle
from arbornet.io import families, jkl

INSTANCES = Path(__file__).parents[2] / ".." / "shared" / "golden" / "instances"
SMALL = "2\nrain 2\n-1.5 1 wet\n-2 0\nwet 1\n-3 0\n"


def arrays(handle: CandidatesHandle) -> list[list[list[float]]]:
    return [[list(a) for a in handle.child(v)] for v in range(handle.n_vars)]


@pytest.mark.parametrize("name", ["x.jkl", "x.jkl.gz", "x.jkl.xz"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    handle = CandidatesHandle.from_jkl(SMALL, "small")
    jkl.write(handle, tmp_path / name)
    again = jkl.read(tmp_path / name)
    assert again.names == ["rain", "wet"]
    assert arrays(again) == arrays(handle) == [[[-1.5, -2.0], [0, 1, 1], [1]], [[-3.0], [0, 0], []]]


def test_compression_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.jkl").write_bytes(lzma.compress(SMALL.encode()))
    assert jkl.read(tmp_path / "x.jkl").n_sets == 3


def test_a_damaged_archive_is_a_format_error(tmp_path: Path) -> None:
    (tmp_path / "x.jkl.xz").write_bytes(lzma.compress(SMALL.encode())[:-9])
    with pytest.raises(FormatError, match=r"x\.jkl\.xz: not a readable text or a damaged archive"):
        jkl.read(tmp_path / "x.jkl.xz")


def test_a_file_that_may_be_cut_off_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Cut within its last word a file is of this format and says something else: only its last line break tells."""
    text = "2\nv1 1\n-1 0\nv2 1\n-2 1 v1\n"
    (tmp_path / "x.jkl").write_text(text)
    jkl.read(tmp_path / "x.jkl")
    assert not caplog.records
    (tmp_path / "x.jkl").write_text(text.rstrip())
    assert jkl.read(tmp_path / "x.jkl").n_sets == 2
    assert "does not end with a line break" in caplog.text


@pytest.mark.parametrize("pack", [lzma.compress, gzip.compress])
def test_a_small_archive_of_a_huge_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any) -> None:
    monkeypatch.setattr(families, "LARGEST", 1000)
    (tmp_path / "x.jkl").write_bytes(pack(b"#" * 1001))
    with pytest.raises(FormatError, match="MB of text"):
        jkl.read(tmp_path / "x.jkl")


def test_a_malformed_file_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.jkl").write_text("2\nrain 2\n-1.5 1 snow\n-2 0\nwet 1\n-3 0\n")
    with pytest.raises(FormatError, match=r"x\.jkl, line 3: there is no variable 'snow'"):
        jkl.read(tmp_path / "x.jkl")


def test_handles_pickle() -> None:
    handle = CandidatesHandle.from_lists(["a", "b", "c"], [[(-1.0, [2, 1]), (-3.0, [])], [(-2.0, [])], []])
    again = pickle.loads(pickle.dumps(handle))
    assert again.names == handle.names
    assert arrays(again) == arrays(handle)


def test_arrays_that_do_not_fit_are_refused() -> None:
    scores, offsets, members = np.array([-1.0]), np.array([0, 2], np.uint32), np.array([1], np.uint32)
    with pytest.raises(ValueError, match="offsets do not fit"):
        CandidatesHandle.from_arrays(["a", "b"], [(scores, offsets, members)] * 2)


@pytest.mark.parametrize(
    ("name", "n_vars", "n_sets"),
    [("autos_bic.jkl", 26, 2391), ("steel_bic.jkl.xz", 28, 93024), ("kdd.test.jkl.xz", 64, 152873)],
)
def test_published_files_are_read(name: str, n_vars: int, n_sets: int) -> None:
    if not INSTANCES.is_dir():
        pytest.skip(f"the instances are not at {INSTANCES}")
    handle = jkl.read(INSTANCES / name)
    assert (handle.n_vars, handle.n_sets) == (n_vars, n_sets)
    assert handle.names == [str(v) for v in range(n_vars)]
