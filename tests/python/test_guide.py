"""The guide tells the truth: its code runs, and prints what the pages show."""

import re

import pytest

from guide import PAGES, ROOT, pictures, ran, same


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_the_page_shows_what_its_code_says(path, tmp_path):
    page = path.read_text(encoding="utf-8")
    for block, said in ran(page, tmp_path):
        assert same(block.text, said), f"{path.name} shows\n{block.text}\nbut the code says\n{said}"
    for name in pictures(page):
        assert (tmp_path / name).read_bytes() == (path.parent / "images" / name).read_bytes(), name


def test_the_guide_has_its_pages():
    assert {path.stem for path in PAGES} >= {"README", "patients", "penguins", "survey", "shell"}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_links_and_pictures_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (path.parent / target).exists(), target


def test_what_differs_is_noticed():
    assert same("a ... c\n", "a b c\n")
    assert same("a \n", "a\n")
    assert not same("a b\n", "a c\n")
    assert ROOT.joinpath("pyproject.toml").exists()
