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

SAID_MISSING = (
    "", "NA", "N/A", "n/a", "na", "N.A.", "NaN", "nan", "NAN", "null", "NULL", "Null", "#N/A", "#NULL!", "None", "none",
    "NONE", "?", "-", "--", "---", ".", "..", "*", "missing", "Missing", "unknown", "Unknown", "UNKNOWN",
    "not available", "Not Available", "(blank)", "nil", "NIL", "TBD", "tbd",
)  # fmt: skip
"""Texts that mean a missing value in a column of numbers or dates."""


def words(name: str) -> frozenset[str]:
    """The words of a name in lower case: `patientID_2` has `patient` and `id`."""
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    parted = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1 \2", parted)
    return frozenset(re.findall(r"[a-z]+", parted.lower()))
