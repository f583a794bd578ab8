"""Writes docs/papers.md: every table of the five papers, printed beside ours, from the pages the papers' scripts write.

python benches/papers/page.py
"""

from __future__ import annotations

import re

from common import PAGES, ROOT

PAPERS = (
    ("talvitie2019", "Talvitie, Eggeling and Koivisto 2019: trees and full tables, exact search"),
    ("carvalho2009", "Carvalho 2009: classic scores, trees and classifiers"),
    ("andrews2019", "Andrews, Ramsey and Cooper: mixed data at hundreds of variables"),
    ("sharma2022", "Sharma and van Beek 2022: MARS and a thousand variables"),
    ("chickering1997", "Chickering, Heckerman and Meek 1997: decision graphs"),
)


def main() -> None:
    head = [
        "# The papers' tables beside ours\n",
        "Every table is written by the script named above it, which anyone can run. Figures of papers are cited, ours",
        "are measured, and a cell whose run was cut short says so.\n",
    ]
    body = []
    for name, title in PAPERS:
        page = PAGES / f"{name}.md"
        if not page.exists():
            head.append(f"* {title}: not yet run (`benches/papers/{name}.py`)")
            continue
        head.append(f"* [{title}](#{_anchor(title)})")
        text = page.read_text(encoding="utf-8")
        text = re.sub(r"\A# .*\n", f"# {title}\n", text)
        # Every heading one step down: the page has one title. Pictures lie beside the single pages.
        text = re.sub(r"^(#+ )", r"#\1", text, flags=re.MULTILINE)
        body.append(re.sub(r"!\[(.*?)\]\((?!https?:)(.*?)\)", r"![\1](papers/\2)", text))
    (ROOT / "docs" / "papers.md").write_text("\n".join([*head, "", *body]), encoding="utf-8")


def _anchor(title: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    main()
