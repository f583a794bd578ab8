"""Every reader against the inputs its fuzzer kept: refused as documented or of use, within the memory promised."""

from __future__ import annotations

import json
import sys
import tracemalloc
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PER_BYTE, ON_TOP = 2048, 1 << 20
"""Bytes of Python's memory for a byte of a file, and those that come on top."""


@pytest.mark.parametrize(
    "target", ["net", "xmlbif", "bif", "jkl", "schema", "json", "manifest", "parquet", "journal", "csv"]
)
def test_what_a_fuzzer_kept_is_refused_or_of_use(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "fuzz"), *sys.path])
    import targets

    lines = (ROOT / "tests" / "corpus" / f"{target}.jsonl").read_text(encoding="utf-8").splitlines()
    inputs = [json.loads(line).encode("latin-1") for line in lines]
    assert inputs
    targets.held(target, inputs[0])  # imports what is imported late
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for data in inputs:
            tracemalloc.start()
            targets.held(target, data)
            _, most = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            assert most <= PER_BYTE * len(data) + ON_TOP, f"{most} bytes for a file of {len(data)}: {data!r}"
