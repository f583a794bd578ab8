"""Step 1 on a real scheduler and worker processes on this machine's loopback."""

import itertools
import os
import signal
import time

import distributed
import networkx as nx
import pytest

import arbornet as an
from arbornet.system.cluster import each
from interrupting import ctrl_c
from small_tables import BIC, chain


@pytest.fixture(scope="module")
def client():
    options = {"dashboard_address": ":0", "processes": True, "threads_per_worker": 1}
    with (
        distributed.LocalCluster(n_workers=3, **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def slowly(milliseconds):
    """BIC, taking its time; made here so that it travels whole to workers that do not have this file."""

    def score(table, child, parents):

        from arbornet import _core

        time.sleep(milliseconds / 1000)
        names = table.names
        bic = '{"score":"likelihood","penalty":"bic"}'
        handle = _core.ScoreHandle(table, bic)
        return handle.score(names.index(child), [names.index(p) for p in parents])

    return an.CustomScore(score)


def test_many_machines_give_the_bytes_of_one(client, tmp_path):
    table = chain(9, 300)
    local = an.score_parents(table, BIC(), 4, n_jobs=1)
    told = []
    spread = an.score_parents(table, BIC(), 4, client=client, progress=lambda *news: told.append(news))
    local.save(tmp_path / "local.jkl")
    spread.save(tmp_path / "spread.jkl")
    assert (tmp_path / "local.jkl").read_bytes() == (tmp_path / "spread.jkl").read_bytes()
    assert (spread.n_sets, spread.n_evaluated, spread.table) == (local.n_sets, local.n_evaluated, local.table)
    assert told == sorted(told)
    assert told[-1] == (local.n_sets, local.n_sets)


def test_runs_from_several_seeds_on_workers_find_what_this_machine_finds(client):
    table = chain(9, 300)
    asked = {"seeds": 6, "restarts": 1}
    spread = an.search.best_of("boss", table, BIC(), client=client, **asked)
    local = an.search.best_of("boss", table, BIC(), **asked)
    assert (spread.dag.edges, spread.score, spread.details) == (local.dag.edges, local.score, local.details)
    candidates = an.score_parents(table, BIC(), 2)
    asked = {"seeds": 4, "rounds": 2, "window": 3}
    spread = an.search.best_of("anytime", candidates, client=client, **asked)
    assert spread.details == an.search.best_of("anytime", candidates, **asked).details


def test_splines_among_the_candidates_of_forests_travel_too(client):
    table = chain(9, 300)
    asked = {"max_parents": "auto", "parents": "forest", "n_candidates": 3}
    spread = an.score_parents(table, an.MARS(), client=client, **asked)
    assert spread == an.score_parents(table, an.MARS(), **asked)
    limited = an.score_parents(table, an.MARS(), client=client, child_time_limit=0.0, **asked)
    assert limited.n_skipped == 9 * (2**3 - 1)


@pytest.mark.parametrize("score", [an.ConditionalGaussian(), an.PCART()])
def test_many_machines_fit_the_network_of_one(client, tmp_path, score):
    table = an.Table(an.example("penguins"))
    found = an.search.hill_climb(table, an.ConditionalGaussian(), max_parents=2)
    for arc_scores in (True, False):
        local, spread = (an.fit(table, found, score, arc_scores=arc_scores, client=at) for at in (None, client))
        local.save(tmp_path / "local.json")
        spread.save(tmp_path / "spread.json")
        assert (tmp_path / "local.json").read_bytes() == (tmp_path / "spread.json").read_bytes()
        assert spread.origin == local.origin


def test_what_cannot_be_fitted_is_told_alike_by_many_machines(client):
    table = an.Table(an.example("penguins"))
    ring = nx.DiGraph([*itertools.pairwise(table.names), (table.names[-1], table.names[0])])
    told = []
    for at in (None, client):
        with pytest.raises(an.ArbornetError, match="cycle") as error:
            an.fit(table, ring, an.PCART(), client=at)
        told.append(str(error.value))
    assert told[0] == told[1]
    with pytest.raises(an.ParameterError, match="client"):
        an.fit(table, nx.DiGraph(), an.PCART(), client=3)


@pytest.mark.parametrize("leaf", ["normal", "linear"])
def test_categories_of_many_levels_in_order_travel_too(client, tmp_path, leaf):
    rows = range(400)
    shop = [f"shop {i * 7 % 60}" for i in rows]
    price = [i * 7 % 60 // 7 + i * 7 % 11 / 10 for i in rows]
    table = an.Table(
        {"shop": shop, "price": price, "size": [p + i * 13 % 17 for i, p in zip(rows, price, strict=True)]}
    )
    local, spread = (an.score_parents(table, an.PCART(leaf=leaf), 2, client=at) for at in (None, client))
    local.save(tmp_path / "local.jkl")
    spread.save(tmp_path / "spread.jkl")
    assert (tmp_path / "local.jkl").read_bytes() == (tmp_path / "spread.jkl").read_bytes()
    assert local.n_in_order == spread.n_in_order > 0
    assert local.in_order == spread.in_order


def test_a_worker_killed_midway_costs_its_tasks_only(client):
    table = chain(8, 200)
    local = an.score_parents(table, BIC(), 3)
    victims = list(client.run(os.getpid).values())
    killed = []

    def kill_midway(done, total):
        if not killed and 3 * done > total:
            killed.append(victims[0])
            os.kill(victims[0], signal.SIGKILL)

    spread = an.score_parents(table, slowly(2), 3, client=client, progress=kill_midway)
    assert killed
    assert spread == local
    assert spread.n_evaluated == local.n_evaluated
    client.wait_for_workers(1, timeout=300)


def test_all_workers_killed_at_once_cost_their_tasks_only(client):
    table = chain(7, 200)
    local = an.score_parents(table, BIC(), 3)
    killed = []
    client.wait_for_workers(3, timeout=300)

    def kill_all(done, total):
        if not killed and 3 * done > total:
            killed.extend(client.run(os.getpid).values())
            for victim in killed:
                os.kill(victim, signal.SIGKILL)
            # Whether Dask brings the dead back is its own affair; these come in any case.
            client.cluster.scale(6)

    assert an.score_parents(table, slowly(2), 3, client=client, progress=kill_all) == local
    assert len(killed) == 3
    client.cluster.scale(3)
    client.wait_for_workers(1, timeout=300)


def test_checkpoints_go_from_one_machine_to_many_and_back(client, tmp_path):
    table = chain(8, 300)
    whole = an.score_parents(table, BIC(), 3)

    class Stop(Exception):
        pass

    def stop_at(share):
        def stop(done, total):
            if done > share * total:
                raise Stop

        return stop

    with pytest.raises(Stop):
        an.score_parents(table, BIC(), 3, client=client, checkpoint=tmp_path, progress=stop_at(0.3))
    kept = sum(path.stat().st_size for path in tmp_path.glob("blocks-*.bin"))
    assert kept > 100
    assert an.score_parents(table, BIC(), 3, checkpoint=tmp_path) == whole
    assert an.score_parents(table, BIC(), 3, client=client, checkpoint=tmp_path) == whole


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_dies_is_told_and_the_checkpoint_goes_on_without_it(tmp_path):
    table = chain(8, 200)
    # A scheduler of its own to lose; its worker may die with it, since it is a process too.
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0") as cluster,
        distributed.Client(cluster.scheduler_address, timeout=1) as client,
    ):

        def lose(done, total):
            if 2 * done > total:
                cluster.close()

        with pytest.raises(an.ArbornetError, match="no longer answers") as told:
            an.score_parents(table, slowly(2), 3, client=client, checkpoint=tmp_path, progress=lose)
    assert str(tmp_path) in str(told.value)
    assert sum(path.stat().st_size for path in tmp_path.glob("blocks-*.bin")) > 100
    assert an.score_parents(table, slowly(0), 3, checkpoint=tmp_path) == an.score_parents(table, BIC(), 3)


def test_an_exception_on_a_worker_is_raised_here_with_its_family(client):
    def broken(table, child, parents):
        return 1 / 0

    with pytest.raises(an.FamilyError, match="ZeroDivisionError"):
        an.score_parents(chain(3, 20), an.CustomScore(broken), 1, client=client)


def busy(client):
    """Tasks that workers are at."""
    return sum(client.run(lambda dask_worker: len(dask_worker.state.executing)).values())


def ends(client, seconds):
    """Whether workers have nothing to do before so many seconds are over."""
    begun = time.monotonic()
    while busy(client):
        if time.monotonic() - begun > seconds:
            return False
        time.sleep(0.02)
    return True


def test_ctrl_c_stops_the_tasks(client):
    table = chain(12, 50)
    with ctrl_c(1.0) as pressed:
        with pytest.raises(KeyboardInterrupt):
            # Each set takes a tenth of a second: the tasks under way have more than a second to do.
            an.score_parents(table, slowly(100), 4, client=client)
        assert pressed.ago() < 30
    assert ends(client, 5)


def test_a_long_job_that_is_given_up_stops_within_itself_and_leaves_its_worker_sound(client):
    table = chain(14, 300)

    def work(job, n_threads):
        # One call of half a minute and more.
        return len(an.score_parents(table, slowly(50), 3, n_jobs=n_threads).names)

    results = each(work, range(3), client)
    with ctrl_c(2.0) as pressed:
        with pytest.raises(KeyboardInterrupt):
            next(results)
        assert pressed.ago() < 10
    assert ends(client, 5)
    # The thread that was stopped heeds that stop no more.
    assert an.score_parents(table, BIC(), 1, client=client) == an.score_parents(table, BIC(), 1)


def test_evaluations_on_many_machines_give_the_bytes_of_one(client, tmp_path):
    table = an.Table(an.simulate.network(5, 120, numbers=0.0, seed=2).frame)
    local = an.evaluate.cross_validate(table, an.BIC(), folds=3, repeats=2, n_jobs=1)
    resume = tmp_path / "folds.jsonl"
    spread = an.evaluate.cross_validate(table, an.BIC(), folds=3, repeats=2, client=client, resume=resume)
    assert spread == local
    assert len(resume.read_text().splitlines()) == 1 + 6
    strengths = an.evaluate.arc_strength(table, an.BIC(), n_bootstrap=7, n_jobs=1)
    assert an.evaluate.arc_strength(table, an.BIC(), n_bootstrap=7, client=client).equals(strengths)
    grouped = {"n_bootstrap": 5, "groups": [row // 6 for row in range(120)]}
    strengths = an.evaluate.arc_strength(table, an.BIC(), n_jobs=1, **grouped)
    assert an.evaluate.arc_strength(table, an.BIC(), client=client, **grouped).equals(strengths)
    net = an.fit(table, an.learn(table, an.BIC(), progress=False, effort="unlimited").graph, an.BIC())
    asked = {"sizes": (50, 100), "repeats": 2}
    curves = an.evaluate.structure_recovery(net, an.BIC(), **asked, n_jobs=1)
    assert an.evaluate.structure_recovery(net, an.BIC(), **asked, client=client) == curves
    compared = {"bic": an.BIC(), "bdeu": an.BDeu()}
    asked = {"fractions": (0.5,), "repeats": 2}
    curves = an.evaluate.intersection_validation(table, compared, **asked, n_jobs=1)
    assert an.evaluate.intersection_validation(table, compared, **asked, client=client) == curves


def test_jobs_whose_worker_dies_are_done_elsewhere_and_what_a_job_raises_is_raised_here(client):
    client.wait_for_workers(2, timeout=300)
    victim = next(iter(client.run(os.getpid).values()))

    def work(job, n_threads):
        time.sleep(0.05)
        return job * job

    done = {}
    for at, result in each(work, range(30), client):
        if not done:
            os.kill(victim, signal.SIGKILL)
        done[at] = result
    assert done == {i: i * i for i in range(30)}
    with pytest.raises(ZeroDivisionError):
        list(each(lambda job, _: 1 // (job - 3), range(6), client))
    with pytest.raises(an.ParameterError, match="Client"):
        an.evaluate.arc_strength({"a": [0, 1, 1]}, BIC(), client="tcp://somewhere")
