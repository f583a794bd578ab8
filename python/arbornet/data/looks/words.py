"""The words of a column's name, and the words that stand for a missing value.

A name is evidence, never proof: every rule that uses a word of the name also uses the values.
"""

from __future__ import annotations

import re

ID = frozenset({
    "id", "ids", "identifier", "uuid", "guid", "key", "index", "idx", "rowid", "rownum", "rowname", "rownames",
    "pk", "seqn",
})  # fmt: skip
PERSON = frozenset({"patient", "subject", "participant", "respondent", "person", "customer", "member", "user", "case"})
CODE = frozenset(
    {"code", "codes", "zip", "zipcode", "postcode", "postal", "fips", "icd", "naics", "sic", "isbn", "phone"}
)
LABEL = frozenset({"status", "class", "type", "category", "group", "label", "cluster", "species"})
DATE = frozenset({"date", "day", "time", "timestamp", "datetime", "dob", "dt", "created", "updated", "when", "month"})
YEAR = frozenset({"year", "yr", "years", "yyyy"})

_ID_JOINED = re.compile(
    r"(?:case|subj|subject|pat|patient|person|participant|resp|respondent|interview|record|rec|row|study|survey|panel|"
    r"hh|hhd|household|family|child|mother|student|pupil|school|user|customer|client|member|account|employee|emp|order|"
    r"sample|specimen|animal|unique|serial|u|p)[ _.-]?(?:id|ident|no|nr|num|number)|"
    r"id[ _.-]?(?:no|nr|num|number|code)|serial"
)
"""Names of identifiers in one word, or with a number's: `caseid`, `case no`, `idno`."""

SAID_MISSING = (
    "", "NA", "N/A", "n/a", "na", "N.A.", "NaN", "nan", "NAN", "null", "NULL", "Null", "#N/A", "#NULL!", "None", "none",
    "NONE", "?", "-", "--", "---", ".", "..", "*", "missing", "Missing", "unknown", "Unknown", "UNKNOWN",
    "not available", "Not Available", "(blank)", "nil", "NIL", "TBD", "tbd", "k.A.", "k. A.", "k.a.", "k. a.",
    "keine Angabe", "unbekannt", "Unbekannt", "n.d.", "N.D.", "n/d", "N/D", "inconnu", "Inconnu", "desconocido",
    "Desconocido", "sconosciuto", "onbekend", "prefer not to say", "Prefer not to say", "refused", "Refused",
    "not applicable", "Not applicable",
)  # fmt: skip
"""Texts that mean a missing value in a column of numbers or dates."""


def is_joined_id(name: str) -> bool:
    """Whether a name joins a word for a person or a thing with one for an identifier or a number: `CaseNo`."""
    return _ID_JOINED.fullmatch(name.strip().lower()) is not None


def words(name: str) -> frozenset[str]:
    """The words of a name in lower case: `patientID_2` has `patient` and `id`."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", parted)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))
