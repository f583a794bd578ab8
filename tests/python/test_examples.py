import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import arbornet as an

ROOT = Path(__file__).parents[2]


def test_bundled_tables_have_the_shapes_their_readme_states():
    assert an.example("patients").shape == (600, 12)
    assert an.example("penguins").shape == (344, 8)
    assert an.example("survey").shape == (900, 11)
    assert an.example("casualties").shape == (555, 18)


def test_an_unknown_example_names_the_known_ones():
    with pytest.raises(an.ArbornetError, match="patients, penguins, survey"):
        an.example("iris")


def test_the_picture_of_the_readme_is_what_its_script_draws(tmp_path):
    drawn = tmp_path / "drawn.svg"
    subprocess.run([sys.executable, ROOT / "examples" / "readme_picture.py", drawn], check=True, capture_output=True)
    assert drawn.read_bytes() == (ROOT / "docs" / "penguins.svg").read_bytes()
    assert ElementTree.parse(drawn).getroot().tag.endswith("svg")


def test_the_picture_of_the_readme_can_be_read_in_its_column():
    root = ElementTree.parse(ROOT / "docs" / "penguins.svg").getroot()
    column = 830
    smallest = min(float(e.get("font-size")) for e in root.iter("{http://www.w3.org/2000/svg}text"))
    assert smallest * min(1, column / float(root.get("width"))) >= 11
    drawn = (ROOT / "docs" / "penguins.svg").read_text("utf-8")
    assert 'class="an-f-paper' in drawn, "on paper of its own"
    assert "prefers-color-scheme:dark" in drawn
