"""Rows with censored times: what was observed, checked once, and how rows are split."""
