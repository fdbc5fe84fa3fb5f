"""Models with a network."""
