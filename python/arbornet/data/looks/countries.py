"""Codes of countries (ISO 3166-1 alpha-2), of which one, Namibia's, is the word for a missing value in most readers."""

from __future__ import annotations

from collections.abc import Iterator

from arbornet.data.looks.finding import Finding
from arbornet.data.looks.seen import Seen
from arbornet.text.terminal import several

_ALL = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA "
    "GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP "
    "KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS "
    "MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS "
    "RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW "
    "TZ UA UG UK UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW XK EL"
)
CODES = frozenset(_ALL.split())
"""With those that are used beside it: UK, EL (Greece) and XK (Kosovo)."""
NAMES = frozenset(
    {"country", "countries", "nation", "nationality", "iso", "land", "pays", "pais", "cc", "origin", "destination"}
)
FEWEST = 5


def are_countries(seen: Seen) -> bool:
    """Whether texts are codes of countries: all known, and the name says so or there are very many."""
    levels = seen.values.to_list()
    return len(levels) >= FEWEST and CODES.issuperset(levels) and (seen.has(NAMES) or len(levels) > len(CODES) / 3)


def namibia(seen: Seen) -> Iterator[Finding]:
    """That rows without a country may be of Namibia."""
    if seen.n_missing and "NA" not in seen.values and are_countries(seen):
        told = f"holds codes of countries, and none in {several(seen.n_missing, 'row')}, which may be Namibia, 'NA'"
        yield Finding(seen.name, told, seen.n_missing, "if the file says NA there: an.read(path, null_values=[''])")
