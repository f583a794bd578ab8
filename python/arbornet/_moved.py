"""Modules that stood elsewhere in earlier versions: their old paths still import, and old pickles load.

An old path is the module at the new one, the same object, so nothing exists twice. Importing it warns and names the new
path; a pickle, which cannot be told otherwise, loads without a word.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from opcode import opmap
from types import FrameType, ModuleType

_ROOMS = {
    "data": (
        "coding dropped examples files frames infer kinds levels looks schema schema_check schema_text table values"
    ),
    "estimators": "classifiers discretise inputs sk tree_density",
    "evaluate": "tuning",
    "graphs": "constraints",
    "models": "splines",
    "network": "available fit smoothing",
    "scores": "custom prepare",
    "show": "arrows draw report",
    "step1": "candidates features machines planning scoring",
    "system": "memory parallel",
    "text": "brief notebook notices progress terminal visible",
}
_ELSEWHERE = {
    "arbornet.data.moments": "arbornet.data.calendar",
    "arbornet.io.networks": "arbornet.network.files",
    "arbornet.io.sources": "arbornet.system.sources",
    "arbornet.io.whole": "arbornet.system.whole",
    "arbornet.moments": "arbornet.data.calendar",
    "arbornet.network.origin": "arbornet.io.origin",
    "arbornet.report.fitted": "arbornet.network.report",
}

MOVED = _ELSEWHERE | {
    f"arbornet.{name}": f"arbornet.{room}.{name}" for room, names in _ROOMS.items() for name in names.split()
}
"""New path by old path; a package's modules move with it."""


NAMES = {
    "arbornet.io.bif": {"read_bif": "arbornet.network.files.read_bif"},
    "arbornet.io.hugin": {"read_net": "arbornet.network.files.read_net"},
    "arbornet.io.json": {"from_text": "arbornet.network.net.from_text", "load": "arbornet.network.files.load"},
    "arbornet.io.xmlbif": {"read_xmlbif": "arbornet.network.files.read_xmlbif"},
    "arbornet.learn": {"Search": "arbornet.given.SearchLike"},
    "arbornet.scores": {"Parameters": "arbornet.scores.ScoreParameters"},
    "arbornet.scores.base": {"Parameters": "arbornet.scores.ScoreParameters"},
    "arbornet.text.notebook": {"File": "arbornet.show.draw.file.File"},
}
"""What left a module that stays, or has another name there now: its new path, by the module and its old name."""


_BY_NAME = {opmap[name] for name in ("IMPORT_FROM", "LOAD_ATTR", "LOAD_METHOD") if name in opmap}
"""How code that is written down asks a module for a name."""


def moved(path: str) -> str | None:
    """Where a module of an old path is now, or None if it never moved."""
    for end in (len(path), *(i for i, letter in enumerate(path) if letter == ".")):
        if path[:end] in MOVED:
            return MOVED[path[:end]] + path[end:]
    return None


class _Old(MetaPathFinder, Loader):
    """Finds modules by their old paths."""

    def find_spec(self, path: str, at: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec for an old path, nothing for any other."""
        return ModuleSpec(path, self) if path.startswith("arbornet.") and moved(path) else None

    def exec_module(self, module: ModuleType) -> None:
        """Puts the module of the new path in the place of the one that was made for the old path."""
        old = module.__name__
        new = moved(old)
        assert new is not None
        level = _asked_by(sys._getframe(1))
        # A package tells of itself, its modules need not.
        if level is not None and old in MOVED:
            warnings.warn(f"{old} is now {new}; import it from there", DeprecationWarning, stacklevel=level)
        sys.modules[old] = import_module(new)
        # What a package has loaded stands under old paths at once: an import would put it into the package as an
        # attribute, in the place of a function of the same name (`draw.svg`).
        within = [path for path in sys.modules if path.startswith(f"{new}.")]
        for path in within:
            sys.modules.setdefault(old + path.removeprefix(new), sys.modules[path])


def _asked_by(frame: FrameType | None) -> int | None:
    """How many frames up the code stands that says `import`; None for an unpickler, which calls the import directly.

    As `warnings` counts them: frames of the import machinery are no frames.
    """
    level, by_function = 2, False
    while frame is not None:
        if frame.f_globals.get("__name__") in ("importlib", __package__):
            level, by_function = level + 1, True
        elif "importlib._bootstrap" not in frame.f_code.co_filename:
            return level if by_function or frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_NAME"] else None
        frame = frame.f_back
    return None


def _names_of(path: str) -> Callable[[str], object]:
    """What a module does when it is asked for a name it does not have: those that left it are found, with a warning."""

    def __getattr__(name: str) -> object:
        new = NAMES[path].get(name)
        if new is None:
            raise AttributeError(f"module {path!r} has no attribute {name!r}", name=name, obj=sys.modules[path])
        asking = sys._getframe(1)
        # An unpickler calls `getattr`.
        if asking.f_code.co_code[asking.f_lasti] in _BY_NAME:
            warnings.warn(f"{path}.{name} is now {new}; import it from there", DeprecationWarning, stacklevel=2)
        module, _, now = new.rpartition(".")
        return getattr(import_module(module), now)

    return __getattr__


def register() -> None:
    """Lets old paths be imported. Before all other finders: they would find the modules of a moved package twice."""
    sys.meta_path.insert(0, _Old())
    # `arbornet.fit` is a function, too: an import that finds its module loaded leaves the function in its place.
    for path in NAMES:
        vars(import_module(path))["__getattr__"] = _names_of(path)
    sys.modules["arbornet.fit"] = import_module("arbornet.network.fit")
