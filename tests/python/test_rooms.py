"""Which way the core's crates and their modules import each other, and that the docs name files that are there."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CRATES = {path.parent.name: path for path in sorted((ROOT / "rust").glob("*/Cargo.toml"))}
# What each crate may know, the lowest first.
BELOW: dict[str, set[str]] = {
    "table": set(),
    "model": {"table"},
    "score": {"table", "model"},
    "search": {"table", "model"},
    "step1": {"table", "model"},
    "core": {"table", "model", "score", "search", "step1"},
    "py": {"core"},
}


def test_every_crate_knows_only_those_below_it() -> None:
    assert set(CRATES) == set(BELOW)
    for name, path in CRATES.items():
        known = tomllib.loads(path.read_text(encoding="utf-8"))["dependencies"]
        ours = {other.removeprefix("arbornet-") for other in known if other.startswith("arbornet-")}
        assert ours == BELOW[name], name


def code(path: Path) -> str:
    """A module without its comments and without its tests, which may know more."""
    text = path.read_text(encoding="utf-8").split("#[cfg(test)]\nmod tests {")[0]
    return re.sub(r"//[^\n]*", "", text)


def imported(text: str, root: str = "crate::") -> Iterator[str]:
    """The top-level modules of its own crate that some code names, from a place where `root` leads to the crate."""
    at = rf"(?<!\w)(?<!super::){root}"
    yield from re.findall(rf"{at}(\w+)", text)
    for group in re.findall(rf"{at}\{{(.*?)\}};", text, flags=re.DOTALL):
        yield from re.findall(r"(?:^|,)\s*(\w+)", re.sub(r"\{[^{}]*\}", "", group))


def modules(crate: str) -> dict[str, set[str]]:
    """The modules at the top of a crate, each with those it imports."""
    source = ROOT / "rust" / crate / "src"
    paths = [path for path in source.rglob("*.rs") if path.stem not in {"lib", "tests", "testing"}]
    names = {path.relative_to(source).parts[0].removesuffix(".rs") for path in paths}
    out: dict[str, set[str]] = {name: set() for name in names}
    for path in paths:
        parts = path.relative_to(source).parts
        own = parts[0].removesuffix(".rs")
        text = code(path)
        up = "super::" * (len(parts) - (path.stem == "mod"))
        found = {*imported(text), *imported(text, up)}
        out[own] |= (found & names) - {own}
    return out


def ring(imports: dict[str, set[str]]) -> list[str]:
    """Some modules that import each other in a circle."""
    left = dict(imports)
    while free := [name for name, others in left.items() if not others & set(left)]:
        for name in free:
            del left[name]
    return sorted(left)


def test_a_ring_is_seen() -> None:
    assert ring({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a"}}) == ["a", "b", "c", "d"]
    assert ring({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []
    assert set(imported("use crate::{a::{x, y}, b};\ncrate::c::f()")) == {"a", "b", "c"}
    assert set(imported("use super::{a, b::c};\nuse super::super::d;\nuse super::e;", "super::")) >= {"a", "b", "e"}
    assert "d" not in set(imported("use super::super::d;", "super::"))


@pytest.mark.parametrize("crate", sorted(set(CRATES) - {"py"}))
def test_the_modules_of_a_crate_import_one_way(crate: str) -> None:
    imports = modules(crate)
    assert sum(map(len, imports.values())) >= len(imports) // 2, "imports are no longer seen"
    assert ring(imports) == []


@cache
def known() -> frozenset[str]:
    """Every file and folder of the repository; those of a crate also without `src`."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\n")
    files = {name for name in listed if name and (ROOT / name).exists()}
    files |= {"/".join(name.split("/")[:depth]) for name in files for depth in range(1, name.count("/") + 1)}
    return frozenset(files | {name.replace("/src/", "/") for name in files})


PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "campaigns").glob("*.md"), *(ROOT / "docs").rglob("*.md")])
# Names in backquotes that end as our sources do, or are paths of folders.
NAMED = re.compile(r"`([\w./-]+(?:\.rs|\.py|\.pyi|\.toml)|(?:rust|python|tests|benches|docs|campaigns|fuzz)/[\w./-]*)`")
# What a reader is to write, or what stood there in an earlier version.
NEW = {"cell_means", "in_order"}


def named(page: Path) -> set[str]:
    names = {name.rstrip("/") for name in NAMED.findall(page.read_text(encoding="utf-8"))}
    return {name for name in names if Path(name).stem not in NEW and not name.startswith("../")}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != "CHANGELOG.md" and named(page)], ids=lambda p: p.name
)
def test_the_files_that_a_page_names_are_there(page: Path) -> None:
    ends = {"/" + file for file in known()}
    absent = [name for name in sorted(named(page)) if not any(end.endswith("/" + name) for end in ends)]
    assert absent == []
