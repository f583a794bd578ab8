"""Networks of levels as XMLBIF 0.3 (JavaBayes, Weka, SamIam, pgmpy; pyAgrum's `.bifxml`).

Files are read with expat, one pass, nothing kept but the words that count. A document type may be there, as Weka writes
it, but whatever could expand or fetch something is refused: no entity is ever declared, expanded or loaded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from arbornet._core import FormatError
from arbornet.io.bins import Bins
from arbornet.io.families import Family, families, network, numbers, text_of
from arbornet.io.parts import Parts
from arbornet.io.xml import checked
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from arbornet.network import BayesNet

DEEPEST = 20
"""How deeply elements may be nested; the format itself needs five."""
WORDS = {"NAME", "OUTCOME", "VALUE", "FOR", "GIVEN", "TABLE"}


def read(path: str | Path) -> Parts:
    """See `arbornet.read_xmlbif`."""
    origin = str(path)
    variables, definitions = _parsed(text_of(path), origin)
    levels = dict(variables)
    tables = {}
    for child, given, words in definitions:
        if child not in levels or child in tables:
            problem = "twice" if child in tables else "but no variable"
            raise FormatError(f"{origin}: '{child}' is defined {problem}")
        unknown = [p for p in given if p not in levels]
        if unknown:
            raise FormatError(f"{origin}: '{child}' has the parent '{unknown[0]}', which is not a variable")
        sizes = [len(levels[p]) for p in given]
        tables[child] = (given, numbers(words, child, len(levels[child]), sizes, origin))
    lacking = [name for name, _ in variables if name not in tables]
    if lacking:
        raise FormatError(f"{origin}: '{lacking[0]}' has no definition")
    return network([Family(name, outcomes, *tables[name]) for name, outcomes in variables], origin)


def to_xmlbif(net: BayesNet, path: str | Path | None, bins: Bins) -> str:
    """See `BayesNet.to_xmlbif`."""
    listed = families(net, bins, "XMLBIF")
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>network</NAME>"]
    for family in listed:
        lines += ['<VARIABLE TYPE="nature">', _told("NAME", family.name)]
        lines += [*(_told("OUTCOME", level) for level in family.levels), "</VARIABLE>"]
    for family in listed:
        lines += ["<DEFINITION>", _told("FOR", family.name), *(_told("GIVEN", p) for p in family.parents)]
        lines += ["<TABLE>", *(" ".join(map(repr, row)) for row in family.rows.tolist()), "</TABLE>", "</DEFINITION>"]
    text = "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"
    if path is not None:
        write_whole(path, text)
    return text


def _told(tag: str, text: str) -> str:
    checked(text)
    # Blanks at the ends, which readers strip, and line breaks, which they turn, are kept where they are a name's own.
    kept = f" xml:space={quoteattr('preserve')}" if text != " ".join(text.split()) else ""
    return f"<{tag}{kept}>{escape(text, {chr(13): '&#13;'})}</{tag}>"


def _parsed(text: str, origin: str) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str], list[str]]]]:
    """Variables with their levels, and definitions with parents and the words of their tables."""
    variables: list[tuple[str, list[str]]] = []
    definitions: list[tuple[str, list[str], list[str]]] = []
    path: list[str] = []
    here: dict[str, list[str]] = {}
    pieces: list[str] = []
    preserve = False
    parser = expat.ParserCreate()

    def wrong(problem: str) -> FormatError:
        return FormatError(f"{origin}, line {parser.CurrentLineNumber}: {problem}")

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal preserve
        path.append(tag.upper())
        if len(path) > DEEPEST:
            raise wrong("elements are nested too deeply for XMLBIF")
        if len(path) == 1 and path[0] != "BIF":
            raise wrong(f"this is not XMLBIF: it starts with <{tag}>")
        if path[-1] in ("VARIABLE", "DEFINITION"):
            here.clear()
        preserve = attributes.get("xml:space") == "preserve"
        pieces.clear()

    def end(_: str) -> None:
        tag = path.pop()
        word = "".join(pieces)
        if tag in WORDS and path[-1:] in (["VARIABLE"], ["DEFINITION"]):
            here.setdefault("OUTCOME" if tag == "VALUE" else tag, []).append(word if preserve else word.strip())
        elif tag == "VARIABLE":
            variables.append((_only(here, "NAME"), _levels(here)))
        elif tag == "DEFINITION":
            table = _only(here, "TABLE").split()
            definitions.append((_only(here, "FOR"), here.get("GIVEN", []), table))
        pieces.clear()

    def _only(told: dict[str, list[str]], tag: str) -> str:
        words = told.get(tag, [])
        if len(words) != 1:
            raise wrong(f"a variable or definition has {len(words)} <{tag}>, where one is expected")
        return words[0]

    def _levels(told: dict[str, list[str]]) -> list[str]:
        words = told.get("OUTCOME", [])
        if not words or len(set(words)) < len(words):
            raise wrong("a variable has no <OUTCOME>, or one of them twice")
        return words

    def refuse(*_: Any) -> Any:
        raise wrong("it declares or uses an entity, which no network needs; nothing of it was read")

    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = pieces.append
    parser.EntityDeclHandler = parser.UnparsedEntityDeclHandler = parser.ExternalEntityRefHandler = refuse
    parser.SkippedEntityHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(f"{origin}, line {error.lineno}: not XML: {expat.errors.messages[error.code]}") from error
    return variables, definitions
