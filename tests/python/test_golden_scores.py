"""Golden scores and predictions, all the way from Python; the numbers' origin is told beside them."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import arbornet as an
from arbornet._core import TableHandle
from places import GOLDEN

TABLES = ["mixed", "narrow", "nominal", "ties"]


@cache
def golden(name: str) -> tuple[TableHandle, dict[str, Any], dict[str, list[Any]]]:
    document = json.loads((GOLDEN / "pcart" / f"{name}.json").read_text())
    lines = (GOLDEN / "pcart" / f"{name}.csv").read_text().splitlines()
    cells = zip(*(line.split(",") for line in lines[1:]), strict=True)
    kinds, levels, columns, rows = [], [], [], {}
    for column, values in zip(lines[0].split(","), cells, strict=True):
        about = document["variables"][column]
        kinds.append(about["kind"])
        continuous = about["kind"] == "continuous"
        levels.append(None if continuous else list(range(about["levels"])))
        rows[column] = [float(x) if continuous else int(x) for x in values]
        columns.append(np.array(rows[column], dtype=np.float64 if continuous else np.uint32))
    return TableHandle.from_columns(list(rows), kinds, levels, columns), document, rows


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize(
    ("score", "path"),
    [
        (an.PCART(penalised=False), ["pcart"]),
        (an.PCART(penalised=False, published=True), ["published", "pcart"]),
        (an.FullTable(penalised=False), ["ft"]),
        (an.FullTable(penalised=False, normalised=False), ["ft_unnormalised"]),
        (an.FullTable(penalised=False, published=True), ["published", "ft"]),
    ],
    ids=repr,
)
def test_scores_match(name: str, score: Any, path: list[str]) -> None:
    table, document, _ = golden(name)
    compared = 0
    for entry in document["scores"]:
        expected = entry
        for step in path:
            expected = expected.get(step, {})
        if expected == {}:
            continue
        got = an.local_score(table, entry["child"], entry["parents"], score)
        assert got == pytest.approx(expected, abs=1e-8), (entry["child"], entry["parents"])
        compared += 1
    # The authors' program refuses ordinal predictors, which are half of one table.
    assert compared >= (9 if path[0] == "published" else 55)


@pytest.mark.parametrize("name", TABLES)
def test_predictions_of_trees_match(name: str) -> None:
    table, document, rows = golden(name)
    compared = 0
    for entry in document["scores"]:
        model = an.local_model(table, entry["child"], entry["parents"], an.PCART(penalised=False))
        assert sorted(leaf.n for leaf in model.leaves if leaf.n) == [n for n in entry["leaf_sizes"] if n]
        for row, expected in entry.get("log_predictive_at_row", {}).items():
            given = {parent: rows[parent][int(row)] for parent in entry["parents"]}
            got = model.log_density(rows[entry["child"]][int(row)], given)
            assert got == pytest.approx(expected, abs=1e-8), (entry["child"], entry["parents"], row)
            compared += 1
    assert compared >= 210
