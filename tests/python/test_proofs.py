"""What is proved best is best: whatever came after the scoring, whatever sizes the scores have."""

from __future__ import annotations

import itertools
import math
import pickle
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import arbornet as an
from arbornet import _core
from arbornet._core import CandidatesHandle
from arbornet.search.branch_and_bound import BranchAndBound
from arbornet.search.exact import by_strategy
from arbornet.search.sums import better_order, exact_sum, upward

CAMPAIGNS = Path(__file__).parents[2] / "campaigns"

BRANCHING = BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf)
HALVES = BranchAndBound(small=0, looks=0, affordable=0, patience=math.inf, states=0, part_looks=1)

AGE_CRP = an.Constraints(required=[("age", "crp")])


# ---- a slice of the campaign


@pytest.mark.parametrize("seed", range(4))
def test_no_proof_is_one_that_an_exact_sum_over_all_graphs_refutes(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(CAMPAIGNS), *sys.path])
    import proofs

    counts: Counter[str] = proofs.campaign(60, 100 + seed)
    assert counts["proofs (exact)"] > 60
    assert counts["refusals"] > 50
    assert min(counts["forests"], counts["certificates refused"], counts["proofs within a gap"]) > 3


# ---- arcs required after scoring


@pytest.fixture(scope="module")
def patients() -> an.Table:
    frame = an.example("patients")
    return an.Table(frame, an.infer_schema(frame).with_types(stage="categorical"))


@pytest.fixture(scope="module")
def pruned(patients: an.Table) -> an.Candidates:
    return an.score_parents(patients, an.PCART(), 2)


@pytest.fixture(scope="module")
def whole(patients: an.Table) -> an.Candidates:
    return an.score_parents(patients, an.PCART(), 2, prune=False)


SEARCHES = {
    "exact": an.search.exact,
    "the two best": lambda candidates, constraints: an.search.exact(candidates, constraints=constraints, k=2),
    "k_best": lambda candidates, constraints: an.search.k_best(candidates, 3, constraints=constraints),
    "anytime": an.search.anytime,
    "hill_climb": an.search.hill_climb,
}


@pytest.mark.parametrize("name", SEARCHES)
def test_an_arc_required_after_scoring_is_refused_by_name_where_sets_with_it_were_left_out(
    name: str, pruned: an.Candidates
) -> None:
    with pytest.raises(an.ArbornetError, match=r"'age' -> 'crp'.*constraints=.*prune=False"):
        SEARCHES[name](pruned, constraints=AGE_CRP)


@pytest.mark.parametrize("name", ["exact", "anytime"])
def test_scored_with_the_arc_or_without_leaving_sets_out_it_is_obeyed_at_the_best_score(
    name: str, patients: an.Table, whole: an.Candidates
) -> None:
    with_it = an.score_parents(patients, an.PCART(), 2, AGE_CRP)
    for candidates in (with_it, whole):
        found = SEARCHES[name](candidates, constraints=AGE_CRP)
        assert found.score == pytest.approx(-6535.876, abs=5e-4)
        assert found.stopped == "proven" and found.dag.has_edge("age", "crp")
        assert found.certificate is not None and found.certificate.check(candidates)


def test_learning_scores_with_the_arc(patients: an.Table) -> None:
    net = an.learn(patients, an.PCART(), max_parents=2, constraints=AGE_CRP, verbose=False)
    assert net.origin.search["score"] == pytest.approx(-6535.876, abs=5e-4)


def test_every_arc_required_after_scoring_is_refused_or_makes_no_difference(
    pruned: an.Candidates, whole: an.Candidates
) -> None:
    told = Counter[str]()
    for arc in itertools.permutations(pruned.names, 2):
        rules = an.Constraints(required=[arc])
        best = an.search.exact(whole, constraints=rules).score
        try:
            assert an.search.exact(pruned, constraints=rules).score == pytest.approx(best, abs=1e-9), arc
            told["obeyed"] += 1
        except an.ArbornetError as error:
            assert f"'{arc[0]}' -> '{arc[1]}'" in str(error)
            told["refused"] += 1
    assert min(told["obeyed"], told["refused"]) > 10, told


def test_what_takes_sets_away_alone_needs_no_scoring_anew(patients: an.Table, pruned: an.Candidates) -> None:
    rules = an.Constraints(
        forbidden=[("age", "crp")], tiers=[pruned.names[:6], pruned.names[6:]], leaves=[pruned.names[-1]], max_parents=1
    )
    anew = an.search.exact(an.score_parents(patients, an.PCART(), 2, rules))
    assert an.search.exact(pruned, constraints=rules).score == pytest.approx(anew.score, abs=1e-9)


