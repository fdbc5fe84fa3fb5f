"""Elastic-net paths: linear models of tables with more columns than rows."""
