"""What the README shows is what happens."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_of_use_runs_as_printed(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), flags=re.DOTALL)
    assert len(blocks) == 1
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks[0], "README.md", "exec"), {})
    assert "readmitted given" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"report.html", "net.json"}


def test_every_file_it_points_to_exists():
    text = (ROOT / "README.md").read_text("utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert targets
    assert [t for t in targets if not (ROOT / t).exists()] == []
