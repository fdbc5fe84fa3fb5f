"""Uncertainty of metrics: bootstrap and paired comparison."""
