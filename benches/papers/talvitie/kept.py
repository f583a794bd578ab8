"""Finished results on disk, so that a run that was stopped goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Kept:
    """A dictionary that is written to a JSON file, a line per entry, whenever it gains one."""

    def __init__(self, path: Path):
        self._path = path
        self._entries: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def __getitem__(self, key: str) -> Any:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries))

    def __setitem__(self, key: str, value: Any) -> None:
        self._entries[key] = value
        lines = [f"{json.dumps(name)}: {json.dumps(self._entries[name])}" for name in sorted(self._entries)]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # Written whole, then renamed: a kill leaves the old file or the new one.
        written = self._path.with_suffix(".part")
        written.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
        written.replace(self._path)


def say(what: str) -> None:
    """Tells how far the run is."""
    print(f"  {what}", flush=True)
