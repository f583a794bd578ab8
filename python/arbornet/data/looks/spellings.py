"""Yes and no, female and male, each written in several ways: `Y`, `yes`, `TRUE`; `m`, `Male`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_PAIRS: tuple[tuple[str, tuple[str, ...], str, tuple[str, ...]], ...] = (
    (
        "yes",
        ("y", "yes", "yeah", "t", "true", "1", "ja", "j", "oui", "o", "si", "sí", "s", "sim", "wahr", "vrai", "x"),
        "no",
        ("n", "no", "nope", "f", "false", "0", "nein", "non", "não", "nao", "nee", "falsch", "faux"),
    ),
    (
        "female",
        ("f", "female", "fem", "w", "woman", "women", "weiblich", "frau", "femme", "féminin", "mujer", "femenino"),
        "male",
        ("m", "male", "man", "men", "männlich", "maennlich", "mann", "h", "homme", "masculin", "hombre", "masculino"),
    ),
)


def both_alike(groups: Sequence[Sequence[str]], counts: Mapping[str, int]) -> tuple[str, str]:
    """A level for each of two groups, both written in one way if there are such, by how often they occur."""
    pairs = [(a, b) for a in groups[0] for b in groups[1]]
    return max(pairs, key=lambda pair: (_style(pair[0]) == _style(pair[1]), counts[pair[0]] + counts[pair[1]]))


def _style(level: str) -> tuple[bool, bool, bool, bool]:
    bare = level.strip()
    return len(bare) == 1, bare.isupper(), bare.istitle(), bare == level


def spellings(levels: Sequence[str]) -> tuple[str, list[list[str]]] | None:
    """What levels say in several ways, if they say nothing but that: `yes and no`, and the groups of levels.

    Args:
        levels: The levels, without words for a missing value.
    """
    plain = {level: level.strip().rstrip(".").casefold() for level in levels}
    for one, ones, other, others in _PAIRS:
        both: tuple[tuple[str, ...], ...] = (ones, others)
        groups = [[level for level in levels if plain[level] in words] for words in both]
        if all(groups) and sum(map(len, groups)) == len(levels):
            several = any(len({plain[level] for level in group}) > 1 for group in groups)
            return (f"{one} and {other}", groups) if several else None
    return None
