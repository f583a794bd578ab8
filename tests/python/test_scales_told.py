"""What `learn` tells of columns that a schema keeps linear, where a long tail looks like dependence."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.cli import main
from arbornet.cli.advice import in_shell

random = np.random.default_rng(0)
N = 400
FRAME = pl.DataFrame(
    {
        "price": np.round(random.lognormal(3, 1, N), 2),
        "rain": np.where(random.random(N) < 0.4, 0, np.round(random.normal(30, 5, N), 1)),
        "x": np.round(random.normal(size=N), 3),
        "sex": random.choice(["f", "m"], N),
    }
)
LINEAR = "linear by the schema, though skewed or with one value in many rows:"


def told(capsys: pytest.CaptureFixture[str], **given: object) -> str:
    """What is printed, on one line."""
    an.learn(FRAME, max_parents=1, **given)
    return " ".join(capsys.readouterr().out.split())


def test_a_schema_that_keeps_skewed_columns_linear_is_told(capsys) -> None:
    said = told(capsys, schema=an.infer_schema(FRAME))
    assert f'{LINEAR} price, rain; an.infer_schema(frame, scales="auto")' in said


def test_what_is_declared_is_meant(capsys) -> None:
    schema = an.infer_schema(FRAME).with_types(price="continuous")
    assert f"{LINEAR} rain;" in told(capsys, schema=schema)
    assert LINEAR not in told(capsys, schema=schema.with_types(rain=an.Continuous(point=0)))


def test_nothing_is_told_where_scales_were_chosen_or_refused(capsys) -> None:
    schema = an.infer_schema(FRAME)
    assert LINEAR not in told(capsys)
    assert LINEAR not in told(capsys, schema=schema, scales="linear")
    assert LINEAR not in told(capsys, schema=an.infer_schema(FRAME, scales="auto"))
    fitted = an.learn(FRAME, schema=schema, max_parents=1, verbose=False)
    assert LINEAR not in told(capsys, schema=fitted.schema)


def test_the_shell_tells_it_in_its_words(capsys, tmp_path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    an.infer_schema(FRAME).save(tmp_path / "t.schema.json")
    asked = ["learn", str(tmp_path / "t.csv"), "--schema", str(tmp_path / "t.schema.json"), "--max-parents", "1"]
    main([*asked, "--quiet"])
    said = " ".join(capsys.readouterr().err.split())
    assert f"{LINEAR} price, rain;" in said and "arbornet schema --scales auto" in said


def test_a_schema_of_the_shell_takes_them_if_asked_to(capsys, tmp_path) -> None:
    FRAME.write_csv(tmp_path / "t.csv")
    table, target = str(tmp_path / "t.csv"), str(tmp_path / "t.schema.json")
    main(["schema", table, "--scales", "auto", "-o", target])
    assert an.Schema.load(target)["price"].kind.is_log
    main(["learn", table, "--schema", target, "--max-parents", "1", "--quiet"])
    assert LINEAR not in " ".join(capsys.readouterr().err.split())


def test_the_shell_says_that_levels_can_only_be_merged_in_the_file() -> None:
    hint = "schema.with_types({'a \"b': an.Categorical(max_levels=50)}) merges the rarest levels"
    assert in_shell(hint) == "merge the rarest levels of 'a \"b' in the file"
