"""What looks wrong in a table, with the line of code that fixes it; and why rows are dropped."""

from __future__ import annotations

import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an
from places import DATA

N = 300


def base() -> dict[str, list]:
    rng = np.random.default_rng(3)
    return {"x": rng.normal(size=N).tolist(), "age": rng.integers(18, 90, N).tolist()}


def findings(**columns) -> dict[str, list]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        found = an.infer_schema({**base(), **columns}).findings
    return {name: [one for one in found if one.column == name] for name in {one.column for one in found}}


def some(values: list, places: dict) -> list:
    return [places.get(i, value) for i, value in enumerate(values)]


def test_a_clean_table_has_no_findings() -> None:
    assert findings() == {}


def test_numbers_that_stand_for_a_missing_one_are_found_with_their_count() -> None:
    age = some(base()["age"], {3: 999, 5: 999, 8: 999})
    (one,) = findings(age=age)["age"]
    assert one.how_many == 3 and one.mend == "df.with_columns(pl.col('age').replace(999, None))"
    mended = pl.DataFrame({"age": age}).with_columns(pl.col("age").replace(999, None))
    assert mended["age"].null_count() == 3
    assert findings(size=some(base()["x"], {2: -99.0, 4: -99.0}))["size"][0].how_many == 2
    assert "age" not in findings(age=some(base()["age"], {3: 99, 5: 99}))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        ([1, 2, 3, 4, 5, 88, 99], [88, 99]),
        ([1, 2, 3, 97, 98, 99], [97, 98, 99]),
        ([0, 1, 2, 3, -8, -9], [-9, -8]),
        ([1, 2, 3, 4, 5, -9, 99], [-9, 99]),
        ([0, 1, 99], 99),
        ([0, 10, 20, 50, -9], -9),
    ],
)
def test_several_numbers_for_missing_do_not_hide_each_other(values, codes) -> None:
    (one,) = findings(q=(values * N)[:N])["q"]
    assert one.mend == f"df.with_columns(pl.col('q').replace({codes}, None))"
    assert one.how_many == sum(x in (codes if isinstance(codes, list) else [codes]) for x in (values * N)[:N])


@pytest.mark.parametrize("values", [[1, 2, 3, 4, 5, 8], [1, 2, 3, 98], list(range(60, 100)), [70, 77, 80, 88, 90]])
def test_numbers_that_may_be_values_are_not_taken_for_missing(values) -> None:
    assert "q" not in findings(q=(values * N)[:N])


def test_a_last_row_of_totals_is_found_and_hides_no_number_for_missing() -> None:
    town, size = [f"t{i % 40}" for i in range(N - 1)], some([i * 37 % 91 for i in range(N - 1)], {3: 999, 9: 999})
    columns = {"town": [*town, "Summe"], "size": [*size, sum(size)]}
    found = findings(**columns)
    assert found[""][0].what == "the last row looks like totals: 'Summe' in 'town', the sum of 'size'"
    assert found["size"][0].mend.endswith("replace(999, None))")
    assert "" not in findings(**{**columns, "town": [*town, "t9"]})
    assert "" not in findings(**{**columns, "size": [*size, 9 * sum(size)]})
    assert "" not in findings(**{**columns, "town": [*town[:-1], "Summe", "Summe"]})


def test_words_for_missing_and_levels_that_differ_in_case_or_blanks_are_found() -> None:
    colour = some([["red", "green", "blue"][i % 3] for i in range(N)], {1: "Red ", 2: "unknown", 7: "unknown"})
    told = [one.what for one in findings(colour=colour)["colour"]]
    assert told == [
        "holds 'unknown' in 2 rows, which may mean missing",
        "has levels that differ only in case or spaces: 'Red ' and 'red'",
    ]


def test_levels_that_differ_in_case_or_spaces_are_all_named_and_no_other_level_changes() -> None:
    levels = ["red", "green", "blue", "NY", "NY", "Red ", "GREEN", "red", "green", "  green"]
    colour = [levels[i % len(levels)] for i in range(N)]
    (one,) = findings(colour=colour)["colour"]
    assert one.what.endswith("in case or spaces: '  green', 'GREEN' and 'green', 'Red ' and 'red'")
    assert one.mend == (
        "df.with_columns(pl.col('colour').replace({'  green': 'green', 'GREEN': 'green', 'Red ': 'red'}))"
    )
    many = [f"{'a' * (i % 9 + 1)}" if i % 2 else f"{'A' * (i % 9 + 1)}" for i in range(N)]
    assert findings(many=many)["many"][0].what.endswith(", and 4 more groups")


def test_copies_of_other_columns_are_found_whatever_they_are_called() -> None:
    x = base()["x"]
    group = [f"g{i * i % 5}" for i in range(N)]
    found = findings(
        pounds=[2.2 * value + 1 for value in x], down=[-value for value in x],
        group=group, code=[{"g0": 7, "g1": 3, "g4": 9}[g] for g in group], other=[i % 3 for i in range(N)],
    )  # fmt: skip
    assert set(found) == {"pounds", "down", "code"}
    assert "'x'" in found["down"][0].what and "'group'" in found["code"][0].what


def test_mostly_missing_nearly_constant_and_repeated_rows_are_found() -> None:
    sparse = [1.5 * i if i % 4 == 0 else None for i in range(N)]
    rare = [1 if i == 7 else 0 for i in range(N)]
    found = findings(sparse=sparse, rare=rare)
    assert found["sparse"][0].how_many == 225 and found["rare"][0].how_many == 299
    twice = pl.DataFrame(base())
    (one,) = an.infer_schema(pl.concat([twice, twice.head(4)])).findings
    assert (one.column, one.how_many) == ("", 4)


