"""What earlier versions wrote loads and answers as it did then; `tests/golden/files/make.py` wrote it."""

from __future__ import annotations

import importlib.util
import json
import pickle
import pickletools
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import arbornet as an
from places import GOLDEN

FILES = GOLDEN / "files"
#: Bytes of a checkpoint's file of blocks before the first of them.
HEAD = 32
VERSIONS = sorted(path.name for path in FILES.iterdir() if (path / "answers.json").is_file())
ANSWERS: dict[str, dict[str, Any]] = {
    version: json.loads((FILES / version / "answers.json").read_text(encoding="utf-8")) for version in VERSIONS
}


def old(under: str) -> pytest.MarkDecorator:
    """Every file of every version in a folder, or of a name."""
    files = [(version, name) for version in VERSIONS for name in ANSWERS[version] if name.startswith(under)]
    return pytest.mark.parametrize(("version", "name"), files, ids=[f"{name} of {version}" for version, name in files])


def _kept() -> ModuleType:
    spec = importlib.util.spec_from_file_location("kept_old_files", FILES / "kept.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


kept = _kept()


def same(answer: Any, told: Any, more: bool = False) -> bool:
    """Equal but for the rounding of numbers, which another processor may do otherwise; with `more`, dicts may grow."""
    if isinstance(answer, list):
        alike = isinstance(told, list | tuple) and len(told) == len(answer)
        return alike and all(same(value, other, more) for value, other in zip(answer, told, strict=True))
    if isinstance(answer, dict):
        if more and isinstance(told, dict):
            told = {key: value for key, value in told.items() if str(key) in answer}
        return (
            isinstance(told, dict)
            and list(answer) == list(map(str, told))
            and all(same(value, other, more) for value, other in zip(answer.values(), told.values(), strict=True))
        )
    if isinstance(answer, float):
        return bool(told == pytest.approx(answer, rel=1e-9, abs=1e-12))
    return bool(answer == told)


def check(version: str, name: str, told: Any, more: bool = False) -> None:
    answer = ANSWERS[version][name]
    assert same(answer, told, more), f"then:\n{answer}\nnow:\n{told}"


def test_there_are_old_files_of_every_kind_and_an_answer_for_each():
    assert "0.1.0" in VERSIONS
    for version in VERSIONS:
        folder = FILES / version
        told = set(ANSWERS[version])
        lying = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"answers.json"}
        checkpoints = {name for name in told if (folder / name).is_dir()}
        assert {name for name in lying if str(Path(name).parent) not in checkpoints} == told - checkpoints
        assert {name.split("/")[0] for name in told} >= {
            "pickles",
            "networks",
            "checkpoints",
            "journals",
            "schema.json",
        }
        assert sum((folder / name).stat().st_size for name in lying) < 300_000


def test_two_answers_that_differ_are_told_apart():
    assert same([1.0, {"a": "x"}], (1.0 + 1e-12, {"a": "x"}))
    assert not same([1.0], [1.0 + 1e-6])
    assert not same([1.0], [1.0, 2.0])
    assert not same({"a": 1}, {"b": 1})
    assert not same("a", "b")


@old("pickles/")
def test_an_old_pickle_loads_and_answers_as_it_did(version, name):
    check(version, name, kept.answers(pickle.loads((FILES / version / name).read_bytes())))


@old("pickles/")
def test_an_old_pickle_holds_no_polars(version, name):
    """Whose pickles are of one version; NumPy and networkx keep theirs readable."""
    texts = {text for _, text, _ in pickletools.genops((FILES / version / name).read_bytes()) if isinstance(text, str)}
    assert not any(text.split(".")[0] in ("polars", "pandas", "pyarrow") for text in texts)


@old("networks/")
def test_an_old_network_loads_and_answers_as_it_did(version, name):
    path = FILES / version / name
    check(version, name, kept.answers(an.load(path) if path.suffix == ".json" else an.read_network(path)))


@old("schema.json")
def test_an_old_schema_loads_and_answers_as_it_did(version, name):
    check(version, name, kept.answers(an.Schema.load(FILES / version / name)))


@old("candidates.")
def test_old_candidates_load_and_answer_as_they_did(version, name):
    check(version, name, kept.answers(an.Candidates.load(FILES / version / name)))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@old("checkpoints/")
def test_an_old_checkpoint_that_is_finished_is_read_and_not_written_anew(version, name, tmp_path):
    shutil.copytree(FILES / version / name, tmp_path / "checkpoint")
    before = contents(tmp_path / "checkpoint")
    check(version, name, kept.answers(kept.checkpointed(kept.scores()[Path(name).name], tmp_path / "checkpoint")))
    after = contents(tmp_path / "checkpoint")
    assert {file: after[file] for file in before} == before
    # A run opens a file of its own for blocks; this one wrote its head and no block into it.
    heads = [after[file] for file in after.keys() - before.keys()]
    assert all(len(head) <= HEAD and head.startswith(b"arbornet step1") for head in heads)


@old("checkpoints/")
def test_an_old_checkpoint_that_was_cut_off_goes_on_from_what_it_holds(version, name, tmp_path):
    shutil.copytree(FILES / version / name, tmp_path / "checkpoint")
    (blocks,) = (path for path in (tmp_path / "checkpoint").iterdir() if path.name.startswith("blocks"))
    whole = blocks.read_bytes()
    blocks.write_bytes(whole[: 2 * len(whole) // 3])
    check(version, name, kept.answers(kept.checkpointed(kept.scores()[Path(name).name], tmp_path / "checkpoint")))
    kept_of_it = sorted(path for path in (tmp_path / "checkpoint").iterdir() if path.name.startswith("blocks"))
    # What was whole was read, and only the rest scored again.
    assert kept_of_it[0].read_bytes()[: len(whole) // 2] == whole[: len(whole) // 2]
    assert HEAD < sum(len(path.read_bytes()) for path in kept_of_it[1:]) < len(whole) // 2 + HEAD


@pytest.mark.parametrize("share", [1.0, 0.5], ids=["finished", "half done"])
@old("journals/")
def test_an_old_journal_is_gone_on_with(version, name, share, tmp_path):
    lines = (FILES / version / name).read_text(encoding="utf-8").splitlines(keepends=True)
    journal = tmp_path / "journal.jsonl"
    journal.write_text("".join(lines[: max(2, int(share * len(lines)))]), encoding="utf-8")
    before = journal.read_text(encoding="utf-8")
    told = kept.validated(journal).folds if "folds" in name else kept.curves(journal).distances
    check(version, name, told.rows())
    after = journal.read_text(encoding="utf-8")
    assert after.startswith(before)
    assert (after == before) == (share == 1.0)


def test_what_pickles_today_is_what_the_files_of_this_version_hold(monkeypatch):
    """Whoever makes something new that pickles adds it to `make.py`, and whoever moves a module sees it here."""
    monkeypatch.setattr(sys, "path", [str(FILES), *sys.path])
    spec = importlib.util.spec_from_file_location("make_old_files", FILES / "make.py")
    assert spec is not None and spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    for name, made in make.pickled():
        file = f"pickles/{name.replace(' ', '-')}.pickle"
        for version in VERSIONS:
            if file in ANSWERS[version]:
                # A schema may know more of a column by now.
                check(version, file, kept.answers(pickle.loads(pickle.dumps(made))), more=True)
