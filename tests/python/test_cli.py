"""The shell: what it prints, what it writes, and how it ends."""

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.cli.parser import COMMANDS, parser

TYPES = "stage=ordinal:I,II,III,IV"


@pytest.fixture(scope="session")
def learned(tmp_path_factory):
    """A folder with a table, its schema, and a network learned from it by the shell."""
    folder = tmp_path_factory.mktemp("shell")
    an.example("patients").write_csv(folder / "patients.csv")
    assert main(["schema", str(folder / "patients.csv"), "--set", TYPES, "--write"]) == 0
    schema = str(folder / "patients.schema.json")
    arguments = ["learn", str(folder / "patients.csv"), "--schema", schema, "--max-parents", "2", "--quiet"]
    assert main([*arguments, "-o", str(folder / "patients.json")]) == 0
    return folder


@pytest.fixture
def there(learned, tmp_path, monkeypatch):
    """A fresh copy of that folder as the working folder."""
    shutil.copytree(learned, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")


def said(capsys, *arguments):
    """What a command that succeeds prints."""
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr()


def refused(capsys, *arguments):
    """What a command that fails says; it prints nothing."""
    capsys.readouterr()
    assert main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1].startswith("arbornet: ")
    return err


def test_the_story_of_the_epidemiologist_word_for_word(tmp_path):
    an.example("patients").write_csv(tmp_path / "patients.csv")

    def type_in(line):
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
        return subprocess.run(
            line, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )

    first = type_in("arbornet schema patients.csv")
    assert re.search(r"^stage +ordinal +I < II < III < IV", first.stdout, re.MULTILINE)
    assert "--schema patients.schema.json" in first.stderr
    type_in("arbornet schema patients.csv --set stage=ordinal:I,II,III,IV --write")
    line = "arbornet learn patients.csv --schema patients.schema.json --report patients.html"
    second = type_in(line)
    assert "14 rows with missing values kept (glucose: 7, crp: 7)" in second.stdout
    assert re.search(r"to score: [0-9,]+ parent sets of up to [34] parents", second.stdout)
    assert re.search(r"search: exact, finished in .*\nproved: no network within the parent limit", second.stdout)
    assert (tmp_path / "patients.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_every_command_teaches_by_examples_that_parse(capsys):
    for name in COMMANDS:
        with pytest.raises(SystemExit) as ended:
            main([name, "--help"])
        assert ended.value.code == 0
        text = capsys.readouterr().out
        examples = re.findall(r"^  arbornet (.+?)(?:  +.*)?$", text, re.MULTILINE)
        assert examples
        for example in examples:
            parser().parse_args(_words(example))


def _words(line):
    import shlex

    return shlex.split(line)


@pytest.mark.parametrize("arguments", [["leran"], ["schema"], ["learn", "x.csv", "--search", "luck"]])
def test_wrong_usage_ends_with_two(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage: arbornet" in capsys.readouterr().err


def test_help_answers_without_loading_the_searches():
    code = "import sys; from arbornet.cli.parser import parser; parser(); print({'rich'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_mistakes_are_sentences_with_a_way_out(there, capsys):
    assert "no file nothere.csv" in refused(capsys, "schema", "nothere.csv")
    assert "did you mean 'stage'" in refused(capsys, "schema", "patients.csv", "--set", "stge=ordinal")
    assert "NAME=continuous" in refused(capsys, "schema", "patients.csv", "--set", "stage=sorted")
    assert "there are AIC" in refused(capsys, "score", "patients.csv", "--score", "Foo()")
    assert "it is PCART(" in refused(capsys, "score", "patients.csv", "--score", "PCART(depth=3)")
    assert "parent -> child" in refused(capsys, "learn", "patients.csv", "--forbid", "age")
    assert "whole number or 'auto'" in refused(capsys, "learn", "patients.csv", "--max-parents", "many")
    assert "no variable 'height'" in refused(capsys, "predict", "patients.json", "patients.csv", "height")
    assert "a table's name ends in .csv" in refused(capsys, "sample", "patients.json", "-o", "rows.xlsx")
    assert "is not a level of 'stage': I, II" in refused(capsys, "sample", "patients.json", "--given", "stage=V")
    Path("broken.json").write_text("{", encoding="utf-8")
    assert "broken.json" in refused(capsys, "show", "broken.json")


@pytest.mark.parametrize("text", ["PCART(__import__('os'))", "(lambda: PCART())()", "PCART(max_splits=1+1)", "x = 1"])
def test_a_score_is_read_and_never_run(text, there, capsys):
    assert "--score" in refused(capsys, "score", "patients.csv", "--score", text)


def test_types_are_set_by_words(there, capsys):
    told = json.loads(
        said(capsys, "schema", "patients.csv", "--set", "days=binned:3", "--set", "sex=leave-out", "--json").out
    )
    columns = {column["name"]: column for column in told["columns"]}
    assert columns["days"]["kind"] == {"is": "binned", "k": 3, "by": "frequency"}
    assert "left_out" in columns["sex"]
    assert an.Schema.load("patients.schema.json")["stage"].levels == ("I", "II", "III", "IV")


def test_one_score_is_one_number(there, capsys):
    out = said(capsys, "score", "patients.csv", "--child", "readmitted", "--parents", "diabetes, days").out
    table = an.Table(an.example("patients"))
    assert float(out) == pytest.approx(an.local_score(table, "readmitted", ["diabetes", "days"], an.PCART()), abs=1e-6)


def test_candidates_are_planned_written_and_converted(there, capsys):
    plan = json.loads(said(capsys, "score", "patients.csv", "--max-parents", "2", "--plan", "--json").out)
    assert plan["n_sets"] == 12 * (1 + 11 + 55)
    told = json.loads(
        said(capsys, "score", "patients.csv", "--max-parents", "2", "-o", "c.parquet", "--json", "--quiet").out
    )
    assert told["n_evaluated"] <= told["n_sets"] == plan["n_sets"]
    said(capsys, "convert", "c.parquet", "c.jkl")
    assert an.Candidates.load("c.jkl").n_kept == an.Candidates.load("c.parquet").n_kept == told["n_kept"]


def test_converted_candidates_keep_what_is_known_of_them(there, capsys):
    said(capsys, "score", "patients.csv", "--max-parents", "1", "-o", "c.parquet", "--quiet")
    said(capsys, "convert", "c.parquet", "d.parquet")
    first, second = (an.Candidates.load(name) for name in ("c.parquet", "d.parquet"))
    assert first == second and vars(first) | {"handle": None} == vars(second) | {"handle": None}
    assert second.score is not None and second.table is not None and second.max_parents == 1
    told = said(capsys, "convert", "d.parquet", "c.jkl").err
    assert "not kept" in told and "score" in told and "max_parents" in told
    said(capsys, "convert", "c.jkl", "e.parquet")
    assert an.Candidates.load("e.parquet") == first


def test_sets_that_a_subset_beats_are_kept_on_request(there, capsys):
    for name, more in (("pruned.parquet", ()), ("all.parquet", ("--no-prune",))):
        said(capsys, "score", "patients.csv", "--max-parents", "1", "-o", name, "--quiet", *more)
    pruned, every = (an.Candidates.load(name) for name in ("pruned.parquet", "all.parquet"))
    assert (pruned.pruned, every.pruned) == (True, False)
    assert every.n_kept == every.n_sets == pruned.n_sets > pruned.n_kept


def test_learning_obeys_the_arcs_it_is_told(there, capsys):
    out = said(
        capsys, "learn", "patients.csv", "--max-parents", "2", "--quiet", "--json",
        "--require", "sex -> age", "--forbid", "diabetes -> readmitted", "--tier", "crp", "--tier", "stage",
    ).out  # fmt: skip
    arcs = {(arc["parent"], arc["child"]) for arc in json.loads(out)["arcs"]}
    assert ("sex", "age") in arcs
    assert ("diabetes", "readmitted") not in arcs
    assert ("stage", "crp") not in arcs


def test_arcs_are_tried_on_resampled_rows(there, capsys):
    arguments = ["learn", "patients.csv", "--max-parents", "1", "--quiet", "--bootstrap", "6", "--seed", "4"]
    arguments += ["--missing", "drop"]
    told = json.loads(said(capsys, *arguments, "--json", "-o", "strong.json").out)
    shares = {(arc["parent"], arc["child"]): arc["strength"] for arc in told["arcs"]}
    assert shares and all(0 <= share <= 1 for share in shares.values())
    table = an.Table(an.read("patients.csv"), scales="auto")
    by_hand = an.evaluate.arc_strength(table, an.PCART(), n_bootstrap=6, seed=4, max_parents=1)
    for (parent, child), share in shares.items():
        row = by_hand.filter((pl.col("parent") == parent) & (pl.col("child") == child))
        assert share == (row["strength"][0] if row.height else 0.0)
    assert an.load("strong.json").origin.strengths
    out = said(capsys, *arguments).out
    assert "share of 6 resampled networks" in " ".join(out.split()) and re.search(r"\(\d.*, \d+%\)", out)


def test_rows_with_blanks_are_dropped_kept_or_refused(there, capsys):
    frame = an.read("patients.csv").with_columns(
        sex=pl.when(pl.int_range(600) % 3 > 0).then(pl.col("sex")),
        glucose=pl.col("glucose").fill_null(5.5),
        crp=pl.col("crp").fill_null(1.5),
    )
    frame.write_csv("blank.csv")
    arguments = ["learn", "blank.csv", "--max-parents", "1", "--quiet"]
    assert json.loads(said(capsys, *arguments, "--json").out)["n_rows"] == 600
    dropped = json.loads(said(capsys, *arguments, "--json", "--missing", "drop").out)
    assert dropped["n_rows"] == 400
    kept = json.loads(said(capsys, *arguments, "--json", "--missing", "level").out)
    assert kept["n_rows"] == 600
    assert len(next(v["levels"] for v in kept["variables"] if v["name"] == "sex")) == 3
    assert "sex" in refused(capsys, *arguments, "--missing", "error")


def test_the_shell_learns_what_python_learns(there):
    schema = an.Schema.load("patients.schema.json")
    table = an.Table(an.read("patients.csv"), schema)
    found = an.search.exact(an.score_parents(table, an.PCART(), max_parents=2))
    assert sorted(an.load("patients.json").graph.edges) == sorted(found.dag.edges)


def test_forests_pick_the_parents_as_they_do_in_python(there, capsys):
    table = an.Table(an.read("patients.csv"), an.Schema.load("patients.schema.json"))
    typed = ["patients.csv", "--schema", "patients.schema.json", "--quiet", "--score", "MARS(degree=2)"]
    forest = ["--parents", "forest", "--n-candidates", "3"]
    said(capsys, "score", *typed, *forest, "-o", "c.parquet")
    score = an.MARS(degree=2)
    kept = an.score_parents(table, score, "auto", parents="forest", n_candidates=3)
    assert an.Candidates.load("c.parquet") == kept
    told = said(capsys, "learn", *typed, *forest, "--missing", "drop", "-o", "net.json").out
    assert "parents: the 3 best of each variable by a random forest" in told
    assert "search: exact" in told
    net = an.learn(table, score, parents="forest", n_candidates=3, verbose=False)
    assert an.load("net.json").origin.search["score"] == net.origin.search["score"]
    assert sorted(an.load("net.json").graph.edges) == sorted(net.graph.edges)
    none = json.loads(said(capsys, "score", *typed, *forest, "--child-time-limit", "0", "--json").out)
    assert none["n_skipped"] == none["n_sets"] - len(table.names)


def test_dates_of_a_csv_are_dates_from_the_schema_to_the_query(there, capsys):
    day = pl.date(2020, 1, 1) + pl.duration(days=pl.int_range(400) * 7 % 900)
    frame = pl.select(joined=day).with_columns(spent=pl.max_horizontal(pl.col("joined").rank(), 200) / 10)
    frame.write_csv("visits.csv")
    assert "2020-01-01 to 2022-06-18" in said(capsys, "schema", "visits.csv").out
    said(capsys, "learn", "visits.csv", "--score", "MARS()", "--require", "joined -> spent", "-o", "v.json", "--quiet")
    assert re.search(r"for every day that joined is above 202\d-\d\d-\d\d", said(capsys, "show", "v.json", "spent").out)
    drawn = said(capsys, "sample", "v.json", "-n", "50", "--given", "joined=2020-02-01..2020-03-01").out
    days = pl.read_csv(drawn.encode(), try_parse_dates=True)["joined"]
    assert days.dtype == pl.Date and days.is_between(pl.date(2020, 2, 1), pl.date(2020, 3, 1)).all()
    assert "write 2021-03-04" in refused(capsys, "sample", "v.json", "--given", "joined=soon")


def test_the_package_itself_is_the_command(there):
    run = subprocess.run([sys.executable, "-m", "arbornet", "--version"], capture_output=True, text=True, check=True)
    assert run.stdout.startswith("arbornet ")


def test_parents_without_a_child_are_picked_by_forests_or_refused(there, capsys):
    assert "give --child too, or 'forest'" in refused(capsys, "score", "patients.csv", "--parents", "age")
    assert "grows no forests" in refused(capsys, "score", "patients.csv", "--parents", "forest", "--plan")


def test_predictions_stand_beside_the_table(there, capsys):
    said(capsys, "predict", "patients.json", "patients.csv", "readmitted", "-o", "out.parquet")
    frame = pl.read_parquet("out.parquet")
    assert frame.columns == [*an.example("patients").columns, "predicted readmitted"]
    net = an.load("patients.json")
    assert frame["predicted readmitted"].to_list() == net.predict(an.read("patients.csv"), "readmitted").to_list()
    shares = pl.read_csv(
        said(capsys, "predict", "patients.json", "patients.csv", "stage", "--proba", "--only").out.encode()
    )
    assert shares.columns == ["stage=I", "stage=II", "stage=III", "stage=IV"]
    assert shares.sum_horizontal().to_list() == pytest.approx([1.0] * 600, abs=1e-5)
    ends = pl.read_csv(
        said(capsys, "predict", "patients.json", "patients.csv", "systolic", "--interval", "0.5", "--only").out.encode()
    )
    assert ends.columns == ["systolic lower", "systolic upper"]
    density = pl.read_csv(
        said(capsys, "predict", "patients.json", "patients.csv", "--log-likelihood", "--only").out.encode()
    )
    assert density["log_likelihood"].to_list() == pytest.approx(net.log_likelihood(an.read("patients.csv")).tolist())


def test_samples_come_back_for_their_seed(there, capsys):
    arguments = ["sample", "patients.json", "-n", "20", "--seed", "3", "--given", "stage=IV", "--do", "age=70"]
    first, second = (said(capsys, *arguments).out for _ in range(2))
    assert first == second
    frame = pl.read_csv(first.encode())
    assert set(frame["stage"]) == {"IV"}
    assert set(frame["age"]) == {70}


def test_a_network_is_shown_in_words_pictures_and_json(there, capsys):
    out = said(capsys, "show", "patients.json").out
    assert re.search(r"readmitted +<- ", out)
    assert "days" in said(capsys, "show", "patients.json", "readmitted").out
    told = json.loads(said(capsys, "show", "patients.json", "--json").out)
    assert [v["name"] for v in told["variables"]] == an.example("patients").columns
    said(capsys, "show", "patients.json", "--draw", "net.svg", "--report", "net.html", "--data", "patients.csv")
    said(capsys, "show", "patients.json", "readmitted", "--draw", "tree.pdf")
    assert Path("net.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "Histogram of age" in Path("net.html").read_text(encoding="utf-8")
    assert Path("tree.pdf").read_bytes().startswith(b"%PDF")


def test_networks_are_compared(there, capsys):
    out = said(capsys, "compare", "patients.json", "patients.json", "--json").out
    told = json.loads(out)
    assert told["shd"] == 0 and told["ap"] == told["ar"] == told["f1"] == 1.0
    assert "adjacencies: precision 100.0%, recall 100.0%" in said(capsys, "compare", *["patients.json"] * 2).out
    assert told["arcs"]["missing"] == told["arcs"]["extra"] == told["arcs"]["reversed"] == []
    assert len(told["arcs"]["same"]) == an.load("patients.json").graph.number_of_edges()


def test_every_command_speaks_json(there, capsys):
    rows = json.loads(said(capsys, "sample", "patients.json", "-n", "3", "--given", "stage=III,IV", "--json").out)
    assert len(rows) == 3 and {row["stage"] for row in rows} <= {"III", "IV"}
    rows = json.loads(said(capsys, "predict", "patients.json", "patients.csv", "stage", "--only", "--json").out)
    assert len(rows) == 600 and set(rows[0]) == {"predicted stage"}
    assert json.loads(said(capsys, "convert", "patients.json", "x.bif", "--bins", "3", "--json").out)["to"] == "x.bif"
    for command in COMMANDS:
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert "--json" in capsys.readouterr().out


def test_draws_may_be_limited_to_intervals(there, capsys):
    out = said(capsys, "sample", "patients.json", "-n", "50", "--given", "age=50..60", "--given", "bmi=..25").out
    frame = pl.read_csv(out.encode())
    assert frame["age"].is_between(50, 60).all() and (frame["bmi"] <= 25).all()
    assert "written 50..60" in refused(capsys, "sample", "patients.json", "--given", "age=50-60")


@pytest.mark.parametrize("ending", ["bif", "xmlbif", "net", "dot", "graphml", "json"])
def test_networks_are_converted(there, capsys, ending):
    said(capsys, "convert", "patients.json", f"again.{ending}", "--bins", "3")
    assert "readmitted" in Path(f"again.{ending}").read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "arrow", "ndjson"])
def test_tables_go_in_and_out_in_every_format(there, capsys, ending):
    said(capsys, "convert", "patients.csv", f"again.{ending}")
    assert an.read(f"again.{ending}").equals(an.read("patients.csv"))


def test_progress_is_drawn_on_terminals_only(there):
    command = [sys.executable, "-m", "arbornet.cli", "learn", "patients.csv", "--max-parents", "2"]
    piped = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "scoring" not in piped.stderr
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    drawn = subprocess.run(command, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True, env=environment)
    os.close(theirs)
    assert "scoring" in os.read(ours, 1 << 16).decode(errors="replace")
    os.close(ours)
    assert re.sub(r"[\d.]+ s", "", drawn.stdout) == re.sub(r"[\d.]+ s", "", piped.stdout)


def test_a_reader_that_has_seen_enough_is_no_error(there):
    line = f"{sys.executable} -m arbornet.cli sample patients.json -n 5000 | head -1"
    run = subprocess.run(line, shell=True, capture_output=True, text=True, check=True)
    assert run.stdout.count("\n") == 1
    assert run.stderr == ""


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_a_table_may_come_from_a_pipe(tmp_path: Path, separator: str) -> None:
    text = an.example("penguins").write_csv(separator=separator)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "arbornet", *arguments],
            input=text, cwd=tmp_path, capture_output=True, text=True, check=True,
        )  # fmt: skip

    assert "344 rows; 4 continuous, 3 categorical, 1 ordinal" in run("schema", "-").stdout
    assert run("schema", "/dev/stdin").stdout == run("schema", "-").stdout
    run("learn", "-", "--max-parents", "1", "--quiet", "-o", "net.json", "--report", "net.html")
    assert "<title>table</title>" in (tmp_path / "net.html").read_text()
    assert run("predict", "net.json", "-", "species", "--only").stdout.count("\n") == 345
    run("schema", "-", "--write")
    assert (tmp_path / "table.schema.json").exists()
    (tmp_path / "f.csv").write_text(text)
    with (tmp_path / "f.csv").open() as file:
        redirected = subprocess.run([sys.executable, "-m", "arbornet", "schema", "-"], stdin=file, capture_output=True)
    assert b"344 rows; 4 continuous" in redirected.stdout
