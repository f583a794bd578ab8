"""The advice of messages in options of the shell: `--unseen missing` where Python has `unseen='missing'`."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from arbornet.cli.polars_lines import in_options, quoted


def _set(name: str, kind: str) -> str:
    """The option that declares a column, whose name is as in a line of Python."""
    named = ast.literal_eval(name) if name[0] in "'\"" else name
    return f"--set {quoted(f'{named}={kind}')}"


def _levels(found: re.Match[str]) -> str:
    return _set(found["name"], "ordinal:" + ",".join(map(str, ast.literal_eval(f"[{found['levels']}]"))))


def _written(found: re.Match[str]) -> str:
    return _set(found["name"], f"written:{found['form']}")


def _kind(found: re.Match[str]) -> str:
    return _set(found["name"], found["kind"])


def _merged(found: re.Match[str]) -> str:
    name = found["name"]
    return f"merge the rarest levels of '{ast.literal_eval(name) if name[0] in QUOTES else name}' in the file"


def _left_out(found: re.Match[str]) -> str:
    return " ".join(_set(name, "leave-out") for name in re.findall(_TEXT, found["names"]))


def _grouped(found: re.Match[str]) -> str:
    option = f"--groups {quoted(ast.literal_eval(found['name']))} of `arbornet evaluate`"
    return f"{option} and `learn --bootstrap`" if found["arcs"] else option


def _weighed(found: re.Match[str]) -> str:
    return f"--weights {quoted(ast.literal_eval(found['name']))}"


def _kept(found: re.Match[str]) -> str:
    return f"{_set(found['name'], 'categorical')} (or continuous, or ordinal) keeps one"


QUOTES = "'\""
_TEXT = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
"""A text as Python writes it."""
_NAME = rf"\{{?(?P<name>\w+|{_TEXT})(?:=|: )"
_LINES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    (rf"schema\.with_types\({_NAME}an\.Ordinal\(\[(?P<levels>[^\n]*?)\]\)\}}?\)", _levels),
    (rf"schema\.with_types\({_NAME}\"(?P<kind>\w+)\"\}}?\)", _kind),
    (rf"schema\.with_types\({_NAME}an\.Categorical\(max_levels=\d+\)\}}?\) merges the rarest levels", _merged),
    (rf"schema\.with_forms\({_NAME}['\"](?P<form>[^'\"\n]*)['\"]\}}?\)", _written),
    (rf"schema\.without\((?P<names>(?:(?:{_TEXT})(?:, )?)+)\)", _left_out),
    (rf"an\.learn\(df, weights=(?P<name>{_TEXT})\)", _weighed),
    (rf"groups=(?P<name>{_TEXT}) of an\.evaluate\.cross_validate(?P<arcs> and arc_strength)?", _grouped),
    (
        r"groups=\[\.\.\.\] of an\.evaluate\.cross_validate and arc_strength",
        "--groups COLUMN of `arbornet evaluate` and `learn --bootstrap`",
    ),
    (r"with missing='level'", "with --missing level"),
)
"""Lines of code that declare columns, as options."""
_SAID: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    *_LINES,
    (
        r"declare it with Schema\.with_types, or make the table with an\.Table\(.*?\)",
        "declare it with --set, or add --unseen missing",
    ),
    (r"pass unseen='missing'", "add --unseen missing"),
    (r"and missing='error'", "and --missing is error"),
    (r"pass missing='drop'", "add --missing drop"),
    (rf"Schema\.with_types\(\{{(?P<name>{_TEXT}): \.\.\.\}}\) keeps one", _kept),
    (r"keep some with Schema\.with_types", "keep some with --set NAME=categorical"),
    (r"with Schema\.without(?!\w)", "with --set NAME=leave-out"),
    (
        r"leave it out with\s+without\(\)(, or merge the rarest with an\.Categorical\(max_levels=\.\.\.\))?",
        "leave it out with --set NAME=leave-out",
    ),
    (r"make it 'continuous' or an\.Binned\(k\)", "make it continuous or binned with --set NAME=binned:5"),
    (
        r"cut it into bins by\s+with_types\(\{'(.*)': an\.Binned\(5\)\}\) or by an\.FayyadIrani\(\), "
        r"or use a score for mixed columns such as an\.PCART\(\)",
        r"cut it into bins by --set '\1=binned:5', or use a score for mixed columns such as --score 'PCART()'",
    ),
    (r"bin it with Binned\(k\) in with_types", "bin it with --set NAME=binned:5"),
    (r"give bins=5 \(or bins=\{.*?\}\)", "add --bins 5"),
    (r": an\.Ordinal\(\[\.\.\.\]\) gives another", ": --set NAME=ordinal:low,high gives another"),
    (r"lower max_parents", "lower --max-parents"),
    (r", or read the file with an\.read\(path, truncate_ragged_lines=True\): .*$", " in the file"),
    (r", or give all names with an\.read\(path, new_columns=\[\.\.\.\]\)", ""),
    (r", or take quotes for text with an\.read\(path, quote_char=None\)", ""),
    (r"; schema_overrides=\{'(.*?)': pl\.Int64\} reads numbers", r"; --set '\1=written:1234.5' reads numbers"),
    (r"; schema_overrides=\{.*?: pl\.String\} keeps them", ""),
    (r": schema_overrides=\{.*?: pl\.String\}, then --set '(?:[^'\n]*)'", ", remove them in the file"),
    (r"an\.read\(path, null_values=\[''\]\)", "write another code in the file"),
    (r'effort="(\w+)"', r"--effort \1"),
    (r'parents="forest"', "--parents forest"),
    (r"an\.infer_schema\(frame\)\.findings", "which `arbornet schema` prints"),
    (r"an\.infer_schema\(frame\)", "`arbornet schema`"),
    (r"; there are (\d+) more: sheet_name=('.*?')", r"; there are \1 more: --sheet \2"),
    (r"name it with sheet_name=", "name it with --sheet"),
)
"""Patterns of the advice in messages, and the same in options of the shell."""
SAID = tuple((re.compile(pattern, re.DOTALL), told) for pattern, told in _SAID)


def in_shell(message: str) -> str:
    """A message with its advice in options of the command line."""
    message = in_options(message)
    for pattern, told in SAID:
        message = pattern.sub(told, message)
    return message
