"""Imports stand at the top of a module, where all see what it rests on; parameters say what they take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import arbornet

ROOT = Path(arbornet.__file__).parent
OPTIONAL = {"cairosvg", "distributed", "fastexcel", "matplotlib", "pandas", "pyreadstat"}
"""Packages that need not be there."""
BARS = {"rich"}
"""What is slow to import and used on a terminal only."""

YET = {"data/files.py"}
"""What is still to be done."""


def within(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports in the functions of a module."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from (found for found in ast.walk(inner) if isinstance(found, ast.Import | ast.ImportFrom))


def packages(found: ast.Import | ast.ImportFrom) -> set[str]:
    names = [alias.name for alias in found.names] if isinstance(found, ast.Import) else [found.module or "arbornet"]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_stand_at_the_top_but_for_optional_packages_and_the_shells_commands(path: Path) -> None:
    if path.parent.name == "cli" or path.relative_to(ROOT).as_posix() in YET:
        return  # a command imports what it needs when it runs, so that `--help` answers at once
    hidden = [found for found in within(ast.parse(path.read_text("utf-8"))) if packages(found) - OPTIONAL - BARS]
    assert not hidden, "; ".join(f"line {found.lineno}: {ast.unparse(found)}" for found in hidden)


UNTYPED = {("cli", "*"), ("data/files.py", "options"), ("estimators", "*"), ("evaluate/samples.py", "*")}
"""What may be anything: options passed on to Polars, what scikit-learn leaves open, the shell's namespace."""


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_parameter_of_a_public_function_may_be_anything(path: Path) -> None:
    within = path.relative_to(ROOT).as_posix()
    untyped = [
        f"{function.name}({parameter.arg})"
        for function in of_the_public(ast.parse(path.read_text("utf-8")).body)
        for parameter in parameters(function)
        if parameter.annotation is not None and ast.unparse(parameter.annotation) == "Any"
        if not any(within.startswith(place) and what in ("*", parameter.arg) for place, what in UNTYPED)
    ]
    assert not untyped, ", ".join(untyped) + ": `arbornet.given` has types for what takes several forms"


def of_the_public(body: list[ast.stmt]) -> Iterator[ast.FunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from of_the_public(node.body)
        elif isinstance(node, ast.FunctionDef) and (not node.name.startswith("_") or node.name == "__init__"):
            yield node


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    given = function.args
    rest = [one for one in (given.vararg, given.kwarg) if one is not None]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *rest]
