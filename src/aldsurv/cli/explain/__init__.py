"""``aldsurv explain``: why predictions are what they are."""
