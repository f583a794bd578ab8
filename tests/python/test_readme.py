"""What the README points to is there; its examples run with the guide's (`test_guide`)."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_file_it_points_to_exists():
    text = (ROOT / "README.md").read_text("utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "docs/benchmarks.md"])
def test_every_program_it_names_is_there(name):
    text = (ROOT / name).read_text("utf-8")
    scripts = re.findall(r"`((?:benches|campaigns|examples|tests)/[\w/]+\.py)`", text)
    benches = re.findall(r"cargo bench --bench (\w+)", text)
    assert scripts
    assert [script for script in scripts if not (ROOT / script).exists()] == []
    manifest = (ROOT / "benches" / "Cargo.toml").read_text("utf-8")
    assert [bench for bench in benches if f'name = "{bench}"' not in manifest] == []


def test_every_row_of_the_benchmarks_says_how_to_repeat_it():
    text = (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    rows = re.findall(r"^\| (?!task|---|limit)(.+?) \|$", text.partition("## Limits")[0], re.MULTILINE)
    assert len(rows) > 20
    for row in rows:
        assert re.search(r"\| (?:.*`[^`]+`.*|the same)$", row), row
