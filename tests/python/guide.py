"""Runs the pages a user reads: README, the start page and the guide, every example of them from the text itself.

Run are: every `python` block; every line that starts with `$` of a `console` block; and every line of an indented block
that starts with a command. What a page shows as output (the rest of a console block, or a `text` block right after a
`python` block) must be what comes out; `...` stands for anything. A block of any other sort is an error, so none is
left out silently. `python tests/python/guide.py` in the project's folder writes the outputs anew.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "docs" / "index.md", *sorted((ROOT / "docs" / "guide").glob("*.md"))]
os.environ["COLUMNS"] = "80"
LANGUAGES = ("python", "console", "text")
FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)(?:    .*\n)+")
RUN = ("arbornet", "python")
"""Commands of indented blocks that are run."""
BUILD = ("make", "pip")
"""Commands that build the package that is under test: not run; a target of make has to exist."""


@dataclass
class Block:
    """A block of a page, with the place of its text."""

    language: str
    text: str
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """The blocks that are run or compared, in order.

    Raises:
        ValueError: If a block is of a sort that nobody runs.
    """
    found = [Block(match[1].strip(), match[2], match.start(2), match.end(2)) for match in FENCE.finditer(page)]
    for block in found:
        if block.language not in LANGUAGES:
            raise ValueError(f"a block of {block.language!r} is neither run nor compared: {block.text}")
    within = [range(block.start, block.end) for block in found]
    found += [
        Block("typed", typed, match.start(), match.end())
        for match in INDENTED.finditer(page)
        if not any(match.start() in fenced for fenced in within) and (typed := _typed(match[0]))
    ]
    return sorted(found, key=lambda block: block.start)


def _typed(text: str) -> str:
    """The commands of an indented block that are to be run; none of a drawing, or of what builds the package."""
    if "──" in text:
        return ""
    out = []
    for line in text.splitlines():
        word, *rest = line.split() or [""]
        if word in RUN:
            out.append(f"$ {line.strip()}\n")
        elif word == "make":
            if not re.search(rf"^{rest[0]}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE):
                raise ValueError(f"the Makefile has no target {rest[0]!r}")
        elif word and word not in BUILD:
            raise ValueError(f"an indented line that is no command known here: {line}")
    return "".join(out)


def ran(page: str, folder: Path) -> list[tuple[Block, str]]:
    """Runs a page in a folder; the blocks that hold output, with what they should hold."""
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    out: list[tuple[Block, str]] = []
    with contextlib.chdir(folder):
        for block in blocks(page):
            if block.language == "python":
                printed = _run_python(block.text, names)
            elif block.language == "text":
                out.append((block, printed))
            elif block.language == "typed":
                _run_console(block.text)
            else:
                out.append((block, _run_console(block.text)))
    return out


def _run_python(text: str, names: dict[str, Any]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(text, "<guide>", "exec"), names)
    return stream.getvalue()


def _run_console(text: str) -> str:
    commands = [line[2:] for line in text.replace("\\\n", "").splitlines() if line.startswith("$ ")]
    written = [match[0] for match in re.finditer(r"^\$ (?:.*\\\n)*.*\n", text, re.MULTILINE)]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "80",
    }
    out = ""
    for command, line in zip(commands, written, strict=True):
        run = subprocess.run(
            command,
            shell=True,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if run.returncode:
            raise RuntimeError(f"{command!r} ended with {run.returncode}: {run.stdout}")
        out += line + run.stdout
    return out


def same(shown: str, said: str) -> bool:
    """Whether the page shows what was said; `...` stands for anything, spaces at the ends of lines for nothing."""
    plain = [re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE) for text in (shown, said)]
    return doctest.OutputChecker().check_output(*plain, doctest.ELLIPSIS)


def pictures(page: str) -> list[str]:
    """The pictures a page shows; its code draws them under the same names."""
    return re.findall(r"\]\(images/([^)]+)\)", page)


def refresh(path: Path, folder: Path) -> None:
    """Writes the outputs of a page anew, where they differ, and its pictures."""
    page = path.read_text(encoding="utf-8")
    for block, said in reversed(ran(page, folder)):
        if not same(block.text, said):
            page = page[: block.start] + re.sub(r"[ \t]+$", "", said, flags=re.MULTILINE) + page[block.end :]
    path.write_text(page, encoding="utf-8")
    for name in pictures(page):
        (path.parent / "images").mkdir(exist_ok=True)
        (path.parent / "images" / name).write_bytes((folder / name).read_bytes())


if __name__ == "__main__":
    import tempfile

    for each in [Path(argument) for argument in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as made:
            refresh(each.resolve(), Path(made))
