"""Short texts of results: the call that makes a thing, without what is as by default."""

from __future__ import annotations

import dataclasses
from typing import Any


class Brief:
    """A dataclass, made with `repr=False`, that says the call that makes it without what is as by default."""

    def __repr__(self) -> str:
        own = dataclasses.fields(self)  # type: ignore[arg-type]
        changed = [f"{f.name}={value!r}" for f in own if (value := getattr(self, f.name)) != _default(f)]
        return f"{type(self).__name__}({', '.join(changed)})"


def _default(field: dataclasses.Field[Any]) -> Any:
    return field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
