"""Warnings about what you may not expect; the message says what was done, and how to change it."""


class ArbornetWarning(UserWarning):
    """Something was done that you may not expect; the message says what, and how to change it."""


class LeftOutWarning(ArbornetWarning):
    """Columns were left out because they say nothing about the others (identifiers, constants, empty columns)."""
