import itertools
import math
import random
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import networkx as nx
import pytest

import arbornet as an
from arbornet._core import CandidatesHandle, SearchComponent, search_components
from arbornet.search import Found, exact
from arbornet.search.branch_and_bound import BranchAndBound, Stage, Worked, search
from arbornet.search.branch_and_bound import _part as work_on_a_part
from arbornet.search.budget import Budget
from arbornet.search.certificate import ClusterCertificate, PricedBlock
from arbornet.search.cuts import Cuts
from arbornet.search.exact import by_strategy
from arbornet.search.within import _exactly as within_steps
from arbornet.system.memory import in_bytes
from interrupting import SOON, ctrl_c
from places import INSTANCES
from test_anytime import random_candidates as hard_candidates

#: Optimum, and whether more than one solver proved it. steel_bic and kdd.test are left to benches/python/instances.py.
OPTIMA = {
    "asia.num.jkl": (-22466.39654649, True),
    "wine.BIC.3.jkl": (-1258.44590861, True),
    "child5000.num.jkl": (-71542.801, True),
    "insurance1000_bic.jkl": (-14350.47136143, True),
    "autos_bic.jkl": (-1585.75974095, True),
    "carpo100_bic.jkl": (-2000.21316531, True),
    "alarm1000_bic.jkl": (-11783.05241228, True),
    "wdbc_bic.jkl": (-6602.11809, False),
    "soybean_bic.jkl": (-3122.06379938, True),
}
NONE = Cuts(ascents=0, rounds=0)
#: Each tier on its own, whatever the size.
TIERS = {
    "default": BranchAndBound(),
    "program": BranchAndBound(small=math.inf),
    "branching": BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf),
    "bare branching": BranchAndBound(
        cuts=NONE, small=0, looks=0, affordable=0, patience=math.inf, beam=0, max_live=0, batch=3
    ),
    "halves": BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf, states=0, part_looks=1),
    "halves to the end": BranchAndBound(
        cuts=NONE,
        hard=Cuts(block=4, scarce=100, rounds=1),
        small=0,
        looks=0,
        affordable=0,
        patience=math.inf,
        states=0,
        part_looks=0,
    ),
    "branching with small patterns": BranchAndBound(
        cuts=NONE, small=0, looks=0, affordable=0, patience=math.inf, pattern=4, batch=1
    ),
    "branching without patterns": BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf, pattern=0),
    "program after all": BranchAndBound(cuts=NONE, small=0, looks=0, affordable=0, patience=0, beam=0, batch=1),
}


def checked(found: Found, handle: CandidatesHandle) -> None:
    """What every answer has to be: a graph whose families are among the candidates and add up to the score."""
    assert nx.is_directed_acyclic_graph(found.dag)
    assert list(found.dag.nodes) == handle.names
    total = 0.0
    for v, name in enumerate(handle.names):
        scores, offsets, members = handle.child(v)
        sets = {
            frozenset(members[offsets[i] : offsets[i + 1]].tolist()): scores[i] for i in reversed(range(len(scores)))
        }
        total += sets[frozenset(handle.names.index(p) for p in found.dag.predecessors(name))]
    assert found.score == pytest.approx(total, abs=1e-9 * max(1.0, abs(total)))
    assert found.bound >= found.score
    assert found.gap == found.bound - found.score
    assert found.certificate is not None
    assert found.certificate.check(handle)
    # What is proved that no graph exceeds, this graph does not.
    assert found.certificate.exact_bound(handle) >= Fraction(total) - Fraction(1, 10**6)
    assert found.incumbents[-1].score == found.score
    assert all(a.seconds <= b.seconds for a, b in itertools.pairwise(found.incumbents))


