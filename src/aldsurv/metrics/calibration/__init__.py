"""Calibration: at all levels, at one time, on average, by group and for each individual."""
