"""Array backends, log space, root search and integrals."""
