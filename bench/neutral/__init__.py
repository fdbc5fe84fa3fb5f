"""A neutral benchmark: other people's datasets, folds, definitions and scores (Burk et al. 2026)."""
