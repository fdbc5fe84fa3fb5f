"""The command ``aldsurv monitor``."""
