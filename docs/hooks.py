"""Writes the reference: every public name of the package on the page of its subject, whatever is added to it.

mkdocs calls `on_config` and `on_page_markdown`; the tests call `names` to see that nothing public is left out.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MODULES = ("arbornet", "arbornet.search", "arbornet.priors", "arbornet.evaluate")
"""Modules whose public names are documented; public modules within `arbornet.__all__` are found by themselves."""

SUBJECTS = {
    "tables": ("data",),
    "scores": ("scores", "priors", "models"),
    "search": ("learn", "graphs", "step1", "search"),
    "network": ("network", "io"),
    "errors": (),
}
SECTIONS = (("Guide", "guide"), ("How it is built", "design"), ("Published results repeated", "papers"))
"""Sections of the navigation with the folders whose pages they hold."""
REST = "evaluation"
"""The page of whatever belongs to no other."""


def names() -> dict[str, dict[str, str]]:
    """By page, the public names of the package (`arbornet.search.exact`) and where each is defined."""
    package = importlib.import_module("arbornet")
    modules = [*MODULES]
    for name in package.__all__:
        if type(getattr(package, name)).__name__ == "module" and f"arbornet.{name}" not in modules:
            modules.append(f"arbornet.{name}")
    pages: dict[str, dict[str, str]] = {subject: {} for subject in (*SUBJECTS, REST)}
    for path in modules:
        module = importlib.import_module(path)
        public = getattr(module, "__all__", None) or [
            name
            for name, value in vars(module).items()
            if not name.startswith("_") and getattr(value, "__module__", None) == path
        ]
        for name in public:
            value = getattr(module, name)
            if type(value).__name__ == "module" or name == "__version__":
                continue
            pages[_subject(value, path)][f"{path}.{name}"] = _place(value, path, name)
    return {subject: dict(sorted(found.items(), key=_alphabetical)) for subject, found in pages.items()}


def _place(value: Any, path: str, name: str) -> str:
    """Where a name is found: `arbornet.learn.learn`, not `arbornet.learn`, a module to whoever reads files."""
    return f"{value.__module__}.{name}" if f"{path}.{name}" in sys.modules else f"{path}.{name}"


def _subject(value: Any, path: str) -> str:
    if isinstance(value, type) and issubclass(value, Exception):
        return "errors"
    home = getattr(value, "__module__", None) or path
    room = (home if home.startswith("arbornet.") else f"{path}.").removeprefix("arbornet.").split(".")[0]
    return next((subject for subject, rooms in SUBJECTS.items() if room in rooms), REST)


def _alphabetical(found: tuple[str, str]) -> str:
    return found[0].rpartition(".")[2].lower()


def on_config(config: Any) -> Any:
    """Adds the pages of the guide and of the design that the navigation does not list."""
    docs = Path(config["docs_dir"])
    for section, folder in SECTIONS:
        pages = next((entry[section] for entry in config["nav"] if section in entry), [])
        listed = set(_paths(pages))
        found = sorted(path.relative_to(docs).as_posix() for path in (docs / folder).glob("*.md"))
        pages += [path for path in found if path not in listed]
    return config


def _paths(pages: Any) -> Iterator[str]:
    """The pages of a part of the navigation, in its subsections too."""
    if isinstance(pages, str):
        yield pages
    else:
        for entry in pages.values() if isinstance(pages, dict) else pages:
            yield from _paths(entry)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Adds the names of its subject to a page of the reference."""
    where = Path(page.file.src_uri)
    if where.parent.name != "reference":
        return markdown
    pages = names()
    if where.stem == "index":
        return markdown.rstrip() + "\n" + "\n".join(_row(subject, found) for subject, found in pages.items()) + "\n"
    found = pages[where.stem]
    return markdown + "\n\n" + "\n\n".join(f"::: {place}" for place in found.values()) + "\n"


def _row(subject: str, found: dict[str, str]) -> str:
    listed = ", ".join(f"[`{name.removeprefix('arbornet.')}`]({subject}.md#{at})" for name, at in found.items())
    return f"| [{subject}]({subject}.md) | {listed} |"
