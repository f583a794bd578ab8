"""What columns look like: nine classes, ptype's tables, flags on clean tables, and how long it takes.

    python benches/python/kinds.py            # all figures of docs/kinds.md, some minutes
    python benches/python/kinds.py --learn    # learns data/looks/tree.json from the labelled columns first

The labelled columns are simulated from their published summaries (`columns.py`), written as CSV files and read back.
The tree for columns that no rule decides is cross-validated in five folds, once with columns assigned at random (a file
may be in both parts) and once by whole files.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import columns
import numpy as np
import polars as pl
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeClassifier

import arbornet as an
from arbornet.data.column import Column
from arbornet.data.files import NULLS
from arbornet.data.frames import read_frame
from arbornet.data.infer import infer, is_constant
from arbornet.data.looks import look as looking
from arbornet.data.looks import tree
from arbornet.data.looks.frame import _taker
from arbornet.data.looks.marks import Marks
from arbornet.data.looks.seen import Seen
from arbornet.data.looks.words import SAID_MISSING

DATA = Path(__file__).resolve().parents[1] / "data"
TREE = Path(an.__file__).parent / "data" / "looks" / "tree.json"
NINE = {
    "number": "numeric",
    "category": "categorical",
    "date": "datetime",
    "text": "sentence",
    "address": "url",
    "number in text": "embedded-number",
    "list": "list",
    "identifier": "not-generalizable",
    "constant": "not-generalizable",
    "empty": "not-generalizable",
    "code": "context-specific",
}
ONE_OF = {nine: eleven for eleven, nine in reversed(NINE.items())}
LEAVES = 80
SMALLEST_LEAF = 3


class Labelled:
    """The labelled columns: what the rules say, the marks of those that they do not decide, and the label."""

    def __init__(self) -> None:
        self.labels: list[str] = []
        self.files: list[str] = []
        self.ruled: list[str] = []
        self.marks: list[Mapping[str, float] | None] = []
        with tempfile.TemporaryDirectory() as folder:
            for row in columns.profiles():
                self.labels.append(row["label"])
                self.files.append(row["file"])
                look, marks = looked(read_back(columns.column(row), row["name"], Path(folder) / "column.csv"))
                self.ruled.append(NINE[look])
                self.marks.append(marks)

    def matrix(self) -> tuple[np.ndarray[Any, Any], list[str]]:
        names = next(list(marks) for marks in self.marks if marks is not None)
        return np.array([[marks[n] if marks else 0.0 for n in names] for marks in self.marks]), names


def read_back(values: Sequence[str], name: str, path: Path) -> pl.DataFrame:
    """One column as read from a CSV file."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["row", name or "column"])  # a column without a name and a value would be left out
        writer.writerows(enumerate(values))
    frame = an.read(path, has_header=True)
    return frame.select(pl.nth(1).alias(name))


def looked(frame: pl.DataFrame) -> tuple[str, Mapping[str, float] | None]:
    """What the rules say of a frame's one column, and its marks if they do not decide."""
    raw = read_frame(frame)
    one = raw.profile(0)
    seen = Seen(frame.columns[0], one.class_, one.n_rows, one.n_missing, one.whole, one.counter, _taker(raw, 0, one))
    said = looking.look(seen, infer(one), is_constant(one), one.declared)
    return said.looks_like, dict(Marks(seen)) if looking.is_open(said, seen) else None


def grown(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], files: Sequence[str]) -> DecisionTreeClassifier:
    """A tree; a file of hundreds of similar columns weighs more than one of ten, but not in proportion."""
    many = Counter(files)
    weights = np.array([many[file] ** -0.25 for file in files])
    made = DecisionTreeClassifier(max_leaf_nodes=LEAVES, min_samples_leaf=SMALLEST_LEAF, random_state=0)
    return made.fit(x, y, sample_weight=weights)


def foretold(known: Labelled, folds: Iterable[tuple[Any, Any]]) -> np.ndarray[Any, Any]:
    """Every column's class by rules, or by a tree of the other columns."""
    x, _ = known.matrix()
    y, files, is_open = (
        np.array(known.labels),
        np.array(known.files),
        np.array([marks is not None for marks in known.marks]),
    )
    said = np.array(known.ruled, dtype=object)
    for learned, asked in folds:
        learned, asked = learned[is_open[learned]], asked[is_open[asked]]
        told = grown(x[learned], y[learned], files[learned]).predict(x[asked])
        for at, nine in zip(asked, told, strict=True):
            marks = known.marks[at]
            assert marks is not None
            constant = marks["distinct"] == 1
            said[at] = nine if constant or tree.is_plausible(ONE_OF[nine], marks) else known.ruled[at]
    return said


