"""The bundled tables, for a first look and for documentation. Their origins are in `README.md` beside this file."""

from __future__ import annotations

from importlib.resources import as_file, files

import polars as pl

from arbornet._core import ArbornetError

TABLES = ("patients", "penguins", "survey", "casualties")


def example(name: str = "patients") -> pl.DataFrame:
    """A bundled table as a Polars frame.

    Args:
        name: `"patients"` (simulated, 600 x 12), `"penguins"` (344 x 8), `"survey"` (simulated, 900 x 11) or
            `"casualties"` (555 x 18, as published: codes, dates in text, what a spreadsheet spoilt).

    Raises:
        ArbornetError: If there is no such table.

    Example:
        >>> import arbornet as an
        >>> an.example("patients").shape
        (600, 12)
    """
    if name not in TABLES:
        raise ArbornetError(f"there is no example table {name!r}; choose one of {', '.join(TABLES)}")
    with as_file(files("arbornet.data.examples") / f"{name}.csv") as path:
        return pl.read_csv(path, null_values=["", "NA"])
