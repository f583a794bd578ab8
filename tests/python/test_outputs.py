"""What a command is to write is tried before the work, and nothing that was learned is lost afterwards."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main

LEVELS = {"a": ["x", "y"] * 30, "b": ["u", "v", "v"] * 20, "c": ["p"] * 20 + ["q"] * 40}


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A folder with tables and a network."""
    monkeypatch.chdir(tmp_path)
    an.example("patients").write_csv("patients.csv")
    pl.DataFrame(LEVELS).write_csv("levels.csv")
    an.learn(an.Table(LEVELS), an.BIC(), verbose=False).save("net.json")


@pytest.fixture
def no_work(monkeypatch):
    """Reading and learning are not to begin."""

    def begun(*_: object, **__: object) -> None:
        pytest.fail("the work began before its outputs were tried")

    for name in ("learn", "score_parents", "read", "read_network", "infer_schema"):
        monkeypatch.setattr(an, name, begun)


def refused(capsys, *arguments: str) -> str:
    capsys.readouterr()
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    return err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("learn patients.csv -o nodir/x.json", "nodir/x.json"),
        ("learn patients.csv -o x.txt", "ends in .json"),
        ("learn patients.csv -o x.pkl", "ends in .json"),
        ("learn patients.csv --draw x.bmp", ".svg, .png or .pdf"),
        ("learn patients.csv --draw nodir/x.svg", "nodir/x.svg"),
        ("learn patients.csv --report nodir/x.html", "nodir/x.html"),
        ("learn patients.csv --report .", "directory"),
        ("learn patients.csv --report patients.csv", "a report is a page of HTML"),
        ("learn patients.csv -o x.json --report ./x.json", "a report is a page of HTML"),
        ("learn patients.csv --checkpoint patients.csv", "a file where a folder is needed"),
        ("score patients.csv -o x.csv", ".parquet"),
        ("score patients.csv -o nodir/x.jkl", "nodir/x.jkl"),
        ("score patients.csv --checkpoint levels.csv", "a file where a folder is needed"),
        ("schema patients.csv --write nodir/x.json", "nodir/x.json"),
        ("schema patients.csv -o patients.csv", "is read by the command"),
        ("predict net.json levels.csv a -o x.xlsx", "ends in .csv"),
        ("predict net.json levels.csv a -o nodir/x.csv", "nodir/x.csv"),
        ("sample net.json -o x.xlsx", "ends in .csv"),
        ("sample net.json -o net.json", "ends in .csv"),
        ("show net.json --draw x.bmp", ".svg, .png or .pdf"),
        ("show net.json --report net.json", "a report is a page of HTML"),
        ("convert net.json x.foo", "ends in .json"),
        ("convert levels.csv nodir/x.csv", "nodir/x.csv"),
        ("example patients -o x.foo", "ends in .csv"),
    ],
)
def test_every_output_is_tried_before_the_work(line, says, there, no_work, capsys):
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert says in refused(capsys, *line.split())
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("name", ["x.bif", "x.net", "x.xmlbif"])
def test_a_format_of_levels_is_refused_for_numbers_before_learning(name, there, monkeypatch, capsys):
    monkeypatch.setattr(an, "learn", lambda *_, **__: pytest.fail("learned in vain"))
    err = refused(capsys, "learn", "patients.csv", "-o", name)
    assert "column 'age' is continuous" in err and f"arbornet convert x.json {name} --bins 5" in err


@pytest.mark.parametrize("name", ["x.graphml", "x.xmlbif"])
def test_a_name_that_xml_cannot_hold_is_refused_before_learning(name, there, monkeypatch, capsys):
    pl.DataFrame({**LEVELS, "d\x07": LEVELS["a"]}).write_csv("bell.csv")
    monkeypatch.setattr(an, "learn", lambda *_, **__: pytest.fail("learned in vain"))
    assert "a character that XML cannot" in refused(capsys, "learn", "bell.csv", "-o", name)


def test_pictures_that_need_a_package_are_refused_before_learning(there, no_work, monkeypatch, capsys):
    monkeypatch.setattr("arbornet.show.draw.save.find_spec", lambda _: None)
    assert "pip install matplotlib" in refused(capsys, "learn", "patients.csv", "--draw", "x.png")


