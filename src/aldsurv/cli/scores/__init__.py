"""Scores of a model on a table: which, with what settings, and as lines of text."""
