"""The type of every column: inferred with a reason, corrected by you, saved with the model.

A `Schema` from `infer_schema` holds the types of the columns. The schema of a `Table` also holds how values were coded:
every level, the affine map of every continuous column, the ends of every bin. It codes new data in the same way.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from arbornet._core import ArbornetError, ColumnError, FormatError, ParameterError
from arbornet.data.by_trees import chosen
from arbornet.data.coding import encode_rows
from arbornet.data.column import Column
from arbornet.data.declared import declared, written_as
from arbornet.data.frames import Raw, read_frame
from arbornet.data.infer import MOST_LEVELS, Profile, as_integers
from arbornet.data.kinds import Categorical, KindLike, Ordinal, kind_of
from arbornet.data.looks.finding import Finding
from arbornet.data.looks.findings import findings_of
from arbornet.data.looks.frame import looked
from arbornet.data.looks.look import Look
from arbornet.data.looks.written import check_form
from arbornet.data.scales import Scales, check_scales
from arbornet.data.schema_file import column_from_dict, column_to_dict, finding_from_dict, finding_to_dict
from arbornet.data.schema_text import as_html, as_text
from arbornet.given import FrameLike
from arbornet.system.sources import bytes_of
from arbornet.system.whole import write_whole
from arbornet.text.lines_of_code import in_pandas
from arbornet.text.near import nearest
from arbornet.text.notices import LeftOutWarning, warn
from arbornet.text.terminal import several
from arbornet.text.visible import visible_name
from arbornet.text.wrong_calls import helpful

if TYPE_CHECKING:
    from arbornet._core import RowsHandle

VERSION = 1
#: Columns that one warning names.
MOST_LEFT_OUT = 20


@dataclass(frozen=True, repr=False)
class Schema:
    """The columns of a frame, their types and the reasons; prints as a table.

    Example:
        >>> schema = an.infer_schema(df)
        >>> schema = schema.with_types(stage=an.Ordinal(["I", "II", "III"]), rings="continuous")
        >>> table = an.Table(df, schema=schema)
    """

    columns: tuple[Column, ...]
    """All columns in the order of the frame, those left out too."""
    findings: tuple[Finding, ...] = field(default=(), compare=False)
    """What looks wrong, as `infer_schema` found it: the column, what, how many, and the line of code that fixes it."""

    def __getitem__(self, name: object) -> Column:
        for column in self.columns:
            if column.name == str(name):
                return column
        raise ColumnError(self._unknown(str(name)))

    def __contains__(self, name: object) -> bool:
        return any(column.name == str(name) for column in self.columns)

    def __iter__(self) -> Iterator[str]:
        return (column.name for column in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that are not left out, in order."""
        return tuple(column for column in self.columns if column.used)

    @property
    def names(self) -> list[str]:
        """Names of the used columns, in order."""
        return [column.name for column in self.used]

    def _unknown(self, name: str) -> str:
        near = nearest(name, self)
        hint = f"did you mean '{near}'?" if near else f"the columns are {', '.join(list(self)[:20])}"
        return f"there is no column '{name}'; {hint}"

    def with_types(self, types: Mapping[Any, KindLike] | None = None, /, **kinds: KindLike) -> Schema:
        """A schema in which the named columns have the given types; they are kept whatever their values are.

        Args:
            types: Types by column name, for names that are not Python identifiers.
            kinds: The same as keywords.

        Raises:
            ColumnError: If there is no such column, or two levels mean the same value of it.
            ParameterError: If a type is unknown.
        """
        wanted = {str(name): kind_of(str(name), kind) for name, kind in {**(types or {}), **kinds}.items()}
        for name in wanted:
            if name not in self:
                raise ColumnError(self._unknown(name))
        return self._with([declared(c, wanted[c.name]) if c.name in wanted else c for c in self.columns])

    def _with(self, columns: Iterable[Column]) -> Schema:
        """The schema with other columns of the same names; findings about columns that changed are removed."""
        made = tuple(columns)
        changed = {new.name for old, new in zip(self.columns, made, strict=True) if old != new}
        return Schema(made, tuple(one for one in self.findings if one.column not in changed and one.of not in changed))

    def with_forms(self, forms: Mapping[Any, str] | None = None, /, **more: str) -> Schema:
        """A schema in which texts of the named columns are read as numbers or dates written in this way.

        Args:
            forms: Forms by column name, for names that are not Python identifiers: how the number 1234.5 looks
                (`"$1,234.5"`, `"1.234,5"`, `"1234.5 kg"`), or a format of dates and times (`"%d/%m/%Y"`).
            more: The same as keywords.

        Raises:
            ColumnError: If there is no such column.
            ParameterError: If a form is neither.

        Example:
            >>> schema = schema.with_forms(visit="%d/%m/%Y", price="1.234,5 €")
        """
        wanted = {str(name): check_form(str(name), form) for name, form in {**(forms or {}), **more}.items()}
        for name in wanted:
            if name not in self:
                raise ColumnError(self._unknown(name))
        return self._with([written_as(c, wanted[c.name]) if c.name in wanted else c for c in self.columns])

    def without(self, *names: object) -> Schema:
        """A schema that leaves these columns out.

        Raises:
            ColumnError: If there is no such column.
        """
        gone = {self[name].name for name in names}
        left = "is left out by your choice"
        return self._with([replace(c, left_out=left) if c.name in gone else c for c in self.columns])

    def weighed_by(self, name: str) -> Schema:
        """A schema in which this column, if it is one of them, holds weights of rows and is no variable."""
        weights = "holds the weights of the rows"
        return self._with([replace(c, left_out=weights) if c.name == name else c for c in self.columns])

    def plain(self) -> Schema:
        """The schema without looks, hints and findings: what coding needs, as stored in network files."""
        return Schema(tuple(replace(c, looks_like="", looks_because="", hint=None) for c in self.columns))

    def encode(
        self, frame: FrameLike, *, unseen: Literal["error", "missing"] = "error", n_jobs: int = -1
    ) -> RowsHandle:
        """Codes all rows of a frame like the table this schema comes from, keeping missing values missing.

        Args:
            frame: Any frame; columns it does not have are absent, columns that the schema does not use are ignored.
            unseen: What to do with a level the table did not have: an error, or treat it as missing.
            n_jobs: Number of threads, -1 for all.

        Raises:
            ColumnError: If a value cannot be coded.
        """
        return encode_rows(read_frame(frame, self.names, n_jobs), self, unseen, n_jobs)

    def to_dict(self) -> dict[str, Any]:
        """The schema as a dict for JSON, with a version."""
        told: dict[str, Any] = {
            "format": "arbornet schema",
            "version": VERSION,
            "columns": [column_to_dict(column) for column in self.columns],
        }
        return told | ({"findings": [finding_to_dict(one) for one in self.findings]} if self.findings else {})

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Schema:
        """The schema that `to_dict` wrote.

        Raises:
            FormatError: If it is something else, or of a later version.
        """
        if not isinstance(told, Mapping) or told.get("format") != "arbornet schema":
            raise FormatError("this is not an arbornet schema: its \"format\" is not 'arbornet schema'")
        if told.get("version") != VERSION:
            raise FormatError(
                f"the schema is of version {told.get('version')}, this arbornet reads {VERSION}; update arbornet"
            )
        try:
            columns = tuple(column_from_dict(column) for column in told["columns"])
            names = [column.name for column in columns]
            if not names or len(set(names)) < len(names):
                raise FormatError("the schema is damaged: it has no columns, or one of them twice")
            return cls(columns, tuple(finding_from_dict(one) for one in told.get("findings", ())))
        except (KeyError, TypeError, ValueError, ParameterError) as error:
            raise FormatError(f"the schema is damaged: {error!r}") from error

    def save(self, path: str | Path) -> None:
        """Writes the schema as JSON."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        write_whole(path, text + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Reads a schema from JSON.

        Raises:
            FormatError: If the file holds something else.
        """
        try:
            told = json.loads(bytes_of(path).decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path} is not JSON: {error}") from error
        return cls.from_dict(told)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        return as_html(self)


