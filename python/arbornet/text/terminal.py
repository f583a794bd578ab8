"""Printed lines that fit the terminal: wrapped or shortened at whole words, with times a person can read."""

from __future__ import annotations

import re
import shutil
import textwrap

NARROWEST = 40
WIDEST = 120
"""Longer lines are hard to read, however wide the terminal is."""

_TREE = re.compile(r"(?P<above>(?:│  |   )*)(?P<branch>├─ |└─ )?")


def width() -> int:
    """The columns of the terminal; 80 where there is none, `COLUMNS` where it is set."""
    return min(max(shutil.get_terminal_size((80, 24)).columns, NARROWEST), WIDEST)


def wrapped(text: str, hang: str = "  ", columns: int | None = None) -> str:
    """The text wrapped at whole words, the lines after the first indented.

    Example:
        >>> print(wrapped("categorical: island, species", "  ", 20))
        categorical: island,
          species
    """
    return "\n".join(
        textwrap.wrap(
            text,
            width() if columns is None else columns,
            subsequent_indent=hang,
            break_long_words=False,
            break_on_hyphens=False,
            replace_whitespace=False,
        )
    )


def wrapped_tree(text: str, columns: int | None = None) -> str:
    """The lines of a tree of text, long ones wrapped so that its branches stay unbroken."""
    most = width() if columns is None else columns
    lines = []
    for line in text.split("\n"):
        if len(line) <= most or (match := _TREE.match(line)) is None:
            lines.append(line)
            continue
        branch = {"├─ ": "│  ", "└─ ": "   ", None: ""}[match["branch"]]
        hang = match["above"] + branch + "  "
        lines.append(match[0] + wrapped("\0" * len(match[0]) + line[len(match[0]) :], hang, most).lstrip("\0"))
    return "\n".join(lines)


def shortened(text: str, most: int, between: str = " ") -> str:
    """As many whole words of the text as fit, with an ellipsis; a first word that is too long is cut.

    Args:
        text: The text.
        most: Columns.
        between: What ends a word, such as `", "` in a list.

    Example:
        >>> shortened("61 distinct whole numbers", 20)
        '61 distinct whole…'
    """
    if len(text) <= most:
        return text
    words = text.split(between)
    for n in range(len(words) - 1, 0, -1):
        kept = between.join(words[:n]).rstrip(":;,") + "…" if between == " " else between.join([*words[:n], "…"])
        if len(kept) <= most:
            return kept
    return shortened(text, most) if between != " " else text[: max(most - 1, 0)] + "…"


def several(n: int, noun: str) -> str:
    """So many of a thing: `1 arc`, `2,000 arcs`."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(share: float) -> str:
    """A share in whole percent; a small one is not nothing."""
    return f"{share:.0%}" if share == 0 or share >= 0.01 else "<1%"


def clock_time(seconds: float) -> str:
    """A time as one says it: `8 s`, `3 min 20 s`, `2 h 05 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole >= 100 * 86400:
        return "more than 100 days"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def brief(seconds: float) -> str:
    """A measured time: `0.021 s`, `3.4 s`, `3 min 20 s`."""
    if seconds >= 10:
        return clock_time(seconds)
    return f"{seconds:.2g} s" if seconds >= 0.001 else "under 0.001 s"


def time_range(low: float, high: float) -> str:
    """An estimated time as a range in one unit: `2 to 5 s`, `1 to 3 h`.

    Example:
        >>> time_range(130, 290)
        '2 to 5 min'
    """
    if high < 1:
        return "under 1 s"
    if low > 100 * 86400:
        return "more than 100 days"
    size, unit = next(
        (size, unit)
        for size, unit in ((86400, "days"), (3600, "h"), (60, "min"), (1, "s"))
        if high >= 1.5 * size or unit == "s"
    )
    first, last = _round(low / size), _round(high / size)
    return f"{first} to {last} {unit}" if first not in (last, "0") else f"about {last} {unit}"


def _round(x: float) -> str:
    """One digit below ten, two above."""
    if x < 1:
        return f"{x:.1g}" if x >= 0.05 else "0"
    return f"{float(f'{x:.1g}' if x < 10 else f'{x:.2g}'):,.0f}"
