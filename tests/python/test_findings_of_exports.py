"""What looks wrong in tables as sheets, forms and statistical programs export them."""

from __future__ import annotations

import datetime as dt
import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an

N = 200
RNG = np.random.default_rng(5)
AGE = RNG.integers(18, 90, N)
CRP = [f"{x:.1f}".replace(".", ",") for x in RNG.normal(20, 3, N)]


def found(frame: pl.DataFrame) -> dict[str, list[an.data.looks.finding.Finding]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        every = an.infer_schema(frame).findings
    return {name: [one for one in every if one.column == name] for name in {one.column for one in every}}


def mended(frame: pl.DataFrame, line: str) -> pl.DataFrame:
    """The frame that the line of code in a finding makes."""
    return eval(line[line.index("df.") : line.rindex(")") + 1], {"df": frame, "pl": pl})


def sheet(*last: dict[str, object]) -> pl.DataFrame:
    rows = [{"x": i * 0.37, "age": str(AGE[i]), "crp": CRP[i]} for i in range(N)]
    return pl.DataFrame([{"x": None, "age": "years", "crp": "mg/l"}, *rows, *last])


def test_a_first_row_of_units_is_one_finding_and_without_it_the_columns_are_numbers() -> None:
    frame = sheet()
    (one,) = found(frame)[""]
    assert one.what == "the first row looks like units or headings: 'years' in 'age' and 'mg/l' in 'crp'"
    assert set(found(frame)) == {""}
    schema = an.infer_schema(mended(frame, one.mend))
    assert [str(schema[name].kind) for name in ("age", "crp")] == ["continuous"] * 2 and not schema.findings


def test_one_word_among_numbers_in_the_first_row_is_no_row_of_units() -> None:
    frame = sheet().slice(1).with_columns(age=pl.Series(["old", *map(str, AGE[1:])]))
    assert [one.what for one in found(frame)["age"]] == ["holds numbers except for 'old', in 1 row"]


def test_notes_below_the_table_are_found_and_a_row_of_totals_above_them() -> None:
    table = pl.DataFrame(
        {"region": [f"r{i % 9}" for i in range(40)], "cases": range(40), "deaths": [i % 7 for i in range(40)]}
    )
    last = pl.DataFrame(
        {"region": ["Total", "Source: own", "* so far"], "cases": [780, None, None], "deaths": [114 + 3, None, None]}
    )
    last = last.with_columns(deaths=pl.Series([int(table["deaths"].sum()), None, None]))
    frame = pl.concat([table, last])
    notes, totals = found(frame)[""]
    assert notes.what == "the last 2 rows look like notes below the table: 'Source: own'"
    assert mended(frame, notes.mend).height == 41
    assert totals.what.startswith("the row above looks like totals: 'Total' in 'region', the sum of 'cases'")
    assert mended(frame, totals.mend).equals(table)
    # Where a text alone is usual, it is no note.
    twice = found(pl.concat([table, last.tail(2), table, last.tail(2)]))
    assert not any("note" in one.what for one in twice[""])


@pytest.mark.parametrize(
    ("levels", "told", "left"),
    [
        (["Y", "yes", "No", "n"], "says yes and no in several ways", 2),
        (["TRUE", "Yes", "No"], "says yes and no in several ways", 2),
        (["ja", "J", "nein", "N"], "says yes and no in several ways", 2),
        (["Male", "m", "F", "female"], "says female and male in several ways", 2),
        (["yes", "Yes", "no"], "has levels that differ only in case or spaces", 2),
    ],
)
def test_yes_and_no_in_several_ways_are_found_and_merged(levels: list[str], told: str, left: int) -> None:
    frame = pl.DataFrame({"x": RNG.choice(levels, N), "age": AGE})
    (one,) = found(frame)["x"]
    assert one.what.startswith(told)
    assert mended(frame, one.mend)["x"].n_unique() == left


@pytest.mark.parametrize(
    "levels", [["yes", "no"], ["Y", "N"], ["f", "m"], ["yes", "no", "maybe", "n"], ["m", "s", "w"]]
)
def test_other_levels_say_nothing_in_several_ways(levels: list[str]) -> None:
    assert "x" not in found(pl.DataFrame({"x": RNG.choice(levels, N), "age": AGE}))


def test_codes_for_missing_among_written_numbers_are_found() -> None:
    frame = pl.DataFrame(
        {"x": ["-9" if i % 20 == 0 else "." if i % 20 == 1 else str(AGE[i]) for i in range(N)], "y": AGE}
    )
    codes = [one for one in found(frame)["x"] if "-9" in one.what]
    assert codes[0].what.startswith("is -9 in 10 rows, far from all other values (18 to 8")
    assert an.infer_schema(mended(frame, codes[0].mend))["x"].range_[0] == 18


def test_a_number_without_its_unit_is_named() -> None:
    frame = pl.DataFrame({"cost": [f"{x},5 €" for x in range(100, 100 + N - 1)] + ["123456.70"], "age": AGE})
    assert [one.what for one in found(frame)["cost"]] == ["holds numbers except for '123456.70', in 1 row"]


def test_years_of_two_digits_that_are_read_as_far_ahead_are_found() -> None:
    born = [dt.date(2015 - age, 1 + i % 12, 1 + i % 28).strftime("%d-%b-%y") for i, age in enumerate(AGE.tolist())]
    frame = pl.DataFrame({"born": born, "age": AGE})
    (one,) = found(frame)["born"]
    assert one.what.startswith("holds years of two digits: '") and "is read as 20" in one.what
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        column = an.infer_schema(mended(frame, one.mend))["born"]
    assert column.form == "%d-%B-%Y" and column.range_[1] < 22_000
    recent = pl.DataFrame({"seen": [f"{1 + i % 28}/{1 + i % 12}/{18 + i % 9}" for i in range(N)], "age": AGE})
    assert "seen" not in found(recent)


def test_dates_that_are_written_in_several_ways_are_found_with_the_line_that_reads_all() -> None:
    days = [dt.date(2022, 1, 1) + dt.timedelta(days=int(i)) for i in RNG.integers(0, 600, N)]
    ways = ("%Y-%m-%d", "%d/%m/%Y", "%B %d, %Y")
    frame = pl.DataFrame({"visit": [day.strftime(ways[i % 3]) for i, day in enumerate(days)], "age": AGE})
    (one,) = found(frame)["visit"]
    assert one.what.startswith("holds dates that are written in 3 ways: ")
    assert mended(frame, one.mend)["visit"].to_list() == days
    # With the day or the month first: nobody knows.
    early = [day.replace(day=1 + day.day % 12) for day in days]
    unclear = frame.with_columns(visit=pl.Series([day.strftime(ways[i % 2]) for i, day in enumerate(early)]))
    assert "visit" not in found(unclear)


def test_columns_with_values_for_some_levels_only_are_found_together() -> None:
    dead = RNG.choice(["yes", "no"], N)
    days = [int(x) if d == "yes" else None for x, d in zip(AGE, dead, strict=True)]
    frame = pl.DataFrame({"dead": dead, "days": days, "cause": [d and "abc"[d % 3] for d in days], "age": AGE})
    one = found(frame)["days"][-1]
    assert one.what == "has a value exactly where 'dead' is 'yes' (so does 'cause')"
    assert one.mend.endswith("schema.without('days', 'cause') leaves them out")
    assert not any("exactly where" in one.what for one in found(frame).get("cause", []))
    one_more = [1 if i == 0 else day for i, day in enumerate(days)] if dead[0] == "no" else [None, *days[1:]]
    left = found(frame.with_columns(days=pl.Series(one_more))).get("days", [])
    assert not any("exactly where" in one.what for one in left)


def test_a_table_of_counts_is_found_with_the_call_that_learns_from_it() -> None:
    cells = [(a, b, c) for a in "xyz" for b in ("m", "f") for c in (1, 2, 3, 4)]
    frame = pl.DataFrame(cells, schema=["a", "sex", "grade"], orient="row").with_columns(
        Freq=pl.Series(RNG.integers(0, 60, len(cells)))
    )
    (one,) = found(frame)["Freq"]
    assert one.what.startswith("may say how often its row counts") and one.mend == "an.learn(df, weights='Freq')"
    net = an.learn(frame, weights="Freq", verbose=False)
    assert net.names == ["a", "sex", "grade"]
    assert not found(frame.rename({"Freq": "size"})) and not found(pl.concat([frame, frame]))


def test_levels_of_which_most_occur_once_are_found() -> None:
    names = [f"{chr(97 + i % 26)}-{chr(97 + i // 26)}us" for i in range(40)]
    frame = pl.DataFrame({"genus": [*names, *names[:20]], "age": AGE[:60]})
    assert an.infer_schema(frame)["genus"].used
    assert [one.what for one in found(frame)["genus"]] == ["has 40 levels in 60 rows, too few of each to learn from"]
    assert "genus" not in found(pl.concat([frame, frame]).with_columns(age=pl.Series(AGE[:120])))
