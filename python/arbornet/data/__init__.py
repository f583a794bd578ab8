"""From a data frame or file to the table that every score reads, and its values back again.

| room | what it does |
|---|---|
| `files`, `frames` | a file to a frame, any frame to raw columns |
| `schema` | the type of every column: `infer` has the rules for values, `looks` those for texts, counts and names |
| `schema_check`, `schema_text` | a schema read from a file, and printed |
| `kinds`, `levels`, `calendar` | what a column can be; levels, dates and times as people write them |
| `coding`, `dropped`, `table` | columns coded by the schema, rows left out, the `Table` |
| `weights` | how often each row counts |
| `values` | codes and standardised numbers back to the user's values |
| `examples` | the bundled tables |
"""
