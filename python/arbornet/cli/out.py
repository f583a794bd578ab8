"""What a command prints, and where to: text for you, or data for the next program.

In texts control characters become escapes, and characters that the terminal's encoding lacks become similar ones. Data
in a file or a pipe are UTF-8, like the files that `-o` writes.
"""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TextIO

from arbornet.text.terminal import wrapped
from arbornet.text.visible import HIDDEN, visible

ALIKE = str.maketrans(
    {"│": "|", "├": "|", "└": "`", "─": "-", "…": "...", "→": "->", "≥": ">=", "≤": "<=", "—": "-", "–": "-", "’": "'"}
)
"""Replacements for the characters of our own texts where an encoding lacks them."""


class Words(io.TextIOBase):
    """Standard output for texts: everything printed goes through here.

    What cannot be printed does not stop the work: files are still written. `failure` is why, unless the reader has
    simply closed the pipe.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.failure: OSError | None = None

    def write(self, text: str) -> int:
        """Writes the text, made printable."""
        try:
            self._stream.write(encodable(visible(text), self._stream.encoding))
        except OSError as error:
            self._fail(error)
        return len(text)

    def flush(self) -> None:
        """Writes what is buffered."""
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        hang_up(self._stream)
        if not isinstance(error, BrokenPipeError):
            error.filename = "standard output"
            self.failure = self.failure or error

    def data(self, text: str) -> None:
        """Writes a table or JSON: as it is, in UTF-8; on a terminal as text."""
        binary = getattr(self._stream, "buffer", None)
        if binary is None or self._stream.isatty():
            self.write(text)
            return
        self._stream.flush()
        binary.write(text.encode(errors="backslashreplace"))
        binary.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """The file beneath."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str | None:  # type: ignore[override]
        """How text becomes bytes."""
        return self._stream.encoding


def encodable(text: str, encoding: str | None) -> str:
    """The text in the characters that an encoding has."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return text.translate(ALIKE).encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8")
    except LookupError:
        pass
    return text


def hang_up(stream: TextIO) -> None:
    """Makes a stream that nobody reads, or that has no room, discard everything."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):  # it is not a file of this process
        return


def data(text: str) -> None:
    """A table or JSON on standard output."""
    if isinstance(sys.stdout, Words):
        sys.stdout.data(text)
    else:
        sys.stdout.write(text)


def as_json(value: object) -> str:
    """A value as JSON for a reader."""
    return still(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=1))


def still(text: str) -> str:
    """JSON with control characters escaped, so that a terminal shows them and obeys none."""
    return HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: str) -> None:
    """Prints a message on standard error."""
    print(encodable(visible(text), sys.stderr.encoding), file=sys.stderr)


def say_wrapped(text: str) -> None:
    """Prints a long message on standard error; wrapped if that is a terminal."""
    say("\n".join(map(wrapped, visible(text).split("\n"))) if sys.stderr.isatty() else text)