def random_candidates(n: int, seed: int) -> CandidatesHandle:
    """Not score-equivalent, with ties, positive scores, missing empty sets, twins and isolated variables."""
    rng = random.Random(seed)
    children: list[list[tuple[float, list[int]]]] = []
    for v in range(n):
        if v and rng.random() < 0.15:
            children.append([(s, [v - 1 if p == v else p for p in ps if p != v - 1]) for s, ps in children[-1]])
            continue
        sets = [(-6.0, [])] if rng.random() < 0.9 else []
        for _ in range(rng.randrange(10)):
            size = rng.randrange(min(4, n))
            sets.append((rng.randint(-40, 8) / 4, rng.sample([p for p in range(n) if p != v], size)))
        children.append(sets or [(-6.0, [])])
    return CandidatesHandle.from_lists([f"v{i}" for i in range(n)], children)


def by_hand(handle: CandidatesHandle) -> float | None:
    """The best total over all orders."""
    n = handle.n_vars
    children = []
    for v in range(n):
        scores, offsets, members = handle.child(v)
        masks = [sum(1 << int(p) for p in members[offsets[i] : offsets[i + 1]]) for i in range(len(scores))]
        children.append(list(zip(scores.tolist(), masks, strict=True)))
    best: list[float | None] = [0.0] + [None] * ((1 << n) - 1)
    for placed in range(1 << n):
        here = best[placed]
        if here is None:
            continue
        for v in range(n):
            own = next((s for s, m in children[v] if m & ~placed == 0), None)
            if placed >> v & 1 or own is None:
                continue
            after = placed | 1 << v
            there = best[after]
            best[after] = here + own if there is None else max(there, here + own)
    return best[-1]


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("n", range(1, 9))
def test_every_tier_finds_what_trying_all_orders_finds(n: int, tier: str) -> None:
    for seed in range(40):
        handle = random_candidates(n, 1000 * n + seed)
        best = by_hand(handle)
        if best is None:
            with pytest.raises(an.ArbornetError, match="no acyclic graph can be built"):
                by_strategy(handle, TIERS[tier])
            continue
        found = by_strategy(handle, TIERS[tier])
        checked(found, handle)
        assert found.stopped == "proven"
        assert found.gap == 0
        assert found.score == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("name", OPTIMA)
def test_published_instances_reach_their_optimum(name: str) -> None:
    optimum, agreed = OPTIMA[name]
    path = INSTANCES / name
    found = exact(path)
    assert found.stopped == "proven"
    assert found.gap == 0
    assert found.score == pytest.approx(optimum, abs=1e-6 if agreed else 1e-3)
    checked(found, an.io.jkl.read(path))
    assert set(found.dag.nodes) == {str(v) for v in range(found.dag.number_of_nodes())}


@pytest.mark.parametrize("name", ["autos_bic.jkl", "wdbc_bic.jkl"])
def test_any_number_of_threads_finds_the_same_graph(name: str) -> None:
    one, many = (exact(INSTANCES / name, n_jobs=n) for n in (1, 3))
    assert sorted(one.dag.edges) == sorted(many.dag.edges)
    assert (one.score, one.bound) == (many.score, many.bound)
    assert one.details["expanded"] == many.details["expanded"]


@pytest.mark.parametrize("seconds", [0.0, 0.05, 0.3, 1.0])
def test_the_bound_holds_whenever_the_time_is_up(seconds: float) -> None:
    path = INSTANCES / "soybean_bic.jkl"
    found = exact(path, time_limit=seconds)
    # A fast machine proves it in less than a second.
    assert found.stopped == "time" or (seconds >= 0.3 and found.gap == 0)
    assert found.seconds < seconds + 2
    assert found.score - 1e-6 <= -3122.06379938 <= found.bound + 1e-6
    checked(found, an.io.jkl.read(path))
    assert all(i.bound >= -3122.06379938 - 1e-6 for i in found.incumbents)


def test_little_memory_keeps_the_answer_or_says_so() -> None:
    found = exact(INSTANCES / "autos_bic.jkl", memory_limit="3 MB")
    assert found.stopped == "proven"
    found = exact(INSTANCES / "soybean_bic.jkl", memory_limit="700 kB", time_limit=10)
    assert found.stopped == "memory"
    assert found.score - 1e-6 <= -3122.06379938 <= found.bound + 1e-6


