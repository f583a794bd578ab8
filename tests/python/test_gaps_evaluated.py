"""Cross-validation and the bootstrap of rows with missing values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import arbornet as an


def related(n: int = 300, seed: int = 0) -> pl.DataFrame:
    """A chain a -> b -> c, and d by itself."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = b * 2.0 + rng.normal(0, 0.9, n)
    names = np.array(["no", "yes"])
    return pl.DataFrame({"a": names[a], "b": names[b], "c": np.round(c, 3), "d": np.round(rng.normal(size=n), 3)})


def with_gaps(frame: pl.DataFrame, share: float, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return frame.with_columns(
        pl.when(pl.Series(rng.random(frame.height) < share)).then(None).otherwise(pl.col(name)).alias(name)
        for name in frame.columns
    )


def test_every_test_row_counts_by_what_it_has() -> None:
    frame = with_gaps(related(), 0.3)
    made = an.evaluate.cross_validate(frame, an.PCART(), 4, 1, missing="learn", max_parents=1)
    assert made.summary["n_left_out"].to_list() == [0]
    rows = made.rows.sort("row")
    assert rows["log_density"].null_count() == 0
    # The first fold, by hand: learned from the others, each of its rows by its known values.
    first = rows.filter(fold=0)["row"].to_numpy()
    train = np.setdiff1d(np.arange(frame.height), first)
    schema = an.infer_schema(frame, scales="auto")
    net = an.learn(frame[train], an.PCART(), max_parents=1, schema=schema, missing="learn", verbose=False)
    expected = net.log_likelihood(frame[first])
    assert rows.filter(fold=0)["log_density"].to_numpy() == pytest.approx(expected)
    dropping = an.evaluate.cross_validate(frame, an.PCART(), 4, 1, missing="drop", max_parents=1)
    assert dropping.summary["n_left_out"][0] > 150


def test_rows_without_gaps_are_evaluated_as_ever() -> None:
    frame = related()
    learned, dropped = (
        an.evaluate.cross_validate(frame, an.PCART(), 4, 1, missing=way, max_parents=1) for way in ("learn", "drop")
    )
    assert learned.summary["log_density"][0] == pytest.approx(dropped.summary["log_density"][0], abs=1e-9)
    assert learned.by_variable.equals(dropped.by_variable)


def test_weights_and_resumption_go_with_gaps(tmp_path: Path) -> None:
    frame = with_gaps(related(120), 0.2)
    twice = pl.concat([frame, frame])
    groups = [i % 120 for i in range(240)]
    both = an.evaluate.cross_validate(twice, an.PCART(), 3, 1, missing="learn", groups=groups, max_parents=1)
    one = an.evaluate.cross_validate(
        frame.with_columns(w=pl.lit(2)), an.PCART(), 3, 1, missing="learn", weights="w", groups=groups[:120],
        max_parents=1, resume=tmp_path / "cv.json",
    )  # fmt: skip
    again = an.evaluate.cross_validate(
        frame.with_columns(w=pl.lit(2)), an.PCART(), 3, 1, missing="learn", weights="w", groups=groups[:120],
        max_parents=1, resume=tmp_path / "cv.json",
    )  # fmt: skip
    assert again.rows.equals(one.rows)
    # Copies of a row are drawn apart, so this is not to the bit.
    assert one.summary["log_density"][0] == pytest.approx(both.summary["log_density"][0], abs=0.3)
    # The same values with a gap elsewhere are other rows.
    other = frame.with_columns(pl.col("a").reverse())
    with pytest.raises(an.ArbornetError, match=r"cv\.json"):
        an.evaluate.cross_validate(
            other, an.PCART(), 3, 1, missing="learn", groups=groups[:120], max_parents=1, resume=tmp_path / "cv.json"
        )


def test_a_function_of_a_table_has_no_rows_with_gaps() -> None:
    with pytest.raises(an.ParameterError, match="missing='drop'"):
        an.evaluate.cross_validate(with_gaps(related(), 0.3), lambda table: None, 3, 1, missing="learn")  # type: ignore[arg-type, return-value]


def test_resamples_keep_rows_with_gaps() -> None:
    frame = with_gaps(related(), 0.2)
    assert frame.drop_nulls().height < 150
    strengths = an.evaluate.arc_strength(frame, an.PCART(), n_bootstrap=12, max_parents=1, seed=3)
    adjacency = {frozenset((p, c)): x for p, c, x in strengths.select("parent", "child", "adjacency").iter_rows()}
    assert adjacency[frozenset("bc")] > 0.8
    assert adjacency[frozenset("ab")] > 0.8
    assert max((x for pair, x in adjacency.items() if "d" in pair), default=0.0) < 0.5
    again = an.evaluate.arc_strength(frame, an.PCART(), n_bootstrap=12, max_parents=1, seed=3, n_jobs=1)
    assert again.equals(strengths)
    with pytest.warns(an.RowsDroppedWarning):
        few = an.evaluate.arc_strength(frame, an.PCART(), n_bootstrap=4, max_parents=1, seed=3, missing="drop")
    assert not few.equals(strengths)


def test_a_column_of_two_values_is_in_every_resample() -> None:
    frame = with_gaps(related(), 0.3).with_columns(
        rare=pl.when(pl.int_range(pl.len()) < 2).then(pl.int_range(pl.len()) + 0.5)
    )
    strengths = an.evaluate.arc_strength(frame, an.PCART(), n_bootstrap=5, max_parents=1)
    assert not strengths.filter(pl.col("parent").eq("rare") | pl.col("child").eq("rare")).height


def test_rows_with_gaps_and_weights_are_resampled() -> None:
    frame = with_gaps(related(), 0.3)
    halves = frame.with_columns(w=pl.lit(0.5))
    twice = [
        an.evaluate.arc_strength(one, an.PCART(), n_bootstrap=4, max_parents=1, seed=1, weights=weights)
        for one, weights in ((frame, [1] * 300), (frame, None))
    ]
    assert twice[0].sort("parent", "child").select("parent", "child").height
    survey = an.evaluate.arc_strength(
        halves, an.PCART(), n_bootstrap=4, max_parents=1, seed=1, weights="w", weights_are="survey"
    )
    assert "w" not in survey["parent"]
    assert {"b", "c"} <= {*survey["parent"], *survey["child"]}
    with pytest.raises(an.ParameterError, match="weights"):
        an.evaluate.arc_strength(an.Table(related()), an.PCART(), n_bootstrap=1, weights=[1] * 300)
