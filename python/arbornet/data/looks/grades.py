"""Grades: levels whose words imply an order.

Taken by default where the order is certain: numbered words (`1. < HS Grad`), Roman numerals, intervals of numbers
(`18-24`), months and weekdays by name, and answers of questionnaires (strongly disagree to
strongly agree). Other known scales of words (low, medium, high; never, sometimes, often; Ex, Gd, TA, Fa, Po) are a hint
with the line of code to use, as a word may mean something else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from arbornet.data.looks import intervals, names_of_time

_ROMAN = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"]
_NUMBERED = re.compile(
    r"\(?(\d{1,2})(?:[.):]\s*|\s+-\s+|\s*=\s*)\D.*|(?:grade|stage|level|class|phase|type|tier|grp|group)\s*(\d{1,2})",
    re.IGNORECASE,
)
_STAGED = re.compile(r"(?:grade|stage|level|class|phase|tier)\s+([IVX]+)", re.IGNORECASE)

SCALES: tuple[tuple[str, ...], ...] = (
    ("very low", "low", "medium", "high", "very high"),
    ("low", "moderate", "high"),
    ("low", "mid", "high"),
    ("low", "med", "high", "vhigh"),
    ("none", "low", "mild", "moderate", "severe", "very severe"),
    ("never", "rarely", "seldom", "occasionally", "sometimes", "often", "usually", "frequently", "always"),
    ("none", "few", "some", "many", "most", "all"),
    ("completely disagree", "strongly disagree", "disagree", "moderately disagree", "somewhat disagree",
     "slightly disagree", "neutral", "undecided", "neither", "neither agree nor disagree", "slightly agree",
     "somewhat agree", "moderately agree", "agree", "strongly agree", "completely agree"),
    ("extremely dissatisfied", "very dissatisfied", "dissatisfied", "somewhat dissatisfied", "slightly dissatisfied",
     "neutral", "neither satisfied nor dissatisfied", "slightly satisfied", "somewhat satisfied", "satisfied",
     "very satisfied", "extremely satisfied"),
    ("extremely unlikely", "very unlikely", "unlikely", "somewhat unlikely", "slightly unlikely", "neutral",
     "neither likely nor unlikely", "slightly likely", "somewhat likely", "likely", "very likely", "extremely likely"),
    ("not at all", "a little", "somewhat", "quite a bit", "very much"),
    ("not at all important", "slightly important", "moderately important", "important", "very important",
     "extremely important"),
    ("terrible", "bad", "poor", "fair", "average", "good", "very good", "excellent"),
    ("po", "fa", "ta", "gd", "ex"),
    ("xs", "s", "m", "l", "xl", "xxl", "xxxl"),
    ("small", "medium", "large", "extra large"),
    ("small", "med", "big"),
    ("fair", "good", "very good", "premium", "ideal"),
    ("beginner", "intermediate", "advanced", "expert"),
    ("first", "second", "third", "fourth", "fifth", "sixth"),
    ("cold", "cool", "mild", "warm", "hot"),
    ("young", "middle", "old"),
    ("slow", "normal", "fast"),
    ("absent", "present"),
    ("nie", "selten", "gelegentlich", "manchmal", "oft", "häufig", "meistens", "immer"),
    ("sehr niedrig", "niedrig", "mittel", "hoch", "sehr hoch"),
    ("sehr unzufrieden", "unzufrieden", "eher unzufrieden", "teils/teils", "neutral", "eher zufrieden", "zufrieden",
     "sehr zufrieden"),
    ("stimme gar nicht zu", "stimme überhaupt nicht zu", "stimme nicht zu", "stimme eher nicht zu", "teils/teils",
     "neutral", "weder noch", "stimme eher zu", "stimme zu", "stimme voll zu", "stimme voll und ganz zu"),
    ("trifft gar nicht zu", "trifft überhaupt nicht zu", "trifft nicht zu", "trifft eher nicht zu", "teils/teils",
     "trifft eher zu", "trifft zu", "trifft voll zu", "trifft voll und ganz zu"),
    ("ungenügend", "mangelhaft", "ausreichend", "befriedigend", "gut", "sehr gut"),
    ("sehr schlecht", "schlecht", "mittelmäßig", "mittel", "gut", "sehr gut"),
    ("jamais", "rarement", "parfois", "quelquefois", "souvent", "toujours"),
    ("faible", "moyen", "élevé"),
    ("pas du tout d'accord", "plutôt pas d'accord", "pas d'accord", "ni d'accord ni pas d'accord",
     "ni en accord ni en désaccord", "plutôt d'accord", "d'accord", "tout à fait d'accord"),
    ("pas du tout satisfait", "très insatisfait", "insatisfait", "plutôt insatisfait", "neutre", "plutôt satisfait",
     "satisfait", "très satisfait"),
    ("nunca", "raramente", "rara vez", "a veces", "algunas veces", "a menudo", "casi siempre", "siempre"),
    ("muy bajo", "bajo", "medio", "alto", "muy alto"),
    ("totalmente en desacuerdo", "muy en desacuerdo", "en desacuerdo", "ni de acuerdo ni en desacuerdo", "neutral",
     "de acuerdo", "muy de acuerdo", "totalmente de acuerdo"),
    ("muy insatisfecho", "insatisfecho", "neutral", "satisfecho", "muy satisfecho"),
    ("mai", "raramente", "qualche volta", "talvolta", "a volte", "spesso", "sempre"),
    ("nunca", "raramente", "às vezes", "frequentemente", "sempre"),
    ("discordo totalmente", "discordo", "neutro", "não concordo nem discordo", "concordo", "concordo totalmente"),
    ("nooit", "zelden", "soms", "vaak", "altijd"),
)  # fmt: skip


SURE = re.compile(
    r"(strongly|completely|somewhat|slightly|moderately) (dis)?agree|"
    r"(very|extremely|somewhat|slightly) (dis)?satisfied|"
    r"(very|extremely|somewhat|slightly) (un)?likely|"
    r"(not at all|slightly|moderately|very|extremely) important|"
    r"stimme .*zu|trifft .*zu|(sehr|eher) (un)?zufrieden|"
    r"(pas|plutôt|tout à fait) .*d'accord|(très|plutôt) (in)?satisfait|"
    r"(totalmente|muy) (en des|de )acuerdo|muy (in)?satisfecho|(dis|con)cordo totalmente"
)
"""Answers of questionnaires: a scale that has two of them is no other thing."""


def certain_order(texts: Sequence[str]) -> tuple[list[str], str] | None:
    """Levels in the order that their words imply, and what implies it; None if it is not certain."""
    plain = {text: text.strip().lower().rstrip(".") for text in texts}
    if len(texts) < 3:
        return None
    if (roman := _ranked(plain, _ROMAN)) is not None and len(
        {p for p in plain.values() if len(p) > 1 or p in "iv"}
    ) >= 3:
        return roman, "Roman numerals"
    if (calendar := names_of_time.in_order(plain)) is not None:
        return calendar
    if (order := intervals.in_order(texts)) is not None:
        return order, "intervals of numbers"
    answers = likely_order(texts)
    if answers is not None and sum(SURE.fullmatch(_bare(text)) is not None for text in answers) >= 2:
        return answers, "answers of a scale"
    for pattern, told in ((_NUMBERED, "numbered words"), (_STAGED, "Roman numerals")):
        found = {text: pattern.fullmatch(text.strip()) for text in texts}
        if all(found.values()):
            keys = {text: _number(match) for text, match in found.items() if match is not None}
            if None not in keys.values() and len(set(keys.values())) == len(keys):
                return sorted(texts, key=lambda text: keys[text] or 0), told
    return None


def likely_order(texts: Sequence[str]) -> list[str] | None:
    """Levels in the order of a known scale of words; None if they fit no scale."""
    plain = {text: _bare(text) for text in texts}
    if len(texts) < 3:
        return None
    return next((order for scale in SCALES if (order := _ranked(plain, scale)) is not None), None)


def _bare(text: str) -> str:
    return text.strip().lower().replace("’", "'")


def _ranked(plain: dict[str, str], ranks: Sequence[str]) -> list[str] | None:
    if len(set(plain.values())) < len(plain) or not set(plain.values()) <= set(ranks):
        return None
    return sorted(plain, key=lambda text: ranks.index(plain[text]))


def _number(match: re.Match[str]) -> int | None:
    said = next((group for group in match.groups() if group), "")
    if said.isdigit():
        return int(said)
    return _ROMAN.index(said.lower()) + 1 if said.lower() in _ROMAN else None
