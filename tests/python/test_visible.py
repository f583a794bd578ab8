"""What is shown to a person acts on no terminal; what is kept stays as it is."""

from __future__ import annotations

import re

import networkx as nx
import pytest

import arbornet as an
from arbornet.text.visible import visible, visible_name

RED, END = "\x1b[31mred\x9b0m", "li\u202ene\u2028s\x07\r\t"
FRAME = {RED: ["u", "v\x1b[2J", "v\x1b[2J"] * 20, END: [i * 1.5 for i in range(60)], "gone": [1] * 60}
ACTS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def test_control_characters_are_shown_as_escapes_and_letters_stay():
    assert visible("a\x1b[31m\x9bé雨\n") == r"a\x1b[31m\x9bé雨" + "\n"
    assert visible("\u202etxt.exe \ud800") == r"\u202etxt.exe \ud800"
    assert visible_name("two\nlines") == r"two\nlines"
    assert visible("‌नी 👩‍👧") == "‌नी 👩‍👧"


@pytest.mark.parametrize("score", [an.PCART(), an.MARS()])
@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_no_text_about_a_table_or_a_network_acts(score, capsys):
    schema = an.infer_schema(FRAME)
    table = an.Table(FRAME, schema)
    net = an.learn({**FRAME, "x": [None, *[1.5, 2.5, 0.5] * 19, 0.5, 1.0]}, score, max_parents=1)
    model = net[END]
    told = [str(schema), repr(schema), repr(table), str(table.dropped), repr(net), capsys.readouterr().out]
    told += [net.explain(name) for name in net.names] + [str(model), repr(model), model.text(), *model.rules()]
    told += [str(an.plan(table, score, 1)), str(an.search.hill_climb(an.score_parents(table, score, 1)))]
    for text in told:
        assert not ACTS.search(text), text
    assert r"\x1b[31mred\x9b0m" in net.explain(RED)
    assert net.names[0] == RED and net.schema.used[0].levels == ("u", "v\x1b[2J")


def test_a_warning_about_a_column_acts_on_nothing():
    with pytest.warns(an.LeftOutWarning) as warned:
        an.infer_schema({RED: [1, 1, 1], "b": [1.5, 2.5, 3.5]})
    assert not ACTS.search(str(warned[0].message)) and r"\x1b[31mred" in str(warned[0].message)


def test_errors_act_on_nothing_whoever_raises_them(tmp_path):
    hostile = "\x1b[31mred\u202e"
    graph = nx.DiGraph([("a", "b")])
    net = an.fit(an.Table({"a": ["u", "v"] * 9, "b": ["u", "u", "v"] * 6}), graph, an.BDeu())

    def calls():
        yield lambda: an.infer_schema({hostile: [float("inf"), 1.5, 2.5]})
        yield lambda: an.Table({hostile: [1.0, None]}, missing="refuse")
        yield lambda: net.query(hostile)
        yield lambda: net.query("a", given={"b": hostile})
        yield lambda: net.predict({"b": [hostile]}, "a", unseen="error")
        yield lambda: an.read(tmp_path / f"{hostile}.csv")
        yield lambda: an.load(tmp_path / hostile)
        yield lambda: an.read_bif(tmp_path / hostile)
        yield lambda: an.local_score(an.Table({hostile: [1.5, 2.5, 4.0], "b": [3.0, 1.5, 2.0]}), hostile, [], an.BDeu())
        yield lambda: an.Binned(by=hostile)  # type: ignore[arg-type]
        yield lambda: an.score_parents(
            an.Table({hostile: ["u", "v"] * 9, "b": ["u", "u", "v"] * 6}), an.BDeu(), 1, memory_limit=1
        )

    for call in calls():
        with pytest.raises((an.ArbornetError, OSError, MemoryError)) as raised:
            call()
        assert not ACTS.search(str(raised.value).replace("\n", "")), str(raised.value)
    with pytest.raises(an.ColumnError) as raised:
        raise an.ColumnError(f"column '{hostile}'")
    assert str(raised.value) == r"column '\x1b[31mred\u202e'" and raised.value.args == (f"column '{hostile}'",)
