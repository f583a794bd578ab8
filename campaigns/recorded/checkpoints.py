"""Checkpoints and journals: what lies on disk, and what comes of going on from it."""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

import arbornet as an
from recorded.book import Book
from recorded.tables import Form


def record(form: Form, book: Book) -> None:
    """Of the form that every method takes."""
    if form.name == "mixed":
        book.put("checkpoints/mixed/PCART", lambda: _checkpoint(form, an.PCART(), 2))
    if form.name == "levels":
        book.put("checkpoints/levels/BDeu", lambda: _checkpoint(form, an.BDeu(10), 3))
        book.put("checkpoints/levels/candidates", lambda: _candidates(form))
        book.put("checkpoints/levels/journal", lambda: _journal(form))


def _checkpoint(form: Form, score: Any, most: int) -> object:
    """A finished checkpoint's files, and the candidates that it gives back without scoring."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "checkpoint"
        # Blocks are written as they come; on one thread that is always in the same order.
        first = an.score_parents(form.table, score, most, n_jobs=1, checkpoint=place)
        files = {str(path.relative_to(place)): _digest(path) for path in sorted(place.rglob("*")) if path.is_file()}
        again = an.score_parents(form.table, score, most, n_jobs=form.n_jobs, checkpoint=place)
        return [files, again, first == again]


def _candidates(form: Form) -> object:
    """Candidates as .jkl text, and what .jkl and Parquet give back."""
    kept = form.candidates["BDeu"][1]
    with tempfile.TemporaryDirectory() as folder:
        jkl, parquet = Path(folder) / "kept.jkl", Path(folder) / "kept.parquet"
        kept.save(jkl)
        kept.save(parquet)
        return [jkl.read_text(encoding="utf-8"), an.Candidates.load(jkl), an.Candidates.load(parquet)]


def _journal(form: Form) -> object:
    """Finished folds as they lie on disk, by their number."""
    few = form.names[:3]
    schema = an.Schema(tuple(column for column in form.table.schema.columns if column.name in few))
    with tempfile.TemporaryDirectory() as folder:
        journal = Path(folder) / "folds.jsonl"
        an.evaluate.cross_validate(
            form.frame.select(few), an.BDeu(1), 2, 1, schema=schema, max_parents=1, resume=journal, n_jobs=form.n_jobs
        )
        head, *lines = journal.read_text(encoding="utf-8").splitlines()
        return [head, *sorted(lines, key=lambda line: json.loads(line)[0])]


def _digest(path: Path) -> str:
    return f"{path.stat().st_size} bytes, {hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()}"
