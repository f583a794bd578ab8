"""What columns look like: numbers and dates in text, identifiers, codes, counts, grades, texts; how they are read."""

from __future__ import annotations

import datetime as dt
import json
import pickle
import warnings

import numpy as np
import polars as pl
import pytest

import arbornet as an
from arbornet.data.column import Column
from arbornet.data.looks import dates, grades, numbers_in_text, tree
from arbornet.data.looks.counts import is_count

N = 240


def numbers(low: float, high: float, digits: int = 0) -> list[float]:
    made = np.random.default_rng(5).uniform(low, high, N).round(digits).tolist()
    return [int(x) for x in made] if digits == 0 else made


def schema_of(**columns) -> an.Schema:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        return an.infer_schema({"y": numbers(0, 9, 3), **columns})


@pytest.mark.parametrize(
    ("texts", "form", "read"),
    [
        (["$1,200", "$15", "$3,400.50"], "$1,234.5", [1200, 15, 3400.5]),
        (["10.4%", "3%", "-2%"], "1234.5%", [10.4, 3, -2]),
        (["1.234,5", "12,0", "3.456.789,2"], "1.234,5", [1234.5, 12, 3456789.2]),
        (["12 kg", "3.5 kg", "100 kg"], "1234.5 kg", [12, 3.5, 100]),
        (["1,234", "2,345", "17"], "1,234.5", [1234, 2345, 17]),
        (["1,23", "2,345", "17"], "1234,5", [1.23, 2.345, 17]),
        (["1 234", "12 345 678", "7"], "1 234.5", [1234, 12345678, 7]),
        (["1'234.5", "12", "3"], "1'234.5", [1234.5, 12, 3]),
        (["(1,200)", "300", "−4"], "1,234.5", [-1200, 300, -4]),
        (["1 year", "2 years", "10 years"], "1234.5 years", [1, 2, 10]),
    ],
)
def test_numbers_that_a_person_wrote_are_read_by_the_form_of_the_whole_column(texts, form, read) -> None:
    found = numbers_in_text.form_of(pl.Series(texts))
    assert str(found) == form and numbers_in_text.form_of_text(form) == found
    assert numbers_in_text.read(pl.Series(texts), found).to_list() == read


@pytest.mark.parametrize(
    "texts",
    [["5-10", "3-4"], ["007", "012"], ["1st", "2nd"], ["1.2.3", "1.2.4"], ["12 kg", "3 lb", "4 g"], ["192.168.1.1"]],
)
def test_ranges_codes_ordinals_versions_and_two_units_are_no_numbers(texts) -> None:
    assert numbers_in_text.form_of(pl.Series(texts)) is None


IDS = (np.random.default_rng(2).permutation(4000)[:N] + 1000).tolist()


@pytest.mark.parametrize(
    "name", ["caseid", "case no", "CaseNo", "idno", "subject_id", "pat_nr", "respondent", "serial"]
)
def test_whole_numbers_that_all_differ_under_the_name_of_an_identifier_are_left_out(name) -> None:
    column = schema_of(**{name: IDS})[name]
    assert column.looks_like == "identifier" and "its own value" in column.left_out


