"""``aldsurv compare``."""