def test_parent_sets_that_do_not_fit_into_the_memory_are_refused_with_what_they_need() -> None:
    handle = an.io.jkl.read(INSTANCES / "soybean_bic.jkl")
    needed = an._core.search_needs(handle)
    with pytest.raises(
        MemoryError, match=rf"searching {handle.n_sets:,} parent sets needs at least 640 kB, and memory_limit"
    ):
        exact(handle, memory_limit=needed - 1)
    assert exact(handle, memory_limit=needed, time_limit=5).stopped == "memory"


#: The highest rise of what the process has in memory, looked at while it searches; the candidate file is read before.
RISE = """
import resource, sys, threading, time
import arbornet as an
def held():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
tiny = an._core.CandidatesHandle.from_lists(["a", "b"], [[(0.0, [])], [(-1.0, []), (-0.5, [0])]])
an.search.exact(tiny)
handle = an.io.jkl.read(sys.argv[1])
before = most = held()
over = threading.Event()
def watch():
    global most
    while not over.is_set():
        most = max(most, held())
        time.sleep(0.001)
watcher = threading.Thread(target=watch)
watcher.start()
found = an.search.exact(handle, time_limit=6, memory_limit=float(sys.argv[2]))
over.set()
watcher.join()
assert found.bound >= found.score, found
print(most - before)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc")
@pytest.mark.parametrize(("name", "limit"), [("wdbc_bic.jkl", 4e6), ("wdbc_bic.jkl", 1e7), ("kdd.test.jkl.xz", 3e7)])
def test_the_parent_sets_and_the_linear_programs_count_as_memory(name: str, limit: float) -> None:
    command = [sys.executable, "-c", RISE, str(INSTANCES / name), str(limit)]
    rises = []
    # On a busy machine threads take turns, and what the allocator keeps for each of them varies by a quarter.
    while len(rises) < 3 and (not rises or rises[-1] >= 1.3 * limit + 2e6):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        rises.append(float(done.stdout))
    assert min(rises) < 1.3 * limit + 2e6, rises


#: 40 variables that all depend on one another; the address space ends a quarter of a gigabyte above what is allowed.
FRUGAL = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import arbornet as an
from test_anytime import random_candidates
handle = random_candidates(40, 400)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (2 << 30) + (1 << 28),) * 2)
found = an.search.exact(handle, time_limit=8, memory_limit="2 GiB")
assert found.bound >= found.score and found.certificate.check(handle), found
"""


