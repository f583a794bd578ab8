"""What you look at: pictures (`draw`), the report as one web page (`report`), the words for arcs (`arrows`)."""
