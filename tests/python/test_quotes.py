"""Quotes that open no field, in text files of every other program: inches, seconds, words in quotes, open ends."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import arbornet as an


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


STRAY = [["5'7\"", "6'\""], ["54°12'34\"N", "7°2'4\"S"], ["5'7\"", "none"], ['"a" box', "box"]]
OPEN = [['"a" b"', "b"], ['"', "b"], ['"abc', "b"]]
BESIDE = {"u": "u", "v": "v", '"u, v"': "u, v", '"""w"", x"': '"w", x'}


@pytest.mark.parametrize(
    ("fields", "beside"),
    [*((each, ["u", "v"]) for each in STRAY + OPEN), *((each, ['"u, v"', '"""w"", x"']) for each in STRAY)],
)
def test_quotes_that_open_no_field_are_text(tmp_path, fields, beside, caplog) -> None:
    rows = [(i, fields[i % 2 if i % 3 else 0], beside[i % 2]) for i in range(60)]
    path = written(tmp_path / "f.csv", "id,h,w\n" + "".join(f"{i},{h},{w}\n" for i, h, w in rows))
    with caplog.at_level(logging.INFO, "arbornet"):
        frame = an.read(path)
    assert "quotes taken for text in " in caplog.text
    assert frame.rows() == [(i, h, BESIDE[w]) for i, h, w in rows]


@pytest.mark.parametrize("more", ["", '7,"the "Inn, a b\nY, Z"\n'])
def test_addresses_over_two_lines_with_a_comma_stay_one_field(tmp_path, more) -> None:
    text = "id,address\n" + "".join(f'{i},"{i} Main St\nSpringfield, IL"\n' for i in range(40))
    path = written(tmp_path / "f.csv", text + more)
    if more:
        with pytest.raises(an.ArbornetError, match="line 82"):
            an.read(path)
    else:
        assert an.read(path).rows()[7] == (7, "7 Main St\nSpringfield, IL")


def test_quotes_that_open_no_field_are_text_behind_the_first_megabyte(tmp_path) -> None:
    lines = [f"{i},{'x' * 20},{i % 7}\n" for i in range(50_000)]
    path = written(tmp_path / "f.csv", "id,h,w\n" + "".join(lines) + "7,5'7\",3\n")
    assert an.read(path)["h"][-1] == "5'7\""


def test_a_quote_that_may_go_on_is_named_with_its_line_its_column_and_the_way_out(tmp_path) -> None:
    lines = [f'{i},b,"u, v"\n' for i in range(40)]
    path = written(tmp_path / "f.csv", "id,h,w\n" + "".join(lines[:7]) + '7,"a" b","u"\n' + "".join(lines[8:]))
    with pytest.raises(an.ArbornetError, match=r"line 9, field 2 \('h'\) opens with a quote .* quote_char=None"):
        an.read(path)


def test_a_quote_that_is_closed_nowhere_is_named(tmp_path) -> None:
    path = written(tmp_path / "f.csv", 'a,b\n1,"two\nlines"\n2,"x\n3,y\n4,z\n')
    with pytest.raises(an.ArbornetError, match="a quote opens in line 4 and is closed nowhere"):
        an.read(path)