def test_when_one_output_fails_the_others_are_written(there, monkeypatch, capsys):
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "x.svg")

    monkeypatch.setattr(an.BayesNet, "draw", full)
    assert main(["learn", "levels.csv", "--score", "BIC", "-o", "x.json", "--draw", "x.svg", "--report", "x.html"]) == 1
    assert "x.svg" in capsys.readouterr().err
    assert an.load("x.json").names == ["a", "b", "c"]
    assert Path("x.html").exists()


def test_a_network_its_format_cannot_hold_is_kept_as_json(there, monkeypatch, capsys):
    def too_large(*_: object, **__: object) -> None:
        raise an.ArbornetError("the table would be too large")

    monkeypatch.setattr(an.BayesNet, "to_bif", too_large)
    assert main(["learn", "levels.csv", "--score", "BIC", "-o", "x.bif"]) == 1
    assert "wrote x.bif.json" in capsys.readouterr().err
    assert an.load("x.bif.json").names == ["a", "b", "c"]


def test_resampling_that_is_interrupted_leaves_the_network(there, monkeypatch, capsys):
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(an.evaluate, "arc_strength", interrupted)
    assert main(["learn", "levels.csv", "--score", "BIC", "--bootstrap", "5", "-o", "x.json"]) == 130
    assert an.load("x.json").names == ["a", "b", "c"]


@pytest.mark.parametrize("sink", ["> /dev/full", "| true"])
def test_words_that_nobody_takes_do_not_cost_the_network(sink, there):
    if "full" in sink and not Path("/dev/full").exists():
        return  # other systems have no such device
    wide = pl.DataFrame({f"a column with a long name, the {i}th": LEVELS["a"] for i in range(250)})
    wide.write_csv("wide.csv")
    line = f"{sys.executable} -m arbornet learn wide.csv --score BIC --search chow_liu -o x.json --quiet {sink}"
    run = subprocess.run(line, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr and "Exception ignored" not in run.stderr
    assert run.returncode == (1 if "full" in sink else 0)
    assert len(an.load("x.json").names) == 250


def test_tables_of_one_beginning_have_types_of_their_own(there):
    for year in ("2024", "2025"):
        pl.DataFrame({f"v{year}": [1.5, 2.5, 3.5, 1.5]}).write_csv(f"results.{year}.csv")
        assert main(["schema", f"results.{year}.csv", "--write"]) == 0
    assert an.Schema.load("results.2024.schema.json").names == ["v2024"]
    assert an.Schema.load("results.2025.schema.json").names == ["v2025"]


def test_types_of_another_table_are_not_written_over_by_default(there, capsys):
    pl.DataFrame({"x": [1.5, 2.5, 3.5, 1.5]}).write_parquet("patients.parquet")
    assert main(["schema", "patients.csv", "--write"]) == 0
    assert main(["schema", "patients.csv", "--write", "--set", "age=binned:3"]) == 0
    assert "not of this table" in refused(capsys, "schema", "patients.parquet", "--write")
    assert main(["schema", "patients.parquet", "--write", "patients.schema.json"]) == 0


def test_a_report_of_a_table_is_called_after_it(there):
    Path("results.2024.csv").write_bytes(Path("levels.csv").read_bytes())
    assert main(["learn", "results.2024.csv", "--score", "BIC", "--report", "x.html"]) == 0
    assert "<title>results.2024" in Path("x.html").read_text(encoding="utf-8")


def test_a_report_may_go_to_standard_output(there):
    line = f"{sys.executable} -m arbornet show net.json --report /dev/stdout"
    piped = subprocess.run(line, shell=True, capture_output=True, text=True, check=True).stdout
    subprocess.run(f"{line} > x.html", shell=True, capture_output=True, text=True, check=True)
    assert piped.startswith("<!doctype html>") and piped.rstrip().endswith("</html>")
    assert Path("x.html").read_text(encoding="utf-8") == piped
    assert not list(Path().glob(".partial*")) and os.path.realpath("x.html")


def test_a_bundled_table_is_written_by_a_command(there, capsys):
    assert main(["example", "penguins", "-o", "p.parquet"]) == 0
    assert pl.read_parquet("p.parquet").equals(an.example("penguins"))
    assert "choose one of patients, penguins, survey" in refused(capsys, "example", "iris")
