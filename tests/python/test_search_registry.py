"""What the registry says of every search is what the search does."""

import functools
import inspect
from typing import Any

import pytest

import arbornet as an
from arbornet.cli.parser import parser
from arbornet.search import Search, searches
from arbornet.search.registry import SETTINGS, search_of

ALL = sorted(searches())


@pytest.fixture(scope="module")
def table() -> an.Table:
    frame = an.example("survey")
    schema = an.infer_schema(frame)
    numbers = [column.name for column in schema.used if column.levels is None]
    return an.Table(frame, schema=schema.with_types(dict.fromkeys(numbers, an.Binned(3))))


@pytest.mark.parametrize("name", ALL)
def test_a_search_takes_what_it_declares(name: str) -> None:
    search = searches()[name]
    parameters = inspect.signature(search.function).parameters
    assert search.settings == tuple(key for key in SETTINGS if key in parameters)
    needed = [one.name for one in parameters.values() if one.default is inspect.Parameter.empty]
    first = {
        "candidates": (["candidates"], ["source"]),
        "table": (["table"], ["table", "score"]),
        "tests": (["table"],),
    }
    assert needed in first[search.takes]
    assert getattr(an.search, name) is search.function
    assert search.told and search.told.strip(".") == search.told


@pytest.mark.filterwarnings("ignore:cpc. the tests contradict each other")
@pytest.mark.parametrize("name", ALL)
def test_learn_and_the_shell_find_a_graph_by_every_name(name: str, table: an.Table) -> None:
    assert parser().parse_args(["learn", "t.csv", "--search", name]).search == name
    assert f'"{name}"' in (an.learn.__doc__ or "")
    net = an.learn(table, None if name == "decision_graphs" else an.BDeu(1), name, 2, verbose=False)
    assert net.origin.search["method"] == name
    assert set(net.graph.nodes) == set(table.names)


def test_a_function_and_its_name_are_the_same_search(table: an.Table) -> None:
    assert search_of(an.search.boss) is search_of("boss")
    assert search_of(an.search.decision_graphs).score is an.DecisionGraph
    net = an.learn(table, search=an.search.decision_graphs, verbose=False)
    assert "decision_graph" in net.origin.score


def test_a_callable_of_ones_own_is_given_the_settings_it_names(table: an.Table) -> None:
    given: dict[str, Any] = {}

    def over_candidates(candidates: Any, n_jobs: int = 1) -> an.search.Found:
        given.update(candidates=candidates, n_jobs=n_jobs)
        return an.search.exact(candidates)

    def on_demand(table: an.Table, score: Any, **settings: Any) -> an.search.Found:
        given.update(settings, score=score)
        return an.search.fges(table, score)

    an.learn(table, an.BDeu(1), over_candidates, 2, n_jobs=2, verbose=False)
    assert isinstance(given["candidates"], an.Candidates) and given["n_jobs"] == 2
    an.learn(table, an.BDeu(1), on_demand, 2, time_limit=50, verbose=False)
    assert given["score"] == an.BDeu(1) and given["max_parents"] == 2 and given["time_limit"] == 50
    net = an.learn(table, an.BDeu(1), functools.partial(an.search.anytime, rounds=3), 2, verbose=False)
    assert net.origin.search["method"] == "search"


def test_what_is_no_search_is_refused_by_name(table: an.Table) -> None:
    with pytest.raises(an.ParameterError, match=r"choose one of 'anytime', 'boss', .*or give a callable"):
        an.learn(table, search="exactly", verbose=False)
    with pytest.raises(an.ParameterError, match="returned a int; it must return a Found"):
        an.learn(table, an.BDeu(1), lambda candidates: 3, 2, verbose=False)


def test_the_exact_search_tells_its_tiers_under_one_name(table: an.Table) -> None:
    found = an.search.exact(an.score_parents(table, an.BDeu(1), 2))
    assert found.details["tiers"] and "tier" not in found.details


def test_a_parameter_that_a_search_has_not_is_refused_by_the_core(table: an.Table) -> None:
    handle = an.score_parents(table, an.BDeu(1), 2).handle
    rules = an.Constraints().resolve(table.names).spec()
    with pytest.raises(an.ParameterError, match="unknown field `restart`"):
        an._core.search('{"search":"hill_climb","restart":3}', handle, rules)
    with pytest.raises(an.ParameterError, match="unknown variant `climb`"):
        an._core.search('{"search":"climb"}', handle, rules)
    with pytest.raises(an.ArbornetError, match="scores on demand: give a table and a score"):
        an._core.search('{"search":"fges"}', handle, rules)
    with pytest.raises(an.ArbornetError, match="has scores of its own: give a table"):
        an._core.search('{"search":"hybrid"}', handle, rules)
    with pytest.raises(an.ArbornetError, match="asks tests: give a table and a score, or a test"):
        an._core.search('{"search":"pc","alpha":0.05}', table.handle, rules)


def test_a_search_says_what_it_is() -> None:
    own = Search("mine", an.search.exact)
    assert not own.scores_on_demand and own.settings == SETTINGS
