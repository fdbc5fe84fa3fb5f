"""``aldsurv plan``."""
