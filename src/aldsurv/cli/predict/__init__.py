"""``aldsurv predict``."""
