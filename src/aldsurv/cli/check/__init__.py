"""``aldsurv check``."""
