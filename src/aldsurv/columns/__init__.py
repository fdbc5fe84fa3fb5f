"""Columns of covariates as users have them, turned into numbers; what was learned of them is plain data."""
