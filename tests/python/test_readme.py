"""What the README points to is there; its examples run with the guide's (`test_guide`)."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_file_it_points_to_exists():
    text = (ROOT / "README.md").read_text("utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []


def test_every_program_it_names_is_there():
    text = (ROOT / "README.md").read_text("utf-8")
    scripts = re.findall(r"`((?:benches|campaigns|examples|tests)/[\w/]+\.py)`", text)
    benches = re.findall(r"cargo bench --bench (\w+)", text)
    assert scripts
    assert [name for name in scripts if not (ROOT / name).exists()] == []
    manifest = (ROOT / "benches" / "Cargo.toml").read_text("utf-8")
    assert [name for name in benches if f'name = "{name}"' not in manifest] == []
