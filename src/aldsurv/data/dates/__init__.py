"""Dates as people write them, and the time between two of them."""
