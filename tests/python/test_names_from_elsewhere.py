"""Names and arguments of bnlearn, pgmpy and pyAgrum, and slips: the error names ours."""

from __future__ import annotations

import copy
import inspect
import pickle
import re

import networkx as nx
import pytest

import arbornet as an
from arbornet.text import elsewhere
from arbornet.text.wrong_calls import helpful

FRAME = an.example("penguins").drop_nulls().select("species", "island", "sex")
TABLE = an.Table(FRAME)
FOUND = an.search.hill_climb(TABLE, an.BDeu(1))
NET = an.fit(TABLE, FOUND, an.BDeu(1))
ADVICE = [*elsewhere.OF_PACKAGE.values(), *elsewhere.OF_NETWORK.values(), *elsewhere.OF_FOUND.values()]
ADVICE += [told for each in elsewhere.OF_ARGUMENTS.values() for _, told in each]


@pytest.mark.parametrize("told", sorted(set(ADVICE)))
def test_what_is_advised_exists(told) -> None:
    roots = {"an": an, "net": NET, "found": FOUND, "networkx": nx, "schema": TABLE.schema}
    for path in re.findall(r"\b(?:an|net|found|networkx|schema)(?:\.\w+)+", told):
        at, *names = path.split(".")
        if names == ["html"]:  # the name of a file
            continue
        thing = roots[at]
        for name in names:
            thing = getattr(thing, name)
    for name, argument in re.findall(r"\b(?:an|net)((?:\.\w+)+)\([^()]*?(\w+)=", told):
        thing = NET if f"net{name}" in told else an
        for part in name[1:].split("."):
            thing = getattr(thing, part)
        assert argument in inspect.signature(thing).parameters, told


@pytest.mark.parametrize("parameter", sorted({one for each in elsewhere.OF_ARGUMENTS.values() for one, _ in each}))
def test_an_argument_that_is_offered_is_one_of_some_function(parameter) -> None:
    calls = (an.fit, an.learn, an.Constraints, an.BDeu, an.Table, NET.query, NET.sample, an.evaluate.arc_strength)
    assert any(parameter in inspect.signature(call).parameters for call in calls)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: an.hc, "use an.search.hill_climb(table, score)"),
        (lambda: an.hill_climb, "it is an.search.hill_climb"),
        (lambda: an.boot_strength, "use an.evaluate.arc_strength"),
        (lambda: an.BDeuScore, "did you mean 'BDeu'?"),
        (lambda: an.lern, "did you mean 'learn'?"),
        (lambda: an.sample, "net.sample"),
        (lambda: an.search.ges, "use an.search.fges(table, score)"),
        (lambda: an.evaluate.averaged_network, "use an.evaluate.averaged(strengths)"),
        (lambda: NET.edges, "use net.graph.edges"),
        (lambda: NET.nodes, "use net.names"),
        (lambda: NET.get_cpds(), "use net['x']"),
        (lambda: NET.plot(), "use net.draw()"),
        (lambda: NET.predit, "did you mean 'predict'?"),
        (lambda: FOUND.edges, "use found.dag.edges"),
    ],
)
def test_a_name_from_elsewhere_is_refused_with_ours(ask, told) -> None:
    with pytest.raises(AttributeError, match=re.escape(told)):
        ask()


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: an.learn(FRAME, blacklist=[]), "give constraints=an.Constraints(forbidden="),
        (lambda: an.Constraints(blacklist=[]), "Constraints() has no argument 'blacklist': give forbidden="),
        (lambda: an.learn(FRAME, target="sex"), "a network has no target"),
        (lambda: an.learn(FRAME, max_parent=2), "did you mean 'max_parents'?"),
        (lambda: NET.query("sex", evidence={}), "query() has no argument 'evidence': give given="),
        (lambda: NET.predict(FRAME), "predict() needs target: predict(frame, target)"),
        (lambda: NET.sample(), "sample() needs n: sample(n)"),
        (lambda: an.fit(TABLE), "fit() needs dag and score: fit(table, dag, score)"),
        (lambda: an.BDeu(equivalent_sample_size=10), "give ess="),
        (lambda: an.Table(FRAME, type={}), "Table() has no argument 'type'"),
    ],
)
def test_a_wrong_argument_is_refused_with_the_right_one(ask, told) -> None:
    with pytest.raises(TypeError, match=re.escape(told)):
        ask()


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: an.learn(FRAME, "bic"), "give a score itself, an.BIC()"),
        (lambda: an.learn(FRAME, an.BDeu), "give a score itself, an.BDeu()"),
        (lambda: an.learn(FRAME, search="hc"), "did you mean 'hill_climb'?"),
        (lambda: an.learn(FRAME, constraints={"forbidden": []}), "give an.Constraints(**constraints)"),
        (lambda: an.score_parents(an.BIC(), TABLE), "the table comes first, then the score"),
        (lambda: an.search.exact(TABLE), "an.score_parents(table, score) gives Candidates"),
        (lambda: NET.predict("sex", FRAME), "a DataFrame is not the name of a variable; the rows come first"),
    ],
)
def test_the_wrong_thing_is_refused_with_what_to_give(ask, told, capsys) -> None:
    with pytest.raises(an.ArbornetError, match=re.escape(told)):
        ask()
    assert capsys.readouterr().out == ""


def test_a_name_that_nothing_is_like_is_refused_alone() -> None:
    with pytest.raises(AttributeError, match=r"^a BayesNet has no 'zzzz'$"):
        _ = NET.zzzz
    assert not hasattr(NET, "_repr_png_") and not hasattr(an, "zzzz")


def test_errors_within_a_call_stay_as_they_are() -> None:
    @helpful
    def adds(a, b=1):
        return a + b

    assert adds(1) == 2 and str(inspect.signature(adds)) == "(a, b=1)"
    with pytest.raises(TypeError, match="concatenate"):
        adds("a")
    with pytest.raises(TypeError, match=r"adds\(\): too many positional arguments"):
        adds(1, 2, 3)


def test_what_is_told_of_names_disturbs_no_copies() -> None:
    assert pickle.loads(pickle.dumps(NET)) == NET == copy.deepcopy(NET)
    assert copy.deepcopy(FOUND) == FOUND and pickle.loads(pickle.dumps(FOUND)) == FOUND
    assert pickle.loads(pickle.dumps(an.learn)) is an.learn
