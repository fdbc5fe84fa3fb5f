"""What all plots share: look, text in axes, time grids, chosen rows, confidence bands, files."""
