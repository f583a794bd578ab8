"""The reference names everything public, and what it names has a docstring; `make docs` builds the pages from it."""

from __future__ import annotations

import importlib
import inspect
import re
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
    listed = ["guide/README.md", {"P": "guide/patients.md"}, {"More": [{"M": "guide/mixed.md"}]}]
    nav = [{"Start": "index.md"}, {"Guide": listed}, {"How it is built": []}]
    hooks.on_config({"docs_dir": str(ROOT / "docs"), "nav": nav})
    guide, design = nav[1]["Guide"], nav[2]["How it is built"]
    assert guide[:3] == ["guide/README.md", {"P": "guide/patients.md"}, {"More": [{"M": "guide/mixed.md"}]}]
    assert "guide/mixed.md" not in guide
    assert len(guide) == len(list((ROOT / "docs" / "guide").glob("*.md"))) and "guide/survey.md" in guide
    assert len(design) == len(list((ROOT / "docs" / "design").glob("*.md"))) and "design/network.md" in design


@pytest.mark.parametrize("path", sorted(NAMED))
def test_what_is_public_says_what_it_is(path):
    module, _, name = path.rpartition(".")
    value = getattr(importlib.import_module(module), name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert (value.__doc__ or "").strip(), f"{path} has no docstring"


def test_the_glossary_explains_what_is_linked_and_is_linked_from_where_it_explains():
    glossary = (ROOT / "docs" / "guide" / "glossary.md").read_text(encoding="utf-8")
    terms = [term.lower().replace(" ", "-") for term in re.findall(r"^### (.+)$", glossary, re.MULTILINE)]
    assert terms == sorted(terms)
    assert len(set(terms)) == len(terms)
    linked = set(re.findall(r"\]\(#([\w-]+)\)", glossary))
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        linked |= set(re.findall(r"glossary\.md#([\w-]+)", path.read_text(encoding="utf-8")))
    assert linked == set(terms)


WORDS = {
    "bootstrap": "bootstrap",
    "discretise": r"discretis\w+",
    "equivalence-class": "equivalence class",
    "intervention": "intervention",
    "leaf": "leaf|leaves",
    "marginalise": "marginalised",
    "nat": "nats?",
    "ordinal": "ordinal",
    "parent-set": "parent sets?",
    "prior": "priors?",
    "proof": "proof",
    "tier": "tiers?",
    "upper-bound": "upper bound",
}
"""Terms of the glossary, and how the guide says them."""


@pytest.mark.parametrize("path", sorted((ROOT / "docs" / "guide").glob("[a-z]*.md")), ids=lambda path: path.stem)
def test_a_term_is_linked_where_a_page_first_says_it(path):
    text = re.sub(r"```.*?```|`[^`]*`|^#.*?$", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    text = " ".join(text.split())
    links = [match.span() for match in re.finditer(r"\[[^\]]*\]\([^)]*\)", text)]
    for term, word in WORDS.items() if path.stem != "glossary" else ():
        first = re.search(rf"\b(?:{word})\b", text, re.IGNORECASE)
        if first is not None:
            assert any(start <= first.start() < end for start, end in links), (
                f"{term}: {text[first.start() - 40 :][:80]}"
            )


def test_the_pages_say_for_whom_they_are():
    index = (ROOT / "docs" / "guide" / "README.md").read_text(encoding="utf-8")
    beginners, specialists = index.split("You know Bayesian networks", 1)
    for path in (ROOT / "docs" / "guide").glob("*.md"):
        marked = "For readers who know Bayesian networks" in path.read_text(encoding="utf-8")
        if path.stem != "README":
            assert f"]({path.name})" in (specialists if marked else beginners), path.name