def test_what_may_identify_rows_is_used_and_said() -> None:
    uneven = [int(x**2 * 90) for x in np.random.default_rng(2).random(N)]
    schema = schema_of(x1=IDS, shop_id=uneven, income=[x * 7919 % 1_000_003 for x in IDS], year=list(range(1700, 1940)))
    assert {one.column: one.mend for one in schema.findings} == {
        "x1": "if it only identifies rows: schema.without('x1')",
        "shop_id": "if it identifies subjects, their rows are not independent: groups='shop_id' of "
        "an.evaluate.cross_validate and arc_strength keeps the rows of one together; if it only identifies rows: "
        "schema.without('shop_id')",
    }
    assert schema["x1"].used and schema["shop_id"].used


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["1/13/14", "11/10/14"], "%m/%d/%y"),
        (["13/04/2021", "01/01/2020"], "%d/%m/%Y"),
        (["2016-12-29 08:00:00+00:00"], "%Y-%m-%d %H:%M:%S%#z"),
        (["2021-03-04T15:30:00Z"], "%Y-%m-%dT%H:%M:%S%#z"),
        (["4 Mar 2021", "12 April 2020"], "%d %B %Y"),
        (["20210304", "20201231"], "%Y%m%d"),
        (["3:15 pm", "11:01 am"], "%I:%M %p"),
        (["2013-2014", "2014-2015"], None),
        (["2010-11", "2011-12"], None),
        (["1.5.2", "1.6.3"], None),
    ],
)
def test_dates_are_read_by_a_format_that_all_values_have(texts, form) -> None:
    assert dates.form_of(pl.Series(texts)) == form


def test_dates_of_the_first_day_of_each_month_are_read_as_such_and_not_as_days_of_january() -> None:
    monthly = [f"01/{1 + i % 12:02}/{2010 + i // 12}" for i in range(30)]
    assert dates.form_of(pl.Series(monthly)) == "%d/%m/%Y"
    assert dates.form_of(pl.Series([f"{text[3:5]}/{text[:2]}{text[5:]}" for text in monthly])) == "%m/%d/%Y"
    for few in (monthly[:4], [f"02{text[2:]}" for text in monthly]):
        assert isinstance(dates.form_of(pl.Series(few)), dates.Undecided)


def test_days_and_months_that_cannot_be_told_apart_take_the_order_of_other_dates_or_stay_text() -> None:
    days = [1 + i % 12 for i in range(N)]
    either = [f"{day:02}/{1 + (i // 12) % 12:02}/2021" for i, day in enumerate(days)]
    alone = schema_of(visit=either)["visit"]
    assert (alone.looks_like, alone.form, alone.word) == ("date", None, "categorical")
    assert "with_forms(visit=" in (alone.hint or "")
    clear = [f"{1 + i % 28:02}/07/2021" for i in range(N)]
    beside = schema_of(visit=either, birth=clear)
    assert beside["visit"].form == beside["birth"].form == "%d/%m/%Y"
    declared = schema_of(visit=either).with_forms(visit="%m/%d/%Y")
    table = an.Table({"y": numbers(0, 9, 3), "visit": either}, declared)
    assert table.to_polars()["visit"][0] == dt.date(2021, 1, 1) and table.to_polars()["visit"][1] == dt.date(2021, 2, 1)


def priced() -> pl.DataFrame:
    cost = numbers(1, 9000)
    return pl.DataFrame(
        {
            "cost": [f"${x:,}" for x in cost],
            "seen": [f"{1 + i % 28:02}.{1 + i % 12:02}.2020" for i in range(N)],
            "bought": ["yes" if x > 4500 else "no" for x in cost],
        }
    )


def test_new_rows_are_read_as_those_that_were_learned_from() -> None:
    frame = priced()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net = an.learn(frame, max_parents=1, verbose=False)
    as_numbers = frame.with_columns(
        pl.col("cost").str.replace_all(r"[$,]", "").cast(pl.Int64), pl.col("seen").str.strptime(pl.Date, "%d.%m.%Y")
    )
    assert net.log_likelihood(frame).tolist() == net.log_likelihood(as_numbers).tolist()
    one = net.query("bought", given={"cost": "$1,200"})
    assert one.equals(net.query("bought", given={"cost": 1200}))
    assert net.query("bought", given={"cost": ("$1,000", "$2,000")}).equals(
        net.query("bought", given={"cost": (1000, 2000)})
    )
    with pytest.raises(
        an.ColumnError, match=r"'cost' holds 'twelve', which is not written as '\$1,234.5', first in row 0"
    ):
        net.log_likelihood({"cost": ["twelve"]})