def test_text_that_is_nearly_all_numbers_names_what_is_none() -> None:
    amounts = some([f"{i / 7:.2f}" for i in range(N)], {4: "see note"})
    (one,) = findings(amount=amounts)["amount"]
    assert one.how_many == 1 and "'see note'" in one.what


def test_findings_are_printed_kept_in_json_told_by_learn_and_in_the_report(tmp_path, capsys) -> None:
    frame = {**base(), "age": some(base()["age"], {3: 999, 5: 999})}
    schema = an.infer_schema(frame)
    assert "what looks wrong:\n  'age' is 999 in 2 rows" in str(schema)
    assert an.Schema.from_dict(schema.to_dict()).findings == schema.findings
    assert schema.without("age").findings == ()
    net = an.learn(frame, max_parents=1)
    assert "look at: 'age' is 999 in 2 rows" in capsys.readouterr().out
    net.report(tmp_path / "r.html")
    assert "is 999 in 2 rows" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_few_columns_of_tables_that_people_prepared_are_flagged() -> None:
    flagged, n = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        for path in sorted((DATA / "uci").glob("[a-f]*.csv.gz")):
            frame = an.read(path)
            n += frame.width
            flagged += len({one.column for one in an.infer_schema(frame).findings if one.column})
    assert n > 300 and flagged <= n / 20


def gappy(share: float) -> pl.DataFrame:
    cut = int(N * share)
    y = [None if i < cut else float(i) for i in range(N)]
    return pl.DataFrame({**base(), "y": y, "z": [None if i < 5 else i * 0.5 for i in range(N)]})


def test_dropping_more_than_a_tenth_of_the_rows_warns_with_what_each_column_costs() -> None:
    told = (
        r"60 of 300 rows \(20%\) have missing values: 'y' is missing in 60 rows \(the only missing value in 55\), "
        r"'z' is missing in 5 rows \(the only missing value in 0\); "
        r"schema.without\('y'\) keeps 295"
    )
    for missing in (None, "drop"):
        with pytest.warns(an.RowsDroppedWarning, match=told):
            an.Table(gappy(0.2), missing=missing)
    with pytest.warns(an.RowsDroppedWarning, match=told):
        an.learn(gappy(0.2), max_parents=1, missing="drop", verbose=False)
    with pytest.warns(an.RowsDroppedWarning, match=told):
        an.NetworkLearner(max_parents=1, missing="drop").fit(gappy(0.2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert an.Table(gappy(0.05)).n_rows == 285


def test_losing_more_than_half_of_the_rows_without_a_word_stops_with_the_ways_out() -> None:
    with pytest.raises(
        an.ArbornetError, match=r"schema.without\('y'\) keeps 295.*missing='level'.*missing='drop' to use 100 rows"
    ):
        an.Table(gappy(2 / 3))
    # Learning keeps them instead.
    assert an.learn(gappy(2 / 3), max_parents=1, verbose=False).origin.n_rows == 300
    with pytest.warns(an.RowsDroppedWarning):
        assert an.Table(gappy(2 / 3), missing="drop").n_rows == 100


def test_no_complete_row_names_the_columns_to_leave_out() -> None:
    frame = gappy(0.5).with_columns(w=pl.when(pl.col("y").is_null()).then(pl.col("x")))
    with pytest.raises(an.ArbornetError, match=r"no row is complete: .*schema.without\('w'\) keeps 150 rows"):
        an.Table(frame, missing="drop")


def test_the_shell_tells_findings_and_other_readings_in_its_own_words(tmp_path, capsys) -> None:
    from arbornet.cli import main

    columns = {**base(), "cost": [f"${i:,}" for i in range(900, 900 + N)], "age": some(base()["age"], {3: 999, 5: 999})}
    pl.DataFrame(columns).write_csv(tmp_path / "t.csv")
    main(["schema", str(tmp_path / "t.csv")])
    told = capsys.readouterr().out
    assert "cost: --set 'cost=categorical'" in told and "'age' is 999 in 2 rows" in told
    main(["schema", str(tmp_path / "t.csv"), "--set", "cost=written:$1,234.5"])
    assert "as declared" in capsys.readouterr().out


def test_rows_that_agree_where_values_are_missing_or_usual_are_no_duplicates() -> None:
    random = np.random.default_rng(0)
    z = np.where(random.random(300) < 0.4, 0.0, random.exponential(size=300))
    x = [None if random.random() < 0.2 else value for value in random.normal(size=300)]
    frame = pl.DataFrame({"x": x, "z": z, "g": random.choice(list("abc"), 300)})
    assert frame.height - frame.unique().height > 10  # a missing x and no z, by chance
    assert not duplicates(frame)
    assert duplicates(pl.concat([frame, frame.filter(pl.col("z") > 0).head(7)])) == [7]


def duplicates(frame: pl.DataFrame) -> list[int]:
    return [found.how_many for found in an.infer_schema(frame).findings if "duplicate" in found.what]


def test_copies_of_columns_are_found_in_tables_whose_rows_are_not_compared(monkeypatch) -> None:
    monkeypatch.setattr("arbornet.data.looks.findings.MOST_ROWS", N - 1)
    city = [f"city {i % 12}" for i in range(N)]
    found = findings(city=city, country=["a" if i % 12 < 5 else "b" for i in range(N)], x2=[3 * x for x in base()["x"]])
    assert found["x2"][0].of == "x" and found["country"][0].of == "city"
    assert "" not in found
