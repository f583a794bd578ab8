"""Candidate parent sets with their scores: `score_parents` (step 1) makes them, every search reads them."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from arbornet._core import CandidatesHandle, ColumnError, FormatError, ParameterError
from arbornet.io import jkl
from arbornet.io.tables import write_by
from arbornet.priors import Prior
from arbornet.scores.prepare import shortened
from arbornet.system.sources import bytes_of, is_pipe
from arbornet.text import notebook
from arbornet.text.terminal import brief

#: What the core returns: sets, how many there are, scored, unscorable, and the first of these; how many scores are
#: lower bounds, and the sets kept among them.
Step1Result = tuple[
    CandidatesHandle,
    int,
    int,
    int,
    list[tuple[int, list[int], str]],
    int,
    list[tuple[int, list[int], list[tuple[int, int, int]]]],
]


MOST_SHOWN = 40
"""Variables that a notebook shows."""


class Skipped(NamedTuple):
    """A family that could not be scored."""

    child: str
    parents: tuple[str, ...]
    reason: str


class Grouped(NamedTuple):
    """A parent whose levels were put in order and divided between neighbours."""

    parent: str
    levels: int
    groups: int
    """Fewer than levels if neighbours were merged before."""


class InOrder(NamedTuple):
    """A family searched by groups in order: its score is a lower bound of its best tree's."""

    child: str
    parents: tuple[str, ...]
    groups: tuple[Grouped, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """For each variable, the parent sets that score higher than all their permitted subsets (or all sets), best first.

    Attributes:
        handle: the sets, as the core holds them.
        n_sets: how many sets were permitted; None if they came from a file that does not say.
        n_evaluated: how many of them were scored; bounds ruled out the rest.
        n_skipped: how many could not be scored.
        skipped: the first hundred of those, with the reason.
        seconds: wall seconds the scoring took.
        max_parents: the most parents of a set that were considered.
        score: the score's name and parameters as JSON.
        table: fingerprint of the table: names, kinds and values.
        constraints: the constraints as one rule a child, or None.
        pruned: whether sets that a subset beats or equals were left out; true for files of other tools, which do not
            say.
        n_in_order: how many of those scored were searched by groups in order (`PCART(grouping="auto")`): their scores
            are lower bounds. All other scores are exact.
        in_order: the sets kept among them, with what was ordered and merged.
        given_up: what a budget did not suffice for, in words; empty if all permitted sets were looked at.
    """

    handle: CandidatesHandle
    n_sets: int | None = None
    n_evaluated: int | None = None
    n_skipped: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float | None = None
    max_parents: int | None = None
    score: str | None = None
    table: str | None = None
    constraints: str | None = None
    pruned: bool = True
    n_in_order: int = 0
    in_order: tuple[InOrder, ...] = ()
    given_up: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The variables' names."""
        return self.handle.names

    @property
    def n_kept(self) -> int:
        """How many sets were kept, over all variables."""
        return self.handle.n_sets

    def child(self, name: str) -> pl.DataFrame:
        """The sets of one variable, best first: columns ``parents`` (list of names) and ``score``.

        Raises:
            ColumnError: if there is no such variable.
        """
        names = self.names
        if name not in names:
            raise ColumnError(f"there is no variable {name!r}; the variables are {shortened(names)}")
        scores, offsets, members = self.handle.child(names.index(name))
        parents = lists(np.asarray(names, dtype=object)[members], offsets)
        return pl.DataFrame({"parents": parents, "score": scores})

    def frame(self) -> pl.DataFrame:
        """The sets of all variables: columns ``child``, ``parents`` and ``score``."""
        frames = [self.child(name).select(pl.lit(name).alias("child"), "parents", "score") for name in self.names]
        return pl.concat(frames) if frames else pl.DataFrame(schema=_schema())

    def with_prior(self, prior: Prior) -> Candidates:
        """What ``score_parents`` would keep under a prior over parent sets, without scoring again.

        ``PCART(penalised=False)`` under ``priors.ParentCount()`` is ``PCART()``, and so for ``FullTable``:
        the parent sets need to be scored only once for both.

        Raises:
            ParameterError: if the scores include such a prior already, or the prior depends on more than the number of
                parents, or it may favour a larger set over a smaller one.
        """
        if not isinstance(prior, Prior):
            raise ParameterError(f"prior={prior!r}: must be one of arbornet.priors, such as priors.ParentCount()")
        if self.score is not None and _carries_a_prior(json.loads(self.score)):
            raise ParameterError(
                f"prior={prior!r}: these scores include a prior already ({self.score}); score without it"
            )
        most = len(self.names) if self.max_parents is None else self.max_parents
        handle = self.handle.reweighed(json.dumps(prior.document()), most, self.pruned)
        return replace(self, handle=handle, score=_under(prior, self.score), in_order=_kept(self.in_order, handle))

    @property
    def known(self) -> list[str]:
        """What is known of the scoring, by name: the score, the most parents, the constraints ..."""
        told = {
            key: value for key, value in vars(self).items() if key not in ("handle", "seconds", "pruned", "given_up")
        }
        return [key for key, value in told.items() if value] + ([] if self.pruned else ["pruned"])

    def save(self, path: str | PathLike[str]) -> None:
        """Writes a file: ``.parquet`` keeps everything exactly; ``.jkl`` (``.jkl.gz``, ``.jkl.xz``) is for other tools.

        Raises:
            ParameterError: if the name ends otherwise.
        """
        path = Path(path)
        if check_name(path) == ".parquet":
            # Entries that earlier versions do not know are written only where they differ from what these assume.
            left_out = {"handle"} | ({"pruned"} if self.pruned else set())
            left_out |= set() if self.n_in_order else {"n_in_order", "in_order"}
            left_out |= set() if self.given_up else {"given_up"}
            about = {key: value for key, value in vars(self).items() if key not in left_out}
            about |= {"format": 1, "names": self.names}
            frame, metadata = self.frame(), {"arbornet": json.dumps(about)}
            write_by(lambda place: frame.write_parquet(place, metadata=metadata), path)
        else:
            jkl.write(self.handle, path)

    @staticmethod
    def load(path: str | PathLike[str], pruned: bool | None = None) -> Candidates:
        """Reads a file that ``save`` or another tool wrote; its first bytes show the format.

        Args:
            path: a ``.parquet`` or ``.jkl`` file (``.jkl.gz``, ``.jkl.xz``).
            pruned: False for a ``.jkl`` that holds all sets, also those that a subset beats: arcs may then be required
                that were not required when it was made. If left out, a ``.parquet`` records it.

        Raises:
            FormatError: if it is not of its format, with the place.
            OSError: if it cannot be read.
        """
        path = Path(path)
        if is_pipe(path):  # which is read once
            data = bytes_of(path)
            made = Candidates(jkl.read(path, data))
        else:
            with path.open("rb") as file:
                start = file.read(4)
            made = _from_parquet(path) if start == b"PAR1" else Candidates(jkl.read(path))
        return made if pruned is None else replace(made, pruned=bool(pruned))

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __eq__(self, other: object) -> bool:
        """Equal sets and scores under equal names, however they were made."""
        if not isinstance(other, Candidates) or self.names != other.names:
            return False
        for v in range(len(self.names)):
            arrays: Any = zip(self.handle.child(v), other.handle.child(v), strict=True)
            if not all(np.array_equal(mine, theirs) for mine, theirs in arrays):
                return False
        return True

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        told = [f"{len(self.names)} variables", f"{self.n_kept:,} parent sets kept"]
        if self.n_sets is not None:
            told.append(f"{self.n_evaluated:,} scored of {self.n_sets:,}")
        if not self.pruned:
            told.append("not pruned")
        if self.n_skipped:
            told.append(f"{self.n_skipped:,} that cannot be scored")
        if self.n_in_order:
            told.append(f"{self.n_in_order:,} by groups in order")
        if self.seconds is not None:
            told.append(brief(self.seconds))
        return f"Candidates({', '.join(told)})"

    def _repr_html_(self) -> str:
        rows = []
        for v, name in enumerate(self.names[:MOST_SHOWN]):
            scores, offsets, members = self.handle.child(v)
            best = ", ".join(self.names[p] for p in members[: offsets[1]]) if len(scores) else ""
            rows.append((name, f"{len(scores):,}", best or "none", f"{scores[0]:.6g}" if len(scores) else ""))
        more = len(self.names) - MOST_SHOWN
        rest = f"; {more:,} more variables" if more > 0 else ""
        return notebook.table(("variable", "parent sets kept", "best parents", "local score"), rows, f"{self!r}{rest}")


def check_name(path: str | PathLike[str]) -> str:
    """The ending by which candidates are saved, `.parquet` or `.jkl`.

    Raises:
        ParameterError: If the name ends otherwise.
    """
    endings = [ending.lower() for ending in Path(path).suffixes[-2:]]
    if endings[-1:] == [".parquet"]:
        return ".parquet"
    if ".jkl" in endings:
        return ".jkl"
    raise ParameterError(f"path={str(path)!r}: name it .parquet, or .jkl (.jkl.gz, .jkl.xz) for other tools")


def scored_sets(handle: CandidatesHandle, v: int) -> list[tuple[float, tuple[int, ...]]]:
    """The sets of a variable with their scores, best first, by positions."""
    scores, offsets, members = handle.child(v)
    flat, ends = members.tolist(), offsets.tolist()
    return [(score, tuple(flat[ends[i] : ends[i + 1]])) for i, score in enumerate(scores.tolist())]


def lists(values: np.ndarray[Any, Any], offsets: np.ndarray[Any, Any]) -> pl.Series:
    """A series of lists from flat values and offsets."""
    lengths = np.diff(offsets.astype(np.int64))
    rows = pl.DataFrame(
        {"row": np.repeat(np.arange(len(lengths)), lengths), "value": pl.Series(values, dtype=pl.String)}
    )
    grouped = rows.group_by("row", maintain_order=True).agg("value")
    every = pl.DataFrame({"row": np.arange(len(lengths))}).join(grouped, on="row", how="left", maintain_order="left")
    return every["value"].fill_null(pl.lit([], dtype=pl.List(pl.String)))


def from_step1(result: Step1Result, began: float, about: dict[str, Any]) -> Candidates:
    """What the core returned, in names."""
    handle, n_sets, n_evaluated, n_skipped, skipped, n_in_order, in_order = result
    names = handle.names
    families = tuple(Skipped(names[c], tuple(names[p] for p in parents), reason) for c, parents, reason in skipped)
    bounded = tuple(
        InOrder(names[c], tuple(names[p] for p in parents), tuple(Grouped(names[p], *counts) for p, *counts in groups))
        for c, parents, groups in in_order
    )
    made = Candidates(handle, n_sets, n_evaluated, n_skipped, families, time.perf_counter() - began)
    return replace(made, n_in_order=n_in_order, in_order=bounded, **about)


def _kept(families: tuple[InOrder, ...], handle: CandidatesHandle) -> tuple[InOrder, ...]:
    """Those families that are among the sets."""
    names = handle.names
    kept: dict[str, set[tuple[str, ...]]] = {}
    for child in {family.child for family in families}:
        _, offsets, members = handle.child(names.index(child))
        sets = np.split(np.asarray(names, dtype=object)[members], offsets[1:-1])
        kept[child] = {tuple(of) for of in sets}
    return tuple(family for family in families if family.parents in kept[family.child])


def _carries_a_prior(spec: dict[str, Any]) -> bool:
    return bool(spec.get("penalised")) or isinstance(spec.get("prior"), dict)


def _under(prior: Prior, score: str | None) -> str | None:
    """The specification of a score under a prior, if there is one."""
    if score is None:
        return None
    spec, document = json.loads(score), prior.document()
    said: dict[str, Any] | None
    if "penalised" in spec:
        said = {"penalised": True} if document == {"prior": "parent_count"} else None
    else:
        said = None if "prior" in spec else {"prior": document}
    return None if said is None else json.dumps(spec | said, sort_keys=True, separators=(",", ":"))


def _schema() -> dict[str, pl.DataType]:
    return {"child": pl.String(), "parents": pl.List(pl.String()), "score": pl.Float64()}


#: Entries a file may have beside the sets, and how each is checked. Absent, or null, means unknown.
_BESIDE: dict[str, Callable[[Any], bool]] = {
    "format": lambda told: told == 1,
    "names": lambda told: _texts(told) and len(set(told)) == len(told) > 0,
    "skipped": lambda told: isinstance(told, list) and all(_is_skipped(each) for each in told),
    "seconds": lambda told: isinstance(told, int | float) and 0 <= told < math.inf,
    **dict.fromkeys(
        ("n_sets", "n_evaluated", "n_skipped", "max_parents", "n_in_order"),
        lambda told: type(told) is int and told >= 0,
    ),
    **dict.fromkeys(("score", "table", "constraints"), lambda told: isinstance(told, str)),
    "pruned": lambda told: isinstance(told, bool),
    "in_order": lambda told: isinstance(told, list) and all(_is_in_order(each) for each in told),
    "given_up": lambda told: _texts(told),
}


def _texts(told: Any) -> bool:
    return isinstance(told, list) and all(isinstance(each, str) for each in told)


def _is_skipped(told: Any) -> bool:
    return isinstance(told, list) and len(told) == 3 and _texts([told[0], told[2]]) and _texts(told[1])


def _is_in_order(told: Any) -> bool:
    def is_grouped(of: Any) -> bool:
        return (
            isinstance(of, list) and len(of) == 3 and _texts(of[:1]) and all(type(n) is int and n > 0 for n in of[1:])
        )

    fits = isinstance(told, list) and len(told) == 3 and _texts(told[:1]) and _texts(told[1])
    return fits and isinstance(told[2], list) and all(is_grouped(of) for of in told[2])


def _damaged(about: dict[str, Any]) -> str | None:
    """The first entry that is unknown or not of its type."""
    never = ("format", "names", "n_skipped", "skipped", "pruned", "n_in_order", "in_order", "given_up")
    if about.get("n_sets") is not None and about.get("n_evaluated") is None:
        return "n_evaluated"
    for key, told in about.items():
        unknown = told is None and key not in never
        if key not in _BESIDE or not (unknown or _BESIDE[key](told)):
            return key
    return None


def holds_candidates(path: Path) -> bool:
    """Whether a file is a Parquet file that ``Candidates.save`` wrote."""
    if path.suffix.lower() != ".parquet" or not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            return "arbornet" in pl.read_parquet_metadata(file)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        return False  # whoever reads it says why


def _from_parquet(path: Path) -> Candidates:
    def bad(problem: object) -> FormatError:
        return FormatError(f"{path}: {problem}")

    try:
        frame = pl.read_parquet(path.absolute(), glob=False)
        with path.open("rb") as file:
            about = json.loads(pl.read_parquet_metadata(file).get("arbornet", "{}"))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, ValueError, RecursionError) as problem:
        raise bad(f"not a readable Parquet file ({problem})") from problem
    if any(frame.schema.get(name) != kind for name, kind in _schema().items()):
        raise bad(f"its columns are {dict(frame.schema)}, where child (text), parents (texts) and score are needed")
    if not isinstance(about, dict) or about.get("format", 1) != 1:
        told = about.get("format") if isinstance(about, dict) else type(about).__name__
        raise bad(f"it is of format {told!r}, this version reads 1")
    if entry := _damaged(about):
        raise bad(f"its entry {entry!r} is damaged")
    if (nulls := sum(frame.null_count().row(0))) or frame["parents"].explode(empty_as_null=False).null_count():
        raise bad(f"there are {nulls or 'some'} missing values")
    told = frame["child"].unique(maintain_order=True).to_list()
    names = about.pop("names", None) or sorted({*told, *frame["parents"].explode(empty_as_null=False).to_list()})
    about.pop("format", None)
    kind = pl.Enum(names)
    try:
        coded = frame.select(pl.col("child").cast(kind).to_physical(), pl.col("parents").cast(pl.List(kind)), "score")
    except pl.exceptions.PolarsError as problem:
        raise bad(f"a name is not among its variables ({problem})") from problem
    arrays = []
    for v in range(len(names)):
        own = coded.filter(pl.col("child") == v)
        members = own["parents"].explode(empty_as_null=False).to_physical().to_numpy().astype(np.uint32)
        offsets = np.concatenate([[0], own["parents"].list.len().to_numpy().cumsum()]).astype(np.uint32)
        arrays.append((own["score"].to_numpy(), offsets, members))
    try:
        handle = CandidatesHandle.from_arrays(names, arrays)
        about["in_order"] = tuple(
            InOrder(c, tuple(p), tuple(Grouped(*of) for of in groups)) for c, p, groups in about.get("in_order", ())
        )
        about["skipped"] = tuple(Skipped(c, tuple(p), reason) for c, p, reason in about.get("skipped", ()))
        about["given_up"] = tuple(about.get("given_up", ()))
        return Candidates(handle, **about)
    except (ValueError, TypeError) as problem:
        raise bad(problem) from problem
