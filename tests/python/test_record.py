"""A small part of the record of results (`campaigns/record.py`): nothing that is written down there changes unnoticed.

If a change is meant, take the record again and say why: `tests/golden/record/README.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from places import GOLDEN, ROOT

RECORD = GOLDEN / "record"
#: Texts of networkx, and what names the version; a checkpoint of it is among the old files.
NOT_OURS = ("/GraphML", "/JSON")
REL = 1e-9


@pytest.fixture(scope="module")
def campaign() -> ModuleType:
    sys.path.insert(0, str(ROOT / "campaigns"))
    try:
        import record
    finally:
        sys.path.remove(str(ROOT / "campaigns"))
    return record


def rooms(campaign: ModuleType, but: str) -> list[ModuleType]:
    return [room for room in campaign.ROOMS if room.__name__.split(".")[-1] not in ("checkpoints", but)]


@pytest.mark.parametrize(
    ("name", "but"),
    [
        ("uci/zoo", ""),
        ("examples/bnlearn-marks", ""),
        ("bundled/moments", "predictions"),
        ("networks/survey", ""),
        ("instances/asia.num", ""),
    ],
)
def test_results_are_those_of_the_record_but_for_rounding(campaign, name, but):
    from recorded.book import read
    from recorded.difference import judged, place

    kept, taken = read(RECORD / f"{name}.jsonl"), campaign.record(name, rooms=rooms(campaign, but))
    assert not taken.failed
    compared = {key: verdict for key, verdict in judged(kept, taken, REL) if key in taken.lines}
    assert len(compared) >= 5 and set(compared) <= set(kept.lines), compared
    different = [key for key, verdict in compared.items() if verdict == "different" and not key.endswith(NOT_OURS)]
    told = [f"{key}: {place(kept, taken, key, REL)}\n  now: {taken.texts[key][:300]}" for key in different[:5]]
    assert not different, "\n".join(told)


def test_the_record_has_every_table(campaign):
    kept = {str(path.relative_to(RECORD).with_suffix("")) for path in RECORD.rglob("*.jsonl")}
    assert kept == set(campaign.names())


def test_rounding_is_told_from_a_difference(campaign, tmp_path, capsys):
    from recorded.book import Book, write
    from recorded.difference import compared

    def kept(name: str, text: str, with_texts: bool) -> Path:
        book = Book()
        book.put("scores/a", lambda: "same words")
        book.put("scores/b", lambda: text)
        write(book, tmp_path / name / "t.jsonl")
        if not with_texts:
            (tmp_path / name / "t.texts.gz").unlink()
        return tmp_path / name

    text = "total -12345.678901234567, then 0.25 of 7"
    rounding, different = "1 the same but for rounding", "1 DIFFERENT"
    cases = {
        text: "2 the same bytes",
        text.replace("4567", "4569"): rounding,
        text.replace("0.25", "0.2500001"): different,
        text.replace("of 7", "of 8"): different,
        text.replace("-123", "123"): different,
        text.replace("0.25", "nan"): different,
    }
    for with_texts in (True, False):
        for number, (other, verdict) in enumerate(cases.items()):
            a = kept(f"a{number}{with_texts}", text, with_texts)
            b = kept(f"b{number}{with_texts}", other, with_texts)
            assert compared(a, b, REL) == (verdict == different), (other, with_texts)
            told = capsys.readouterr().out
            assert verdict in told
            assert ("at character" in told) == (verdict == different and with_texts)
