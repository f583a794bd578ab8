"""Columns that hold no single values: lists, records, bytes, complex numbers, other objects. They are left out, and the
words say how to make columns of them."""

from __future__ import annotations

import re
from collections.abc import Callable

OBJECT = re.compile(r" of type (\w+) in row \d+$")


def unreadable(name: str, problem: str) -> str:
    """What a column holds and how to make columns of single values of it, to be read after its name.

    Args:
        name: The column.
        problem: What it holds, as the core says it.
    """
    found = OBJECT.search(problem)
    word = found[1] if found else problem
    way = next((way for start, way in WAYS if word.startswith(start)), None)
    return f"{problem} ({'no single values' if way is None else way(name)})"


WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    (
        "holds lists",
        lambda name: f"pl.col({name!r}).list.len() counts their items, df.explode({name!r}) gives each a row",
    ),
    (
        "holds arrays",
        lambda name: f"df.with_columns(pl.col({name!r}).arr.to_struct()).unnest({name!r}) makes columns of them",
    ),
    ("holds structs", lambda name: f"df.unnest({name!r}) makes a column of each field"),
    ("holds maps", lambda name: f"pl.col({name!r}).list.len() counts their entries"),
    ("holds bytes", lambda name: f"pl.col({name!r}).cast(pl.String) makes texts of them"),
    ("is an array of dtype complex", lambda name: f"np.real, np.imag and np.abs of {name!r} are numbers"),
    ("complex", lambda name: f"np.real, np.imag and np.abs of {name!r} are numbers"),
    ("bytes", lambda name: f"df[{name!r}].str.decode('utf-8') makes texts of them"),
    ("dict", lambda name: f"df.join(pd.json_normalize(df[{name!r}])) makes a column of each field"),
    *(
        (word, lambda name: f"df[{name!r}].map(len) counts their items")
        for word in ("list", "tuple", "set", "frozenset")
    ),
    ("ndarray", lambda name: f"df[{name!r}].map(len) counts their items"),
)
"""What to do with a column, by how the words begin that say what it holds, or by the name of its objects' type."""
