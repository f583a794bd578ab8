"""What the shell says: on any terminal, in options that exist, of arguments that are nonsense."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main

HOSTILE = {"a\x1b[31m\x9b\u202e雨": ["ü", "b\x07"] * 30, "x│y": [i * 1.5 for i in range(60)], "c": ["u", "v", "w"] * 20}


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A folder with a table and a network, and ones with hostile names."""
    monkeypatch.chdir(tmp_path)
    an.example("patients").write_csv("patients.csv")
    table = an.Table(an.example("patients"))
    an.learn(table, search="chow_liu", verbose=False).save("patients.json")
    pl.DataFrame(HOSTILE).write_csv("h.csv")
    an.learn(an.Table(HOSTILE), search="chow_liu", verbose=False).save("h.json")


def ended(capsys, *arguments: str) -> tuple[int, str, str]:
    """How a command ends, and what it says; anything it raises fails the test."""
    capsys.readouterr()
    try:
        code = main(arguments)
    except SystemExit as end:
        code = int(str(end.code))
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (["learn", "patients.csv", "--max-parents", "²"], "whole number or 'auto'"),
        (["learn", "patients.csv", "--max-parents", "1e20"], "whole number or 'auto'"),
        (["learn", "patients.csv", "--max-parents", "1" + "0" * 20], "whole number or 'auto'"),
        (["learn", "patients.csv", "--jobs", "1e23"], "is not a whole number from -1"),
        (["learn", "patients.csv", "--jobs", "1" + "0" * 23], "is not a whole number from -1"),
        (["learn", "patients.csv", "--time-limit", "nan"], "is not a number of seconds"),
        (["learn", "patients.csv", "--bootstrap", "-3"], "is not a whole number from 0"),
        (["sample", "patients.json", "-n", "1" + "0" * 30], "is not a whole number from 0"),
        (["learn", "patients.csv", "--set", "age=binned:²"], "a number of bins"),
        (["learn", "patients.csv", "--set", "age=binned:" + "9" * 30], "at most 1,048,576"),
        (["learn", "patients.csv", "--score", "PCART(per_variable={[]: 1})"], "parameters are numbers"),
        (["learn", "patients.csv", "--score", "BDe"], "it is BDe("),
        (["learn", "patients.csv", "--score", "(" * 300 + ")" * 300], "write a score's name"),
        (["learn", "patients.csv", "--score", "PCART(" + "-" * 9000 + "1)"], "--score"),
        (["learn", "patients.csv", "--score", "PCART(" + "-" * 90000 + "1)"], "characters"),
        (["learn", "patients.csv", "--score", "PCART(max_splits=" + "9" * 5000 + ")"], "--score"),
        (["show", "patients.json", "--draw", "x.bmp"], ".svg, .png or .pdf"),
        (["predict", "patients.json", "patients.csv", "age", "--interval", "nan"], "between 0 and 1"),
    ],
)
def test_nonsense_is_refused_in_a_sentence(line, says, there, capsys):
    code, out, err = ended(capsys, *line)
    assert code in (1, 2) and out == ""
    assert says in err.splitlines()[-1]


def test_graphviz_that_is_not_there_is_said(there, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    code, _, err = ended(capsys, "show", "patients.json", "--draw", "x.svg", "--engine", "dot")
    assert code == 1 and "Graphviz" in err and not Path("x.svg").exists()


def test_predictions_of_earlier_predictions_take_their_place(there, capsys):
    for how in ([], ["--proba"]):
        line = ["predict", "patients.json", "patients.csv", "stage", *how]
        assert ended(capsys, *line, "-o", "once.csv")[0] == 0
        again = ["predict", "patients.json", "once.csv", "stage", *how, "-o", "twice.csv"]
        code, _, err = ended(capsys, *again)
        assert code == 0 and "was in the table already, and is replaced" in err
        assert an.read("twice.csv").equals(an.read("once.csv"))


COMMANDS = [
    ["show", "patients.json"],
    ["show", "patients.json", "stage"],
    ["show", "h.json"],
    ["show", "h.json", "x│y"],
    ["show", "h.json", "--json"],
    ["schema", "h.csv"],
    ["schema", "h.csv", "--json"],
    ["schema", "nothere\x1b[31m│.csv"],
    ["sample", "h.json", "-n", "2", "--json"],
    ["compare", "h.json", "h.json"],
    ["learn", "h.csv", "--quiet", "--search", "chow_liu"],
    ["--help"],
]


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "utf-8"])
def test_every_terminal_shows_every_text_and_obeys_none(encoding, there):
    code = (
        "import sys, json; from arbornet.cli import main\n"
        "for line in json.load(sys.stdin):\n"
        "    try: main(line)\n"
        "    except SystemExit: pass\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(COMMANDS).encode(),
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        check=True,
    )
    said = run.stdout.decode("utf-8", "replace") + run.stderr.decode("utf-8", "replace")
    assert "Traceback" not in said
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", said)
    assert r"a\x1b[31m\x9b\u202e" in said and "\\u001b[31m" in said
    assert ("├─" in said) is (encoding == "utf-8") and ("|-" in said) is (encoding != "utf-8")


