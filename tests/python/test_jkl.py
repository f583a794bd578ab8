import gzip
import lzma
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arbornet import ArbornetError, FormatError
from arbornet._core import CandidatesHandle
from arbornet.io import families, jkl
from arbornet.search import Found, anytime, exact, hill_climb
from places import INSTANCES

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
    with pytest.raises(FormatError, match=r"x\.jkl\.xz: a damaged archive"):
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


PACKED, SQUEEZED = gzip.compress(SMALL.encode() * 99, mtime=0), lzma.compress(SMALL.encode() * 99)


@pytest.mark.parametrize(
    "data",
    [
        PACKED[:2],
        PACKED[:-9],
        PACKED[:30] + bytes([PACKED[30] ^ 255]) + PACKED[31:],
        PACKED[:-8] + bytes(4) + PACKED[-4:],
        PACKED + b"more",
        SQUEEZED[:6],
        SQUEEZED[:40] + bytes([SQUEEZED[40] ^ 255]) + SQUEEZED[41:],
    ],
)
def test_archives_damaged_anywhere_are_format_errors(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.jkl").write_bytes(data)
    with pytest.raises(FormatError, match=r"x\.jkl: a damaged archive"):
        jkl.read(tmp_path / "x.jkl")


@pytest.mark.parametrize(
    "data",
    [
        SMALL.replace("\n", "\r\n").encode(),
        SMALL.replace(" ", "\t").encode(),
        SMALL.encode("utf-8-sig"),
        gzip.compress(SMALL.encode("utf-8-sig"), mtime=0),
        SMALL.encode("utf-16"),
        SMALL.rstrip().encode(),
        ("# META pss_version = 0.1\n# META score_type=BDeu\n" + SMALL).encode(),
    ],
)
def test_line_ends_marks_and_comments_of_other_systems_are_read_alike(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.jkl").write_bytes(data)
    assert arrays(jkl.read(tmp_path / "x.jkl")) == arrays(CandidatesHandle.from_jkl(SMALL, "small"))


def test_text_in_another_encoding_is_told_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "x.jkl").write_bytes("1\nÄrger 1\n-1 0\n".encode("latin-1"))
    with pytest.raises(FormatError, match=r"x\.jkl, line 2: not a readable text in UTF-8"):
        jkl.read(tmp_path / "x.jkl")


def test_a_folder_and_a_missing_file_are_errors_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        jkl.read(tmp_path)
    with pytest.raises(FileNotFoundError):
        jkl.read(tmp_path / "x.jkl")


def test_scores_too_large_to_be_added_up_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.jkl").write_text("1\na 1\n-1e308 0\n")
    with pytest.raises(FormatError, match="line 3: the score should lie within 1e300 of zero"):
        jkl.read(tmp_path / "x.jkl")
    with pytest.raises(ArbornetError, match=r"candidate of 'a'.* not within 1e300 of zero"):
        CandidatesHandle.from_lists(["a"], [[(1e308, [])]])


def test_two_variables_of_one_name_are_refused() -> None:
    with pytest.raises(ArbornetError, match="two variables are named 'a'"):
        CandidatesHandle.from_lists(["a", "a"], [[(-1.0, [])], [(-1.0, [])]])


@pytest.mark.parametrize("search", [exact, anytime, hill_climb])
def test_no_variables_make_an_empty_graph(tmp_path: Path, search: Callable[..., Found]) -> None:
    (tmp_path / "x.jkl").write_text("0\n")
    found = search(jkl.read(tmp_path / "x.jkl"), time_limit=1)
    assert (list(found.dag.nodes), found.score) == ([], 0.0)


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
    handle = jkl.read(INSTANCES / name)
    assert (handle.n_vars, handle.n_sets) == (n_vars, n_sets)
    assert handle.names == [str(v) for v in range(n_vars)]
