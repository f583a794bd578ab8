"""Local models as people read them: text, rules, leaves and files in their own units and level names."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import Any

import numpy as np
import pytest

import arbornet as an
from arbornet._core import TableHandle
from arbornet.models import Shares, StudentT
from arbornet.text.notebook import preformatted


@pytest.fixture(scope="module")
def table() -> TableHandle:
    """Age in years (standardised), stage in words, site of two letters; the outcome follows age and stage."""
    rng = np.random.default_rng(1)
    n = 400
    age = rng.normal(size=n)
    stage = rng.integers(0, 3, n).astype(np.uint32)
    site = rng.integers(0, 2, n).astype(np.uint32)
    cost = np.where(age > 0, 2.0, -2.0) + stage + 0.1 * rng.normal(size=n)
    died = ((age > 0) & (stage == 2)).astype(np.uint32)
    return TableHandle.from_columns(
        ["age", "stage", "site", "cost", "died"],
        ["continuous", "ordinal", "categorical", "continuous", "categorical"],
        [None, ["I", "II", "III"], ["a", "b"], None, [False, True]],
        [age, stage, site, cost, died],
        [(50.0, 10.0), (0.0, 1.0), (0.0, 1.0), (1000.0, 100.0), (0.0, 1.0)],
    )


SCORES = [an.FullTable(), an.FullTable(max_bins=3, penalised=False), an.PCART(), an.PCART(max_splits=3, ess=2.0)]


@pytest.fixture(scope="module", params=SCORES, ids=repr)
def score(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("child", ["age", "stage", "site", "cost", "died"])
def test_leaves_share_out_the_rows_and_the_text_has_a_line_for_each(table: TableHandle, score: Any, child: str) -> None:
    parents = [name for name in ("age", "stage", "site") if name != child]
    model = an.local_model(table, child, parents, score)
    assert sum(leaf.n for leaf in model.leaves) == table.n_rows
    assert sum("n=" in line for line in model.text().splitlines()) == model.n_leaves
    assert len([rule for rule in model.rules() if "n=" in rule]) == model.n_leaves
    for leaf in model.leaves:
        if isinstance(leaf.distribution, Shares):
            assert math.isclose(sum(leaf.distribution.probabilities.values()), 1.0)
        else:
            assert leaf.distribution.scale > 0


def test_conditions_and_distributions_are_in_the_users_units(table: TableHandle, score: Any) -> None:
    model = an.local_model(table, "cost", ["age", "stage"], score)
    ages = table.reals(0) * 10 + 50
    costs = table.reals(3) * 100 + 1000
    stages = [["I", "II", "III"][code] for code in table.codes(1)]
    for leaf in model.leaves:
        where = [
            all(c.holds({"age": age, "stage": stage}[c.variable]) for c in leaf.conditions)
            for age, stage in zip(ages, stages, strict=True)
        ]
        assert sum(where) == leaf.n
        assert isinstance(leaf.distribution, StudentT)
        if not leaf.n:
            assert leaf.distribution == StudentT(1000.0, math.sqrt(2) * 100, 1.0)
            continue
        # The prior pulls a leaf's mean towards that of the table by the weight of one row.
        expected = (costs[where].sum() + 1000) / (leaf.n + 1)
        assert math.isclose(leaf.distribution.location, expected, rel_tol=1e-12)


def test_the_distribution_given_values_is_that_of_their_leaf(table: TableHandle, score: Any) -> None:
    model = an.local_model(table, "died", ["age", "stage"], score)
    for age, stage in [(35.0, "I"), (64.0, "III"), (55.5, "II")]:
        given = {"age": age, "stage": stage}
        [leaf] = [x for x in model.leaves if all(c.holds(given[c.variable]) for c in x.conditions)]
        assert model.distribution(given) == leaf.distribution
        assert isinstance(leaf.distribution, Shares)
        assert math.isclose(model.log_density(True, given), math.log(leaf.distribution.probabilities[True]))


def test_densities_carry_the_jacobian_of_the_units(table: TableHandle, score: Any) -> None:
    model = an.local_model(table, "cost", ["stage"], score)
    grid = np.linspace(-4000, 6000, 20_001)
    total = sum(math.exp(model.log_density(x, {"stage": "II"})) for x in grid) * (grid[1] - grid[0])
    assert math.isclose(total, 1.0, abs_tol=2e-3)


def test_values_far_outside_the_training_range_fall_into_the_end_bins(table: TableHandle) -> None:
    model = an.local_model(table, "died", ["age"], an.FullTable())
    lowest, highest = model.leaves[0], model.leaves[-1]
    assert model.distribution({"age": -1e9}) == lowest.distribution
    assert model.distribution({"age": 1e9}) == highest.distribution


def test_a_model_survives_dict_json_pickle_and_copy(table: TableHandle, score: Any) -> None:
    model = an.local_model(table, "died", ["age", "site"], score)
    back = an.LocalModel.from_dict(json.loads(json.dumps(model.to_dict())))
    for other in (back, pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert other == model
        assert other.text() == model.text()
        assert other.to_dict() == model.to_dict()
    assert model != an.local_model(table, "died", ["age"], score)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["format"], "something else"),
        (["version"], 2),
        (["model", "model"], "oracle"),
        (["model", "cuts", 0], [1.0, 0.0]),
        (["model", "cells", "configurations"], [5]),
        (["model", "cells", "parents"], [0, 77]),
        (["model", "cells", "child"], 4_000_000_000_000_000),
        (["variables", 0, 0], 4_000_000_000_000_000),
        (["variables"], []),
    ],
)
def test_a_broken_document_is_refused(table: TableHandle, path: list[Any], value: Any) -> None:
    document = an.local_model(table, "died", ["age", "site"], an.FullTable()).to_dict()
    inner = document
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = value
    with pytest.raises(an.FormatError, match="dict"):
        an.LocalModel.from_dict(document)


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(an.FormatError):
        an.LocalModel.from_dict({"model": object()})


def test_unknown_values_are_told_with_the_levels(table: TableHandle) -> None:
    model = an.local_model(table, "died", ["age", "stage"], an.FullTable())
    with pytest.raises(an.ColumnError, match=r"'stage' has no level IV; its levels are I, II, III"):
        model.distribution({"age": 50, "stage": "IV"})
    with pytest.raises(an.ColumnError, match="no value for 'stage'"):
        model.distribution({"age": 50})


def test_a_model_shows_itself(table: TableHandle) -> None:
    model = an.local_model(table, "died", ["stage"], an.FullTable(max_bins=2))
    assert repr(model) == "<LocalModel of died given stage: 2 leaves>"
    assert str(model) == model.text()
    assert [line.split("  ")[0] for line in str(model).splitlines()] == [
        "died given stage",
        "├─ stage = I: false >99%",
        "└─ stage in {II, III}: false 77%",
    ]
    assert "<svg" in model._repr_html_()
    alone = an.local_model(table, "cost", [], an.FullTable())
    assert alone.text().startswith("cost: n=400  mean ")
    assert alone._repr_html_() == preformatted(alone.text())


def test_counts_of_a_likelihood_model_are_the_tables(table: TableHandle) -> None:
    model = an.local_model(table, "died", ["stage", "site"], an.BIC())
    assert model.n_leaves == 6
    died, stage, site = (np.asarray(table.codes(i)) for i in (4, 1, 2))
    for leaf in model.leaves:
        (grade,), (place,) = (c.levels or () for c in leaf.conditions)
        where = (stage == ["I", "II", "III"].index(str(grade))) & (site == ["a", "b"].index(str(place)))
        assert leaf.n == where.sum()
        assert isinstance(leaf.distribution, Shares)
        assert math.isclose(leaf.distribution.probabilities[True], (died[where].sum() + 1) / (where.sum() + 2))


def test_long_texts_are_cut_short_by_str_alone() -> None:
    codes = np.arange(200, dtype=np.uint32)
    wide = TableHandle.from_columns(["x", "y"], ["categorical"] * 2, [list(range(200)), ["n", "y"]], [codes, codes % 2])
    model = an.local_model(wide, "y", ["x"], an.BIC())
    assert len(model.text().splitlines()) == 201
    assert str(model).endswith("... 121 more lines: .text() has them all")