def test_what_memory_is_allowed_is_not_exceeded() -> None:
    command = [sys.executable, "-c", FRUGAL, str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


#: The peak of what the process has in memory, in bytes above what it had before the search.
PEAK = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import arbornet as an
from test_anytime import random_candidates
handle = random_candidates(int(sys.argv[2]), 400)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
before = peak()
found = an.search.exact(handle, time_limit=6, memory_limit=float(sys.argv[3]))
assert found.bound >= found.score and found.certificate.check(handle), found
print(peak() - before)
"""


@pytest.mark.parametrize(("n", "limit"), [(40, 2e8), (50, 1e8), (60, 3e8)])
def test_the_peak_of_memory_stays_below_the_limit(n: int, limit: float) -> None:
    command = [sys.executable, "-c", PEAK, str(Path(__file__).parent), str(n), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The candidates themselves and the interpreter are not the planner's.
    assert float(done.stdout) < limit + 5e7


def test_an_interrupt_returns_the_incumbent_within_a_second() -> None:
    handle = hard_candidates(300, 300)
    # Late enough for a busy machine to have begun; the proof would take far longer.
    with ctrl_c(2.0) as pressed:
        found = an.search.exact(handle)
        assert pressed.ago() < SOON
    assert found.stopped == "interrupted"
    checked(found, handle)


def test_a_gap_that_is_allowed_is_kept() -> None:
    found = exact(INSTANCES / "autos_bic.jkl", gap=3.0)
    assert found.stopped == "proven"
    assert found.gap <= 3.0
    assert found.score <= -1585.75974095 + 1e-6 <= found.bound


def test_a_wide_search_starts_from_what_the_search_over_orders_finds() -> None:
    handle = hard_candidates(120, 100)
    orders = an.search.anytime(handle, rounds=60)
    # Enough for local search and that search, and for no proof.
    found, _ = within_steps(handle, 2e8, None, None, -1, None)
    assert found.stopped == "time"
    assert found.score >= orders.score


def test_a_forged_certificate_is_refused() -> None:
    path = INSTANCES / "insurance1000_bic.jkl"
    certificate = exact(path).certificate
    assert isinstance(certificate, ClusterCertificate)
    assert certificate.exact_bound(path) <= Fraction(certificate.bound)
    assert not ClusterCertificate(certificate.bound - 1, certificate.clusters, certificate.unit).check(path)
    fewer = ClusterCertificate(certificate.bound, certificate.clusters[:-20], certificate.unit)
    assert not fewer.check(path)
    negative = ClusterCertificate(certificate.bound, (((0, 1), -5),), certificate.unit)
    with pytest.raises(ValueError, match="negative"):
        negative.check(path)


def test_what_clusters_prove_is_what_their_prices_pay_for() -> None:
    # Each wants the other; the cluster of both says that one of them goes without, at a price of one.
    handle = CandidatesHandle.from_lists(["a", "b"], [[(0.0, [1]), (-1.0, [])], [(0.0, [0]), (-1.0, [])]])
    assert ClusterCertificate(0.0, (), 1).exact_bound(handle) == 0
    assert ClusterCertificate(0.0, (((0, 1), 1),), 1).exact_bound(handle) == -1 == exact(handle).score
    # A higher price pays for the sets that obey as much as it takes away.
    assert ClusterCertificate(0.0, (((0, 1), 3),), 1).exact_bound(handle) == 1


def test_a_forged_block_is_refused() -> None:
    # Each wants both others: clusters allow each of them half the time, a block knows that two go without.
    handle = CandidatesHandle.from_lists(list("abc"), [[(0.0, own), (-1.0, [])] for own in ([1, 2], [0, 2], [0, 1])])
    block = PricedBlock(
        (0, 1, 2), 1, tuple(tuple(int((s & ~(1 << v)).bit_count() < 2) for s in range(8)) for v in range(3))
    )
    assert block.need() == 2
    honest = ClusterCertificate(-2.0, (), 1, blocks=(block,))
    assert honest.exact_bound(handle) == -2 == exact(handle).score
    assert not replace(honest, bound=-2.5).check(handle)
    assert not replace(honest, blocks=()).check(handle)
    generous = replace(block, worths=tuple(tuple(2 * worth for worth in row) for row in block.worths))
    assert generous.need() == 4, "what is needed is found, not told"
    for forged, why in [
        (replace(block, price=-1), "negative"),
        (replace(block, worths=tuple(tuple(-w for w in row) for row in block.worths)), "negative"),
        (replace(block, members=(0, 0, 1)), "not a block"),
        (replace(block, worths=block.worths[:-1]), "not a block"),
        (replace(block, worths=tuple(row[:-1] for row in block.worths)), "not a block"),
    ]:
        with pytest.raises(ValueError, match=why):
            replace(honest, blocks=(forged,)).check(handle)


def test_halves_end_where_their_room_ends_with_a_bound_that_holds() -> None:
    handle = an.io.jkl.read(INSTANCES / "soybean_bic.jkl")
    components, base = search_components(handle, 1), math.fsum(handle.bests)
    best = -3122.0637993799996
    root = max(components, key=lambda c: len(c.vars))
    unit = 2.0**root.exponent
    root.improve(20, None)
    root.ascend(1, math.inf, None)

    def divide(part: SearchComponent, stage: Stage, others: float) -> Worked:
        assert stage == ("first" if part is root else "part")
        assert (others > 0) == (stage == "part")
        part.cut(Cuts(block=0), math.inf, None)
        return None, "halves"

    assert search(root, 5e6, divide, lambda: None) == ("memory", "halves")
    assert root.cost is not None
    assert base - root.cost / unit <= best + 1e-6
    assert base - root.bound / unit >= best - 1e-6


def test_what_was_not_looked_at_keeps_the_bound_of_its_part() -> None:
    components = search_components(an.io.jkl.read(INSTANCES / "autos_bic.jkl"), 1)
    root = max(components, key=lambda c: len(c.vars))
    root.improve(20, None)
    root.ascend(1, math.inf, None)
    assert root.cost is not None
    before = root.bound
    assert before < root.cost
    known = []

    def stops_once_it_has_proved_the_first_half(half: SearchComponent, stage: Stage, others: float) -> Worked:
        if stage == "first":
            half.cut(Cuts(block=0), math.inf, None)
            known.append(half.bound)
            return None, "halves"
        assert half.cost is not None
        half.prove(half.cost)
        return "time", "halves"

    assert search(root, 1e9, stops_once_it_has_proved_the_first_half, lambda: None) == ("time", "halves")
    assert before <= known[0] <= root.bound < root.cost


def test_what_cannot_be_divided_is_worked_on_to_the_end_and_counted_once() -> None:
    components = search_components(an.io.jkl.read(INSTANCES / "asia.num.jkl"), 1)
    root = max(components, key=lambda c: len(c.vars))
    root.improve(0, None)
    how = BranchAndBound(hard=NONE, pattern=0).of_parts()
    stages, expanded = [], []

    def without_a_linear_program(part: SearchComponent, stage: Stage, others: float) -> Worked:
        stages.append((stage, others))
        worked = (None, "") if stage == "first" else work_on_a_part(part, stage, how, Budget())
        expanded.append(part.expanded)
        return worked

    assert search(root, 1e9, without_a_linear_program, lambda: None) == ("proven", "halves")
    assert root.cost == root.bound
    assert stages == [("first", 0.0), ("last", 0.0)]
    assert 0 < expanded[-1] == root.expanded


def test_a_bound_short_of_a_proof_is_rounded_outward(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    module = import_module("arbornet.search.components")
    monkeypatch.setattr(module, "solve", stopped)
    bounds = []
    for outward in (0.0, 5.0):
        monkeypatch.setattr(module, "upward", lambda exact, by=outward: float(exact) + by)
        bounds.append(exact(INSTANCES / "autos_bic.jkl").bound)
    assert bounds[1] == pytest.approx(bounds[0] + 5.0)


#: Gives the order search up after a few states, so that the graphs are divided.
SOON_DIVIDED = BranchAndBound(affordable=0, patience=math.inf, states=20, batch=1, hard=Cuts())


def test_a_stop_among_the_halves_keeps_a_bound_that_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    path = INSTANCES / "autos_bic.jkl"
    best = -1585.7597409500002
    begun = []

    def until_the_second(part: SearchComponent, stage: Stage, how: BranchAndBound, budget: Budget) -> Worked:
        begun.append(part)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return work_on_a_part(part, stage, how, budget)

    monkeypatch.setattr("arbornet.search.branch_and_bound._part", until_the_second)
    found = by_strategy(path, SOON_DIVIDED)
    assert len(begun) == 2
    assert found.stopped == "interrupted"
    assert found.score <= best + 1e-6
    assert best - 1e-6 <= found.bound
    assert found.gap > 0
    checked(found, an.io.jkl.read(path))


def test_halves_worked_to_the_end_prove_the_optimum() -> None:
    path = INSTANCES / "autos_bic.jkl"
    found = by_strategy(path, SOON_DIVIDED)
    assert "halves" in found.details["tiers"]
    assert found.stopped == "proven"
    assert found.score == pytest.approx(-1585.7597409500002, abs=1e-6)
    checked(found, an.io.jkl.read(path))


def test_constraints_are_obeyed() -> None:
    handle = an.io.jkl.read(INSTANCES / "asia.num.jkl")
    free = exact(handle)
    arc = sorted(free.dag.edges)[0]
    without = exact(handle, constraints=an.Constraints(forbidden=[arc]))
    assert arc not in without.dag.edges
    assert without.score < free.score
    tiers = an.Constraints(tiers=[["7", "6", "5", "4"], ["3", "2", "1", "0"]])
    assert all(not (int(a) < 4 <= int(b)) for a, b in exact(handle, constraints=tiers).dag.edges)


def test_a_required_parent_that_was_unknown_at_scoring_is_an_error() -> None:
    handle = CandidatesHandle.from_lists(["a", "b"], [[(-1.0, [])], [(-1.0, [])]])
    with pytest.raises(an.ArbornetError, match="'b' must have 'a' among its parents"):
        exact(handle, constraints=an.Constraints(required=[("a", "b")]))


def test_a_cycle_without_a_way_out_is_explained() -> None:
    handle = CandidatesHandle.from_lists(["a", "b", "c"], [[(-1.0, [1])], [(-1.0, [0])], [(-1.0, [])]])
    with pytest.raises(an.ArbornetError, match="each of 'a', 'b' needs a parent among them"):
        exact(handle)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"gap": -1.0}, "gap=-1.0"),
        ({"time_limit": -1.0}, "time_limit=-1.0"),
        ({"memory_limit": "much"}, "memory_limit='much'"),
        ({"k": 0}, "k=0"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_parameters_out_of_range_are_named(arguments: dict[str, object], message: str) -> None:
    handle = CandidatesHandle.from_lists(["a"], [[(-1.0, [])]])
    with pytest.raises(an.ParameterError, match=message):
        exact(handle, **arguments)  # type: ignore[arg-type]


def test_memory_sizes_are_read_as_people_write_them() -> None:
    assert [in_bytes(x) for x in ("4 GB", "1.5mib", "7", 250)] == [4e9, 1.5 * 2**20, 7.0, 250.0]


def test_extreme_scores_are_compared_finely() -> None:
    for large in (0.0, -1e6, 1e9):
        sets = [(large + 2e-6, [1]), (large, [])], [(large + 1e-6, [0]), (large, [])]
        found = exact(CandidatesHandle.from_lists(["a", "b"], sets))
        assert list(found.dag.edges) == [("b", "a")]


def test_minus_infinity_is_never_chosen_and_plus_infinity_refused() -> None:
    handle = CandidatesHandle.from_lists(["a", "b"], [[(-math.inf, [1]), (-9.0, [])], [(-1.0, [0]), (-9.0, [])]])
    assert list(exact(handle).dag.edges) == [("a", "b")]
    with pytest.raises(an.ArbornetError, match="'a' has a candidate parent set that scores infinity"):
        exact(CandidatesHandle.from_lists(["a"], [[(math.inf, [])]]))


def test_the_knobs_of_the_search_are_private_and_say_so() -> None:
    for name, of in (("BranchAndBound", BranchAndBound), ("Cuts", Cuts)):
        with pytest.warns(DeprecationWarning, match=f"{name} is private now: call `exact` without strategy="):
            assert getattr(an.search, name) is of
        assert name not in dir(an.search)
    handle = an.io.jkl.read(INSTANCES / "asia.num.jkl")
    with pytest.warns(DeprecationWarning, match="leave it out, the search decides by itself"):
        found = exact(handle, strategy=BranchAndBound(small=0))
    assert found.score == exact(handle).score


def test_a_component_has_ten_verbs_and_each_is_used_by_the_loop() -> None:
    verbs = {"improve", "ascend", "cut", "program", "open", "expand", "close", "branch", "learn", "prove"}
    told = {"vars", "exponent", "n_sets", "cost", "bound", "order", "deadlock", "expanded", "held", "slack"}
    members = {name for name in dir(SearchComponent) if not name.startswith("_")}
    assert members == verbs | told | {"program_size", "certificate"}
    folder = Path(an.search.__file__).parent
    loop = "".join((folder / name).read_text(encoding="utf-8") for name in ("branch_and_bound.py", "cuts.py"))
    assert all(f".{verb}(" in loop for verb in verbs)
