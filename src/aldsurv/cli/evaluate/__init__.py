"""``aldsurv evaluate``."""
