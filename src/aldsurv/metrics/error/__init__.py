"""Errors and scores: absolute error, Brier scores, log-likelihood, continuous ranked probability score."""
