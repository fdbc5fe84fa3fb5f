"""The command ``aldsurv update``."""
