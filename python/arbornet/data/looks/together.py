"""Findings that say the same of many columns as one: assays and questionnaires have hundreds of columns alike."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from arbornet.data.looks.finding import Finding
from arbornet.data.looks.odd_values import TAKES_THE_LIMIT

MANY = 4
"""So many columns are told of together."""
_MAY_MEAN = re.compile(r"holds (?P<words>.+) in [\d,]+ rows?(?P<rest>, which may mean missing.*)")
_READ = re.compile(r"holds words for a missing value in [\d,]+ rows?, which are read as missing")
_LIMITS = r"df.with_columns(pl.col(pl.String).str.replace(r'^\s*[<>=≤≥]+\s*(\d)', '${1}'))"


def together(found: Sequence[Finding]) -> list[Finding]:
    """The findings, where those that many columns share stand in the place of the first."""
    groups: dict[str, list[Finding]] = {}
    for one in found:
        if (key := _key(one)) is not None:
            groups.setdefault(key, []).append(one)
    large = {key: those for key, those in groups.items() if len(those) >= MANY}
    out = []
    for one in found:
        those = large.get(_key(one) or "")
        if those is None:
            out.append(one)
        elif one is those[0]:
            out.append(_joined(those))
    return out


def _key(one: Finding) -> str | None:
    """What findings that are told together share."""
    if TAKES_THE_LIMIT in one.mend:
        return "limits"
    if _READ.fullmatch(one.what):
        return "read"
    may_mean = _MAY_MEAN.fullmatch(one.what)
    return None if may_mean is None else may_mean["words"] + may_mean["rest"]


def _joined(those: Sequence[Finding]) -> Finding:
    n_rows = sum(one.how_many for one in those)
    told, mend = next(told for pattern, told in _TOLD if re.search(pattern, those[0].what + those[0].mend))(those)
    return Finding("", told, n_rows, mend)


def _of_limits(those: Sequence[Finding]) -> tuple[str, str]:
    first = those[0]
    what = f"{len(those)} columns hold numbers except for limits; {first.column!r} {first.what}"
    return what, f"{_LIMITS} {TAKES_THE_LIMIT} in all of them"


def _of_read(those: Sequence[Finding]) -> tuple[str, str]:
    what = f"{_columns(those)} hold words for a missing value, which are read as missing"
    return what, f"{those[0].mend} of the first"


def _of_words(those: Sequence[Finding]) -> tuple[str, str]:
    found = _MAY_MEAN.fullmatch(those[0].what)
    assert found is not None
    names = [one.column for one in those]
    mend = those[0].mend.replace(f"pl.col({names[0]!r})", f"pl.col({names!r})")
    return f"{_columns(those)} hold {found['words']}{found['rest']}", mend


def _columns(those: Sequence[Finding]) -> str:
    return f"{len(those)} columns, {those[0].column!r} to {those[-1].column!r},"


_TOLD: tuple[tuple[str, Callable[[Sequence[Finding]], tuple[str, str]]], ...] = (
    (re.escape(TAKES_THE_LIMIT), _of_limits),
    (_READ.pattern, _of_read),
    (_MAY_MEAN.pattern, _of_words),
)
