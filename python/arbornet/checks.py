"""What a user gave, checked: numbers, whole numbers, truth values; the error names what was given and what must be."""

from __future__ import annotations

import math

from arbornet._core import ParameterError


def real(name: str, value: object, *, above: float | None = None) -> float:
    """A finite number, above a bound if there is one.

    Raises:
        ParameterError: If it is not.
    """
    wanted = "a finite number" if above is None else f"a finite number above {above:g}"
    try:
        number = math.nan if isinstance(value, bool | str) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or (above is not None and number <= above):
        raise ParameterError(f"{name}={value!r}: must be {wanted}")
    return number


def whole(name: str, value: object, low: int, high: int) -> int:
    """An integer within bounds.

    Raises:
        ParameterError: If it is not.
    """
    try:
        number = int(value)  # type: ignore[call-overload]
        exact = not isinstance(value, bool | str) and number == value
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact or not low <= number <= high:
        raise ParameterError(f"{name}={value!r}: must be an integer from {low} to {high}")
    return int(number)


def truth(name: str, value: object) -> bool:
    """True or False.

    Raises:
        ParameterError: If it is neither.
    """
    if value is not True and value is not False and type(value).__name__ not in ("bool", "bool_"):
        raise ParameterError(f"{name}={value!r}: must be True or False")
    return bool(value)
