"""Lines of Polars in the advice of findings, as options of the shell; where there is none, what to do in the file."""

from __future__ import annotations

import ast
import re

from arbornet.text.lines_of_code import end_of_line

_DOES = re.compile(
    r" (?P<what>keeps one of each|leaves (?:it|them) out|shows the rows|makes (?:it|them) missing|keeps [^;,\n]*)"
)


def in_options(message: str) -> str:
    """A message in which lines such as `df.with_columns(...)` are options."""
    at = message.find("df.")
    while at >= 0:
        end = end_of_line(message, at)
        does = _DOES.match(message, end) if end else None
        option = _option(message[at:end], "" if does is None else does["what"]) if end else None
        if option is None:
            at = message.find("df.", at + 1)
            continue
        text, says_what = option
        rest = message[does.end() if does is not None and says_what else end :]
        message = message[:at] + text + rest
        at = message.find("df.", at + len(text))
    return message


def _option(code: str, does: str) -> tuple[str, bool] | None:
    """A line of code as options, and whether these words already say what it does."""
    call = ast.parse(code, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == "unique":
        return "keep one row of each in the file", True
    if call.func.attr in ("head", "slice"):
        return f"delete {'them' if 'them' in does else 'it'} in the file", True
    if call.func.attr == "transpose":
        return "exchange rows and columns in the file", False
    if call.func.attr == "filter":
        return "see those rows in the file", True
    if call.func.attr != "with_columns" or not call.args:
        return None
    names = next(filter(None, map(_columns, ast.walk(call))), None)
    name = None if names is None else names[0]
    inner = call.args[0]
    if names is None or name is None:
        return "deleting these signs in the file", False
    if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and isinstance(inner.func.value, ast.Call):
        if inner.func.attr == "replace":
            return " ".join(_of_replace(each, inner) for each in names), False
        if inner.func.attr == "cast" and not inner.keywords:
            return f"--set {quoted(f'{name}=categorical')}", False
    if does.startswith("makes"):
        return f"empty such fields of '{name}' in the file, which {does}", True
    return f"a column made from '{name}' in the file {does}" if does else f"change '{name}' in the file", True


def _of_replace(name: str, call: ast.Call) -> str:
    """A replacement of values."""
    what = ast.literal_eval(call.args[0])
    if isinstance(what, dict):
        return " ".join(f"--replace {quoted(f'{name}={old}->{new}')}" for old, new in what.items())
    values = [str(value) for value in (what if isinstance(what, list) else [what])]
    if any("," in value or value != value.strip() for value in values):
        return " ".join(f"--missing-values {quoted(f'{name}={value}')}" for value in values)
    return f"--missing-values {quoted(f'{name}=' + ','.join(values))}"


def _columns(node: ast.AST) -> list[str] | None:
    """The names in `pl.col("name")` or `pl.col(["one", "other"])`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "col"):
        return None
    try:
        names = ast.literal_eval(node.args[0])
    except ValueError:  # a type
        return None
    return names if isinstance(names, list) else [str(names)]


def quoted(text: str) -> str:
    """A text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
