"""arbornet from a shell: `arbornet example | schema | learn | show | query | ...` (`parser.COMMANDS`).

Results go to standard output or to files, messages to standard error. `--json` makes standard output one JSON value for
scripts. Exit codes: 0 success, 1 failure (the message says why and what to do), 2 wrong usage, 130 interrupted.

The parser is argparse's: it needs no dependency and no slow import, so `--help` answers at once.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from typing import TextIO

from arbornet.cli.advice import in_shell
from arbornet.cli.out import Words, hang_up, say, say_wrapped
from arbornet.cli.parser import parser
from arbornet.text.notices import in_words_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code. Without a command, prints the help."""
    line = parser()
    options = line.parse_args(arguments)
    if options.run is None:
        line.print_help()
        return 0
    from arbornet._core import ArbornetError

    stream = sys.stdout
    if options.verbose:
        logging.basicConfig(handlers=[_Said()], format="%(message)s")
        logging.getLogger("arbornet").setLevel(logging.DEBUG if options.verbose > 1 else logging.INFO)
    try:
        with warnings.catch_warnings(), in_words_of(in_shell), redirect_stdout(Words(stream)) as words:
            warnings.showwarning = lambda message, *_, **__: say_wrapped(f"note: {in_shell(str(message))}")
            options.run(options)
            words.flush()
        if words.failure is not None:
            raise words.failure
    except BrokenPipeError:  # the reader, such as `head`, has closed the pipe
        hang_up(stream)
        return 0
    except (ArbornetError, OSError, ImportError, MemoryError) as error:
        say_wrapped(f"arbornet: {in_shell(str(error) or type(error).__name__)}")
        _given_up(stream)
        return 1
    except KeyboardInterrupt:
        say("arbornet: interrupted")
        _given_up(stream)
        return 130
    return 0


def _given_up(stream: TextIO) -> None:
    """Writes what is buffered, or discards it if that fails: Python itself would complain when it ends."""
    try:
        stream.flush()
    except OSError:
        hang_up(stream)


class _Said(logging.Handler):
    """Log lines, printed like all other messages."""

    def emit(self, record: logging.LogRecord) -> None:
        say(self.format(record))
