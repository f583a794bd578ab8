"""Cross-validation, intersection-validation, recovery, contests: leak-free, seeded, resumable, right by hand."""

from __future__ import annotations

import errno
import math
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.stats

import arbornet as an
from arbornet.evaluate import Method, contests
from arbornet.evaluate.hamming import agreed, pairs_of, partial_hamming
from arbornet.evaluate.samples import Sampled, folds, subsample

NAMES = ["a", "b", "c", "d"]
METHODS = {"trees": an.PCART(), "tables": an.FullTable()}


def graph(*arcs: str) -> nx.DiGraph:
    made: nx.DiGraph = nx.DiGraph()
    made.add_nodes_from(NAMES)
    made.add_edges_from(arcs)
    return made


def frame(n: int = 160, seed: int = 3) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    size = rng.normal(group * 1.5, 0.5)
    colour = np.where(rng.random(n) < np.where(size > 1.5, 0.9, 0.1), "red", "blue")
    return pl.DataFrame({"group": np.array(["x", "y", "z"])[group], "size": size, "colour": colour})


# ---- distances


def test_structural_hamming_distance_by_hand():
    # a -> b <- c is a collider: both arcs are compelled. a -> b -> c is not: both edges may point either way.
    collider, chain = pairs_of(graph("ab", "cb"), NAMES), pairs_of(graph("ab", "bc"), NAMES)
    assert chain.tolist() == [3, 0, 0, 3, 0, 0]
    assert collider.tolist() == [1, 0, 0, 2, 0, 0]
    assert partial_hamming(chain, collider) == 2
    assert partial_hamming(chain, pairs_of(graph("cb", "ba"), NAMES)) == 0
    assert partial_hamming(pairs_of(graph(), NAMES), collider) == 2
    assert partial_hamming(pairs_of(graph("ab", "cb", "ac"), NAMES), collider) == 3


def test_partial_hamming_distance_counts_only_what_all_methods_agree_on():
    one, two = pairs_of(graph("ab", "cb"), NAMES), pairs_of(graph("ab", "cb", "db"), NAMES)
    known = agreed([one, two])
    # They disagree on b-d alone.
    assert known.tolist() == [True, True, True, True, False, True]
    learned = pairs_of(graph("bd", "cd"), NAMES)
    assert partial_hamming(learned, one, known) == 3  # a-b lacking, b-c lacking, c-d too many; b-d is nobody's error
    assert partial_hamming(learned, one) == 4


# ---- cross-validation