@helpful
def infer_schema(
    frame: FrameLike, *, max_levels: int | None = None, scales: Scales = "linear", n_jobs: int = -1
) -> Schema:
    """Infers the type of every column of a frame, with the reason.

    Args:
        frame: Polars, pandas or pyarrow table, duckdb relation, anything with `__arrow_c_stream__`, dict of columns.
        max_levels: Merge the rarest levels of every categorical column into one, so that this many remain.
        scales: `"auto"` takes skewed columns of numbers of 0 or more by their logarithm and those with heavy tails by
            their normal scores, gives numbers that many rows share a point mass, whole numbers with many zeros leaves
            of counts, and numbers with several peaks histograms (see `Continuous`), where these are more probable so by
            themselves, or by themselves and given another column; `"linear"` none.
        n_jobs: Number of threads, -1 for all.

    Raises:
        ArbornetError: If it is not a frame, or has no columns or rows.
        ColumnError: If a column mixes types, or one of its values is infinite.

    Example:
        >>> print(an.infer_schema({"x": [0.5, 1.5, 2.5], "sex": ["f", "m", "f"]}))
    """
    if max_levels is not None and (type(max_levels) is not int or max_levels < 2):
        raise ParameterError(f"max_levels={max_levels!r}: at least 2 levels must remain")
    check_scales(scales)
    return schema_of_raw(read_frame(frame, n_jobs=n_jobs), max_levels, find=True, scales=scales)


