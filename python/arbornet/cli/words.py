"""Words of a command line as objects: types, scores, arcs, values. Nothing of it is ever evaluated as code."""

from __future__ import annotations

import ast
import dataclasses
import datetime as dt
import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any

import arbornet as an
from arbornet import ArbornetError, ParameterError, scores


def typed(schema: an.Schema, settings: Iterable[str]) -> an.Schema:
    """The schema with the types of `NAME=TYPE` texts."""
    kinds: dict[str, Any] = {}
    forms: dict[str, str] = {}
    for setting in settings:
        # A name may hold an equals sign, a type's word may not: the last "=" before a known word parts them.
        name, _, kind = setting.partition("=")
        while kind and name not in schema and "=" in kind:
            more, _, kind = kind.partition("=")
            name = f"{name}={more}"
        word, _, rest = kind.partition(":")
        if word == "leave-out":
            schema = schema.without(name)
        elif word == "written":
            forms[name] = rest
        else:
            kinds[name] = _kind(setting, word, rest)
    schema = schema.with_types(kinds) if kinds else schema
    return schema.with_forms(forms) if forms else schema


def _kind(setting: str, word: str, rest: str) -> Any:
    levels = [level.strip() for level in rest.split(",")] if rest else None
    if word == "continuous" and not rest:
        return an.Continuous()
    if word == "logarithmic" and not rest:
        return an.Continuous(scale="log")
    if word == "normal-scores" and not rest:
        return an.Continuous(scale="normal_scores")
    if word == "counts" and not rest:
        return an.Continuous(leaf="counts")
    if word == "histogram" and not rest:
        return an.Continuous(leaf="histogram")
    if word == "point-mass" and rest:
        return an.Continuous(point=_point(setting, rest))
    if word == "categorical":
        return an.Categorical(levels)
    if word == "ordinal":
        return an.Ordinal(levels)
    if word == "binned":
        return _binned(setting, rest)
    raise ParameterError(
        f"--set {setting!r}: write NAME=continuous, NAME=logarithmic, NAME=normal-scores, NAME=counts, "
        "NAME=histogram, NAME=categorical, NAME=ordinal:low,high, NAME=point-mass:0, NAME=binned:5, "
        "NAME=written:%d/%m/%Y or NAME=leave-out"
    )


def _point(setting: str, rest: str) -> float:
    """The number that many rows share."""
    try:
        return float(rest)
    except ValueError:
        raise ParameterError(f"--set {setting!r}: write a number, as in NAME=point-mass:0") from None


def _binned(setting: str, rest: str) -> Any:
    """Bins: how many, or between which cuts."""
    if not rest or _is_count(rest):
        return an.Binned(int(rest)) if rest else an.Binned()
    try:
        return an.Binned(cuts=tuple(float(cut) for cut in rest.split(",")))
    except ValueError as error:
        told = f" ({error})" if isinstance(error, ParameterError) else ""
        raise ParameterError(
            f"--set {setting!r}: binned takes a number of bins, as in binned:5, or cuts, as in binned:18.5,25,30{told}"
        ) from None


LONGEST = 10_000
"""Characters of a score; more is a mistake, and takes brackets deeper than Python reads."""
SHORT = {
    "cg": an.ConditionalGaussian(),
    "cgd": an.ConditionalGaussian(discretise=True),
    "dg": an.DegenerateGaussian(),
    "bg": an.BlockGaussian(),
    "bf": an.BasisFunctions(),
    "mvp": an.MixedPolynomial(),
    "lr": an.LogisticRegression(),
    "mn": an.Multinomial(),
}
"""Names of the scores for mixed tables in the literature."""


