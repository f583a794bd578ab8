"""Modules that stood elsewhere in earlier versions are still found by their old paths."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
import sys

import pytest

import arbornet as an
from arbornet._moved import MOVED, NAMES, moved

#: Every module of version 0.1.0 that is not where it was.
OLD = [
    "arrows",
    "available",
    "brief",
    "candidates",
    "classifiers",
    "coding",
    "constraints",
    "custom",
    "data.moments",
    "discretise",
    "draw",
    "dropped",
    "examples",
    "features",
    "files",
    "fit",
    "frames",
    "infer",
    "inputs",
    "io.networks",
    "io.sources",
    "io.whole",
    "kinds",
    "levels",
    "looks",
    "machines",
    "memory",
    "moments",
    "network.origin",
    "notebook",
    "notices",
    "parallel",
    "planning",
    "prepare",
    "progress",
    "report",
    "report.fitted",
    "schema",
    "schema_check",
    "schema_text",
    "scoring",
    "sk",
    "smoothing",
    "splines",
    "table",
    "terminal",
    "tree_density",
    "tuning",
    "values",
    "visible",
]
#: Modules that became packages, with what pickles name of them.
GROWN = {
    "estimators": ["NetworkLearner"],
    "graphs": ["class_graph", "cpdag", "parents_of"],
    "models": ["Condition", "Leaf", "LocalModel", "Shares", "StudentT", "local_model"],
}
#: Modules within packages that moved as a whole.
WITHIN = [
    f"{name}.{module.name}"
    for name in ("draw", "looks", "report")
    for module in pkgutil.iter_modules(importlib.import_module(MOVED[f"arbornet.{name}"]).__path__)
]
#: What the packages held before any old path was imported: a function may have the name of its module (`draw.svg`).
FUNCTIONS_OF = {
    package: {name: value for name, value in vars(importlib.import_module(package)).items() if callable(value)}
    for package in {new.rpartition(".")[0] for new in MOVED.values()}
    | {MOVED["arbornet.draw"], MOVED["arbornet.report"]}
    | {MOVED["arbornet.looks"]}
}
#: Where a function stands that was called as its module is.
FUNCTIONS = ("fit",)


@pytest.fixture(params=[name for name in OLD if name not in FUNCTIONS] + WITHIN)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """An old path that nobody has imported yet."""
    old = f"arbornet.{request.param}"
    forget(old, monkeypatch)
    return old


def forget(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody had imported an old path, nor the package it is in."""
    of = next(path for path in MOVED if f"{old}.".startswith(f"{path}."))
    for path in [path for path in sys.modules if f"{path}.".startswith(f"{of}.")]:
        monkeypatch.delitem(sys.modules, path)
    monkeypatch.delitem(vars(an), of.removeprefix("arbornet."), raising=False)


def test_the_table_of_moved_modules_names_what_moved() -> None:
    assert sorted(MOVED) == sorted(f"arbornet.{name}" for name in OLD)


def test_an_old_path_is_the_module_of_the_new_one_and_the_warning_names_it(path: str) -> None:
    of = next(old for old in MOVED if f"{path}.".startswith(f"{old}."))
    with pytest.warns(DeprecationWarning, match=f"^{of} is now {MOVED[of]}; ") as told:
        exec(compile(f"import {path}", __file__, "exec"))
    assert [warning.filename for warning in told] == [__file__]
    assert sys.modules[path] is importlib.import_module(moved(path) or "")
    assert sys.modules[path].__name__ == moved(path)


def test_importing_an_old_path_leaves_a_function_of_the_same_name_in_its_place(path: str) -> None:
    with pytest.warns(DeprecationWarning):
        importlib.import_module(path)
    package, _, name = (moved(path) or "").rpartition(".")
    if name in FUNCTIONS_OF[package]:
        assert getattr(sys.modules[package], name) is FUNCTIONS_OF[package][name]


@pytest.mark.parametrize("load", [pickle.loads, pickle._loads])  # type: ignore[attr-defined]
def test_a_pickle_of_an_old_path_loads_without_a_warning(
    path: str, load: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(load)
    module = importlib.import_module(moved(path) or "")
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    for name in own or ["__doc__"]:
        assert load(f"c{path}\n{name}\n.".encode()) is getattr(module, name)
    # That nothing was told means something: errors of this suite are all warnings.
    forget(path, monkeypatch)
    with pytest.raises(DeprecationWarning):
        exec(f"import {path}")


def test_whoever_asks_for_an_old_module_in_another_way_is_told_too(monkeypatch: pytest.MonkeyPatch) -> None:
    told = f"arbornet.schema is now {an.Schema.__module__}; "
    for ask in (
        lambda: importlib.import_module("arbornet.schema"),
        lambda: an.schema,  # type: ignore[attr-defined]
        lambda: exec(compile("from arbornet import schema", __file__, "exec")),
        lambda: exec(compile("from arbornet.schema import Schema", __file__, "exec")),
    ):
        forget("arbornet.schema", monkeypatch)
        with pytest.warns(DeprecationWarning, match=told) as warned:
            ask()
        assert [warning.filename for warning in warned] == [__file__]


def test_the_module_of_a_function_leaves_the_function_in_its_place() -> None:
    function = an.fit
    assert importlib.import_module("arbornet.fit").fit is function
    assert an.fit is function and callable(an.fit)


@pytest.mark.parametrize("name", GROWN)
def test_a_module_that_became_a_package_holds_what_it_held(name: str) -> None:
    package = importlib.import_module(f"arbornet.{name}")
    for public in GROWN[name]:
        assert callable(getattr(package, public))


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in NAMES.items() for name in names])
def test_a_name_that_left_its_module_is_found_there_and_the_warning_names_the_new_one(path: str, name: str) -> None:
    new = NAMES[path][name]
    told = f"^{path}.{name} is now {new}; "
    for ask in (f"from {path} import {name}", f"import sys, {path}; {name} = sys.modules[{path!r}].{name}"):
        found: dict[str, object] = {}
        with pytest.warns(DeprecationWarning, match=told) as warned:
            exec(compile(ask, __file__, "exec"), found)
        assert [warning.filename for warning in warned] == [__file__]
        assert found[name] is getattr(importlib.import_module(new.rpartition(".")[0]), new.rpartition(".")[2])
    for load in (pickle.loads, pickle._loads):  # type: ignore[attr-defined]
        assert load(f"c{path}\n{name}\n.".encode()) is found[name]
    with pytest.raises(AttributeError, match="nothing"):
        _ = importlib.import_module(path).nothing


def test_a_path_that_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"arbornet\.nowhere"):
        importlib.import_module("arbornet.nowhere")
    with pytest.raises(AttributeError, match="nowhere"):
        _ = an.nowhere  # type: ignore[attr-defined]
