"""What plots share: looks, messages, time grids, files."""
