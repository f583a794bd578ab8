"""What a column looks like, beside the kind it is read as: one rule a file, each over distinct values and their counts.

| file | what it tells |
|---|---|
| `numbers_in_text` | numbers that a person wrote: `$1,200`, `10.4%`, `1.234,5`, `12 kg` |
| `dates` | dates and times in text, the order of day and month |
| `identifiers` | values that name rows or persons |
| `codes` | whole numbers that name things |
| `counts` | 0, 1, 2, ... of something |
| `grades` | levels whose words tell an order |
| `texts` | free text, addresses, lists |
| `look` | the order in which they are asked |
"""