def test_a_certificate_does_not_pass_on_candidates_that_may_lack_a_set(
    pruned: an.Candidates, whole: an.Candidates
) -> None:
    certificate = an.search.exact(whole, constraints=AGE_CRP).certificate
    assert certificate is not None
    assert certificate.check(whole)
    assert not certificate.check(pruned)
    assert not certificate.check(pruned.handle)


def test_files_remember_what_was_left_out_and_those_that_cannot_are_not_trusted(
    tmp_path: Path, pruned: an.Candidates, whole: an.Candidates
) -> None:
    best = an.search.exact(whole, constraints=AGE_CRP).score
    for made in (pruned, whole):
        made.save(tmp_path / "made.parquet")
        assert an.Candidates.load(tmp_path / "made.parquet").pruned == made.pruned
        assert pickle.loads(pickle.dumps(made)).pruned == made.pruned
    found = an.search.exact(an.Candidates.load(tmp_path / "made.parquet"), constraints=AGE_CRP)
    assert found.score == pytest.approx(best)
    assert an.search.exact(tmp_path / "made.parquet", constraints=AGE_CRP).score == pytest.approx(best)
    whole.save(tmp_path / "made.jkl")
    # It has all sets of up to two parents. Whether larger ones were left out it does not say.
    with pytest.raises(an.ArbornetError, match="'age' -> 'crp'"):
        an.search.exact(tmp_path / "made.jkl", constraints=AGE_CRP)
    told = an.Candidates.load(tmp_path / "made.jkl", pruned=False)
    assert an.search.exact(told, constraints=AGE_CRP).score == pytest.approx(best)


def test_candidates_pickled_before_they_told_count_as_pruned(pruned: an.Candidates) -> None:
    state = {key: value for key, value in vars(pruned).items() if key != "pruned"}
    old = an.Candidates.__new__(an.Candidates)
    vars(old).update(state)
    assert old.pruned
    with pytest.raises(an.ArbornetError, match="'age' -> 'crp'"):
        an.search.exact(old, constraints=AGE_CRP)


def test_unpruned_candidates_hold_every_set_and_the_pruned_ones_among_them(
    patients: an.Table, pruned: an.Candidates, whole: an.Candidates
) -> None:
    assert whole.n_kept == whole.n_sets == sum(1 + 11 + 55 for _ in range(12))
    assert pruned.n_kept < whole.n_kept
    handle = _core.ScoreHandle(patients.handle, an.PCART().spec())
    scores, offsets, members = whole.handle.child(3)
    for i in (0, 17, len(scores) - 1):
        assert scores[i] == handle.score(3, members[offsets[i] : offsets[i + 1]].tolist())
    assert an.search.exact(whole).score == pytest.approx(an.search.exact(pruned).score, abs=1e-9)
    assert "not pruned" in repr(whole)


def test_unpruned_candidates_are_the_same_from_checkpoints_which_tell_the_two_apart(
    patients: an.Table, whole: an.Candidates, tmp_path: Path
) -> None:
    for _ in range(2):
        assert an.score_parents(patients, an.PCART(), 2, prune=False, checkpoint=tmp_path / "kept") == whole
    with pytest.raises(an.ArbornetError, match="prune=False"):
        an.score_parents(patients, an.PCART(), 2, checkpoint=tmp_path / "kept")
    with pytest.raises(an.ParameterError, match="prune='no'"):
        an.score_parents(patients, an.PCART(), 2, prune="no")  # type: ignore[arg-type]


def test_a_prior_on_unpruned_candidates_leaves_none_out(whole: an.Candidates) -> None:
    plain = replace(whole, score=None)
    under = plain.with_prior(an.priors.ParentCount())
    assert under.n_kept == whole.n_kept
    assert not under.pruned


def test_the_k_best_say_all_there_are_only_where_no_set_was_left_out() -> None:
    table = an.Table({"a": list("xxyyxy"), "b": list("xyyyxx"), "c": list("yxyxyx")})
    kept = an.search.k_best(an.score_parents(table, an.BIC(), 2), 10_000)
    every = an.search.k_best(an.score_parents(table, an.BIC(), 2, prune=False), 10_000)
    assert (len(every), every.complete, every.pruned) == (25, True, False)
    assert len(kept) < 25 and kept.complete and kept.pruned
    assert "all there are" in repr(every)
    assert "all that the kept sets make" in repr(kept)
    assert kept[0].score == every[0].score


