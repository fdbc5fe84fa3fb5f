"""The steps of a fit: prepare, train, choose."""
