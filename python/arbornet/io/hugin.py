"""Networks of levels in Hugin's NET language (Hugin, SamIam, GeNIe, pgmpy, pyAgrum).

The language allows identifiers only as names of nodes. Any other name is written as the node's label, beside a made-up
identifier, and a remark in the file's head says so; only then are labels read as names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from arbornet._core import FormatError
from arbornet.io.bins import Bins
from arbornet.io.families import Family, families, network, numbers, text_of
from arbornet.io.parts import Parts
from arbornet.system.whole import write_whole

if TYPE_CHECKING:
    from arbornet.network import BayesNet

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}();=|])|([^\s{}();=|"%]+)|%[^\n]*|\s+', re.DOTALL)
IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
RESERVED = {"net", "node", "potential", "states", "label", "data", "position", "discrete", "continuous", "decision"}
LABELS = "labels_are_names"


def read(path: str | Path) -> Parts:
    """See `arbornet.read_net`."""
    return network(_Reader(text_of(path), str(path)).families(), str(path))


def to_net(net: BayesNet, path: str | Path | None, bins: Bins) -> str:
    """See `BayesNet.to_net`."""
    listed = families(net, bins, "NET")
    plain = all(IDENTIFIER.fullmatch(f.name) and f.name.lower() not in RESERVED for f in listed)
    ids = {f.name: f.name if plain else f"node_{v}" for v, f in enumerate(listed)}
    head = "net\n{\n}" if plain else f'net\n{{\n  {LABELS} = "yes";\n}}'
    lines = [head]
    for family in listed:
        levels = " ".join(map(_quoted, family.levels))
        label = "" if plain else f"  label = {_quoted(family.name)};\n"
        lines.append(f"node {ids[family.name]}\n{{\n{label}  states = ({levels});\n}}")
    for family in listed:
        given = " ".join(ids[p] for p in family.parents)
        rows = "\n    ".join(f"({' '.join(map(repr, row))})" for row in family.rows.tolist())
        data = f"({rows})" if family.parents else rows
        lines.append(f"potential ({ids[family.name]} | {given})\n{{\n  data = {data};\n}}")
    text = "\n".join(lines) + "\n"
    if path is not None:
        write_whole(path, text)
    return text


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """One pass over the words of a file; no recursion, nothing evaluated."""

    def __init__(self, text: str, origin: str) -> None:
        self.text = text
        self.origin = origin
        self.at = 0
        self.words = self._words()
        self.labels = False

    def families(self) -> list[Family]:
        """All nodes with their tables."""
        nodes: dict[str, tuple[str, list[str]]] = {}
        tables: dict[str, tuple[list[str], list[str]]] = {}
        for kind, quoted in self.words:
            if quoted:
                raise self.wrong(f"expected net, node or potential, not {kind!r}")
            if kind == "net":
                self.labels = LABELS in self.fields()
            elif kind in ("node", "discrete"):
                self.node(kind, nodes)
            elif kind == "potential":
                self.potential(nodes, tables)
            elif kind in ("continuous", "decision", "utility", "function", "class"):
                raise self.wrong(f"a {kind} node: only networks of levels can be read")
            else:
                raise self.wrong(f"expected net, node or potential, not {kind!r}")
        lacking = [name for name in nodes if name not in tables]
        if lacking:
            raise self.wrong(f"'{lacking[0]}' has no potential")
        out = []
        for node, (name, levels) in nodes.items():
            given, words = tables[node]
            table = numbers(words, name, len(levels), [len(nodes[p][1]) for p in given], self.origin)
            out.append(Family(name, levels, [nodes[p][0] for p in given], table))
        return out

    def node(self, kind: str, nodes: dict[str, tuple[str, list[str]]]) -> None:
        name = self.word()
        if kind == "discrete":
            if name != "node":
                raise self.wrong(f"expected 'discrete node', not 'discrete {name}'")
            name = self.word()
        fields = self.fields()
        levels = fields.get("states", [])
        if name in nodes or not levels or len(set(levels)) < len(levels):
            raise self.wrong(f"the node '{name}' is there twice, has no states, or one of them twice")
        label = fields.get("label", [])
        nodes[name] = (label[0] if self.labels and label else name, levels)

    def potential(self, nodes: Mapping[str, object], tables: dict[str, tuple[list[str], list[str]]]) -> None:
        self.expect("(")
        child, given = self.word(), []
        while (word := self.word()) != ")":
            if word != "|":
                given.append(word)
        unknown = [name for name in (child, *given) if name not in nodes]
        if unknown or child in tables:
            problem = f"'{unknown[0]}' is not a node" if unknown else f"'{child}' has two potentials"
            raise self.wrong(problem)
        fields = self.fields()
        if "data" not in fields:
            raise self.wrong(f"the potential of '{child}' has no data")
        tables[child] = (given, fields["data"])

    def fields(self) -> dict[str, list[str]]:
        """`{ key = words; ... }`, brackets within the words left out."""
        self.expect("{")
        fields: dict[str, list[str]] = {}
        while (key := self.word()) != "}":
            self.expect("=")
            words: list[str] = []
            for word, quoted in self.words:
                if word == ";" and not quoted:
                    break
                if quoted or word not in ("(", ")"):
                    words.append(word)
            else:
                raise self.wrong(f"'{key}' does not end with ';'")
            fields[key] = words
        return fields

    def word(self) -> str:
        word, _ = next(self.words, (None, False))
        if word is None:
            raise self.wrong("the file ends too early")
        return word

    def expect(self, mark: str) -> None:
        word = self.word()
        if word != mark:
            raise self.wrong(f"'{mark}' is missing, there is {word!r}")

    def wrong(self, problem: str) -> FormatError:
        return FormatError(f"{self.origin}, line {self.text.count(chr(10), 0, self.at) + 1}: {problem}")

    def _words(self) -> Iterator[tuple[str, bool]]:
        """The words and marks, and whether a word was in quotation marks."""
        while self.at < len(self.text):
            match = TOKEN.match(self.text, self.at)
            if match is None:
                raise self.wrong("a quotation mark is not closed")
            self.at = match.end()
            if match[1] is not None:
                yield re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL), True
            elif match[2] or match[3]:
                yield match[2] or match[3], False
