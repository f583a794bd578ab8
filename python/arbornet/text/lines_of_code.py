"""Lines of code within a message, such as `df.with_columns(...)`: where one ends, and the same for pandas.

Advice is written for Polars. Whoever gave a pandas frame has a frame without `with_columns`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_CLOSING = re.compile(r"\)")
_DTYPES = {"String": "str", "Float64": "float"}


def end_of_line(message: str, at: int) -> int:
    """Where the line of code that begins here ends; 0 if it is none."""
    for found in _CLOSING.finditer(message, at):
        try:
            ast.parse(message[at : found.end()], mode="eval")
        except SyntaxError:
            continue
        return found.end()
    return 0


def in_pandas(message: str) -> str:
    """A message in which lines of Polars are lines of pandas; a line that has no short one there is left."""
    message = message.replace(
        "an.read(path, null_values=[''])", "pd.read_csv(path, keep_default_na=False, na_values=[''])"
    )
    at = message.find("df.")
    while at >= 0:
        end = end_of_line(message, at)
        line = _line(ast.parse(message[at:end], mode="eval").body) if end else None
        if line is not None:
            message = message[:at] + line + message[end:]
        at = message.find("df.", at + len(line or "df."))
    return message


def _line(call: ast.expr) -> str | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return None
    method, given = call.func.attr, [ast.unparse(each) for each in call.args]
    if method == "unique":
        return f"df.drop_duplicates({', '.join(given)})"
    if method == "transpose":
        names = next((ast.unparse(one.value) for one in call.keywords if one.arg == "column_names"), None)
        return None if names is None else f"df.set_index({names}).T"
    if method == "slice" and len(given) == 1:
        return f"df.iloc[{given[0]}:]"
    if method == "filter" and len(given) == 1:
        rows = _expression(call.args[0])
        return None if rows is None else f"df[{rows}]"
    if method != "with_columns" or len(given) != 1:
        return None
    name = next((column for node in ast.walk(call) if (column := _column(node)) is not None), None)
    if name == "pl.String":
        changed = _expression(call.args[0])
        return None if changed is None else changed.replace("df[pl.String].str.replace", "df.replace")
    made = _expression(call.args[0])
    return None if name is None or made is None else f"df[{name}] = {made}"


def _expression(node: ast.expr) -> str | None:
    """An expression of one column, as one of a pandas Series."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _expression(node.left)
        return None if left is None else f"{left} + {ast.unparse(node.right)}"
    name = _column(node)
    if name is not None:
        return f"df[{name}]"
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return None
    inner, method = node.func.value, node.func.attr
    is_of_text = isinstance(inner, ast.Attribute) and inner.attr == "str"
    series = _expression(inner.value if isinstance(inner, ast.Attribute) else inner)
    change = (_OF_TEXT if is_of_text else _OF_VALUES).get(method)
    return None if series is None or change is None else change(series, [ast.unparse(each) for each in node.args])


def _replaced(series: str, given: list[str]) -> str:
    old, *new = given
    if new != ["None"]:
        return f"{series}.replace({', '.join(given)})"
    return f"{series}.mask({series}.isin({old if old.startswith('[') else f'[{old}]'}))"


def _cast(series: str, given: list[str]) -> str | None:
    dtype = _DTYPES.get(given[0].removeprefix("pl."))
    numbers = f"pd.to_numeric({series}, errors='coerce')"
    return None if dtype is None else numbers if dtype == "float" else f"{series}.astype({dtype})"


def _column(node: ast.AST) -> str | None:
    """The name in `pl.col("name")`, as it is written."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "col"
    return ast.unparse(node.args[0]) if is_call and isinstance(node, ast.Call) else None


_OF_VALUES: dict[str, Callable[[str, list[str]], str | None]] = {
    "replace": _replaced,
    "cast": _cast,
    "radians": lambda series, _: f"np.radians({series})",
    "cos": lambda series, _: f"np.cos({series})",
}
_OF_TEXT: dict[str, Callable[[str, list[str]], str | None]] = {
    "contains": lambda series, given: f"{series}.str.contains({given[0]}, na=False)",
    "len_chars": lambda series, _: f"{series}.str.len()",
    "count_matches": lambda series, given: f"{series}.str.count({given[0]})",
    "extract": lambda series, given: f"{series}.str.extract({given[0]}, expand=False)",
    "replace": lambda series, given: f"{series}.str.replace({given[0]}, {_groups(given[1])}, regex=True)",
}


def _groups(replacement: str) -> str:
    r"""The replacement of a pattern with groups written `\g<1>` for `${1}`."""
    told = re.sub(r"\$\{(\d)\}", r"\\g<\1>", ast.literal_eval(replacement))
    return f"r{told!r}".replace("\\\\", "\\") if "\\" in told else repr(told)
