"""Printed texts in which nothing acts on the terminal: control characters are shown as escapes.

Names and levels come from tables, and a table may hold anything: colours and cursor movements of a terminal, or marks
that turn the direction of what follows. Names themselves are kept as they are; only what is shown of them changes. The
texts of our errors, whoever raises them, are made visible here.
"""

from __future__ import annotations

import math
import re

import numpy as np

from arbornet._core import ArbornetError

HIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters other than the line break, marks of direction, and halves of characters."""


def visible(text: str) -> str:
    r"""The text with escapes for what would act instead of being seen: `\x1b[31m` for the start of red.

    Example:
        >>> visible("\x1b[31mred")
        '\\x1b[31mred'
    """
    return HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def written(value: object) -> str:
    """A value as text; a number of a float32 column with the digits that it has there: 0.221, not 0.2210000038146972.

    Example:
        >>> written(0.22100000083446503), written(0.1), written("I")
        ('0.221', '0.1', 'I')
    """
    if isinstance(value, float) and math.isfinite(value) and abs(value) < 3e38:
        single = np.float32(value)
        if float(single) == value:
            short = float(str(single))
            return str(value) if short == value else str(short)
    return str(value)


def visible_name(name: object) -> str:
    """The same in one line: a name within a text of several."""
    return visible(str(name)).replace("\n", "\\n")


def _text(error: BaseException) -> str:
    return visible(BaseException.__str__(error))


ArbornetError.__str__ = _text  # type: ignore[method-assign]
