"""Models with competing causes on drawn tables whose incidences are known, beside peers."""
