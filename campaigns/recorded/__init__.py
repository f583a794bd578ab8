"""What `record.py` writes down of every table: one room of the package a file."""
