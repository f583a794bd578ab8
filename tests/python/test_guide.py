"""The guide tells the truth: its code runs, and prints what the pages show."""

import re

import pytest

from guide import PAGES, ROOT, blocks, pictures, ran, same

NAMES = [str(path.relative_to(ROOT).with_suffix("")) for path in PAGES]


@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_the_page_shows_what_its_code_says(path, tmp_path):
    page = path.read_text(encoding="utf-8")
    for block, said in ran(page, tmp_path):
        assert same(block.text, said), f"{path.name} shows\n{block.text}\nbut the code says\n{said}"
    for name in pictures(page):
        assert (tmp_path / name).read_bytes() == (path.parent / "images" / name).read_bytes(), name


def test_the_guide_has_its_pages():
    assert {path.stem for path in PAGES} >= {"README", "index", "patients", "penguins", "survey", "shell"}


def test_every_example_is_run_or_named():
    page = """# A page

    make run   # builds
    arbornet --version
    pip install .

    frame ──schema──> Table

* a list
    that goes on

```python
if True:

    print("arbornet")
```

    python -c 1
"""
    typed = [block.text for block in blocks(page) if block.language == "typed"]
    assert typed == ["$ arbornet --version\n", "$ python -c 1\n"]
    for strange in ("```sh\nls\n```\n", "\n\n    ls -l\n", "\n\n    make coffee\n"):
        with pytest.raises(ValueError, match=r"neither run|no command|no target"):
            blocks(strange)


def test_a_command_that_fails_fails_its_page(tmp_path):
    with pytest.raises(RuntimeError, match="nothere"):
        ran("\n\n    arbornet schema nothere.csv\n", tmp_path)


@pytest.mark.parametrize("path", PAGES, ids=NAMES)
def test_links_and_pictures_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8")):
        assert target.startswith("https://") or (path.parent / target).exists(), target


def test_what_differs_is_noticed():
    assert same("a ... c\n", "a b c\n")
    assert same("a \n", "a\n")
    assert not same("a b\n", "a c\n")
    assert ROOT.joinpath("pyproject.toml").exists()