def score(text: str) -> Any:
    """A score written as in Python: `PCART`, `BDeu(10)`, `BIC(prior=EBIC(0.5))`; or in short: `cg`, `dg`.

    Raises:
        ParameterError: If there is no such score, or it does not take these parameters.
    """
    if len(text) > LONGEST:
        raise ParameterError(f"--score {text[:40]!r}...: no score takes {len(text):,} characters to write")
    if text.strip().lower() in SHORT:
        return SHORT[text.strip().lower()]
    try:
        return _called(ast.parse(_named(text.strip()), mode="eval").body, text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # too many brackets, too long a number
        if isinstance(error, ArbornetError):  # it says what is wrong already
            raise
        raise ParameterError(f"--score {text!r}: write a score's name and parameters, such as 'BDeu(ess=10)'") from None


def chosen(said: str | None, leaf: Any, default: str | None = None) -> Any:
    """The score that `--score` and `--leaf` say together; None, or the default, where neither says any.

    Raises:
        ParameterError: If there is no such score, or its leaves cannot be chosen.
    """
    text = said or (default if leaf is None else "PCART()")
    if text is None:
        return None
    found = score(text)
    if leaf is None:
        return found
    if not isinstance(found, scores.PCART):
        raise ParameterError(f"--leaf {leaf}: only trees have such leaves; leave out --score {text!r}, or take PCART()")
    return dataclasses.replace(found, leaf=leaf)


def _named(text: str) -> str:
    """The text with its score's name as Python has it: DecisionGraph for `decision-graph`."""
    word = re.match(r"[A-Za-z][\w-]*", text)
    if word is None:
        return text
    plain = {name.lower(): name for name in known_scores()}
    name = plain.get(word[0].replace("-", "").replace("_", "").lower())
    return text if name is None else name + text[word.end() :]


def known_scores() -> dict[str, type]:
    """The scores by name."""
    return {name: made for name, made in _dataclasses(scores).items() if hasattr(made, "spec")}


def _dataclasses(module: Any) -> dict[str, type]:
    members = inspect.getmembers(module, inspect.isclass)
    return {name: made for name, made in members if not name.startswith("_") and dataclasses.is_dataclass(made)}


def _called(node: ast.expr, text: str) -> Any:
    function = node.func if isinstance(node, ast.Call) else node
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)
    made = {**_dataclasses(scores), **_dataclasses(getattr(an, "priors", None))}.get(name or "")
    if made is None:
        known = ", ".join(known_scores())
        raise ParameterError(f"--score {text!r}: there is no score {name or text!r}; there are {known}")

    def value(argument: ast.expr) -> Any:
        if isinstance(argument, ast.Call | ast.Attribute | ast.Name):
            return _called(argument, text)
        try:
            return ast.literal_eval(argument)
        except (ValueError, TypeError):  # a name, or a dict or set of lists
            raise ParameterError(f"--score {text!r}: parameters are numbers, texts, True, False or None") from None

    call = node if isinstance(node, ast.Call) else ast.Call(node, [], [])
    keywords = {keyword.arg or "": value(keyword.value) for keyword in call.keywords}
    arguments = [value(argument) for argument in call.args]
    try:
        return made(*arguments, **keywords)
    except TypeError as error:
        raise ParameterError(f"--score {text!r}: {error}; it is {name}{inspect.signature(made)}") from None


def constraints(required: Sequence[str], forbidden: Sequence[str], tiers: Sequence[str]) -> an.Constraints | None:
    """Constraints from arcs written `A -> B` and tiers written `A,B`; None without any."""
    if not (required or forbidden or tiers):
        return None
    return an.Constraints(
        required=[_arc(text) for text in required],
        forbidden=[_arc(text) for text in forbidden],
        tiers=[[name.strip() for name in tier.split(",")] for tier in tiers],
    )


def _arc(text: str) -> tuple[str, str]:
    parent, arrow, child = text.partition("->")
    if not arrow or not parent.strip() or not child.strip():
        raise ParameterError(f"{text!r} is not an arc; write 'parent -> child', in quotes")
    return parent.strip(), child.strip()


def max_parents(text: str) -> Any:
    """A number, or "auto".

    Raises:
        ParameterError: If it is neither.
    """
    if text == "auto":
        return text
    if not _is_count(text) or len(text) > 9:
        raise ParameterError(f"--max-parents {text!r}: give a whole number or 'auto'")
    return int(text)


def _is_count(text: str) -> bool:
    """Whether a text is a whole number in the digits 0 to 9: Python does not read others, such as a raised 2."""
    return text.isascii() and text.isdigit()


def assignments(schema: an.Schema, texts: Iterable[str]) -> dict[str, Any]:
    """Values written `NAME=VALUE`, as the variables' own values; `NAME=LOW..HIGH` and `NAME=A,B` where it is several.

    Raises:
        ParameterError: If a text is not of this form, or a value not one its variable can have.
    """
    out: dict[str, Any] = {}
    for text in texts:
        parts = text.split("=")
        splits = [("=".join(parts[:i]), "=".join(parts[i:])) for i in range(1, len(parts))]
        name, value = next((pair for pair in splits if pair[0] in schema), (text, None))
        if value is None:
            raise ParameterError(f"{text!r} sets no variable; write NAME=VALUE, NAME one of {', '.join(schema.names)}")
        out[name] = _own_value(schema[name], value)
    return out


def _own_value(column: Any, text: str) -> Any:
    if column.levels is None:
        return _number_or_interval(column, text)
    known = {str(level): level for level in column.levels}
    if text in known:
        return known[text]
    several = [part.strip() for part in text.split(",")]
    if all(part in known for part in several):
        return [known[part] for part in several]
    if isinstance(column.kind, an.Binned):
        return _number_or_interval(column, text)
    raise ParameterError(f"{text!r} is not a level of '{column.name}': {', '.join(map(str, column.levels))}")


def _number_or_interval(column: Any, text: str) -> Any:
    low, dots, high = text.partition("..")
    ends = [None if dots and not end else _number(column, end) for end in ((low, high) if dots else (text,))]
    return tuple(ends) if dots else ends[0]


def _number(column: Any, text: str) -> Any:
    moments = {"date": dt.date.fromisoformat, "datetime": dt.datetime.fromisoformat}
    try:
        return moments.get(column.class_, float)(text)
    except ValueError:
        if column.form is not None:
            return text  # read by the form, as the column's own texts are
        if column.class_ in moments:
            raise ParameterError(f"'{column.name}' is a {column.class_}, not {text!r}; write 2021-03-04") from None
        raise ParameterError(f"'{column.name}' is a number, not {text!r}; an interval is written 50..60") from None
