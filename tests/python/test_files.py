"""Files: what is read from each ending, and what counts as missing."""

from __future__ import annotations

import datetime as dt
import gzip

import polars as pl
import pytest

import arbornet as an
from arbornet.io.tables import ENDINGS, write_table

FRAME = pl.DataFrame({"n": [1, 2, None], "x": [0.5, None, 2.5], "t": ["a", None, "c"]})


def test_every_format_gives_the_same_frame(tmp_path) -> None:
    FRAME.write_parquet(tmp_path / "f.parquet")
    FRAME.write_csv(tmp_path / "f.csv")
    FRAME.write_csv(tmp_path / "f.tsv", separator="\t")
    FRAME.write_ndjson(tmp_path / "f.ndjson")
    for ending in ("arrow", "feather", "ipc"):
        FRAME.write_ipc(tmp_path / f"f.{ending}")
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress((tmp_path / "f.csv").read_bytes()))
    (tmp_path / "g.ndjson.gz").write_bytes(gzip.compress((tmp_path / "f.ndjson").read_bytes()))
    paths = sorted(tmp_path.iterdir())
    assert len(paths) == 9
    for path in paths:
        assert an.read(path).equals(FRAME), path


def test_words_for_missing_values_are_read_as_missing_or_as_told(tmp_path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a,b\n1,x\nNA,?\n,NaN\nnull,y\n")
    assert an.read(path).rows() == [(1, "x"), (None, None), (None, None), (None, "y")]
    assert an.read(path, null_values=["NA", "null"])["b"].to_list() == ["x", "?", "NaN", "y"]


def test_dates_and_moments_as_iso_writes_them_are_read_as_such_and_nothing_else_is(tmp_path) -> None:
    path = tmp_path / "f.csv"
    path.write_text(
        "day,moment,slashes,some,none_such,time,empty\n"
        "2021-03-04,2021-03-04 15:30,03/04/2021,2021-03-04,2021-02-31,10:30,\n"
        ",2021-03-04 15:30:10.5,13/04/2021,soon,2021-03-04,11:30,\n"
    )
    assert an.read(path).dtypes == [pl.Date, pl.Datetime("us")] + [pl.String] * 5
    assert an.read(path)["day"].to_list() == [dt.date(2021, 3, 4), None]
    assert an.read(path, try_parse_dates=False)["day"].dtype == pl.String


def test_a_column_that_is_whole_for_long_and_then_is_not_is_read(tmp_path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("a\n" + "1\n" * 5000 + "1.5\n")
    assert an.read(path)["a"].dtype == pl.Float64


@pytest.mark.parametrize(
    ("name", "words"),
    [("f.docx", "is not known"), ("f.parquet", "cannot be read as parquet"), ("f.xlsx", "cannot be read as xlsx")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, words) -> None:
    (tmp_path / name).write_text("nothing of the kind")
    with pytest.raises(an.ArbornetError, match=words):
        an.read(tmp_path / name)


def test_a_file_that_is_not_there_is_named(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        an.read(tmp_path / "none.csv")


def test_quotes_in_names_are_read_as_they_are_in_fields(tmp_path) -> None:
    path = tmp_path / "f.csv"
    path.write_text('"size ""net""","""q""","x,y",plain\n"a ""b""",1,2,3\n')
    frame = an.read(path)
    assert frame.columns == ['size "net"', '"q"', "x,y", "plain"]
    assert frame.row(0)[0] == 'a "b"'


def test_a_packed_file_that_was_cut_is_named(tmp_path) -> None:
    import gzip

    path = tmp_path / "f.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-20])
    with pytest.raises(an.ArbornetError, match=r"f\.jsonl\.gz cannot be read"):
        an.read(path)


@pytest.mark.parametrize("name", ["data[1]", "da*a", "d?ta", "~data", "{data,x}", "file:data", "data%20x"])
def test_a_name_is_read_as_it_stands(tmp_path, monkeypatch, name) -> None:
    monkeypatch.chdir(tmp_path)
    other = FRAME.head(1)
    for ending in ENDINGS:
        for decoy in ("data1", "data", "datx", "data x"):
            write_table(other, decoy + ending)
        write_table(FRAME, name + ending)
        assert an.read(name + ending).equals(FRAME), ending
        with pytest.raises(FileNotFoundError):
            an.read(f"[x]{name}{ending}")


def test_candidates_are_read_by_a_name_as_it_stands(tmp_path) -> None:
    table = an.Table({"a": ["x", "y"] * 5, "b": ["u", "v"] * 5})
    one, two = an.score_parents(table, an.BIC(), 0), an.score_parents(table, an.BIC(), 1)
    one.save(tmp_path / "c1.parquet")
    two.save(tmp_path / "c[1].parquet")
    assert one != two and an.Candidates.load(tmp_path / "c[1].parquet") == two
