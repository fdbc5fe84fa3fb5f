"""Families of distributions, one per file."""
