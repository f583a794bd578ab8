"""The page on adding a search, followed step by step in a copy of the package."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import arbornet

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing-search.md").read_text(encoding="utf-8")
PACKAGE = Path(arbornet.__file__).parent

USED = """
import arbornet as an
from arbornet.cli.parser import parser
from arbornet.search import searches
frame = an.example("survey")
schema = an.infer_schema(frame)
numbers = [column.name for column in schema.used if column.levels is None]
schema = schema.with_types(dict.fromkeys(numbers, an.Binned(3)))
table = an.Table(frame, schema=schema)
candidates = an.score_parents(table, an.BDeu(1), 2)
net = an.learn(table, an.BDeu(1), "in_order", 2, verbose=False)
place = {name: i for i, name in enumerate(table.names)}
assert net.graph.number_of_edges() > 0
assert all(place[a] < place[b] for a, b in net.graph.edges)
tiers = an.Constraints(tiers=[[name] for name in table.names])
best = an.search.exact(an.score_parents(table, an.BDeu(1), 2, tiers))
assert abs(an.search.in_order(candidates).score - best.score) < 1e-9
arc = next(iter(net.graph.edges))
without = an.learn(table, an.BDeu(1), "in_order", 2, an.Constraints(forbidden=[arc]), verbose=False)
assert arc not in without.graph.edges
assert "in_order" in searches() and "in_order" in dir(an.search)
asked = parser().parse_args(["learn", "t.csv", "--search", "in_order"])
assert asked.search == "in_order"
print("followed")
"""


def file_and_code(language: str) -> dict[str, str]:
    """The files that the page names in its headings, with the code that stands under each."""
    pattern = rf"The (?:file|line): `([^`]+)`\n(?:(?!\n#).)*?```{language}\n(.*?)```"
    return dict(re.findall(pattern, PAGE, flags=re.DOTALL))


def test_a_search_added_as_the_page_says_is_known_to_learn_and_to_the_shell(tmp_path: Path) -> None:
    copy = tmp_path / "python" / "arbornet"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    for compiled in PACKAGE.glob("_core*.so"):
        (copy / compiled.name).symlink_to(compiled)
    ((path, code),) = file_and_code("python").items()
    (tmp_path / path).write_text(code, encoding="utf-8")
    lines = {path: line for path, line in file_and_code("text").items() if path.endswith(".py")}
    ((path, line),) = lines.items()
    assert len(line.splitlines()) == 1
    with (tmp_path / path).open("a", encoding="utf-8") as file:
        file.write(line)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "python")}
    done = subprocess.run([sys.executable, "-c", USED], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "followed\n", done.stderr


def test_the_line_for_rust_is_one_of_the_form_that_stands_in_the_list() -> None:
    lines = {path: line for path, line in file_and_code("text").items() if path.endswith(".rs")}
    ((path, line),) = lines.items()
    listed = re.search(r"searches! \{\n(.*?)\n\}", (ROOT / path).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert listed is not None
    form = re.compile(r"    /// [^\n]+\n    (\w+)::(\w+),\n")
    (new,) = form.findall(line)
    assert form.sub("", listed[1] + "\n") == ""
    assert len(form.findall(listed[1] + "\n")) >= 7
    # The file that the line names is the one that the page has, with the type in it.
    ((file, code),) = file_and_code("rust").items()
    assert Path(file) == Path(path).parent / f"{new[0]}.rs"
    assert f"pub struct {new[1]}" in code and f"impl Search for {new[1]}" in code
    assert not (ROOT / file).exists()


@pytest.mark.parametrize("file", sorted(set(re.findall(r"`((?:rust|python)/[\w/.]+)`", PAGE))))
def test_every_file_that_the_page_names_is_there_or_the_new_one(file: str) -> None:
    assert (ROOT / file).exists() != ("in_order" in file)
