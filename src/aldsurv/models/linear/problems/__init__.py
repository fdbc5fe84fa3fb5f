"""Likelihoods of linear models as problems to be solved: of rows in memory, and of tables in parts."""