def test_folds_part_all_rows_and_depend_on_seed_and_repeat():
    for n, k in ((10, 3), (11, 11), (7, 2)):
        parts = folds(n, k, 0, 1)
        assert sorted(np.concatenate(parts).tolist()) == list(range(n))
        assert {len(part) for part in parts} <= {n // k, n // k + 1}
    assert not np.array_equal(folds(50, 2, 0, 1)[0], folds(50, 2, 1, 1)[0])
    assert not np.array_equal(folds(50, 2, 0, 1)[0], folds(50, 2, 0, 2)[0])
    small, large = subsample(100, 10, 2, 5), subsample(100, 50, 2, 5)
    assert set(small) < set(large)


def test_densities_of_a_fold_are_those_of_a_network_learned_by_hand():
    df = frame()
    result = an.evaluate.cross_validate(df, an.PCART(), folds=4, repeats=1, seed=7, max_parents=2)
    test = folds(df.height, 4, 0, 7)[1]
    train = [i for i in range(df.height) if i not in set(test.tolist())]
    table = an.Table(df[train])
    found = an.search.exact(an.score_parents(table, an.PCART(), max_parents=2))
    by_hand = an.fit(table, found, an.PCART()).log_likelihood(df[test.tolist()])
    rows = result.rows.filter(pl.col("fold") == 1)
    assert rows["row"].to_list() == test.tolist()
    np.testing.assert_allclose(rows["log_density"].to_numpy(), by_hand, rtol=1e-12)
    assert math.isclose(result.folds["log_density"][1], by_hand.mean(), rel_tol=1e-12)
    means = result.folds["log_density"].to_numpy()
    assert math.isclose(result.summary["log_density"][0], means.mean(), rel_tol=1e-12)
    assert math.isclose(result.summary["standard_error"][0], means.std(ddof=1) / 2, rel_tol=1e-12)
    assert math.isclose(result.by_variable["log_density"].sum(), result.summary["log_density"][0], rel_tol=1e-9)


@pytest.mark.parametrize("declared", [False, True], ids=["kinds inferred", "kinds declared"])
def test_test_rows_never_touch_what_is_learned_from_training_rows(declared, tmp_path: Path):
    df = frame()
    test = folds(df.height, 5, 0, 0)[2]
    told = set(test.tolist())
    # Other values in the test rows, far outside, and a level nobody else has.
    other = df.with_row_index("at").with_columns(
        size=pl.when(pl.col("at").is_in(told)).then(pl.col("size") * 1e6 + 1e9).otherwise("size"),
        group=pl.when(pl.col("at").is_in(told) & (not declared)).then(pl.lit("new")).otherwise("group"),
    )
    schema = an.infer_schema(df) if declared else None
    train = np.setdiff1d(np.arange(df.height), test)

    def learned(rows: pl.DataFrame) -> str:
        sampled = Sampled(rows.select(df.columns), schema, "drop", True)
        net, _ = Method(an.PCART(), max_parents=2).network(sampled.table(train), 1)
        net.save(tmp_path / "net.json")
        # The time the search took is in the file, and is another one each time.
        return re.sub(r'"seconds": ?[^,}]*', "", (tmp_path / "net.json").read_text())

    assert learned(df) == learned(other)


def test_levels_the_training_part_lacks_have_what_the_prior_gives_them_and_gaps_are_left_out_and_counted():
    df = frame(60)
    df[0, "colour"] = "green"
    df[7, "size"] = None
    result = an.evaluate.cross_validate(df, folds=3, repeats=1, max_parents=1)
    assert result.summary["n_left_out"].to_list() == [1]
    left_out = result.rows.filter(pl.col("log_density").is_null())
    assert left_out["row"].to_list() == [7]
    df[7, "size"] = 1.0
    schema = an.infer_schema(df).with_types(colour=an.Categorical(["red", "blue", "green"]))
    declared = an.evaluate.cross_validate(df, folds=3, repeats=1, max_parents=1, schema=schema)
    assert declared.summary["n_left_out"].to_list() == [0]
    assert declared.rows["log_density"].is_finite().all()


def test_a_column_that_is_constant_in_a_training_part_counts_there_as_elsewhere():
    df = frame(60)
    rare = folds(60, 3, 0, 0)[1][:4].tolist()
    flags = pl.Series([i in rare for i in range(60)])
    numbers = pl.Series([1.5 + (i in rare) * i for i in range(60)])
    odd = df.with_columns(flag=flags, number=numbers)
    methods = {"trees": an.PCART(), "tables": an.FullTable(), "pairs": an.evaluate.Method(an.PCART(), "chow_liu")}
    result = an.evaluate.cross_validate(odd, methods, folds=3, repeats=1, max_parents=1)
    assert result.folds["n_variables"].unique().to_list() == [len(odd.columns)]
    assert result.summary["n_left_out"].to_list() == [0, 0, 0]
    assert result.rows["log_density"].is_finite().all()
    for name in methods:
        of = result.by_variable.filter(pl.col("method") == name)
        assert of["variable"].to_list() == odd.columns
        total = result.summary.filter(pl.col("method") == name)["log_density"][0]
        assert math.isclose(of["log_density"].sum(), total, rel_tol=1e-9)


#: 35 levels, of which a training part has 24 or fewer at times: as many as trees try to divide.
MANY_LEVELS = """
import sys
import numpy as np, polars as pl
import arbornet as an
rng = np.random.default_rng(1)
levels = [f"p{i}" for i in range(24)] * 2 + [f"q{i}" for i in range(11)] + [f"p{i}" for i in range(13)]
df = pl.DataFrame({
    "maker": rng.permutation(levels).tolist(), "x": rng.normal(size=72), "y": rng.normal(size=72),
    "g": [["a", "b"][i % 2] for i in range(72)], "h": rng.permutation([["u", "v", "w"][i % 3] for i in range(72)]),
})
table = an.Table(df)
refused = an.evaluate.Method(an.PCART(grouping="exact")).refusing(table).constraints.forbidden
assert refused == tuple(("maker", other) for other in ("x", "y", "g", "h")), refused
settings = {"n_jobs": 2, "max_parents": 2}
methods = {"trees": an.PCART(grouping="exact"), "tables": an.FullTable()}
crossed = an.evaluate.cross_validate(df, methods, folds=2, repeats=3, **settings)
assert crossed.folds["n_variables"].unique().to_list() == [5] and crossed.summary["n_left_out"].sum() == 0
trees = an.PCART(grouping="exact")
an.evaluate.intersection_validation(df, {"a": trees, "b": an.FullTable()}, (0.5,), repeats=2, **settings)
strengths = an.evaluate.arc_strength(df, an.PCART(grouping="exact"), n_bootstrap=3, **settings)
assert "maker" not in strengths["parent"].to_list()
net = an.fit(table, an.search.exact(an.score_parents(table, an.FullTable(), 1)), an.FullTable())
an.evaluate.structure_recovery(net, an.PCART(grouping="exact"), sizes=(40, 400), repeats=1, **settings)
"""


def test_what_is_refused_of_all_rows_for_its_levels_is_refused_of_every_part():
    done = subprocess.run([sys.executable, "-c", MANY_LEVELS], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_same_folds_at_any_number_of_threads_and_of_any_frame():
    df = frame(90)
    settings = {"folds": 3, "repeats": 2, "max_parents": 2}
    one = an.evaluate.cross_validate(df, METHODS, n_jobs=1, **settings)
    assert one.rows.equals(an.evaluate.cross_validate(df, METHODS, n_jobs=3, **settings).rows)
    pandas = pd.DataFrame(df.to_dict(as_series=False), index=range(100, 190))
    for other in (pandas, df.to_dict(as_series=False), df.lazy(), df.to_arrow()):
        assert one.rows.equals(an.evaluate.cross_validate(other, METHODS, **settings).rows)
    assert one.summary["method"].to_list() == list(METHODS)


def test_a_resumed_campaign_equals_an_uninterrupted_one(tmp_path: Path):
    df = frame(90)
    settings = {"folds": 3, "repeats": 2, "max_parents": 2, "seed": 4}
    whole = an.evaluate.cross_validate(df, METHODS, **settings)
    path = tmp_path / "results" / "folds.jsonl"
    an.evaluate.cross_validate(df, METHODS, resume=path, **settings)
    lines = path.read_text().splitlines(keepends=True)
    assert len(lines) == 1 + 12
    # Killed after five jobs, in the midst of writing the sixth.
    path.write_text("".join(lines[:6]) + lines[6][:20])
    again = an.evaluate.cross_validate(df, METHODS, resume=path, **settings)
    assert again.rows.equals(whole.rows)
    assert again.summary.equals(whole.summary)
    assert sorted(path.read_text().splitlines()) == sorted(line.strip() for line in lines)


def test_nothing_that_a_journal_holds_is_done_again(tmp_path: Path):
    df = frame(60)
    calls = []

    def counted(table: an.Table) -> nx.DiGraph:
        calls.append(table.n_rows)
        made: nx.DiGraph = nx.DiGraph()
        made.add_nodes_from(table.names)
        return made

    for _ in range(2):
        an.evaluate.cross_validate(df, counted, folds=3, repeats=2, resume=tmp_path / "x.jsonl")
        assert len(calls) == 6


@pytest.mark.parametrize(
    ("change", "says"),
    [({"seed": 5}, "other seed"), ({"folds": 4}, "other folds"), ({"score": an.FullTable()}, "other methods")],
)
def test_a_journal_of_something_else_is_refused(tmp_path: Path, change, says):
    df = frame(60)
    path = tmp_path / "folds.jsonl"
    settings = {"score": an.PCART(), "folds": 3, "repeats": 1, "max_parents": 1, "seed": 1, "resume": path}
    an.evaluate.cross_validate(df, **settings)
    with pytest.raises(an.FormatError, match=says):
        an.evaluate.cross_validate(df, **(settings | change))
    with pytest.raises(an.FormatError, match="other rows"):
        an.evaluate.cross_validate(df.with_columns(size=pl.col("size") * 2 + 1), **settings)


@pytest.mark.parametrize("text", ["no journal\n", "[1, 2]\n", '"x"\n', "\x00\xff"])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path: Path, text: str):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(an.FormatError, match=r"notes\.txt"):
        an.evaluate.cross_validate(frame(60), folds=2, repeats=1, max_parents=1, resume=path)
    assert path.read_text() == text


# ---- learning curves


def test_intersection_validation_agrees_with_itself_by_hand():
    df = frame(128)
    result = an.evaluate.intersection_validation(df, METHODS, [1 / 2, 1 / 8], repeats=3, seed=2, max_parents=2)
    table = an.Table(df)
    dags = [an.search.exact(an.score_parents(table, score, max_parents=2)).dag for score in METHODS.values()]
    full = [pairs_of(dag, df.columns) for dag in dags]
    known = agreed(full)
    assert result.reference.height == known.sum()
    rows = subsample(128, 16, 1, 2)
    small = an.Table(df[rows.tolist()], schema=an.infer_schema(df))
    dag = an.search.exact(an.score_parents(small, an.FullTable(), max_parents=2)).dag
    expected = partial_hamming(pairs_of(dag, df.columns), full[0], known)
    at = (pl.col("method") == "tables") & (pl.col("n_rows") == 16) & (pl.col("repeat") == 1)
    assert result.distances.filter(at)["distance"].to_list() == [expected]
    assert result.curves.filter(pl.col("fraction") == 1)["distance"].to_list() == [0.0, 0.0]
    assert result.curves["n_rows"].to_list() == [16, 64, 128] * 2


def test_structure_recovery_finds_a_clear_network_with_many_rows():
    df = frame(2000)
    net = an.learn(df, max_parents=2, verbose=False)
    result = an.evaluate.structure_recovery(net, METHODS, sizes=[20, 2000], repeats=3, max_parents=2)
    distance = {(m, n): d for m, n, d in result.curves.select("method", "n_rows", "distance").iter_rows()}
    for name in METHODS:
        assert distance[name, 2000] <= 1 / 3
        assert distance[name, 20] >= 1
    assert result.reference.height == result.n_pairs == 3


def test_binned_numbers_are_evaluated_like_any_column():
    df = frame(120)
    schema = an.infer_schema(df).with_types(size=an.Binned(3))
    table = an.Table(df, schema=schema)
    settings = {"repeats": 1, "max_parents": 1}
    for given, kinds in ((df, schema), (table, None)):
        crossed = an.evaluate.cross_validate(given, an.BIC(), folds=3, schema=kinds, **settings)
        assert crossed.rows["log_density"].is_finite().all()
        curves = an.evaluate.intersection_validation(given, METHODS, [1 / 2], schema=kinds, **settings)
        assert curves.n_pairs == 3
    net = an.learn(table, an.BIC(), verbose=False)
    assert an.evaluate.structure_recovery(net, an.BIC(), sizes=[2000], **settings).curves["distance"].to_list() == [0.0]


def test_the_distance_over_all_pairs_is_that_of_metrics():
    graphs = [graph("ab", "cb"), graph("ab", "bc", "cd"), graph("ad", "bd", "ab"), graph()]
    for first in graphs:
        for second in graphs:
            expected = an.metrics.shd(first, second)
            assert partial_hamming(pairs_of(second, NAMES), pairs_of(first, NAMES)) == expected


def test_functions_are_methods_and_bad_ones_are_told():
    df = frame(60)

    def empty(table: an.Table) -> nx.DiGraph:
        made: nx.DiGraph = nx.DiGraph()
        made.add_nodes_from(table.names)
        return made

    result = an.evaluate.cross_validate(df, {"empty": empty, "trees": an.PCART()}, folds=2, repeats=1, max_parents=1)
    assert result.folds.filter(pl.col("method") == "empty")["n_arcs"].to_list() == [0, 0]
    with pytest.raises(an.ParameterError, match="returned a int"):
        an.evaluate.cross_validate(df, lambda table: 3, folds=2, repeats=1)
    with pytest.raises(an.ParameterError, match="give at least two"):
        an.evaluate.intersection_validation(df, an.PCART())
    wrong: list[dict[str, Any]] = [{"folds": 1}, {"folds": 61}, {"repeats": 0}, {"folds": True}]
    wrong += [{"seed": seed} for seed in (-1, None, "1", 1.5, True)]
    for settings in wrong:
        with pytest.raises(an.ParameterError, match=next(iter(settings))):
            an.evaluate.cross_validate(df, **settings)
    with pytest.raises(an.ParameterError, match=r"give a score such as an\.PCART\(\)"):
        an.evaluate.cross_validate(df, an.PCART)
    with pytest.raises(an.ParameterError, match="network is a DiGraph: give a BayesNet"):
        an.evaluate.structure_recovery(nx.DiGraph([("a", "b")]), an.BIC())  # type: ignore[arg-type]


# ---- contests and drawings


def results(values: dict[str, dict[str, list[float]]]) -> pl.DataFrame:
    return pl.DataFrame(
        [{"method": m, "data": d, "value": v} for m, of in values.items() for d, vs in of.items() for v in vs]
    )


def test_contests_by_hand():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=20) * 0.01
    base = rng.normal(size=20)
    # On "wide" b is always a little better: its error bars overlap a's, its signed ranks do not.
    told = results(
        {
            "a": {"clear": [3.0, 3.1, 2.9], "same": [1.0, 1.0, 1.0], "wide": base.tolist()},
            "b": {"clear": [1.0, 1.1, 0.9], "same": [1.0, 1.0, 1.0], "wide": (base + 0.1 + noise).tolist()},
        }
    )
    bars = an.evaluate.win_tie_loss(told, "value")
    assert bars.rows() == [("a", "b", 1, 2, 0)]
    assert an.evaluate.win_tie_loss(told, "value", higher_is_better=False).rows() == [("a", "b", 0, 2, 1)]
    wide = told.filter(pl.col("data") != "clear")
    assert an.evaluate.win_tie_loss(wide, "value", by="wilcoxon").rows() == [("a", "b", 0, 1, 1)]
    grouped = an.evaluate.win_tie_loss(told, "value", group="data")
    assert grouped.rows() == [("clear", "a", "b", 1, 0, 0), ("same", "a", "b", 0, 1, 0), ("wide", "a", "b", 0, 1, 0)]
    with pytest.raises(an.ParameterError, match="no column 'size'"):
        an.evaluate.win_tie_loss(told, "value", data="size")
    assert an.evaluate.win_tie_loss(told.to_pandas(), "value").rows() == bars.rows()
    holed = told.with_columns(value=pl.when(pl.col("data") == "same").then(None).otherwise("value"))
    with pytest.raises(an.ParameterError, match="value of method 'a' on 'same' is missing"):
        an.evaluate.win_tie_loss(holed, "value")


