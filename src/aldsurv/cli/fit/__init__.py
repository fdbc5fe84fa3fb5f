"""``aldsurv fit``."""
