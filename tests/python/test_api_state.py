"""Random calls of the public functions on what earlier calls returned: results that agree, or errors that say why."""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

import arbornet as an

sys.path.append(str(Path(__file__).parents[2] / "campaigns"))
import api  # the machine of the campaign, which stops here at the first finding


def run(examples: int, start: int = 1) -> None:
    few = settings(
        max_examples=examples,
        stateful_step_count=25,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_state_machine_as_test(seed(start)(api.Calls), settings=few)


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_called_with_whatever_ends_in_a_result_or_an_error_of_ours() -> None:
    # Refusals alone would agree with anything: tables, searches and networks come to results too, within a few runs.
    tables, searches = {"Table"}, set(an.search.__all__)
    answers = {"BayesNet", "RowAnswers", "GeneralAnswers"}
    api.COUNTS.clear()
    for start in range(10):
        run(6, start)
        done = {name.removeprefix("done ").split(".")[0] for name in api.COUNTS if name.startswith("done ")}
        if start and all(done & some for some in (tables, searches, answers)) and len(done) >= 20:
            break
    else:
        pytest.fail(f"only these came to a result: {sorted(done)}")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("local_score", lambda *_, **__: math.nan),
        ("load", lambda path: None),
        ("infer_schema", lambda *_, **__: 1 // 0),
    ],
)
def test_a_result_that_does_not_agree_or_an_error_of_anothers_is_a_finding(
    name: str, instead: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(an, name, instead)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run(60)


NET = an.fit(an.Table(api.COLUMNS), nx.DiGraph([("a", "x")]), an.PCART())


@settings(max_examples=20, deadline=None)
@given(st.data())
def test_what_the_machine_takes_for_fitting_is_accepted(data: Any) -> None:
    given_ = {name: api.Calls().fits(name, data.draw) for name in ("method", "particles", "seed", "unseen", "n_jobs")}
    assert NET.predict(api.COLUMNS, "a", **given_).len() == api.N
    of = data.draw(st.sampled_from(list(api.ASKED_OF_FITTED)))
    assert all(callable(getattr(of, name)) for name in api.ASKED_OF_FITTED[of])