@pytest.mark.parametrize("family", ["pandas", "pyarrow", "dict", "lazy", "stream"])
def test_every_kind_of_frame_is_read_by_its_forms(family) -> None:
    frame = priced()
    expected = an.Table(frame)

    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return frame.__arrow_c_stream__(requested_schema)

    given = {
        "pandas": frame.to_pandas, "pyarrow": frame.to_arrow, "lazy": frame.lazy, "stream": Stream,
        "dict": lambda: frame.to_dict(as_series=False),
    }[family]()  # fmt: skip
    assert an.Table(given) == expected


def test_texts_tell_numbers_as_they_are_written() -> None:
    net = an.learn(priced(), max_parents=1, verbose=False)
    texts = net["cost"].text() + net["bought"].text()
    assert "$4," in texts and "cost < 4" not in texts
    assert "$5" in str(net.schema) or "$1" in str(net.schema)


def test_one_word_takes_the_text_as_it_stands() -> None:
    frame = pl.DataFrame({"rate": [f"{5 * (i % 9)}%" for i in range(N)], "y": numbers(0, 9, 3)})
    schema = an.infer_schema(frame)
    assert (schema["rate"].looks_like, schema["rate"].word) == ("number in text", "continuous")
    assert schema["rate"].hint == 'schema.with_types(rate="categorical")'
    levels = an.Table(frame, schema.with_types(rate="categorical")).schema["rate"].levels
    assert levels is not None and "40%" in levels


def test_words_for_a_missing_value_are_missing_among_written_numbers_and_found() -> None:
    texts = [f"{x} kg" for x in numbers(40, 120)]
    texts[3] = texts[9] = "n/a"
    schema = schema_of(weight=texts)
    assert (schema["weight"].form, schema["weight"].missing) == ("1234.5 kg", 2)
    assert [found.how_many for found in schema.findings if found.column == "weight"] == [2]


def test_a_form_survives_json_and_pickle_and_a_wrong_one_is_refused() -> None:
    schema = an.infer_schema(priced())
    again = an.Schema.from_dict(json.loads(json.dumps(schema.to_dict())))
    assert again == schema == pickle.loads(pickle.dumps(schema))
    assert again["cost"].form == "$1,234.5" and again.findings == schema.findings
    with pytest.raises(an.ParameterError, match="cost='dollars'"):
        schema.with_forms(cost="dollars")


