"""One self-contained HTML page about a network: `parts` says what, `page` writes it.

A fitted network's `report(path)` calls `write(Report(...), path)`.
"""

from arbornet.show.report.page import check_name, page, write
from arbornet.show.report.parts import Report, Rows, Search, Variable

__all__ = ["Report", "Rows", "Search", "Variable", "check_name", "page", "write"]
