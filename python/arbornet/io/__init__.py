"""Files that other tools read and write."""
