"""What XML can hold."""

from __future__ import annotations

import re

from arbornet._core import ArbornetError

UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML cannot hold."""


def checked(text: str) -> str:
    """The text.

    Raises:
        ArbornetError: If it holds a character that XML cannot, not even escaped.
    """
    if UNSPEAKABLE.search(text):
        raise ArbornetError(f"{text!r} holds a character that XML cannot; save the network as JSON or BIF")
    return text
