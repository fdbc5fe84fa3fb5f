"""Distributions as graphs: the survival, the cdf and the quantiles of every row."""
