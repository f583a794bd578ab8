"""Cells of full tables with what a column says of its leaves: counts, histograms, a number that many rows share."""

import math
import pickle

import numpy as np
import polars as pl
import pytest

import arbornet as an

#: What a column may say.
SAID = {
    "counts": {"leaf": "counts"},
    "counts and a point": {"leaf": "counts", "point": 0},
    "histogram": {"leaf": "histogram"},
    "histogram and a point": {"leaf": "histogram", "point": 0},
    "normal and a point": {"point": 0},
    "lognormal": {"leaf": "lognormal"},
    "lognormal and a point": {"leaf": "lognormal", "point": 0},
}
TABLE = an.FullTable(penalised=False)
TREE = an.PCART(penalised=False)


def visits(n=400, seed=0):
    """How often people see a doctor: by their health, and never for a third of them."""
    rng = np.random.default_rng(seed)
    health = rng.choice(["ill", "well"], n)
    often = np.where(rng.random(n) < 0.35, 0, 1 + rng.poisson(np.where(health == "ill", 14, 2)))
    return pl.DataFrame({"health": health, "age": rng.integers(18, 90, n), "visits": often})


def said(frame, **kind):
    return an.infer_schema(frame).with_types(visits=an.Continuous(**kind), age=an.Continuous())


@pytest.mark.parametrize("kind", SAID.values(), ids=SAID)
def test_cells_are_worth_and_predict_what_the_leaves_of_a_tree_do(kind):
    # The best tree of one category of two levels parts them; each of its leaves costs ln(1/4), and Z is 1/4 + 1/16.
    frame = visits()
    table = an.Table(frame, said(frame, **kind))
    tree = an.local_model(table, "visits", ["health"], TREE)
    cells = an.local_model(table, "visits", ["health"], TABLE)
    assert tree.n_leaves == cells.n_leaves == 2
    of_tree = an.local_score(table, "visits", ["health"], TREE) + math.log(5 / 16) - 2 * math.log(1 / 4)
    assert math.isclose(an.local_score(table, "visits", ["health"], TABLE), of_tree, rel_tol=1e-9)
    for health in ("ill", "well"):
        ours, theirs = (model.distribution({"health": health}) for model in (cells, tree))
        assert type(ours) is type(theirs)
        for y in (0, 1, 4, 13):
            one, other = (model.log_density(y, {"health": health}) for model in (cells, tree))
            assert math.isclose(one, other, rel_tol=1e-9)


@pytest.mark.parametrize("kind", SAID.values(), ids=SAID)
def test_a_network_of_cells_answers_draws_and_is_saved(kind, tmp_path):
    frame = visits(300, seed=1)
    tiers = an.Constraints(tiers=[["health", "age"], ["visits"]])
    net = an.learn(frame, an.FullTable(), schema=said(frame, **kind), constraints=tiers, progress=False, verbose=False)
    assert ("health", "visits") in net.graph.edges
    drawn = net.sample(500, seed=2)["visits"].to_numpy()
    assert (drawn == np.round(drawn)).all() and (drawn >= 0).all()
    if "point" in kind:
        assert 0.25 < (drawn == 0).mean() < 0.45
    ends = net.predict_interval({"health": "ill", "age": 50}, "visits", 0.8)
    assert ends["lower"][0] <= net.predict({"health": "ill", "age": 50}, "visits") <= ends["upper"][0]
    ill = net.query("health", given={"visits": (9, None)}).filter(pl.col("health") == "ill")["probability"][0]
    assert ill > 0.8
    net.save(tmp_path / "net.json")
    for again in (an.load(tmp_path / "net.json"), pickle.loads(pickle.dumps(net))):
        assert again == net
        assert (again.log_likelihood(frame) == net.log_likelihood(frame)).all()
    assert np.isfinite(net.log_likelihood(frame)).all()
    net.report(tmp_path / "net.html", frame)
    if "point" in kind:
        assert "% 0, else" in net["visits"].text()
    assert net["visits"].text().split("\n")[1] in str(net.explain("visits"))


@pytest.mark.parametrize("kind", SAID.values(), ids=SAID)
def test_whole_weights_give_what_repeated_rows_give(kind):
    frame = visits(120, seed=3)
    times = np.random.default_rng(4).integers(1, 4, frame.height)
    repeated = frame[np.repeat(np.arange(frame.height), times)]
    schema = said(repeated, **kind)
    weighed = an.Table(frame.with_columns(w=pl.Series(times)), schema, weights="w")
    table = an.Table(repeated, schema)
    for parents in ([], ["age"], ["health", "age"]):
        one, other = (an.local_score(of, "visits", parents, TABLE) for of in (weighed, table))
        assert math.isclose(one, other, rel_tol=1e-9)
    given = {"health": "ill"}
    one, other = (an.local_model(of, "visits", ["health"], TABLE).log_density(7, given) for of in (weighed, table))
    assert math.isclose(one, other, rel_tol=1e-9)


@pytest.mark.parametrize("kind", SAID.values(), ids=SAID)
def test_no_order_of_the_rows_changes_a_bit(kind):
    frame = visits(200, seed=5)
    schema = said(frame, **kind)
    backwards = an.Table(frame.reverse(), schema)
    table = an.Table(frame, schema)
    for parents in (["age"], ["health", "age"]):
        assert an.local_score(table, "visits", parents, TABLE) == an.local_score(backwards, "visits", parents, TABLE)


def test_lines_are_refused_with_the_column_and_a_way_out():
    frame = visits(100)
    table = an.Table(frame, said(frame, leaf="linear"))
    with pytest.raises(an.ColumnError, match=r"'visits'.*leaf=\"linear\".*PCART"):
        an.local_score(table, "visits", ["age"], an.FullTable())


def test_the_published_table_takes_numbers_as_they_are():
    frame = visits(100)
    plain, own = an.Table(frame, said(frame)), an.Table(frame, said(frame, leaf="counts", point=0))
    published = an.FullTable(published=True)
    one, other = (an.local_score(table, "visits", ["age"], published) for table in (plain, own))
    assert one == other
