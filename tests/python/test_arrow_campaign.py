"""A slice of the campaign on the Arrow border: random frames against a literal reading of their values."""

from __future__ import annotations

import random
import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest

CAMPAIGNS = Path(__file__).parents[2] / "campaigns"


@pytest.mark.parametrize("seed", range(4))
def test_random_frames_are_read_as_their_values_or_refused_by_name(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(CAMPAIGNS), *sys.path])
    import arrow

    came_of_it: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(150):
            came_of_it[arrow.one(random.Random(1_000 * seed + i), Counter())] += 1
    assert came_of_it["read"] > 40 and came_of_it["left out: type"] > 0, came_of_it
