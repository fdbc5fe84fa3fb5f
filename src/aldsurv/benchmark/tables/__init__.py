"""Tables of a benchmark."""
