"""The reference names everything public, and what it names has a docstring; `make docs` builds the pages from it."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import pytest

import arbornet as an

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))

hooks = importlib.import_module("hooks")
PAGES = hooks.names()
NAMED = {path: subject for subject, found in PAGES.items() for path in found}
SUBJECTS = {path.rpartition(".")[2]: subject for path, subject in NAMED.items()}


def public() -> set[str]:
    return {name for name in an.__all__ if name != "__version__" and not inspect.ismodule(getattr(an, name))}


def test_every_public_name_is_in_the_reference():
    assert public() | {"exact", "EBIC", "arc_strength"} <= set(SUBJECTS)


def test_names_stand_on_the_page_of_their_subject():
    for name, subject in {
        "PCART": "scores",
        "Table": "tables",
        "learn": "search",
        "exact": "search",
        "BayesNet": "network",
        "read_network": "network",
        "NetworkLearner": "evaluation",
        "ColumnError": "errors",
    }.items():
        assert SUBJECTS[name] == subject


def test_every_subject_has_its_page():
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for subject in PAGES:
        assert (ROOT / "docs" / "reference" / f"{subject}.md").exists()
        assert f"reference/{subject}.md" in config


def test_every_page_of_the_guide_is_in_the_navigation():
    nav = [{"Start": "index.md"}, {"Guide": ["guide/README.md", {"P": "guide/patients.md"}]}, {"How it is built": []}]
    hooks.on_config({"docs_dir": str(ROOT / "docs"), "nav": nav})
    guide, design = nav[1]["Guide"], nav[2]["How it is built"]
    assert guide[:2] == ["guide/README.md", {"P": "guide/patients.md"}]
    assert len(guide) == len(list((ROOT / "docs" / "guide").glob("*.md"))) and "guide/survey.md" in guide
    assert len(design) == len(list((ROOT / "docs" / "design").glob("*.md"))) and "design/network.md" in design


@pytest.mark.parametrize("path", sorted(NAMED))
def test_what_is_public_says_what_it_is(path):
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert (value.__doc__ or "").strip(), f"{path} has no docstring"
