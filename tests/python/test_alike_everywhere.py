"""Parameters of one name are given alike everywhere, and defaults that Python and the core both know are the same."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import polars as pl
import pytest

import arbornet as an
from arbornet._core import FamilyError, ParameterError, ScoreHandle
from test_every_score import LEVELS, every_score

ALIKE = {"n_jobs": ("int", -1), "progress": ("Progress", None), "memory_limit": ("Memory | None", None)}
"""Annotation and default of parameters that many functions have."""
PATIENTS = an.example("patients").select("age", "sex", "stage", "bmi", "smoker", "diabetes", "readmitted")


def public(of: ModuleType, within: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions and methods that a user sees in a module."""
    for name in getattr(of, "__all__", dir(of)):
        one = getattr(of, name)
        if inspect.isfunction(one) and not name.startswith("_"):
            yield f"{within}.{name}", one
        if inspect.isclass(one) and one.__module__.startswith("arbornet") and ".estimators" not in one.__module__:
            for own, method in vars(one).items():
                if inspect.isfunction(method) and (not own.startswith("_") or own == "__init__"):
                    yield f"{within}.{name}.{own}", method


FUNCTIONS = dict(
    found
    for module, name in ((an, "an"), (an.search, "an.search"), (an.evaluate, "an.evaluate"), (an.metrics, "an.metrics"))
    for found in public(module, name)
)


@pytest.mark.parametrize("name", ALIKE)
def test_parameters_of_one_name_are_alike_everywhere(name: str) -> None:
    given = {
        path: (parameter.annotation, parameter.default)
        for path, function in FUNCTIONS.items()
        if (parameter := inspect.signature(function).parameters.get(name)) and "PCART" not in path
    }
    assert len(given) >= 3
    assert {path: how for path, how in given.items() if how != ALIKE[name]} == {}


@pytest.mark.parametrize(("given", "megabytes"), [("1 GiB", 1024), (1 << 30, 1024), ("1.5 MiB", 1), ("2 TB", 1907348)])
def test_the_memory_of_a_score_is_bytes_or_text_and_its_json_keeps_megabytes(given: str | int, megabytes: int) -> None:
    assert json.loads(an.PCART(memory_limit=given).spec())["memory_mb"] == megabytes
    assert json.loads(an.PCART().spec())["memory_mb"] == 1024


def test_small_numbers_are_still_megabytes_and_a_warning_says_what_to_write() -> None:
    with pytest.warns(DeprecationWarning, match="memory_limit='512 MiB'") as told:
        score = an.PCART(memory_limit=512)
    assert [warning.filename for warning in told] == [__file__]
    assert score == an.PCART(memory_limit="512 MiB")
    assert score.replace(max_splits=3).memory_limit == 512 << 20


def test_a_pickle_that_counts_megabytes_keeps_its_limit() -> None:
    score = an.PCART(memory_limit="512 MiB")
    assert pickle.loads(pickle.dumps(score)) == score
    old = score.__dict__ | {"memory_limit": 512}
    loaded = an.PCART.__new__(an.PCART)
    loaded.__setstate__(old)
    assert loaded == score


@pytest.mark.parametrize("given", ["much", "0", "1 KB", 0, -1, True, float("nan"), "2000 TiB"])
def test_what_is_no_size_of_memory_is_refused_with_its_name(given: object) -> None:
    with pytest.raises(an.ParameterError, match=r"memory_limit="):
        an.PCART(memory_limit=given)  # type: ignore[arg-type]
    if given not in ("1 KB", "2000 TiB"):
        with pytest.raises(an.ParameterError, match=r"memory_limit="):
            an.score_parents(an.Table(LEVELS), an.BDeu(), 1, memory_limit=given)  # type: ignore[arg-type]
        with pytest.raises(an.ParameterError, match=r"memory_limit="):
            an.search.exact("none.jkl", memory_limit=given)  # type: ignore[call-overload]


def keys(document: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The paths to all parameters in a score's JSON."""
    for key, value in document.items():
        if key != "score":
            yield (key,)
        if isinstance(value, dict):
            yield from ((key, *inner) for inner in keys(value))


def without(document: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    first, *rest = path
    if not rest:
        return {key: value for key, value in document.items() if key != first}
    return document | {first: without(document[first], tuple(rest))}


def scores_of(table: an.Table, document: dict[str, Any]) -> list[float | None]:
    handle = ScoreHandle(table.handle, json.dumps(document))
    out: list[float | None] = []
    n = len(table.names)
    for child in range(len(table.names)):
        for parents in ([], [(child + 1) % n], sorted({(child + 1) % n, (child + 2) % n})):
            try:
                out.append(handle.score(child, parents))
            except (FamilyError, an.ColumnError):
                out.append(None)
    return out


@every_score
def test_a_default_that_the_core_has_too_is_the_same_there(score: Any) -> None:
    document = json.loads(score.spec())
    tables = (PATIENTS.select("age", "bmi", "sex", "stage"), PATIENTS.select("sex", "smoker", "diabetes", "readmitted"))
    if isinstance(score, an.BDe):
        tables = (pl.DataFrame(LEVELS),)
    told = []
    for table in map(an.Table, tables):
        try:
            whole = scores_of(table, document)
        except an.ArbornetError:
            continue  # a score of levels, or of numbers
        told.append(whole)
        for path in keys(document):
            try:
                assert scores_of(table, without(document, path)) == whole, path
            except ParameterError as error:
                assert "missing field" in str(error)  # the core has no default of its own
    assert any(score is not None for whole in told for score in whole)