def test_identifiers_are_left_out_with_the_reason_and_repeated_ones_are_found() -> None:
    schema = schema_of(
        patient_id=[1000 + 7 * i for i in range(N)],
        subject=[i // 4 for i in range(N)],
        rownames=[(7919 * i) % 10_007 for i in range(N)],
        income=numbers(0, 99999),
    )
    assert {schema[name].looks_like for name in ("patient_id", "subject", "rownames")} == {"identifier"}
    assert schema["subject"].left_out == "identifies subjects: 60 values, each in about 4 rows"
    assert schema["income"].used
    assert [found.column for found in schema.findings] == ["subject"]
    assert [column.name for column in schema.columns] == ["y", "patient_id", "subject", "rownames", "income"]


def test_texts_that_are_mostly_seen_once_are_left_out_and_no_category_of_thousands() -> None:
    notes = [f"the patient was seen on ward {i} and went home" for i in range(200)] + [
        "nothing to say of this one"
    ] * 40
    pages = [f"https://example.org/page/{i % 230}" for i in range(N)]
    schema = schema_of(notes=notes, pages=pages)
    assert (schema["notes"].looks_like, schema["pages"].looks_like) == ("text", "address")
    assert not schema["notes"].used and not schema["pages"].used
    assert "str.len_chars()" in (schema["notes"].hint or "")


def test_codes_and_labels_by_name_and_pattern_are_categories_but_never_by_the_name_alone() -> None:
    zips = [[10001, 10002, 60601, 94110][i % 4] for i in range(N)]
    schema = schema_of(
        zip=zips, status=[i % 3 for i in range(N)], grade=[i % 3 for i in range(N)], code=numbers(0, 90, 2)
    )
    assert (schema["zip"].looks_like, schema["zip"].word) == ("code", "categorical")
    assert (schema["status"].word, schema["grade"].word, schema["code"].word) == (
        "categorical",
        "ordinal",
        "continuous",
    )
    zeros = schema_of(box=[f"{i % 7:03}" for i in range(N)])["box"]
    assert (zeros.form, zeros.word) == (None, "categorical")


@pytest.mark.parametrize(
    ("values", "counts", "is_one"),
    [
        ([0, 1, 2, 3, 4, 5, 6, 8], [884, 112, 33, 20, 9, 4, 3, 1], True),
        ([1, 2, 3, 4, 5, 6, 7, 8, 10], [579, 35, 33, 12, 6, 3, 9, 8, 14], True),
        ([1, 2, 3, 5, 6, 7], [70, 76, 17, 13, 9, 29], False),
        ([0, 2, 4, 5, 6, 8], [23, 27, 38, 1, 10, 2], False),
        ([0, 1, 2, 40], [50, 30, 10, 1], False),
    ],
)
def test_a_gap_in_the_thin_end_of_a_count_does_not_make_it_something_else(values, counts, is_one) -> None:
    assert is_count(values, counts) is is_one


@pytest.mark.parametrize(
    ("texts", "order"),
    [
        (["II", "I", "IV", "III"], ["I", "II", "III", "IV"]),
        (["2. HS Grad", "1. < HS Grad", "3. College"], ["1. < HS Grad", "2. HS Grad", "3. College"]),
        (["Mar", "Jan", "Feb"], ["Jan", "Feb", "Mar"]),
        (["Stage II", "Stage I", "Stage III"], ["Stage I", "Stage II", "Stage III"]),
        (["SEPT", "JAN", "JUNE", "July", "Mar."], ["JAN", "Mar.", "JUNE", "July", "SEPT"]),
        (["Mai", "Dez", "März"], ["März", "Mai", "Dez"]),
        (["juillet", "avr", "juin"], ["avr", "juin", "juillet"]),
        (["Thurs", "Tues", "Sun"], ["Tues", "Thurs", "Sun"]),
        (["dimanche", "lundi", "mardi"], ["lundi", "mardi", "dimanche"]),
        (["jan", "january", "mar"], None),
        (["ju", "jan", "mar"], None),
        (["sun", "moon", "star"], None),
        (["low", "high", "medium"], None),
        (["v", "x", "a"], None),
    ],
)
def test_an_order_is_taken_only_where_the_words_are_certain(texts, order) -> None:
    found = grades.certain_order(texts)
    assert (found[0] if found else None) == order


def test_an_order_that_is_only_likely_is_a_hint_with_the_line_to_type() -> None:
    column = schema_of(dose=[["low", "high", "medium"][i % 3] for i in range(N)])["dose"]
    assert column.word == "categorical"
    assert column.hint == "if these are grades: schema.with_types(dose=an.Ordinal(['low', 'medium', 'high']))"


@pytest.mark.parametrize(
    "order",
    [
        ["nie", "manchmal", "immer"],
        ["sehr unzufrieden", "unzufrieden", "teils/teils", "zufrieden", "sehr zufrieden"],
        ["Pas du tout d'accord", "Plutôt pas d'accord", "Plutôt d’accord", "Tout à fait d'accord"],
        ["nunca", "a veces", "siempre"],
        ["Mangelhaft", "Ausreichend", "Befriedigend", "Gut", "Sehr gut"],
    ],
)
def test_scales_of_other_languages_are_hints_too(order) -> None:
    assert grades.likely_order(sorted(order)) == order


def test_words_for_a_missing_value_of_other_languages_are_missing_among_numbers() -> None:
    texts = [f"{x},5" for x in numbers(40, 120)]
    texts[3], texts[9], texts[11] = "k.A.", "prefer not to say", "inconnu"
    column = schema_of(weight=texts)["weight"]
    assert (column.word, column.missing) == ("continuous", 3)


def test_what_a_column_looks_like_is_told_with_its_reason_beside_its_kind() -> None:
    schema = an.infer_schema(an.example("penguins"))
    assert {column.looks_like for column in schema.columns} <= {"number", "category"}
    assert all(column.looks_because for column in schema.columns)
    assert ">looks like</th>" in schema._repr_html_()


def test_the_reason_of_what_the_tree_decides_is_told_in_words_with_the_columns_values() -> None:
    schema = schema_of(
        town=[["York", "Leeds", "Hull"][i % 3] for i in range(N)],
        label=[f"{chr(97 + i % 20)}{chr(97 + i // 20)}" for i in range(N)],
        age=numbers(20, 60),
    )
    told = {name: schema[name].looks_because for name in ("town", "label", "age")}
    assert told["town"].startswith(f"3 different texts in {N} rows, no digits, the most frequent in 33% of the rows")
    assert told["label"].startswith(f"{N} different texts, every value once")
    assert told["age"].startswith(f"40 different whole numbers in {N} rows") and "'age' says figure" in told["age"]


def test_every_mark_that_the_tree_looks_at_has_words_or_is_in_the_counts() -> None:
    from arbornet.data.looks import reasons

    def marks(node) -> set[str]:
        return set() if "is" in node else {node["mark"]} | marks(node["below"]) | marks(node["above"])

    counted = {"distinct", "distinct per value", "once", "words of the name", "name has digits"}
    asked = {mark for mark in marks(tree.tree()) if not mark.startswith("name says ")}
    assert asked <= counted | set(reasons.SHARES) | set(reasons.TOLD)
    columns = [column for name in ("patients", "survey") for column in an.infer_schema(an.example(name)).columns]
    assert not [column for column in columns if "<" in column.looks_because or ">=" in column.looks_because]


def test_a_schema_that_does_not_say_what_columns_look_like_prints_as_it_did() -> None:
    old = an.Schema((Column("x", an.Continuous(), "number", "numbers with a fraction", n_rows=3),))
    assert str(old).splitlines()[0].split() == ["column", "kind", "levels", "or", "range", "missing", "why"]


def test_the_tree_has_at_most_eighty_leaves_and_every_question_is_a_mark() -> None:
    from arbornet.data.looks.marks import Marks
    from arbornet.data.looks.seen import Seen

    assert tree.n_leaves() <= 80
    texts = pl.Series(["one two", "three"])
    marks = Marks(Seen("a", "text", 2, 0, False, False, lambda: (texts, pl.Series([1, 1]))))

    def questions(node) -> set[str]:
        return set() if "is" in node else {node["mark"]} | questions(node["below"]) | questions(node["above"])

    assert questions(tree.tree()) <= set(marks)
    assert len(tree.as_text()) > 80


@pytest.mark.parametrize(
    "order",
    [
        ["18-24", "25-34", "35-64", "65+"],
        ["0-4", "5-9", "10-19", "20+"],
        ["under 5", "5 to 9", "10 or more"],
        ["<$9,999", "$10,000 - $20,000", "> $20,000"],
        ["1", "2", "3–5", "6 and over"],
        ["5-9 years", "10-14 years", "15+ years"],
    ],
)
def test_intervals_of_numbers_are_ordered_by_their_numbers(order) -> None:
    column = schema_of(age=[order[(i * i + i // 3 + 2) % len(order)] for i in range(N)])["age"]
    assert (column.word, list(column.levels)) == ("ordinal", order)
    assert column.reason == "intervals of numbers: an order"


@pytest.mark.parametrize(
    "levels",
    [["1-0", "2-1", "3-3"], ["2008-09", "2009-10", "2010-11"], ["0-10", "5-15", "20+"], ["1-2", "3-4", "none"]],
)
def test_results_seasons_and_intervals_that_overlap_have_no_order(levels) -> None:
    assert schema_of(x=[levels[i % len(levels)] for i in range(N)])["x"].word == "categorical"
