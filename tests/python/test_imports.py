"""Imports stand at the top of a module, where all see what it rests on; `make lint` checks that they go one way."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import arbornet

ROOT = Path(arbornet.__file__).parent
OPTIONAL = {"cairosvg", "distributed", "matplotlib", "pandas"}
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
