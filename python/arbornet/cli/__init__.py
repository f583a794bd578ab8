"""arbornet from a shell: `arbornet schema | score | learn | predict | sample | show | compare | convert`.

Results go to standard output or to files, everything said to a person in passing to standard error. `--json` makes
standard output one JSON value for scripts. Exit codes: 0 done, 1 not possible (the message says why and what helps),
2 wrong usage, 130 interrupted.

The parser is argparse's: it costs no import that the interpreter does not bring, so `--help` answers at once, and no
dependency.
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence

from arbornet.cli.parser import parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code."""
    options = parser().parse_args(arguments)
    from arbornet._core import ArbornetError

    if options.verbose:
        logging.basicConfig(stream=sys.stderr, format="%(message)s")
        logging.getLogger("arbornet").setLevel(logging.DEBUG if options.verbose > 1 else logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: print(f"note: {message}", file=sys.stderr)
            options.run(options)
        sys.stdout.flush()
    except (ArbornetError, OSError, ImportError) as error:
        if isinstance(error, BrokenPipeError):  # the reader, such as `head`, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"arbornet: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("arbornet: interrupted", file=sys.stderr)
        return 130
    return 0
