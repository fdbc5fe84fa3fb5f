"""Families of distributions, one a file."""
