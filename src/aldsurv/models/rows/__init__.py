"""Rows that models learn from: checks, facts, units of time, members, strata."""
