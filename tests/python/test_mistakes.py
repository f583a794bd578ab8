"""What is mistyped: names, parameters. It is said before any work, with what may be meant."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

import arbornet as an
from arbornet.text.near import nearest

RNG = np.random.default_rng(2)
N = 120
FRAME = pd.DataFrame(
    {
        "no": range(1, N + 1),
        "age": RNG.integers(20, 90, N),
        "bili 1": RNG.normal(size=N),
        "arm": RNG.choice(["drug", "placebo"], N),
    }
)


@pytest.fixture(scope="module")
def net() -> an.BayesNet:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        return an.learn(FRAME, max_parents=1, verbose=False)


@pytest.mark.parametrize(
    ("written", "meant"),
    [("Age", "age"), ("agee", "age"), ("bili_1", "bili 1"), ("ARM", "arm"), ("weight", None), ("", None), ("_", None)],
)
def test_a_name_is_near_whatever_its_case_blanks_and_marks(written: str, meant: str | None) -> None:
    assert nearest(written, ["age", "bili 1", "arm"]) == meant


@pytest.mark.parametrize("ask", ["predict", "query", "given", "explain"])
def test_a_mistyped_variable_is_refused_with_the_one_that_may_be_meant(net: an.BayesNet, ask: str) -> None:
    asked = {
        "predict": lambda: net.predict(FRAME, "Age"),
        "query": lambda: net.query("Age"),
        "given": lambda: net.query("arm", given={"Age": 30}),
        "explain": lambda: net.explain("Age"),
    }
    with pytest.raises(an.ArbornetError, match=r"no variable 'Age'; it has 'age', 'bili 1', 'arm'; did you mean 'age'"):
        asked[ask]()


def test_a_column_that_was_left_out_is_no_variable_and_the_reason_is_said(net: an.BayesNet) -> None:
    with pytest.raises(an.ArbornetError, match=r"'no' is no variable of the network, .* it numbers the rows from 1"):
        net.predict(FRAME, "no")


@pytest.mark.parametrize("rows", [FRAME, pl.DataFrame(FRAME.to_dict("list")), FRAME.to_dict("list")])
def test_a_mistyped_column_of_new_rows_is_told(net: an.BayesNet, rows: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", an.ArbornetWarning)
        net.predict(rows, "arm")
    renamed = {"Age" if name == "age" else name: rows[name] for name in ("no", "age", "bili 1")}  # type: ignore[index]
    with pytest.warns(an.ArbornetWarning, match="'Age' is ignored, .* if 'age' is meant"):
        net.predict(pd.DataFrame(renamed) if rows is FRAME else renamed, "arm")
    with pytest.warns(an.ArbornetWarning, match="'agee' is ignored"):
        net.predict({"agee": 30, "bili 1": 0.1}, "arm")


def test_columns_that_are_something_else_are_ignored_without_a_word(net: an.BayesNet) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", an.ArbornetWarning)
        net.predict({"age": 30, "bili 2": 0.1, "doctor": "A"}, "arm")
        net.predict({"age": 30, "Age": 31}, "arm")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"max_parents": "two"}, "max_parents='two': give an integer from 0 up"),
        ({"max_parents": -1}, "max_parents=-1: give an integer from 0 up"),
        ({"score": "best"}, "score is 'best': give a score such as"),
        ({"search": "best"}, "search='best': choose one of"),
    ],
)
def test_a_wrong_parameter_is_refused_before_anything_is_read(wrong, told, capsys) -> None:
    gaps = FRAME.assign(age=FRAME["age"].where(FRAME.index % 9 > 0))
    with pytest.raises(an.ParameterError, match=told):
        an.learn(gaps, **wrong)
    assert capsys.readouterr().out == ""


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_groups_of_no_column_are_refused_in_every_frame() -> None:
    for frame in (FRAME, pl.DataFrame(FRAME.to_dict("list")), FRAME.to_dict("list")):
        with pytest.raises(an.ParameterError, match="groups='ward': there is no such column"):
            an.evaluate.cross_validate(frame, folds=2, groups="ward")


def test_a_warning_names_the_line_that_was_written() -> None:
    holey = FRAME.assign(age=FRAME["age"].where(FRAME.index % 3 > 0))
    for call in (
        lambda: an.learn(holey, missing="drop", max_parents=0, verbose=False),
        lambda: an.evaluate.cross_validate(holey, folds=2, repeats=1, max_parents=0, progress=False),
        lambda: an.infer_schema(holey),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert caught and {Path(one.filename).name for one in caught} == {Path(__file__).name}


def test_folds_of_rows_in_order_lack_levels_of_the_target_which_is_told() -> None:
    x, kind = np.repeat([0.0, 5.0, 9.0], 20) + RNG.normal(size=60), np.repeat([0, 1, 2], 20)
    learner = an.NetworkLearner(max_parents=1)
    with pytest.warns(an.ArbornetWarning, match=r"20 of 20 rows count as wrong, .* 'y', such as [012], .*shuffle=True"):
        scores = cross_val_score(learner, x[:, None], kind, cv=3)
    assert not scores.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error", an.ArbornetWarning)
        in_parts = cross_val_score(learner, x[:, None], kind * 1.0, cv=StratifiedKFold(3, shuffle=True, random_state=0))
    assert in_parts.min() > 0.8


@pytest.mark.filterwarnings("ignore::arbornet.LeftOutWarning")
def test_a_table_of_one_row_is_called_so() -> None:
    frame = {"a": [1], "b": ["x"]}
    assert "1 row; 2 left out" in str(an.infer_schema(frame))
    with pytest.raises(an.ArbornetError, match="the frame has one row; nothing can be learned from it"):
        an.learn(frame, verbose=False)
    with pytest.raises(an.ArbornetError, match=r"'c19' is constant \(1\); and 30 more columns; keep some"):
        an.learn({f"c{i}": [1] * 9 for i in range(50)}, verbose=False)


def test_findings_are_where_older_pickles_look_for_them() -> None:
    from arbornet.data.looks import finding, findings

    assert findings.Finding is finding.Finding
