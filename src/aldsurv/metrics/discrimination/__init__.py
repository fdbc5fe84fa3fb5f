"""Discrimination: concordance indices and the time-dependent AUC."""
