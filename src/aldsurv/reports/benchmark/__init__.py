"""The report of a benchmark: what its sections say, and its tables and figures as files."""