@pytest.mark.parametrize("n", [3, 10, 50, 51])
@pytest.mark.parametrize("tied", [False, True])
def test_signed_ranks_are_those_of_scipy(n: int, tied: bool):
    rng = np.random.default_rng([n, tied])
    for shift in (0.0, 0.4, 1.0):
        a, b = rng.normal(size=n), rng.normal(size=n) + shift
        if tied:
            a, b = np.round(2 * a), np.round(2 * b)
            a[0] = b[0] + 1
        apart = np.abs(a - b)
        exact = n <= 50 and 0 not in apart and len(set(apart)) == n
        method: dict[str, Any] = {"method": "exact"} if exact else {"method": "asymptotic", "correction": True}
        assert contests._signed_rank_p(a, b) == pytest.approx(scipy.stats.wilcoxon(a, b, **method).pvalue, rel=1e-9)


def test_results_draw_themselves(tmp_path: Path):
    df = frame(60)
    crossed = an.evaluate.cross_validate(df, METHODS, folds=2, repeats=1, max_parents=1)
    curves = an.evaluate.intersection_validation(df, METHODS, [1 / 2, 1 / 4], repeats=2, max_parents=1)
    net = an.learn(df, max_parents=1, verbose=False)
    recovered = an.evaluate.structure_recovery(net, METHODS, [20, 40], repeats=2, max_parents=1)
    won = an.evaluate.win_tie_loss(crossed.folds.with_columns(data=pl.lit("one")), "log_density", group="repeat")
    strengths = an.evaluate.arc_strength(df, n_bootstrap=5, max_parents=1)
    for i, result in enumerate((crossed, curves, recovered, won, strengths)):
        path = tmp_path / f"{i}.svg"
        assert result.plot(path) is None
        assert path.read_text().startswith("<?xml")
        axis = result.plot()
        assert axis.get_xlabel()
        with pytest.raises(an.ParameterError, match="target"):
            result.plot(3)