def schema_of_raw(
    raw: Raw,
    max_levels: int | None = None,
    find: bool = False,
    weights: str | None = None,
    scales: Scales = "linear",
    own: NDArray[np.float64] | None = None,
) -> Schema:
    """The inferred schema of raw columns, with findings if `find`; warns of columns that are left out.

    A column that holds weights of rows is no variable, which needs no warning; scales are chosen with the rows' own
    weights.
    """
    names = raw.names
    if not names:
        raise ArbornetError("the frame has no columns; give it at least one")
    if raw.n_rows == 0:
        raise ArbornetError("the frame has no rows; nothing can be learned from it")
    profiles = [as_integers(raw.profile_of_any(i)) for i in range(len(names))]
    seen, looks = looked(raw, profiles)
    columns = [_inferred_column(raw, i, names[i], profiles[i], looks[i], max_levels) for i in range(len(names))]
    unused = [column for column in columns if not column.used and column.name != weights]
    left_out = [f"'{visible_name(column.name)}' {column.left_out}" for column in unused]
    if left_out:
        more = len(left_out) - MOST_LEFT_OUT
        told = "; ".join(left_out[:MOST_LEFT_OUT]) + (f"; and {several(more, 'more column')}" if more > 0 else "")
        # No type makes values of lists.
        able = [column.name for column in unused if column.class_ != "unreadable"]
        way_out = f" Schema.with_types({{{able[0]!r}: ...}}) keeps one." if able else ""
        warn(f"left out: {told}.{way_out}", LeftOutWarning)
    findings = tuple(findings_of(raw, profiles, seen, looks)) if find else ()
    if raw.of_pandas:
        findings = tuple(replace(found, mend=in_pandas(found.mend)) for found in findings)
        columns = [
            column if column.hint is None else replace(column, hint=in_pandas(column.hint)) for column in columns
        ]
    schema = Schema(tuple(chosen(raw, columns, own) if scales == "auto" else columns), findings)
    return schema if weights is None else schema.weighed_by(weights)


def _inferred_column(raw: Raw, i: int, name: str, seen: Profile, look: Look, max_levels: int | None) -> Column:
    kind = look.kind
    many = seen.n_distinct is not None and max_levels is not None and seen.n_distinct > max_levels
    if isinstance(kind, Categorical) and many:
        kind = Categorical(max_levels=max_levels)
    elif isinstance(kind, Categorical | Ordinal) and kind.levels is None and look.left_out is None:
        few = seen.n_distinct is None or seen.n_distinct <= MOST_LEVELS
        values = seen.values[0] if seen.values is not None else raw.levels(i)[0] if few else None
        kind = type(kind)(values)
    plain = seen.values is None or seen.class_ == "number" or look.form is not None
    return Column(
        name=name,
        kind=kind,
        class_=look.class_ or seen.class_,
        reason=look.reason,
        left_out=look.left_out,
        n_rows=seen.n_rows,
        missing=0 if seen.problem is not None else seen.n_missing + look.n_words_for_missing,
        zone=look.zone or seen.zone,
        unit=seen.unit,
        range_=look.range_ or seen.range_,
        observed=None if plain or seen.values is None else tuple(seen.values[0]),
        looks_like=look.looks_like,
        looks_because=look.because,
        form=look.form,
        hint=look.hint,
    )
