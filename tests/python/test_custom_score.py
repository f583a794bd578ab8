import math
import pickle
import threading

import networkx as nx
import pytest

import arbornet as an
from small_tables import BIC, chain


def fewer_is_better(table, child, parents):
    return -float(len(parents))


def bic(table, child, parents):
    return an.local_score(table, child, parents, BIC())


def test_a_callable_gets_the_table_and_names_in_column_order():
    table = chain(4, 30)
    seen = []

    def look(given, child, parents):
        seen.append((given, child, parents))
        return 1.5

    assert an.local_score(table, "v2", ["v3", "v0"], an.CustomScore(look)) == 1.5
    assert seen == [(table, "v2", ["v0", "v3"])]


@pytest.mark.parametrize("n_jobs", [1, 4])
def test_a_callable_that_computes_a_score_gives_its_candidates(n_jobs):
    table = chain(6, 200)
    own = an.score_parents(table, an.CustomScore(bic), max_parents=3, n_jobs=n_jobs)
    assert own == an.score_parents(table, BIC(), max_parents=3)


def test_exceptions_carry_the_family_and_their_cause():
    def broken(table, child, parents):
        return 1 / 0 if parents else 0

    with pytest.raises(an.FamilyError, match=r"'v0' given \[v2\] failed: it raised ZeroDivisionError") as told:
        an.score_parents(chain(3, 20), an.CustomScore(broken), max_parents=2, n_jobs=1)
    assert isinstance(told.value.__cause__, ZeroDivisionError)
    with pytest.raises(an.FamilyError, match="ZeroDivisionError") as told:
        an.local_score(chain(3, 20), "v0", ["v1"], an.CustomScore(broken))
    assert isinstance(told.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize("value", [math.nan, math.inf, "much", None])
def test_values_that_are_no_scores_are_refused(value):
    with pytest.raises(an.FamilyError, match=r"'v0' given \[\]"):
        an.score_parents(chain(3, 20), an.CustomScore(lambda *_: value), max_parents=1, n_jobs=1)


def test_minus_infinity_forbids_a_family():
    def without_v1(table, child, parents):
        return -math.inf if "v1" in parents else float(len(parents))

    candidates = an.score_parents(chain(4, 20), an.CustomScore(without_v1), max_parents=3)
    assert not any("v1" in parents for child in candidates for parents in candidates.child(child)["parents"])
    assert candidates.n_skipped == 0


def test_it_climbs_hills_too():
    table = chain(5, 200)
    assert an.search.hill_climb(table, an.CustomScore(bic)).score == an.search.hill_climb(table, BIC()).score


def test_its_identity_is_its_name():
    assert an.CustomScore(bic).spec() != an.CustomScore(fewer_is_better).spec()
    assert an.CustomScore(bic).spec() != an.CustomScore(bic, name="second try").spec()
    assert an.CustomScore(bic).spec() == an.CustomScore(bic).spec()


def test_it_survives_pickling():
    table = chain(3, 50)
    handle = an.CustomScore(fewer_is_better).prepare(table)
    assert pickle.loads(pickle.dumps(handle)).score(0, [1, 2]) == -2.0


def test_what_is_no_callable_is_refused():
    with pytest.raises(an.ParameterError, match="give a callable"):
        an.CustomScore(3)
    with pytest.raises(an.ParameterError, match="model="):
        an.CustomScore(bic, model="pcart")


def test_calls_come_from_several_threads_at_once():
    inside = threading.Barrier(2, timeout=30)

    def meet(table, child, parents):
        if not parents:
            inside.wait()
        return 0.0

    an.score_parents(chain(2, 10), an.CustomScore(meet), max_parents=0, n_jobs=2)


def failing(table, child, parents) -> float:
    if parents:
        raise ZeroDivisionError("no division")
    return -1.0


CAUSED = {
    "hill_climb": lambda table, score: an.search.hill_climb(table, score),
    "chow_liu": lambda table, score: an.search.chow_liu(table, score),
    "fges": lambda table, score: an.search.fges(table, score),
    "boss": lambda table, score: an.search.boss(table, score),
    "score_parents": lambda table, score: an.score_parents(table, score, 1),
    "arc_scores": lambda table, score: an.fit(table, nx.DiGraph([("a", "b")]), score),
}


@pytest.mark.parametrize("call", CAUSED)
def test_what_a_python_score_raised_is_the_cause_wherever_it_is_asked(call):
    table = an.Table({"a": list("xyxyyx") * 5, "b": list("uvuvvv") * 5})
    with pytest.raises(an.FamilyError, match="ZeroDivisionError") as told:
        CAUSED[call](table, an.CustomScore(failing, model=an.BDeu()))
    assert isinstance(told.value.__cause__, ZeroDivisionError)
