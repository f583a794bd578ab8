"""Leaves, scales, point masses and counts that are chosen by one leaf and by the best tree of one other column."""

import re

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data import by_trees, sampled, ways
from arbornet.data.scales import WORTH_IT, gain
from arbornet.scores.prepare import prepared

N = 400


def made(n: int) -> pl.DataFrame:
    """A width grows by a part of itself with the age; so little that one leaf alone would leave it as it is."""
    rng = np.random.default_rng(5)
    age = rng.uniform(0, 10, n)
    width = 20 * np.exp(0.06 * age + 0.27 * rng.normal(size=n))
    even = 50 + 3 * age + rng.normal(size=n)
    return pl.DataFrame({"age": age, "width": width.round(3), "even": even.round(3), "kind": rng.choice(["a", "b"], n)})


@pytest.fixture(scope="module")
def lengths() -> pl.DataFrame:
    return made(N)


def kinds(frame: pl.DataFrame, **settings: object) -> dict[str, an.Continuous]:
    schema = an.infer_schema(frame, scales="auto", **settings)
    return {column.name: column.kind for column in schema.used if column.word == "continuous"}


def test_a_column_is_taken_by_its_logarithm_where_one_leaf_and_the_best_tree_gain(lengths, monkeypatch):
    assert kinds(lengths) == {"age": an.Continuous(), "width": an.Continuous("log"), "even": an.Continuous()}
    reason = an.infer_schema(lengths, scales="auto")["width"].reason
    assert reason.endswith("by their logarithm: more probable so, by themselves and given another column")
    monkeypatch.setattr(by_trees, "MOST_FAMILIES", 0)
    assert kinds(lengths)["width"] == an.Continuous()


def test_what_a_tree_explains_by_a_line_keeps_its_scale():
    # Skewed by itself, but it follows a skewed column along a line: by logarithms it would lose.
    rng = np.random.default_rng(5)
    x = rng.gamma(6, 1, N)
    frame = pl.DataFrame({"x": x - 40, "y": 3 + x + 0.05 * rng.normal(size=N)})
    assert by_trees.WORTH_IT < gain(frame["y"].to_numpy()) < WORTH_IT
    assert kinds(frame)["y"] == an.Continuous()


def test_gains_are_differences_of_scores_in_the_users_units(lengths):
    columns = an.infer_schema(lengths).columns
    raw = an.data.frames.read_frame(lengths)
    sample = sampled.Sample(raw, columns, None)
    x = sample.cells["width"].values
    taken = [ways.stored(x, kind, None, None) for kind in (an.Continuous(), an.Continuous("log"))]
    families = ways.Families(sample, "width", {"age": an.Continuous()}, taken)
    score = an.PCART(leaf="linear", penalised=False)

    def total(kind: an.Continuous, *parents: str) -> float:
        some = lengths.select("width", *parents)
        table = an.Table(some, an.infer_schema(some).with_types(width=kind))
        whole = an.Table(some.select("width"), an.infer_schema(some.select("width")).with_types(width=kind))
        return an.local_score(table, "width", parents, score) + whole.log_jacobian

    for parents in ((), ("age",), ("age", "kind"), ("kind",)):
        want = [
            (total(kind, *parents) - total(an.Continuous())) / N for kind in (an.Continuous(), an.Continuous("log"))
        ]
        assert families.gains(parents) == pytest.approx(want, abs=1e-9), parents


def test_even_whole_numbers_can_be_counts():
    rng = np.random.default_rng(6)
    rate = rng.choice([1.5, 3.0, 7.0], 800)
    often = rng.poisson(rate)
    frame = pl.DataFrame({"rate": np.where(rate < 2, "low", np.where(rate < 5, "mid", "high")), "often": often})
    assert kinds(frame)["often"] == an.Continuous(leaf="counts")
    assert an.infer_schema(frame, scales="auto")["often"].reason.endswith(
        "counts: more probable so, by themselves and given another column"
    )


def test_no_order_of_rows_and_no_number_of_threads_changes_the_choice():
    many = made(4500)
    first = kinds(many)
    assert first["width"] == an.Continuous("log")
    assert kinds(many.sample(fraction=1, shuffle=True, seed=2)) == first == kinds(many, n_jobs=1)
    raw = [an.data.frames.read_frame(frame) for frame in (many, many.reverse())]
    columns = an.infer_schema(many).columns
    one, two = (sampled.Sample(each, columns, None).cells["width"].values for each in raw)
    assert 1000 <= len(one) < 2000 and np.array_equal(one, two)


def test_rows_with_gaps_and_weights_choose_as_their_rows_do(lengths):
    rng = np.random.default_rng(7)
    gaps = lengths.with_columns(
        pl.when(pl.Series(rng.random(N) < 0.1)).then(None).otherwise(pl.col(name)).alias(name)
        for name in lengths.columns
    )
    assert kinds(gaps)["width"] == an.Continuous("log")
    heavy = rng.integers(0, 3, N)
    repeated = lengths[np.repeat(np.arange(N), heavy).tolist()]
    one = an.Table(repeated, scales="auto")
    two = an.Table(lengths.with_columns(w=pl.Series(heavy)), scales="auto", weights="w")
    assert {c.name: c.kind for c in one.schema.used} == {c.name: c.kind for c in two.schema.used}


