"""Months and days of the week by name, in full or short, in seven languages: certain orders."""

from __future__ import annotations

from collections.abc import Mapping

MONTHS = tuple(
    names.split()
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
        "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
        "januari februari maart april mei juni juli augustus september oktober november december",
    )
)
DAYS = tuple(
    names.split()
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "lundi mardi mercredi jeudi vendredi samedi dimanche",
        "lunes martes miércoles jueves viernes sábado domingo",
        "lunedì martedì mercoledì giovedì venerdì sabato domenica",
        "segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado domingo",
        "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag",
    )
)
SHORTEST = 3
"""Letters of a short name; `mar` beside `june` is one, too."""


def in_order(plain: Mapping[str, str]) -> tuple[list[str], str] | None:
    """Levels in the order of the calendar, and what they are; None if they are no names of it.

    Args:
        plain: By level its text in lower case, without a full stop.
    """
    for languages, told in ((MONTHS, "months"), (DAYS, "days of the week")):
        for names in languages:
            places = {level: _place(text, names) for level, text in plain.items()}
            if None not in places.values() and len(set(places.values())) == len(places):
                return sorted(plain, key=lambda level: places[level] or 0), told
    return None


def _place(text: str, names: list[str]) -> int | None:
    """Which of the names a text is, or begins."""
    if text in names:
        return names.index(text)
    found = [i for i, name in enumerate(names) if name.startswith(text)] if len(text) >= SHORTEST else []
    return found[0] if len(found) == 1 else None
