"""The bootstrap draws rows that belong together as whole groups."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.data.incomplete import Incomplete, rows_of
from arbornet.evaluate.arc_strength import _drawn, _with_gaps
from arbornet.evaluate.groups import Groups, of_used

SCORE = an.DegenerateGaussian()
UNEVEN = np.repeat(np.arange(12), np.arange(1, 13))


def panel(seed: int = 0, n_groups: int = 20, n_each: int = 8) -> pl.DataFrame:
    """Persons whose `a` and `b` are unrelated, and hardly change from visit to visit."""
    draws = np.random.default_rng(seed)
    who = np.repeat(np.arange(n_groups), n_each)
    own = {name: draws.normal(size=n_groups)[who] + 0.3 * draws.normal(size=len(who)) for name in "ab"}
    return pl.DataFrame({"who": [f"p{i}" for i in who], **own, "c": draws.normal(size=len(who))})


def strengths(frame: object, **how: object) -> an.evaluate.ArcStrengths:
    return an.evaluate.arc_strength(frame, SCORE, **{"n_bootstrap": 8, "seed": 3, **how})  # type: ignore[arg-type]


def with_gaps(frame: pl.DataFrame) -> pl.DataFrame:
    lacks = pl.int_range(pl.len())
    return frame.with_columns(
        a=pl.when(lacks % 7 > 0).then("a"), b=pl.when((lacks % 5 > 0) & (lacks != 7)).then("b"), c="c"
    )


@pytest.mark.parametrize("names", [range(160), [f"row {-i}" for i in range(160)]])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"missing": "learn"},
        {"missing": "drop"},
        {"weights": [1 + i % 2 for i in range(160)], "weights_are": "survey"},
        {"weights": [1.5] * 160},
    ],
    ids=str,
)
def test_groups_of_one_row_give_what_rows_give(how: dict, names: object) -> None:
    frame = with_gaps(panel().drop("who")) if "missing" in how else panel().drop("who")
    assert strengths(frame, groups=list(names), **how).equals(strengths(frame, **how))  # type: ignore[call-overload]


def test_whole_groups_are_drawn_with_replacement() -> None:
    order = np.random.default_rng(1).permutation(len(UNEVEN))
    of_rows = UNEVEN[order]
    groups = Groups(of_rows)
    drawn = [groups.drawn(np.random.default_rng([5, i])) for i in range(200)]
    times = np.zeros(12)
    for rows in drawn:
        counts = np.bincount(rows, minlength=len(of_rows))
        each = [set(counts[of_rows == group]) for group in range(12)]
        assert all(len(of_group) == 1 for of_group in each), "the rows of a group come equally often"
        assert sum(of_group.pop() for of_group in each) == 12
        times += [counts[of_rows == group][0] for group in range(12)]
    assert len({len(rows) for rows in drawn}) > 10
    assert times.min() > 150 and times.max() < 250, "no group is preferred for its size"


def test_rows_of_frequencies_are_repeated_with_their_group() -> None:
    weights = np.array([1.0, 3.0, 2.0, 1.0])
    groups = Groups(np.array([0, 0, 1, 2]))
    repeated = Groups(np.repeat([0, 0, 1, 2], weights.astype(int)))
    of_row = np.repeat(np.arange(4), weights.astype(int))
    for i in range(20):
        drawn = _drawn(weights, "frequency", 4, np.random.default_rng(i), groups)
        assert sorted(drawn) == sorted(of_row[repeated.drawn(np.random.default_rng(i))])


@pytest.mark.parametrize("missing", ["drop", "learn"])
def test_frequencies_are_as_good_as_repeated_rows(missing: str) -> None:
    frame = panel(2).with_columns(times=pl.int_range(pl.len()) % 3)
    frame = with_gaps(frame) if missing == "learn" else frame
    repeated = frame.select(pl.exclude("times").repeat_by("times").explode(empty_as_null=False)).drop_nulls("who")
    assert repeated.height == frame["times"].sum()
    by_weights = strengths(frame, groups="who", weights="times", missing=missing)
    by_rows = strengths(repeated, groups="who", missing=missing)
    assert {*by_weights["parent"], *by_weights["child"]} <= {"a", "b", "c"}
    if missing == "drop":
        assert by_weights.equals(by_rows)


def test_many_repeated_rows_with_gaps_count_once_each() -> None:
    rows = rows_of(with_gaps(panel()).drop("who"), None, "learn", weights=[5_000] * 160)
    assert isinstance(rows, Incomplete)
    groups = Groups(np.repeat(np.arange(20), 8))
    made = _with_gaps(rows, np.random.default_rng(0), groups)
    assert made.own_weights is None and made.n_rows == 160 * 5_000
    by_rows = _with_gaps(rows, np.random.default_rng(0), None)
    assert by_rows.own_weights is None and by_rows.n_rows == 160 * 5_000


def test_an_arc_that_a_few_persons_make_is_less_sure_by_groups() -> None:
    surer = []
    for seed in range(12):
        frame = panel(seed)
        rows, groups = (
            one.filter(pl.concat_list("parent", "child").list.sort() == ["a", "b"])["adjacency"].max() or 0.0
            for one in (strengths(frame.drop("who"), n_bootstrap=40), strengths(frame, n_bootstrap=40, groups="who"))
        )
        if rows > 0.8:
            surer.append(rows - groups)
    assert len(surer) >= 3
    assert min(surer) > 0


@pytest.mark.parametrize("family", ["polars", "lazy", "pandas", "pyarrow", "dict", "table", "values"])
def test_every_frame_gives_the_same(family: str) -> None:
    frame = panel()
    given = {
        "polars": lambda: frame,
        "lazy": frame.lazy,
        "pandas": lambda: frame.to_pandas().set_index(frame["c"].to_numpy()),
        "pyarrow": frame.to_arrow,
        "dict": lambda: frame.to_dict(as_series=False),
        "table": lambda: an.Table(frame, an.infer_schema(frame).with_types(who=an.Categorical())),
        "values": lambda: frame.drop("who"),
    }[family]()
    groups = frame["who"].to_numpy() if family == "values" else "who"
    expected = strengths(frame.drop("who"), groups=frame["who"])
    assert strengths(given, groups=groups).equals(expected)
    assert strengths(given, groups=groups, n_jobs=1).equals(expected)


def test_the_column_of_groups_is_no_variable_even_where_the_schema_has_it() -> None:
    frame = panel()
    schema = an.infer_schema(frame).with_types(who=an.Categorical())
    assert "who" in an.Table(frame, schema).names
    assert strengths(frame, groups="who", schema=schema).equals(strengths(frame, groups="who"))
    weighed = an.Table(frame.with_columns(w=pl.int_range(160) % 2 + 1), schema, weights="w")
    expected = strengths(frame.with_columns(w=pl.int_range(160) % 2 + 1), groups="who", weights="w")
    assert strengths(weighed, groups="who").equals(expected)


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("missing", ["drop", "level", "learn", "indicator", None])
def test_groups_are_those_of_the_rows_that_are_used(missing: str | None, weights: str | None) -> None:
    frame = with_gaps(panel().drop("who")).with_columns(
        level=pl.when(pl.int_range(160) % 11 > 0).then(pl.lit("x") + (pl.int_range(160) % 3).cast(pl.String)),
        w=pl.int_range(160) % 4,
        c=pl.when(pl.int_range(160) >= 20).then("c"),
    )
    frame = frame.with_columns(pl.when(pl.int_range(160) != 33).then(pl.exclude("w")).name.keep())
    # The row's number, as the group: what a row has in other columns says whether it is the right one.
    schema = an.infer_schema(frame).without("w")
    used = rows_of(frame, schema, missing, weights=weights)
    own = of_used(frame, np.arange(160), used, weights)
    assert len(own) == used.n_rows
    if isinstance(used, Incomplete):
        known = used.known[used.names.index("a")]
        assert (known == frame["a"].is_not_null().to_numpy()[own]).all()
        assert 33 not in own
    else:
        assert used.to_polars()["b"].to_list() == pytest.approx(frame["b"].gather(own).to_list())
    if weights is not None:
        assert not (own % 4 == 0).any()


@pytest.mark.parametrize(
    ("groups", "told"),
    [
        ("nobody", "groups='nobody': there is no such column"),
        ([1, 2], "groups: 2 values for 160 rows"),
        ([None] * 160, "groups: 160 rows have no value"),
        ("a", "groups='a': 23 rows have no value"),
        (5, "groups=5: give the name of a column"),
    ],
)
def test_groups_that_cannot_be_are_refused_as_in_cross_validation(groups: object, told: str) -> None:
    for given in (with_gaps(panel()), with_gaps(panel()).to_pandas()):
        with pytest.raises(an.ParameterError) as here:
            strengths(given, groups=groups)
        with pytest.raises(an.ParameterError) as there:
            an.evaluate.cross_validate(given, SCORE, 2, 1, groups=groups)  # type: ignore[arg-type]
        assert str(here.value) == str(there.value)
        assert str(here.value).startswith(told)


def test_one_group_and_columns_of_few_groups_are_refused() -> None:
    with pytest.raises(an.ParameterError, match="all rows are of one group"):
        strengths(panel(), groups=[1] * 160)
    with pytest.raises(an.ParameterError, match="all rows are of one group"):
        strengths(an.Table(panel().drop("who")), groups=[1] * 160)
    with pytest.raises(an.ParameterError, match="has no other column"):
        strengths(an.Table({"a": ["x", "y"] * 9}), groups="a")
    # Every group has a column of its own: no sample has them all.
    own = {f"v{i}": [0.1 * j if j // 8 == i else None for j in range(160)] for i in range(20)}
    with pytest.raises(an.ArbornetError, match="values in so few groups"):
        strengths(pl.DataFrame(own), groups=panel()["who"], missing="learn", n_bootstrap=1)


def test_the_shell_draws_groups(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    frame = with_gaps(panel()).with_columns(who=pl.int_range(160) // 8 + 100)
    frame.write_csv("visits.csv")
    command = ["learn", "visits.csv", "--score", "BIC", "--set", "a=binned:2", "--set", "b=binned:2"]
    command += ["--set", "c=binned:2", "--set", "who=categorical", "--max-parents", "1", "--quiet", "--seed", "2"]
    assert main([*command, "--bootstrap", "20", "--groups", "who", "--json"]) == 0
    arcs = json.loads(capsys.readouterr().out)["arcs"]
    kinds = dict.fromkeys("abc", an.Binned(2))
    schema = an.infer_schema(frame).with_types(**kinds)
    expected = an.evaluate.arc_strength(
        frame, an.BIC(), groups="who", n_bootstrap=20, seed=2, max_parents=1, schema=schema
    )
    shares = {(p, c): share for p, c, share in expected.select("parent", "child", "strength").iter_rows()}
    assert [arc["strength"] for arc in arcs] == [shares.get((arc["parent"], arc["child"]), 0.0) for arc in arcs]
    assert not {"who"} & {arc[end] for arc in arcs for end in ("parent", "child")}
    assert main([*command, "--groups", "who"]) == 1
    assert "add --bootstrap" in capsys.readouterr().err
    assert main([*command, "--bootstrap", "2", "--groups", "nobody"]) == 1
    assert "groups='nobody': there is no such column" in " ".join(capsys.readouterr().err.split())