def test_a_declared_leaf_auto_is_chosen_the_same_way_and_keeps_what_else_is_declared(lengths):
    plain = an.infer_schema(lengths)
    asked = an.Table(lengths, plain.with_types(width=an.Continuous(leaf="auto", step=None)))
    kind = asked.schema["width"].kind
    assert (kind.scale, kind.leaf, kind.step, kind.shift) == ("log", None, None, 0.0)
    assert asked.schema["even"].kind == plain["even"].kind
    gaps = lengths.with_columns(pl.when(pl.col("age") > 8).then(None).otherwise(pl.col("age")).alias("age"))
    net = an.learn(gaps, schema=plain.with_types(width=an.Continuous(leaf="auto")), max_parents=1, verbose=False)
    assert net.schema["width"].kind.is_log


def test_columns_alone_and_columns_that_are_declared_are_left_as_they_are(lengths):
    assert kinds(lengths.select("width")) == {"width": an.Continuous()}
    said = an.infer_schema(lengths).with_types(width=an.Continuous())
    assert an.Table(lengths, said).schema["width"].kind == an.Continuous()
    assert not an.learn(lengths, scales="linear", max_parents=1, verbose=False).schema["width"].kind.is_log


def test_numbers_of_any_size_are_looked_at(lengths):
    for size in (1e-290, 1e290):
        frame = lengths.with_columns(pl.col("width") * size, pl.col("even") * size)
        assert kinds(frame)["width"] == an.Continuous("log")


def test_pcart_chooses_lines_by_child_and_learn_tells_which(capsys):
    rng = np.random.default_rng(8)
    x = np.linspace(-1, 1, N)
    frame = {
        "x": rng.permutation(x),
    }
    frame["along"] = 2 * frame["x"] + 0.3 * rng.normal(size=N)
    frame["steps"] = np.where(frame["x"] > 0, 5.0, 0.0) + 0.1 * rng.normal(size=N)
    table = an.Table(frame)
    handle = prepared(table, an.PCART(leaf="auto"))
    chosen = {name: handle.leaf(i) for i, name in enumerate(table.names)}
    assert chosen == {"x": "linear", "along": "linear", "steps": "normal"}
    for name, leaf in chosen.items():
        others = [other for other in table.names if other != name]
        for parents in ([], others[:1], others):
            want = an.local_score(table, name, parents, an.PCART(leaf=leaf))
            assert an.local_score(table, name, parents, an.PCART(leaf="auto")) == want
    an.learn(table, an.PCART(leaf="auto"), progress=False)
    assert "leaves: linear of x, along; normal of steps" in re.sub(r"\s+", " ", capsys.readouterr().out)
    assert prepared(table, an.BIC()).leaf(0) is None


def test_a_column_that_says_its_leaf_is_asked_no_more(lengths):
    schema = an.infer_schema(lengths).with_types(even=an.Continuous(leaf="normal"))
    handle = prepared(an.Table(lengths, schema), an.PCART(leaf="auto"))
    assert handle.leaf(2) == "normal" and prepared(an.Table(lengths), an.PCART(leaf="auto")).leaf(2) == "linear"


def test_auto_does_not_go_with_what_lines_do_not_go_with():
    for settings in ({"published": True}, {"tree_prior": "cell"}):
        with pytest.raises(an.ParameterError, match="leaf='auto' goes neither with published=True nor"):
            an.PCART(leaf="auto", **settings)
    assert an.PCART(leaf="auto", linear_only=["a"]).linear_only == ("a",)
    assert an.PCART().spec().count("leaf") == 0 and '"leaf": "auto"' in an.PCART(leaf="auto").spec().replace(
        '":"', '": "'
    )


def test_a_way_is_taken_only_if_the_rows_that_were_not_looked_at_hold_no_other_numbers():
    rng = np.random.default_rng(0)
    frame = made(3000).with_columns(k=pl.Series(rng.poisson(rng.choice([1.0, 6.0, 25.0], 3000)) * 1.0))
    assert kinds(frame)["width"].is_log
    for at in range(3):  # Half of the rows are looked at, which depends on what they hold.
        width, k = frame["width"].to_list(), frame["k"].to_list()
        width[at], k[at] = -1.0, -3.0
        net = an.learn(frame.with_columns(width=pl.Series(width), k=pl.Series(k)), effort="quick", verbose=False)
        taken = [net.schema[name].kind for name in ("width", "k")]
        assert not any(kind.is_log or kind.leaf == "counts" for kind in taken)


def test_a_row_that_weighs_nothing_counts_where_its_number_has_no_logarithm():
    # The table has it, and refuses a logarithm of it.
    rng = np.random.default_rng(0)
    frame = {"x": [-1.0, *np.exp(rng.normal(size=99))], "y": rng.normal(size=100), "w": [0.0, *[1.0] * 99]}
    assert not an.Table(frame, weights="w", scales="auto").schema["x"].kind.is_log