def test_a_drawing_of_contests_shows_every_count_and_the_frame_stays_a_frame():
    told = results({"a": {"one": [3.0, 3.1], "two": [1.0, 1.0]}, "b": {"one": [1.0, 1.1], "two": [1.0, 1.0]}})
    won = an.evaluate.win_tie_loss(told, "value")
    axis = won.plot()
    assert [label.get_text() for label in axis.get_yticklabels()] == ["a against b"]
    assert [[bar.get_width() for bar in part] for part in axis.containers] == [[1], [1], [0]]
    assert isinstance(won, pl.DataFrame)
    assert won.filter(pl.col("win") == 1).rows() == won.rows()
    # One method has nobody to contend with: the same columns, no row.
    alone = an.evaluate.win_tie_loss(told.filter(pl.col("method") == "a"), "value")
    assert alone.columns == won.columns
    assert alone.height == 0


def test_a_contest_of_texts_is_refused() -> None:
    told = pl.DataFrame({"method": ["a", "b"], "data": ["x", "x"], "log_density": [1.0, 2.0]})
    with pytest.raises(an.ParameterError, match="'data': that column holds String"):
        an.evaluate.win_tie_loss(told, "data")


def test_results_whose_first_line_a_full_disk_cut_begin_anew(tmp_path):
    frame = {"a": ["x", "y"] * 20, "b": ["u", "v", "v", "u"] * 10}

    def run():
        return an.evaluate.cross_validate(frame, an.BIC(), folds=2, repeats=1, resume=tmp_path / "cv.json")

    whole = run()
    lines = (tmp_path / "cv.json").read_bytes()
    first = lines.index(b"\n")
    for length in (0, 1, 20, first, first + 1, first + 5):
        (tmp_path / "cv.json").write_bytes(lines[:length])
        assert run() == whole
        assert (tmp_path / "cv.json").read_bytes().startswith(lines[: first + 1])
    for foreign in (b"my thesis", lines[:20] + b"my thesis", b"{}"):
        (tmp_path / "cv.json").write_bytes(foreign)
        with pytest.raises(an.FormatError, match=r"cv\.json"):
            run()
        assert (tmp_path / "cv.json").read_bytes() == foreign


