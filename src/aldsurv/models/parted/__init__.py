"""Fits and scores over tables in parts, in this process or on the workers of a cluster."""
