"""Advice in lines of code: for a pandas frame in lines of pandas, which do what those of Polars do."""

from __future__ import annotations

import warnings

import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.text.lines_of_code import end_of_line, in_pandas

POLARS = pl.DataFrame(
    {
        "x": ["1", "<0.5", None, "-", "E3"],
        "it's": ["a,b", "http://x.org/y", None, "1-Jan-05", "b"],
        "n": [1, 99, None, 98, 1],
    }
)
LINES = [
    "df.with_columns(pl.col('n').replace([98, 99], None))",
    "df.with_columns(pl.col('x').replace('-', None))",
    "df.with_columns(pl.col('x').replace({'<0.5': '0.5'}))",
    "df.with_columns(pl.col('x').replace(['<0.5', '-', 'E3'], None))",
    "df.with_columns(pl.col('x').cast(pl.Float64, strict=False))",
    r"df.with_columns(pl.col('x').str.replace(r'^\s*[<>=≤≥]+\s*', ''))",
    r"""df.with_columns(pl.col("it's").str.replace(r'(\D)([0-2]\d)$', '${1}20${2}'))""",
    """df.with_columns(pl.col("it's").str.len_chars())""",
    """df.with_columns(pl.col("it's").str.count_matches(",") + 1)""",
    """df.with_columns(pl.col("it's").str.extract(r"//([^/]+)"))""",
    "df.filter(pl.col('x').str.contains('E'))",
    "df.unique('x', maintain_order=True)",
    "df.head(-2)",
    "df.slice(1)",
]


@pytest.mark.parametrize("line", LINES)
def test_a_line_for_pandas_does_what_that_of_polars_does(line) -> None:
    changed = eval(line, {"df": POLARS, "pl": pl})
    frame = pd.DataFrame(POLARS.to_dict(as_series=False))
    told = in_pandas(line.replace(", maintain_order=True", ""))
    assert "pl." not in told
    names = {"df": frame, "pd": pd}
    if told.startswith("df[") and "] = " in told:
        exec(told, names)
    else:
        names["df"] = eval(told, names)
    made = [[None if pd.isna(value) else value for value in row] for row in names["df"].itertuples(index=False)]
    assert made == [list(row) for row in changed.iter_rows()]


def test_words_around_a_line_stay_and_lines_that_pandas_has_none_for_too() -> None:
    told = in_pandas("df.unique(maintain_order=True) keeps one of each; df.head(-1) leaves it out")
    assert told == "df.drop_duplicates() keeps one of each; df.head(-1) leaves it out"
    dates = "df.with_columns(pl.coalesce(pl.col('d').str.to_date('%Y', strict=False)))"
    assert in_pandas(dates) == dates
    assert in_pandas("schema.without('df.x')") == "schema.without('df.x')"
    assert end_of_line("df.head(", 0) == 0


def test_findings_of_a_pandas_frame_are_lines_of_pandas_and_of_others_lines_of_polars() -> None:
    values = {"q": [1, 2, 3, 4, 5, 1, 2, 3, 98, 99] * 6, "text": ["no, never", "a b c d e f", "x", "y", "z"] * 12}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = an.infer_schema(pl.DataFrame(values)), an.infer_schema(pd.DataFrame(values))
    assert ours.findings[0].mend == "df.with_columns(pl.col('q').replace([98, 99], None))"
    assert theirs.findings[0].mend == "df['q'] = df['q'].mask(df['q'].isin([98, 99]))"
    assert ours.names == theirs.names