def as_nodes(fitted: DecisionTreeClassifier, names: Sequence[str], at: int = 0) -> dict[str, Any]:
    """A tree of scikit-learn as plain data; thresholds rounded to what separates the same columns."""
    made = fitted.tree_
    if made.children_left[at] < 0:
        shares = made.value[at][0]
        n, best = int(made.n_node_samples[at]), int(np.argmax(shares))
        return {
            "is": ONE_OF[str(fitted.classes_[best])],
            "right": round(float(shares[best] / shares.sum()) * n),
            "of": n,
        }
    below, above = (as_nodes(fitted, names, int(side[at])) for side in (made.children_left, made.children_right))
    if below.get("is", 0) == above.get("is", 1):
        return {"is": below["is"], "right": below["right"] + above["right"], "of": below["of"] + above["of"]}
    return {
        "mark": names[made.feature[at]],
        "at": float(np.nextafter(made.threshold[at], np.inf)),
        "below": below,
        "above": above,
    }


def learn(known: Labelled) -> None:
    x, names = known.matrix()
    is_open = np.array([marks is not None for marks in known.marks])
    made = as_nodes(grown(x[is_open], np.array(known.labels)[is_open], np.array(known.files)[is_open]), names)
    TREE.write_text(json.dumps(made, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    tree.tree.cache_clear()
    print(f"wrote {TREE.name}: {tree.n_leaves()} leaves")


def nine_classes(known: Labelled) -> None:
    y = np.array(known.labels)
    n = len(y)
    ruled = np.mean([marks is None for marks in known.marks])
    right = np.mean([a == b for a, b, marks in zip(known.ruled, y, known.marks, strict=True) if marks is None])
    print(f"## Nine classes of {n:,} columns\n\nrules decide {ruled:.1%} of the columns, {right:.3f} of them right\n")
    by_column = foretold(known, KFold(5, shuffle=True, random_state=0).split(np.zeros(n)))
    by_file = foretold(known, GroupKFold(5).split(np.zeros(n), y, known.files))
    print("| class | columns | precision | recall | precision, by file | recall, by file |\n|---|---|---|---|---|---|")
    for label, many in Counter(known.labels).most_common():
        shares = [f for said in (by_column, by_file) for f in _precision_and_recall(said, y, label)]
        print(f"| {label} | {many:,} | " + " | ".join(f"{share:.2f}" for share in shares) + " |")
    print(f"| all (accuracy) | {n:,} | {np.mean(by_column == y):.3f} | | {np.mean(by_file == y):.3f} | |")
    biggest = Counter(known.files).most_common(1)[0][0]
    but = np.array([file != biggest for file in known.files])
    print(f"\nwithout the one file of {int((~but).sum())} columns: {np.mean(by_column[but] == y[but]):.3f}, "
          f"by file {np.mean(by_file[but] == y[but]):.3f}\n")  # fmt: skip


def _precision_and_recall(said: Any, y: Any, label: str) -> tuple[float, float]:
    both = np.sum((said == label) & (y == label))
    return both / max(np.sum(said == label), 1), both / max(np.sum(y == label), 1)


def _ptype_class(column: Column, values: pl.Series) -> str:
    if column.looks_like == "date":
        return "date"
    if column.class_ in ("integer", "number") and column.looks_like != "number in text":
        return "float" if column.class_ == "number" else "integer"
    return "string" if values.dtype == pl.String else "integer"


def ptype() -> None:
    """The four tables of ptype's tests: types, missing values, anomalous values."""
    with gzip.open(DATA / "types" / "labels.json.gz", "rt", encoding="utf-8") as file:
        labels = json.load(file)
    types = blanks = odd = odd_columns = n = n_odd = 0
    for name, told in labels.items():
        path = DATA / "types" / "tables" / f"{name}.csv.gz"
        frame = an.read(path, has_header=name != "auto")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", an.LeftOutWarning)
            schema = an.infer_schema(frame)
        found: dict[str, list[str]] = {}
        for finding in schema.findings:
            found.setdefault(finding.column, []).append(finding.what)
        bare = pl.read_csv(path, has_header=name != "auto", infer_schema=False).with_columns(pl.all().fill_null(""))
        for column, type_, (key, of) in zip(
            schema.columns, told["types"], told["missing_and_anomalous"].items(), strict=False
        ):
            at = frame.columns[int(key)] if name == "auto" else key
            column = schema[at]
            type_ = told["types"][frame.columns.index(at)]
            n += 1
            said = _ptype_class(column, frame[at])
            wanted = (
                "date"
                if type_.startswith("date")
                else "string"
                if type_ == "gender" and frame[at].dtype == pl.String
                else type_
            )
            types += said == (wanted if wanted != "gender" else "integer")
            if said != (wanted if wanted != "gender" else "integer"):
                print(f"  {name}: {at} is {type_}, read as {said}")
            held = set(bare[at].unique().to_list())
            known = {text.strip() for text in held if text in NULLS or text.strip() in SAID_MISSING}
            blanks += known == set(of["missing_values"])
            if known != set(of["missing_values"]):
                print(f"  {name}: {at} has the missing values {of['missing_values']}, recognised {sorted(known)}")
            n_odd += len(of["anomalous_values"])
            spoilt = [
                value for what in found.get(at, []) if "spreadsheet" in what for value in re.findall("'(.*?)'", what)
            ]
            odd += len(set(spoilt) & set(of["anomalous_values"]))
            odd_columns += set(spoilt) == set(of["anomalous_values"])
    print(
        f"## ptype's tables\n\n| of {n} columns | right |\n|---|---|\n"
        f"| types | {types / n:.3f} |\n| missing values | {blanks / n:.3f} |"
    )
    print(f"| anomalous values | {odd_columns / n:.3f} |\n\nanomalous values found: {odd} of {n_odd}\n")


def flags() -> None:
    """Findings on tables that were already prepared."""
    n, flagged = 0, []
    for path in sorted((DATA / "uci").glob("*.csv.gz")):
        frame = an.read(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", an.LeftOutWarning)
            found = an.infer_schema(frame).findings
        n += frame.width
        flagged += [f"{path.name[:-7]}: {finding}" for finding in found]
    by_column = [told for told in flagged if "duplicate row" not in told]
    print(
        f"## Findings on benches/data/uci\n\n{len(by_column)} of {n} columns, "
        f"and duplicate rows in {len(flagged) - len(by_column)} tables\n"
    )
    print("\n".join(f"* {told}" for told in flagged), "\n")


def flights(n: int = 336_776) -> pl.DataFrame:
    """A table of the shape of nycflights13's flights: 19 columns, whole numbers, codes, a time of day, gaps."""
    rng = np.random.default_rng(1)

    def some(low: int, high: int, gaps: float = 0.0) -> pl.Series:
        return pl.Series(rng.integers(low, high, n)).set(pl.Series(rng.random(n) < gaps), None)

    tails = pl.Series([f"N{i:05d}" for i in range(4043)])
    places = pl.Series([f"{chr(65 + i % 26)}{chr(65 + i // 5)}{chr(65 + i % 7)}" for i in range(105)])
    return pl.DataFrame(
        {
            "year": pl.Series(np.full(n, 2013)), "month": some(1, 13), "day": some(1, 32),
            "dep_time": some(1, 2400, 0.02),
            "sched_dep_time": some(500, 2359), "dep_delay": some(-43, 1301, 0.02), "arr_time": some(1, 2400, 0.03),
            "sched_arr_time": some(1, 2359), "arr_delay": some(-86, 1272, 0.03),
            "carrier": places[:16].gather(some(0, 16)),
            "flight": some(1, 8500), "tailnum": tails.gather(some(0, 4043)), "origin": places[:3].gather(some(0, 3)),
            "dest": places.gather(some(0, 105)), "air_time": some(20, 695, 0.03), "distance": some(17, 4983),
            "hour": some(1, 24), "minute": some(0, 60),
            "time_hour": ((some(0, 6936) * 3600 + 1_357_034_400) * 1_000_000).cast(pl.Datetime("us")),
        }
    )  # fmt: skip


def seconds() -> None:
    big = flights()
    text = big.with_columns(pl.col("time_hour").dt.to_string("%Y-%m-%d %H:%M:%S"))
    small = an.example("patients")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", an.LeftOutWarning)
        told = []
        for name, frame, times in (
            ("336,776 x 19", big, 3),
            ("the same, a time as text", text, 3),
            ("patients, 600 x 12", small, 20),
        ):
            best = float("inf")
            for _ in range(times):
                started = time.perf_counter()
                an.infer_schema(frame)
                best = min(best, time.perf_counter() - started)
            told.append(f"| {name} | {best:.3f} | {best / frame.width * 1000:.2f} |")
    print("## Time\n\n| table | seconds | ms per column |\n|---|---|---|\n" + "\n".join(told))


def main() -> None:
    known = Labelled()
    if "--learn" in sys.argv[1:]:
        learn(known)
    nine_classes(known)
    ptype()
    flags()
    seconds()


if __name__ == "__main__":
    main()