def test_a_journal_on_a_full_disk_names_its_file(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as refused:
        an.evaluate.cross_validate({"a": ["x", "y"] * 20}, an.BIC(), folds=2, repeats=1, resume=tmp_path / "cv.json")
    assert refused.value.filename == str(tmp_path / "cv.json")


@pytest.mark.parametrize("place", ["/dev/zero", "."])
def test_results_are_kept_in_plain_files_only(place):
    with pytest.raises(an.FormatError, match="not a regular file"):
        an.evaluate.cross_validate({"a": ["x", "y"] * 20}, an.BIC(), folds=2, repeats=1, resume=place)


def test_arcs_that_may_point_either_way_count_half_in_each_direction_if_asked():
    frame_ = {name: ["u", "v"] * 10 for name in NAMES}
    schema = an.infer_schema({name: ["u", "v", "v"] for name in NAMES})
    found = an.search.hill_climb(an.Table(frame_, schema), an.BIC())

    def always(candidates: Any) -> an.search.Found:
        # Of the two arcs into c neither can be turned; that between c and d cannot either, nor can d stand alone.
        return replace(found, dag=graph(("a", "c"), ("b", "c"), ("c", "d")))

    def chain(candidates: Any) -> an.search.Found:
        return replace(found, dag=graph(("a", "b"), ("b", "c")))

    def shares(search: Any, **how: Any) -> dict[tuple[str, str], tuple[float, float]]:
        told = an.evaluate.arc_strength(an.Table(frame_, schema), an.BIC(), n_bootstrap=3, search=search, **how)
        return {(parent, child): (strength, adjacency) for parent, child, strength, adjacency in told.iter_rows()}

    whole = dict.fromkeys([("a", "c"), ("b", "c"), ("c", "d")], (1.0, 1.0))
    assert shares(always) == shares(always, equivalence=True) == whole
    assert shares(chain) == {("a", "b"): (1.0, 1.0), ("b", "c"): (1.0, 1.0)}
    half = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")]
    assert shares(chain, equivalence=True) == dict.fromkeys(half, (0.5, 1.0))


def test_averaging_takes_arcs_from_the_threshold_on_but_none_that_closes_a_cycle():
    strengths = pl.DataFrame(
        {"parent": ["a", "b", "c", "c"], "child": ["b", "c", "a", "d"], "strength": [0.9, 0.8, 0.7, 0.5]}
    )
    assert set(an.evaluate.averaged(strengths, 0.5).edges) == {("a", "b"), ("b", "c"), ("c", "d")}
    assert set(an.evaluate.averaged(strengths, 0.51).edges) == {("a", "b"), ("b", "c")}
    assert set(an.evaluate.averaged(strengths, 0.51).nodes) == {"a", "b", "c", "d"}


def test_a_run_goes_on_in_a_terminal_of_another_width(tmp_path, monkeypatch):
    frame = {"a": [0, 1] * 20, "b": [0, 1, 1, 0] * 10, "a name longer than most": ["yes", "no"] * 20}
    kept = tmp_path / "folds.jsonl"
    how = {"schema": an.infer_schema(frame), "max_parents": 1, "folds": 3, "resume": kept, "n_jobs": 1}
    results = []
    for columns in ("40", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        results.append(an.evaluate.cross_validate(frame, an.BIC(), **how).rows)
    assert results[0].equals(results[1])


def test_a_run_with_other_types_is_not_gone_on_with(tmp_path):
    frame = {"a": [0, 1] * 20, "b": [0, 1, 2, 0] * 10}
    kept, types = tmp_path / "folds.jsonl", an.infer_schema(frame)
    for schema in (types, types.with_types(b=an.Categorical([0, 1, 2]))):
        how = {"schema": schema, "max_parents": 1, "folds": 3, "resume": kept, "n_jobs": 1}
        if schema is types:
            an.evaluate.cross_validate(frame, an.BIC(), **how)
        else:
            with pytest.raises(an.FormatError, match="other rows, schema"):
                an.evaluate.cross_validate(frame, an.BIC(), **how)
