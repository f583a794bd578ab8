"""Printed text: what a person reads in a terminal, a notebook or a warning.

| room | what it does |
|---|---|
| `visible` | control characters shown as escapes |
| `terminal` | lines that fit the terminal, times a person can read |
| `brief` | short texts of objects |
| `notebook` | tables, texts and files in a notebook |
| `notices` | warnings |
| `progress` | bars and log lines |
"""
