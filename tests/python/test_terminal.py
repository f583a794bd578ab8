"""What is printed fits the terminal, and numbers have the digits they deserve."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import networkx as nx
import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.cli.parser import COMMANDS
from arbornet.text.terminal import brief, shortened, time_range, wrapped, wrapped_tree
from arbornet.text.visible import written


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A folder with a table of long names and many levels, and a network of it."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    n = 300
    places = [f"a place called number {i}" for i in range(8)]
    place = rng.integers(0, 8, n)
    frame = pl.DataFrame(
        {
            "where the patient was seen first": [places[i] for i in place],
            "a measurement of something in the blood": rng.normal(place, 1.0),
            "grade": rng.integers(1, 6, n),
            "large": rng.integers(1_000_000, 9_000_000, n),
            **{f"column {i} of many": rng.normal(place % 3, 0.5) for i in range(5)},
        }
    )
    frame.write_csv("t.csv")
    an.learn(frame, search="chow_liu", verbose=False).save("t.json")
    return frame


def printed(capsys, *arguments: str) -> str:
    """What a command prints."""
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize(
    "line",
    [
        "schema t.csv",
        "learn t.csv --search chow_liu --quiet",
        "learn t.csv --max-parents 1 --quiet",
        "score t.csv --plan --max-parents 1",
        "show t.json",
        "show t.json grade",
        "compare t.json t.json",
    ],
)
def test_every_line_fits_the_terminal(line, columns, there, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = printed(capsys, *line.split()).splitlines()
    assert lines and max(map(len, lines)) <= columns, max(lines, key=len)


def test_the_model_of_a_variable_with_long_levels_fits_too(there, capsys):
    out = printed(capsys, "show", "t.json", "where the patient was seen first")
    assert max(map(len, out.splitlines())) <= 80
    told = an.load("t.json").explain("where the patient was seen first")
    assert re.sub(r"[\s│]+", "", out) == re.sub(r"[\s│]+", "", told)


@pytest.mark.parametrize("name", ["", *COMMANDS])
@pytest.mark.parametrize("columns", [80, 120])
def test_every_help_fits_the_terminal(name, columns, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"] if name else ["--help"])
    assert ended.value.code == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= columns


def test_arbornet_alone_prints_its_help():
    run = subprocess.run([sys.executable, "-m", "arbornet"], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert "a first session:" in run.stdout


def cells(text: str, n_columns: int) -> list[list[str]]:
    """The cells of a printed table, lines that continue a cell put together."""
    lines = text.splitlines()
    below = next(i for i, line in enumerate(lines) if line.startswith("---"))
    rule, rows = lines[below], lines[below + 1 :]
    starts = [0, *(found.end() for found in re.finditer(r"  (?=-)", rule))]
    out: list[list[str]] = []
    for row in rows[: next((i for i, row in enumerate(rows) if re.match(r"[\d,]+ rows;", row)), len(rows))]:
        parts = [row[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        if parts[1]:
            out.append(parts)
        else:
            out[-1] = [f"{was} {more}".strip() for was, more in zip(out[-1], parts, strict=True)]
    assert len(out) == n_columns
    return out


@pytest.mark.parametrize("columns", [80, 120])
def test_names_ranges_and_reasons_are_wrapped_and_not_cut(there, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    schema = an.infer_schema(there)
    table = cells(str(schema), len(schema))
    reasons = ("many whole numbers", "decimal numbers", "5 whole numbers", "text with 8 values", "an order")
    for (name, _, held, _, why), column in zip(table, schema.columns, strict=True):
        assert name.replace(" ", "") == column.name.replace(" ", "")
        assert "…" not in why and (columns == 120 or any(reason in why for reason in reasons)), why
        assert column.levels is not None or "…" not in held
    large = there["large"]
    assert f"{large.min()} to {large.max()}" in [held for _, _, held, _, _ in table]


def test_names_of_sixteen_letters_and_long_reasons_have_room() -> None:
    frame = {
        "rawpoll_mcmullin": [9.0 + i / 8 if i % 5 else None for i in range(400)],
        "enddate": [f"2016-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(400)],
    }
    (first, *_), (second, *_, why) = cells(str(an.infer_schema(frame)), 2)
    assert (first, second) == ("rawpoll_mcmullin", "enddate")
    assert why == "dates in text, such as '2016-07-03' (%Y-%m-%d)"


def test_a_wider_terminal_shows_more(there, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert "numbers with a fraction" in str(an.infer_schema(there.select("column 1 of many")))
    wide = str(an.infer_schema(there))
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, str(an.infer_schema(there)).splitlines())) <= 80 < max(map(len, wide.splitlines()))


def test_hints_of_the_shell_are_options(there, capsys):
    out = printed(capsys, "schema", "t.csv", "--set", "where the patient was seen first=ordinal")
    assert "an." not in out


def test_texts_are_cut_between_words():
    assert shortened("61 distinct whole numbers", 20) == "61 distinct whole…"
    assert shortened("a: b", 3) == "a…"
    assert shortened("current, former, never", 17, ", ") == "current, …"
    assert shortened("fits", 4) == "fits"
    assert shortened("unbreakable", 6) == "unbre…"
    assert wrapped("one two three", "  ", 8) == "one two\n  three"
    tree = "a\n├─ b = c: one two three\n│  └─ d: one two"
    assert wrapped_tree(tree, 14) == "a\n├─ b = c: one\n│    two three\n│  └─ d: one\n│       two"


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.01, 0.5, "under 1 s"),
        (0.4, 1.2, "0.4 to 1 s"),
        (2.1, 5.4, "2 to 5 s"),
        (45, 140, "0.8 to 2 min"),
        (130, 290, "2 to 5 min"),
        (4000, 9000, "1 to 2 h"),
        (2e5, 6e5, "2 to 7 days"),
        (2e15, 6e15, "more than 100 days"),
    ],
)
def test_a_time_is_estimated_as_one_range(low, high, text):
    assert time_range(low, high) == text


def test_learning_prints_one_estimate_of_time(there, capsys):
    an.learn(there, max_parents="auto")
    line = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("to score"))
    assert len(re.findall(r"\d (?:s|min|h)\b|under 1 s", line)) == 1


def test_a_measured_time_is_never_in_scientific_notation():
    assert brief(1.2e-5) == "under 0.001 s" and brief(0.0123) == "0.012 s" and brief(200) == "3 min 20 s"


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_numbers_of_single_precision_have_their_own_digits(tmp_path, capsys):
    values = np.array([0.0, 0.221, 0.442], dtype=np.float32)
    x = values[np.arange(90) % 3]
    frame = pl.DataFrame({"x": x, "always": np.full(90, 0.221, np.float32), "y": np.arange(90) % 3 == 1})
    schema = an.infer_schema(frame).with_types(x="categorical")
    assert "is constant (0.221)" in str(schema)
    net = an.fit(an.Table(frame, schema), nx.DiGraph([("x", "y")]), an.PCART())
    for text in (str(net["x"]), str(net["y"]), net.explain("x"), "\n".join(net["x"].rules())):
        assert "0.221" in text and "0.2210" not in text, text
    assert written(0.1) == "0.1" and written(0.25) == "0.25" and written(1) == "1"


def test_tables_of_text_have_the_digits_they_deserve(there, capsys):
    name = "a measurement of something in the blood"
    told = printed(capsys, "predict", "t.json", "t.csv", name, "--only").splitlines()[1:]
    exact = an.load("t.json").predict(there, name).to_list()
    assert all(len(text.partition(".")[2]) <= 4 for text in told)
    assert [float(text) for text in told] == pytest.approx(exact, abs=1e-4)
    shares = printed(capsys, "predict", "t.json", "t.csv", "grade", "--proba", "--only").splitlines()[1]
    assert all(len(text) <= 8 for text in shares.split(","))
    printed(capsys, "predict", "t.json", "t.csv", name, "--only", "-o", "out.parquet")
    assert pl.read_parquet("out.parquet").to_series().to_list() == exact


def test_a_forced_arc_raises_the_score_when_it_is_removed(there):
    table = an.Table(pl.DataFrame({"a": ["x", "y"] * 50, "b": ["u", "u", "v", "v"] * 25}))
    net = an.fit(table, nx.DiGraph([("a", "b")]), an.PCART())
    assert "removing this arc raises the log score by" in net.explain("b")
    assert os.environ["COLUMNS"] == "80"


def test_of_very_many_columns_the_first_are_told(capsys):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=40) for i in range(70)}
    constants = {f"c{i}": np.ones(40) for i in range(30)}
    an.learn({**columns, **constants}, an.PCART(), max_parents=0)
    out = " ".join(capsys.readouterr().out.split())
    assert "continuous: x0, x1," in out and " x19 and 50 more" in out
    assert "x20" not in out
    assert out.count("left out: c") == 20 and "left out: 10 more columns, an.infer_schema(frame) says why" in out
