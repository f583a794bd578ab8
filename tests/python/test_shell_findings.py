"""What findings advise can be typed in the shell."""

from __future__ import annotations

import re
import shlex
import warnings
from pathlib import Path

import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.cli.advice import in_shell

N = 240
PYTHON = re.compile(r"\bdf\.|\bpl\.|schema\.|an\.\w|with_types|schema_overrides|quote_char")
Y = [i * 7919 % N * 1.37 for i in range(N)]


def printed(path: Path, columns: dict[str, list[object]], capsys: pytest.CaptureFixture[str], *options: str) -> str:
    pl.DataFrame({"y": Y, **columns}).write_csv(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert main(["schema", str(path), *options]) == 0
    out = capsys.readouterr().out
    assert not PYTHON.search(out), out
    return out


@pytest.mark.parametrize(
    ("values", "option"),
    [
        ([1, 2, 3, 4, 88, 99], "--missing-values 'x=88,99'"),
        (["a", "b", "unknown"], "--missing-values 'x=unknown'"),
        (["a", "b", "B "], "--replace 'x=B ->b' "),
        (["a b", "b", "b's", "B's"], """--replace 'x=b'\\''s->B'\\''s'"""),
        ([f"{i * 7 % 97}.{i % 10}" for i in range(N - 1)] + ["n. d."], "--missing-values 'x=n. d.' makes it missing"),
        ([f"{i * 7 % 97}.{i % 10}" for i in range(N - 1)] + ["<1"], "--replace 'x=<1->0.5' half of it"),
        ([f"{i % 28 + 1}/{i % 12 + 1}/2010" for i in range(N - 1)] + ["31/31/2011"], "--missing-values 'x=31/31/2011'"),
    ],
)
def test_a_finding_gives_an_option_and_with_it_is_gone(values, option, tmp_path, capsys) -> None:
    columns = {"x": (values * N)[:N]}
    out = printed(tmp_path / "t.csv", columns, capsys)
    assert option.rstrip() in out
    wrong = out[out.index("what looks wrong:") :]
    assert "'x' " in wrong
    words = shlex.split(re.findall(r"(?:--(?:missing-values|replace) '(?:[^']|'\\'')*' ?)+", wrong)[-1])
    again = printed(tmp_path / "t.csv", columns, capsys, *words)
    assert "'x' " not in again.partition("what looks wrong:")[2]


def test_all_advice_of_findings_is_of_the_shell(tmp_path, capsys) -> None:
    columns = {
        "id": [i // 4 for i in range(N)],
        "text": [f"word {i} and {i * i} more" for i in range(N)],
        "code": ["31E2", "3.1E+20", *(f"3{i % 60}{'ABC'[i % 3]}" for i in range(N - 2))],
        "x1": [i * 7919 % 1009 + 1000 for i in range(N)],
        "town": [*(f"t{i % 40}" for i in range(N - 1)), "Total"],
        "size": [*(i % 90 for i in range(N - 1)), sum(i % 90 for i in range(N - 1))],
        "odd": [f"{i * 7 % 97}.{i % 10}" for i in range(N - 9)] + [f"note {i}" for i in range(9)],
    }
    out = printed(tmp_path / "t.csv", columns, capsys)
    for told in (
        "keep one row of each in the file",
        "see those rows in the file",
        "delete it in the file",
        "--set 'x1=leave-out'",
        "a column made from 'text' in the file keeps its length",
        "empty such fields of 'odd' in the file",
    ):
        assert told in out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        main(["learn", str(tmp_path / "t.csv"), "--max-parents", "1", "--search", "chow_liu", "--quiet"])
    out = " ".join(capsys.readouterr().out.split())
    assert "look at:" in out and not PYTHON.search(out)


def test_values_are_replaced_and_types_inferred_from_what_is_left(tmp_path, capsys) -> None:
    columns = {
        "n": ([1, 2, 3, 98] * N)[:N],
        "m": (["7", "8", "9", "x,y"] * N)[:N],
        "when": (["2020-01-01", "-"] * N)[:N],
    }
    line = [
        "--missing-values",
        "n=98",
        "--missing-values",
        "m=x,y",
        "--missing-values",
        "when=-",
        "--replace",
        "n=3 -> 4",
    ]
    out = printed(tmp_path / "t.csv", columns, capsys, *line)
    assert re.search(r"n +categorical +1, 2, 4 +60 \(25\.0%\)", out) and re.search(r"m +ordinal +7 < 8 < 9 +60", out)
    assert re.search(r"when +left out +2020-01-01", out)
    for bad in (["--missing-values", "z=1"], ["--replace", "n=1"], ["--replace", "n=1->two"]):
        assert main(["schema", str(tmp_path / "t.csv"), *bad]) == 1
        assert bad[1] in capsys.readouterr().err
    main(["schema", str(tmp_path / "t.csv"), "--missing-values", "n=7"])
    assert "no row has '7'" in capsys.readouterr().err


def test_a_number_that_stands_for_a_missing_one_is_missing_in_new_rows_too(tmp_path, capsys) -> None:
    x = [99 if i % 9 == 0 else i % 6 for i in range(N)]
    pl.DataFrame({"x": x, "y": Y}).write_csv(tmp_path / "t.csv")
    net, option = str(tmp_path / "n.json"), ["--missing-values", "x=99"]
    assert main(["learn", str(tmp_path / "t.csv"), "--quiet", "--max-parents", "1", "-o", net, *option]) == 0
    assert an.load(net).schema["x"].levels == (0, 1, 2, 3, 4, 5)
    capsys.readouterr()
    assert main(["impute", net, str(tmp_path / "t.csv"), *option, "-o", str(tmp_path / "i.csv")]) == 0
    assert an.read(tmp_path / "i.csv")["x"].max() == 5


def test_what_is_said_of_a_file_is_said_in_options() -> None:
    assert (
        in_shell("f; schema_overrides={'zip': pl.Int64} reads numbers") == "f; --set 'zip=written:1234.5' reads numbers"
    )
    assert in_shell("thousands: schema_overrides={'a': pl.String}, then schema.with_forms(a='1.234,5')") == (
        "thousands, remove them in the file"
    )
    assert in_shell('to look at more: effort="thorough", or fewer columns, or parents="forest"') == (
        "to look at more: --effort thorough, or fewer columns, or --parents forest"
    )


def test_what_was_replaced_is_replaced_in_new_rows_without_asking(tmp_path, capsys) -> None:
    x = [99 if i % 9 == 0 else i % 6 for i in range(N)]
    colour = ["Red" if i % 7 == 0 else ("red", "blue")[i % 6 // 3] for i in range(N)]
    pl.DataFrame({"x": x, "colour": colour, "y": Y}).write_csv(tmp_path / "t.csv")
    net, again = str(tmp_path / "n.json"), str(tmp_path / "again.json")
    options = ["--missing-values", "x=99", "--replace", "colour=Red->red"]
    table = str(tmp_path / "t.csv")
    assert main(["learn", table, "--quiet", "--max-parents", "1", "-o", net, *options]) == 0
    assert an.load(net).origin.replaced == {"missing_values": ["x=99"], "replace": ["colour=Red->red"]}
    capsys.readouterr()
    assert main(["impute", net, table, "-o", str(tmp_path / "i.csv")]) == 0
    assert "replaced values as the network's table had them replaced, in x, colour" in capsys.readouterr().err
    filled = an.read(tmp_path / "i.csv")
    assert filled["x"].max() == 5 and set(filled["colour"]) == {"red", "blue"}
    # New rows may lack a column, and a fit to them keeps what was replaced.
    pl.DataFrame({"x": [99, 2], "y": Y[:2]}).write_csv(tmp_path / "new.csv")
    assert main(["predict", net, str(tmp_path / "new.csv"), "colour"]) == 0
    assert "in x\n" in capsys.readouterr().err
    assert main(["fit", table, net, "-o", again]) == 0
    assert an.load(again).origin.replaced == an.load(net).origin.replaced
    assert an.load(again).schema["x"].levels == (0, 1, 2, 3, 4, 5)
    damaged = Path(net).read_text(encoding="utf-8").replace('"missing_values": [', '"values": [', 1)
    Path(net).write_text(damaged.replace('"missing_values":[', '"values":[', 1), encoding="utf-8")
    with pytest.raises(an.FormatError, match="replaced"):
        an.load(net)


def test_options_for_names_and_levels_with_apostrophes_are_words_of_a_shell(tmp_path, capsys) -> None:
    grades = ["d'accord", "pas d'accord", "sans avis"]
    assert in_shell(f"""schema.with_types({{"l'avis": an.Ordinal({grades!r})}})""") == (
        r"""--set 'l'\''avis=ordinal:d'\''accord,pas d'\''accord,sans avis'"""
    )
    assert in_shell("""schema.without("l'avis", 'x')""") == r"""--set 'l'\''avis=leave-out' --set 'x=leave-out'"""
    assert in_shell("""schema.with_forms({"l'an": '%d/%m/%Y'})""") == r"""--set 'l'\''an=written:%d/%m/%Y'"""
    assert in_shell("""Schema.with_types({"n'": ...}) keeps one""").startswith(r"""--set 'n'\''=categorical' (or""")
    columns = {"date d'entrée": [f"{i % 28 + 1}/{i % 12 + 1}/2010" for i in range(N)]}
    out = printed(tmp_path / "t.csv", columns, capsys)
    option = shlex.split(re.findall(r"--set '.*'", out)[0])
    assert option == ["--set", "date d'entrée=categorical"]
    assert "as declared" in printed(tmp_path / "t.csv", columns, capsys, *option)
