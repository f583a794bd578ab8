import json
import re

import pytest

import arbornet as an

NAMES = ["age", "sex", "stage", "outcome"]


def parents_allowed(constraints, child):
    rules = constraints.resolve(NAMES)
    return {NAMES[p] for p in rules.allowed[NAMES.index(child)]}


def test_no_constraint_allows_every_other_variable():
    rules = an.Constraints().resolve(NAMES)
    assert rules.allowed == ((1, 2, 3), (0, 2, 3), (0, 1, 3), (0, 1, 2))
    assert rules.required == ((), (), (), ())
    assert rules.max_parents == (3, 3, 3, 3)


def test_tiers_forbid_arcs_back_in_time_and_leave_the_others_free():
    constraints = an.Constraints(tiers=[["age"], ["stage"], ["outcome"]])
    assert parents_allowed(constraints, "age") == {"sex"}
    assert parents_allowed(constraints, "stage") == {"age", "sex"}
    assert parents_allowed(constraints, "outcome") == {"age", "sex", "stage"}
    assert parents_allowed(constraints, "sex") == {"age", "stage", "outcome"}


def test_roots_have_no_parents_and_leaves_no_children():
    constraints = an.Constraints(roots=["age"], leaves=["outcome"])
    assert parents_allowed(constraints, "age") == set()
    assert parents_allowed(constraints, "sex") == {"age", "stage"}
    assert parents_allowed(constraints, "outcome") == {"age", "sex", "stage"}


def test_allowed_parents_and_forbidden_arcs_restrict_one_child():
    constraints = an.Constraints(forbidden=[("sex", "stage")], allowed_parents={"outcome": ["stage"]})
    assert parents_allowed(constraints, "stage") == {"age", "outcome"}
    assert parents_allowed(constraints, "outcome") == {"stage"}


def test_limits_are_for_all_or_for_the_named():
    assert an.Constraints(max_parents=2).resolve(NAMES).max_parents == (2, 2, 2, 2)
    assert an.Constraints(max_parents={"sex": 0}).resolve(NAMES).max_parents == (3, 0, 3, 3)


def test_rules_say_what_they_permit():
    rules = an.Constraints(required=[("age", "stage")], max_parents=2).resolve(NAMES)
    assert rules.permits("stage", ["sex", "age"])
    assert not rules.permits("stage", ["sex"])
    assert not rules.permits("stage", ["age", "sex", "outcome"])
    assert json.loads(rules.spec())[2] == {"required": [0], "allowed": [0, 1, 3], "max_parents": 2}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (
            {"required": [("age", "sex")], "forbidden": [("age", "sex")]},
            "'age' -> 'sex' is required, but it is forbidden",
        ),
        ({"required": [("age", "sex")], "roots": ["sex"]}, "'sex' is a root, which has no parents"),
        ({"required": [("age", "sex")], "leaves": ["age"]}, "'age' is a leaf, which has no children"),
        (
            {"required": [("stage", "age")], "tiers": [["age"], ["stage"]]},
            "'stage' is in tier 2 and 'age' in the earlier tier 1",
        ),
        ({"required": [("age", "sex")], "allowed_parents": {"sex": ["stage"]}}, "allowed_parents of 'sex' are 'stage'"),
        ({"required": [("age", "sex"), ("stage", "sex")], "max_parents": 1}, "max_parents allows 1"),
        ({"required": [("age", "sex"), ("stage", "sex")], "max_parents": {"sex": 1}}, "2 required parents"),
        (
            {"required": [("age", "sex"), ("sex", "stage"), ("stage", "age")]},
            "cycle: 'age' -> 'sex' -> 'stage' -> 'age'",
        ),
        ({"tiers": [["age"], ["age"]]}, "'age' is in tier 1 and in tier 2"),
    ],
)
def test_contradictions_are_told_with_arcs_and_rules(given, told):
    with pytest.raises(an.ParameterError, match=re.escape(told)):
        an.Constraints(**given).resolve(NAMES)


def test_every_clash_is_told_at_once():
    given = an.Constraints(required=[("age", "sex"), ("sex", "stage")], roots=["sex", "stage"])
    with pytest.raises(an.ParameterError, match=r"'age' -> 'sex'.*'sex' -> 'stage'"):
        given.resolve(NAMES)


@pytest.mark.parametrize(
    "given",
    [
        {"required": [("age", "Sex")]},
        {"tiers": [["Sex"]]},
        {"roots": ["Sex"]},
        {"max_parents": {"Sex": 1}},
        {"allowed_parents": {"Sex": []}},
        {"allowed_parents": {"age": ["Sex"]}},
    ],
)
def test_unknown_names_are_told_wherever_they_stand(given):
    with pytest.raises(an.ParameterError, match="'Sex', not among the variables"):
        an.Constraints(**given).resolve(NAMES)


@pytest.mark.parametrize(
    "given",
    [
        {"required": ["ab"]},
        {"required": [("a", "a")]},
        {"required": [("a", "b", "c")]},
        {"roots": "age"},
        {"tiers": ["age"]},
        {"max_parents": -1},
        {"max_parents": True},
        {"max_parents": {"a": 1.5}},
        {"forbidden": 3},
    ],
)
def test_malformed_constraints_are_refused_at_once(given):
    with pytest.raises(an.ParameterError):
        an.Constraints(**given)


def test_arcs_to_and_from_variables_of_no_tier_may_be_required() -> None:
    tiers = an.Constraints(required=[("free", "early"), ("late", "free")], tiers=[["early"], ["late"]])
    rules = tiers.resolve(["early", "late", "free"])
    assert rules.required == ((2,), (), (1,))
    assert rules.allowed == ((2,), (0, 2), (0, 1))
