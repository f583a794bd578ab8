"""The machine: memory that is free (`memory`), threads (`parallel`), files in (`sources`) and out (`whole`)."""