# ---- scores of any size


def handle_of(*children: list[tuple[float, list[int]]]) -> CandidatesHandle:
    return CandidatesHandle.from_lists([f"v{v}" for v in range(len(children))], list(children))


def ring(n: int, never: float | None = None) -> CandidatesHandle:
    """Everybody wants both neighbours, or one of them; with sets that nobody may want."""
    children = []
    for v in range(n):
        before, after = (v - 1) % n, (v + 1) % n
        sets = [
            (-1.0 - v / 7, [before, after]),
            (-2.25 + v / 9, [before]),
            (-2.5 - v / 11, [after]),
            (-4.0 - v / 5, []),
        ]
        if never is not None:
            sets += [(never, [(v + 2) % n]), (2 * never, [(v + 2) % n, (v + 3) % n])]
        children.append(sets)
    return handle_of(*children)


@pytest.mark.parametrize("strategy", [BranchAndBound(), BRANCHING, HALVES], ids=["default", "branching", "halves"])
@pytest.mark.parametrize("never", [-1e9, -1e12, -1e15, -1e16, -1e100, -4.9e299])
def test_sentinels_that_no_graph_has_to_use_change_nothing(never: float, strategy: BranchAndBound) -> None:
    for n in (6, 15):
        plain, odd = (by_strategy(ring(n, sentinel), strategy) for sentinel in (None, never))
        assert sorted(odd.dag.edges) == sorted(plain.dag.edges)
        assert (odd.score, odd.bound, odd.gap, odd.stopped) == (plain.score, plain.bound, 0.0, "proven")
        assert odd.certificate is not None and odd.certificate.check(ring(n, never))


@pytest.mark.parametrize("never", [-1e12, -1e15, -4.9e299])
def test_bounds_of_searches_without_a_proof_ignore_sentinels(never: float) -> None:
    for found in (an.search.anytime(ring(30, never), rounds=1), an.search.exact(ring(30, never), time_limit=0.0)):
        best = an.search.exact(ring(30)).score
        assert found.score <= best + 1e-9 <= found.bound + 2e-9
        assert found.bound < best + 40
        assert found.certificate is not None and found.certificate.check(ring(30, never))
        assert all(i.bound >= best - 1e-9 and i.score <= best + 1e-9 for i in found.incumbents)


def forced(n: int) -> CandidatesHandle:
    """A ring in which one of two variables has to score -1e15."""
    sets: list[list[tuple[float, list[int]]]] = []
    for v in range(n):
        scores, offsets, members = ring(n).child(v)
        sets.append([(s, members[offsets[i] : offsets[i + 1]].tolist()) for i, s in enumerate(scores.tolist())])
    for v in (0, 1):
        sets[v] = [(score if 1 - v in parents else -1e15, parents) for score, parents in sets[v]]
    return handle_of(*sets)


def test_where_every_graph_must_score_hugely_little_the_last_digits_are_told_or_the_gap_says_not() -> None:
    small = an.search.exact(forced(7))
    every = [
        [(s, frozenset(m[o[i] : o[i + 1]].tolist())) for i, s in enumerate(scores.tolist())]
        for scores, o, m in (forced(7).child(v) for v in range(7))
    ]
    best = max(total for total in _totals(every))
    assert exact_sum([small.score]) == pytest.approx(best, abs=0.5)
    assert small.gap == 0
    large = by_strategy(forced(20), BRANCHING)
    assert large.stopped == "proven"
    assert 0 < large.gap < 1e3
    assert "proved best within" in str(large)


def _totals(sets: list[list[tuple[float, frozenset[int]]]]) -> Iterator[Fraction]:
    """The exact total along every order."""
    for order in itertools.permutations(range(len(sets))):
        before: set[int] = set()
        total = Fraction(0)
        for v in order:
            total += Fraction(next(score for score, own in sets[v] if own <= before))
            before.add(v)
        yield total


def test_differences_below_the_grid_are_told_apart_by_exact_sums() -> None:
    # One of the first two forgoes a trillion; the third's choice is worth a trillionth of a trillionth.
    tiny = 1e-12
    handle = handle_of(
        [(1e12, [1]), (0.0, [])],
        [(1e12, [0]), (0.0, []), (-tiny, [2])],
        [(-1e12, [0]), (-1e12 - 1, [1]), (-2e12, [])],
    )
    found = an.search.exact(handle)
    assert found.gap == 0
    assert found.score == max(map(float, _totals([[(s, frozenset(p)) for s, p in own] for own in _sets(handle)])))


