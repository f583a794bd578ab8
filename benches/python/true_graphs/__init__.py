"""What `benches/python/structure.py` is made of: the tables, the learners, the journal and the page."""
