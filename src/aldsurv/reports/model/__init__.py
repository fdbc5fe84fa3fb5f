"""The report of a model."""
