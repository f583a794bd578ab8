"""What a column looks like, besides its type: one rule per file, each using distinct values and their counts.

| file | what it recognises |
|---|---|
| `numbers_in_text` | numbers that a person wrote: `$1,200`, `10.4%`, `1.234,5`, `12 kg` |
| `dates` | dates and times in text, the order of day and month |
| `identifiers` | values that identify rows or persons |
| `codes` | whole numbers that are codes |
| `counts` | 0, 1, 2, ... of something |
| `grades` | levels whose words have an order |
| `texts` | free text, addresses, lists |
| `look` | applies the rules in order |
| `tree`, `marks`, `reasons` | what no rule decides, and why in words |
"""
