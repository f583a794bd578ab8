"""Random calls of the public functions on what earlier calls returned: results that agree, or errors that say why."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

sys.path.append(str(Path(__file__).parents[2] / "campaigns"))
from api import Calls  # the machine of the campaign, which stops here at the first finding


@pytest.mark.filterwarnings("ignore")
def test_whatever_is_called_with_whatever_ends_in_a_result_or_an_error_of_ours() -> None:
    few = settings(
        max_examples=12,
        stateful_step_count=25,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_state_machine_as_test(Calls, settings=few)
