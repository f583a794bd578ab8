"""Files of SPSS and Stata: labels of codes, orders that are none, and codes that stand for no value."""

import sys
import warnings
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pytest

import arbornet as an
from arbornet.data.reading.labelled import has_order, labelled, says_no_value

AGREE = ["strongly disagree", "disagree", "neither agree nor disagree", "agree", "strongly agree"]


def test_marital_status_has_no_order_and_agreement_has_that_of_its_codes() -> None:
    codes = pl.Series("q", [1.0, 5.0, 2.0, None])
    status = labelled(codes, dict(enumerate(["single", "married", "divorced", "separated", "widowed"], 1)))
    assert status.column.dtype == pl.String and status.column.to_list() == ["single", "widowed", "married", None]
    agreement = labelled(codes, dict(enumerate(AGREE, 1)))
    assert agreement.column.dtype == pl.Enum(AGREE)
    falling = labelled(codes, dict(enumerate(AGREE[::-1], 1)))
    assert falling.column.dtype == pl.Enum(AGREE[::-1])
    money = labelled(codes, {1.0: "Under 2,600", 2.0: "2,600 to 5,200", 5.0: "5,200 to 10,400"})
    assert money.column.dtype == pl.Enum(["Under 2,600", "2,600 to 5,200", "5,200 to 10,400"])


def test_what_the_file_says_of_a_column_decides_its_order() -> None:
    codes, three = pl.Series("q", [1.0, 2.0, 3.0]), {1.0: "gold", 2.0: "silver", 3.0: "bronze"}
    assert labelled(codes, three, "ordinal").column.dtype == pl.Enum(["gold", "silver", "bronze"])
    assert labelled(codes, three, "nominal").column.dtype == pl.String
    assert labelled(codes, dict(enumerate(["low", "mid", "high"], 1)), "nominal").column.dtype == pl.String


def test_numbers_with_a_few_labels_stay_numbers_and_refusals_are_missing() -> None:
    age = labelled(pl.Series("age", [31.0, 97.0, 99.0, None]), {97.0: "97 or older", 98.0: "DK", 99.0: "Refused"})
    assert age.column.dtype == pl.Int64 and age.column.to_list() == [31, 97, None, None]
    assert age.gone == ("Refused",)
    happy = labelled(pl.Series("h", [0.0, 3.0, 10.0]), {0.0: "not at all", 10.0: "completely"})
    assert happy.column.to_list() == [0, 3, 10] and happy.gone == ()
    visits = labelled(pl.Series("v", [0.0, 3.0]), {0.0: "None"})
    assert visits.column.to_list() == [0, 3]


def test_a_refusal_is_a_level_unless_levels_are_ordered() -> None:
    codes = pl.Series("q", [1.0, 2.0, 9.0])
    assert labelled(codes, {1.0: "no", 2.0: "yes", 9.0: "Refused"}).column.to_list() == ["no", "yes", "Refused"]
    ordered = labelled(pl.Series("q", [1.0, 2.0, 3.0, 9.0]), dict(enumerate(AGREE, 1)) | {9.0: "Don’t know/Refused"})
    assert ordered.column.to_list() == [*AGREE[:3], None] and ordered.gone == ("Don’t know/Refused",)


def test_two_codes_with_one_label_stay_apart() -> None:
    column = labelled(pl.Series("q", [1.0, 2.0, 3.0]), {1.0: "other", 2.0: "yes", 3.0: "other"}).column
    assert column.to_list() == ["other (1)", "yes", "other (3)"]


@pytest.mark.parametrize("label", ["Refused", "[DK]", "Don't know", "DK/NA", "Not asked", "keine Angabe", "Inap."])
def test_words_that_say_no_value(label) -> None:
    assert says_no_value(label)


@pytest.mark.parametrize("label", ["None", "Never", "No", "0", "Yes/no", "Not at all"])
def test_words_that_are_values(label) -> None:
    assert not says_no_value(label)


def test_an_order_against_that_of_the_codes_is_none() -> None:
    assert has_order(["low", "medium", "high"]) and has_order(["high", "medium", "low"])
    assert not has_order(["low", "high", "medium"])


def test_a_file_of_stata_is_read_by_its_labels(tmp_path) -> None:
    frame = pd.DataFrame(
        {"id": range(101, 131), "age": [40.0, 99.0, 52.0] * 10, "status": [1, 2, 3] * 10, "agree": [1, 3, 8] * 10}
    )
    labels = {
        "age": {99: "Refused"},
        "status": {1: "single", 2: "married", 3: "widowed"},
        "agree": {1: "never", 2: "sometimes", 3: "always", 8: "Don't know"},
    }
    frame["agree"] = frame["agree"].where(frame["agree"] != 3, 2)
    frame.loc[0, "agree"] = 3
    frame.to_stata(tmp_path / "f.dta", write_index=False, value_labels=labels)
    with pytest.warns(an.ArbornetWarning, match=r"missing by their labels \(age: 'Refused'; agree: \"Don't know\"\)"):
        read = an.read(tmp_path / "f.dta")
    assert read["age"].dtype == pl.Int64 and read["age"].null_count() == 10
    assert read["status"].dtype == pl.String
    assert read["agree"].dtype == pl.Enum(["never", "sometimes", "always"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema = an.infer_schema(read)
    assert not schema["id"].used and schema["status"].word == "categorical" and schema["agree"].word == "ordinal"
    codes = an.read(tmp_path / "f.dta", convert_categoricals=False)
    assert codes["agree"].max() == 8 and codes["age"].max() == 99


def test_a_file_of_spss_is_read_by_its_labels_and_measures(tmp_path, monkeypatch) -> None:
    """So pandas reads it through pyreadstat, of which this is what it gives."""
    from arbornet.data.reading import books

    told = SimpleNamespace(
        variable_value_labels={"status": {1.0: "single", 2.0: "married", 3.0: "widowed"}, "code": {"a": "A"}},
        variable_measure={"status": "ordinal", "code": "nominal"},
    )
    monkeypatch.setitem(sys.modules, "pyreadstat", SimpleNamespace(read_sav=lambda path, metadataonly: (None, told)))
    monkeypatch.setattr(books, "find_spec", lambda name: True)
    codes = pd.DataFrame({"status": [1.0, 3.0, 2.0], "code": ["a", "b", "a"], "id": [1.0, 2.0, 3.0]})
    monkeypatch.setattr(pd, "read_spss", lambda path, convert_categoricals: codes)
    (tmp_path / "f.sav").write_bytes(b"")
    read = an.read(tmp_path / "f.sav")
    assert read["status"].to_list() == ["single", "widowed", "married"] and read["status"].dtype == pl.Enum
    assert read["id"].dtype == pl.Int64 and read["code"].to_list() == ["a", "b", "a"]
