"""Lets mkdocstrings read our `Example:` sections as what they are, code that is run, instead of as a remark."""

from __future__ import annotations

from typing import Any

import griffe


class Examples(griffe.Extension):
    """Renames the section in every docstring."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Called with every object that has been read."""
        if obj.docstring is not None:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")
