"""Censored likelihoods and their slopes."""
