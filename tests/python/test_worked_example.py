import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import arbornet as an
from arbornet.scores.base import Parameters, real

PAGE = Path(__file__).parents[2] / "docs" / "contributing-score.md"


def test_the_dataclass_of_the_worked_example_writes_the_json_its_rust_reads():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    names: dict[str, Any] = {"dataclass": dataclass, "Parameters": Parameters, "real": real, "Any": Any}
    names["__name__"] = __name__
    exec(code, names)
    score = names["CellMeans"](2)
    assert score.spec() == '{"penalty":2.0,"score":"cell_means"}'
    assert f'"score": "{score.document()["score"]}"' in PAGE.read_text()
    with pytest.raises(an.ParameterError):
        names["CellMeans"]("much")