def _sets(handle: CandidatesHandle) -> list[list[tuple[float, list[int]]]]:
    out = []
    for v in range(handle.n_vars):
        scores, offsets, members = handle.child(v)
        out.append([(s, members[offsets[i] : offsets[i + 1]].tolist()) for i, s in enumerate(scores.tolist())])
    return out


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e-9, 1e9, 1e290])
def test_scores_of_any_unit_are_compared_as_finely(unit: float) -> None:
    scaled = handle_of(*([(unit * score, parents) for score, parents in own] for own in _sets(ring(9))))
    found, plain = an.search.exact(scaled), an.search.exact(ring(9))
    assert sorted(found.dag.edges) == sorted(plain.dag.edges)
    assert found.score == pytest.approx(unit * plain.score, rel=1e-12, abs=0)
    assert found.certificate is not None and found.certificate.check(scaled)
    ranked, ordinary = an.search.k_best(scaled, 30), an.search.k_best(ring(9), 30)
    assert [g.score for g in ranked] == pytest.approx([unit * g.score for g in ordinary], rel=1e-12, abs=0)


def test_the_k_best_are_ranked_whatever_no_graph_can_have() -> None:
    # The first wants what costs the second more than it gains.
    first = [(1e15, [1]), (-1.0, [2]), (-1.03, [])]
    second = [(-2.0, [0]), (-2.02, [2]), (-3e15, [])]
    handle = handle_of(first, second, [(-1.0, [0]), (-1.01, [1]), (-1.1, [])])
    graphs = an.search.k_best(handle, 8)
    best = sorted(
        float(total) for total in set(_totals([[(s, frozenset(p)) for s, p in own] for own in _sets(handle)]))
    )
    assert graphs[0].score == pytest.approx(best[-1], abs=1e-9)
    assert all(a.score >= b.score for a, b in itertools.pairwise(graphs))


def test_anytime_search_tells_the_scores_of_its_sets_and_proves_what_it_calls_proved() -> None:
    handle = handle_of(
        [(1e15, [1]), (-3.3, [2]), (-3.4, [])], [(-2e15, []), (-1.1, [0])], [(-5.7, [0]), (-5.71, [1]), (-5.72, [])]
    )
    found, proof = an.search.anytime(handle, rounds=1), an.search.exact(handle)
    assert found.stopped == "proven" and found.gap == 0
    assert found.score == proof.score == -3.3 - 1.1 - 5.72


def test_climbing_calls_proved_only_what_has_the_best_set_of_everybody() -> None:
    # The second's loss drowns in the first's score.
    handle = handle_of([(1e17, [1]), (0.0, [])], [(0.5, [0]), (0.0, [])])
    found = an.search.hill_climb(handle)
    assert found.stopped == "finished"
    free = an.search.hill_climb(handle_of([(1e17, [1]), (0.0, [])], [(0.5, []), (0.0, [0])]))
    assert free.stopped == "proven" and free.gap == 0


def test_the_best_forest_is_told_by_the_last_digits_of_its_scores() -> None:
    sets = [(-1e15, []), (-5.31, [1]), (-5.3, [2])]
    found = an.chow_liu(handle_of(sets, [(-1.0, [])], [(-1.0, [])]))
    assert list(found.dag.edges) == [("v2", "v0")]
    assert found.stopped == "proven" and found.gap == 0


def test_exact_sums_find_an_order_that_is_better_and_no_other() -> None:
    handle = handle_of([(1.0, [1]), (0.0, [])], [(1.0 + 2**-40, [0]), (0.0, [])])
    assert better_order(handle, [1, 0], [1.0, 0.0]) == [0, 1]
    assert better_order(handle, [0, 1], [0.0, 1.0 + 2**-40]) is None
    assert upward(Fraction(1, 3)) > Fraction(1, 3) > Fraction(math.nextafter(upward(Fraction(1, 3)), 0))
    assert upward(Fraction(1, 2)) == 0.5


def test_an_allowed_gap_is_kept_for_scores_of_any_size() -> None:
    for never in (None, -1e15):
        handle: Any = ring(9, never)
        found = by_strategy(handle, BRANCHING, gap=1.5)
        best = an.search.exact(handle).score
        assert found.score <= best <= found.bound <= found.score + 1.5
        assert an.search.exact(handle, gap=math.inf).bound >= best
