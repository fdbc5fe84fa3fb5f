"""Rows of survival data: checked, selected and split."""
