"""Keeps a part of what the fuzzers found worth keeping, as inputs of the tests: a JSON string a line, byte by byte.

python fuzz/keep.py TARGET BYTES FOLDER...     # writes tests/corpus/TARGET.jsonl; minimise the folders first
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path


def main() -> None:
    target, budget = sys.argv[1], int(sys.argv[2])
    inputs = {path.read_bytes() for folder in sys.argv[3:] for path in Path(folder).iterdir() if path.is_file()}
    drawn = sorted(inputs)
    random.Random(1).shuffle(drawn)
    kept: list[bytes] = []
    for content in drawn:
        if sum(map(len, kept)) + len(content) <= budget:
            kept.append(content)
    lines = [json.dumps(content.decode("latin-1"), ensure_ascii=False) for content in sorted(kept)]
    path = Path(__file__).parents[1] / "tests" / "corpus" / f"{target}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{target}: {len(kept)} of {len(inputs)} inputs, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
