"""Warnings: what was done that a person may not expect, and how to have it otherwise."""


class ArbornetWarning(UserWarning):
    """Something was done that may not be expected; the message says what, and how to have it otherwise."""


class LeftOutWarning(ArbornetWarning):
    """Columns were left out because they say nothing about the others (identifiers, constants, empty columns)."""