def test_data_in_a_pipe_are_utf_8_and_as_they_are(there):
    line = [sys.executable, "-m", "arbornet", "predict", "h.json", "h.csv", "c", "--only"]
    kept = [*line[:4], "h.json", "h.csv", "c"]
    for command, columns in ((line, ["predicted c"]), (kept, [*HOSTILE, "predicted c"])):
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        run = subprocess.run(command, capture_output=True, env=environment, check=True)
        assert pl.read_csv(run.stdout).columns == columns
    shown = subprocess.run(
        [*line[:3], "show", "h.json", "--json"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    assert [v["name"] for v in json.loads(shown.stdout)["variables"]] == list(HOSTILE)


def test_errors_on_a_terminal_fit_its_width(there):
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "arbornet", "learn", "patients.csv", "--set", "stage=ordinal:I,II,III"]
    run = subprocess.run(line, stderr=theirs, env={**os.environ, "COLUMNS": "60"}, check=False)
    os.close(theirs)
    told = os.read(ours, 1 << 16).decode().splitlines()
    os.close(ours)
    assert run.returncode == 1 and "--unseen missing" in " ".join(map(str.strip, told))
    assert len(told) > 1 and max(map(len, told)) <= 60


def test_data_on_a_terminal_are_words(there):
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-m", "arbornet", "sample", "h.json", "-n", "3"], stdout=theirs, check=True)
    os.close(theirs)
    seen = os.read(ours, 1 << 16)
    os.close(ours)
    assert rb"\x1b[31m" in seen and b"\x1b" not in seen


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        (["learn", "patients.csv", "--set", "stage=ordinal:I,II"], "--unseen missing"),
        (["score", "patients.csv", "--set", "stage=ordinal:I,II", "--child", "age"], "--unseen missing"),
        (["predict", "patients.json", "new.csv", "age"], "--unseen missing"),
        (["learn", "patients.csv", "--missing", "error"], "--missing drop"),
        (["learn", "patients.csv", "--score", "BIC"], "--set 'age=binned:5'"),
        (["learn", "patients.csv", "--score", "DecisionGraph"], "--set NAME=binned:5"),
        (["convert", "patients.json", "x.bif"], "--bins 5"),
        (["schema", "ids.csv"], "--set 'id=categorical'"),
        (["learn", "constant.csv"], "--set NAME=categorical"),
    ],
)
@pytest.mark.filterwarnings("default")
def test_what_the_shell_advises_can_be_done_in_the_shell(line, advice, there, capsys):
    an.read("patients.csv").with_columns(stage=pl.lit("V")).write_csv("new.csv")
    pl.DataFrame({"id": [f"p{i}" for i in range(100)], "b": ["x", "y"] * 50}).write_csv("ids.csv")
    pl.DataFrame({"a": [1] * 10, "b": ["x"] * 10}).write_csv("constant.csv")
    _, _, err = ended(capsys, *line)
    assert advice in err
    assert not re.search(r"an\.\w|with_types|without\(|unseen=|missing=|bins=", err), err


def test_the_search_of_decision_graphs_needs_no_score(there, capsys):
    pl.DataFrame({"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10}).write_csv("levels.csv")
    code, out, _ = ended(capsys, "learn", "levels.csv", "--search", "decision_graphs", "--quiet")
    assert code == 0 and "score: DecisionGraph()" in out


@pytest.mark.parametrize("leaf", ["normal", "linear", "auto"])
def test_a_word_says_what_stands_in_the_leaves(leaf, there, capsys):
    one = ["score", "patients.csv", "--child", "days", "--parents", "age"]
    code, out, _ = ended(capsys, *one, "--leaf", leaf)
    table = an.Table(an.example("patients"))
    assert code == 0
    assert float(out) == pytest.approx(an.local_score(table, "days", ["age"], an.PCART(leaf=leaf)), abs=1e-6)
    both = ended(capsys, *one, "--leaf", leaf, "--score", "PCART(max_splits=2)")[1]
    score = an.PCART(leaf=leaf, max_splits=2)
    assert float(both) == pytest.approx(an.local_score(table, "days", ["age"], score), abs=1e-6)


def test_scores_without_trees_have_no_leaves_to_choose(there, capsys):
    code, _, err = ended(capsys, "learn", "patients.csv", "--score", "cg", "--leaf", "linear")
    assert code != 0 and "--leaf linear" in err and "PCART()" in err


def test_levels_that_are_not_known_may_count_as_missing_when_learning(there, capsys):
    line = ["learn", "patients.csv", "--set", "stage=ordinal:I,II,III", "--quiet", "--search", "chow_liu", "--json"]
    line += ["--missing", "drop"]
    assert "--unseen missing" in ended(capsys, *line)[2]
    code, out, _ = ended(capsys, *line, "--unseen", "missing")
    assert code == 0 and 0 < json.loads(out)["n_rows"] < 586


def test_json_holds_no_number_that_json_has_not(there, capsys):
    net = an.load("patients.json")
    n = len(net.names)
    arcs = tuple((float("-inf"),) * len(net.parents(name)) for name in net.names)
    origin = an.BayesNet(net.handle, net.schema).origin.__class__(
        "x", 5, (float("nan"),) * n, arcs, {"bound": float("inf")}
    )
    an.BayesNet(net.handle, net.schema, origin).save("odd.json")
    code, out, _ = ended(capsys, "show", "odd.json", "--json")
    told = json.loads(out, parse_constant=pytest.fail)
    assert code == 0 and told["variables"][0]["score"] is None and told["arcs"][0]["contribution"] is None
    assert ended(capsys, "show", "odd.json", "--report", "odd.html", "--draw", "odd.svg")[0] == 0
    assert "<svg" in Path("odd.html").read_text(encoding="utf-8")
