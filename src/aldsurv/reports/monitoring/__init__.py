"""The page about a model that is watched over calendar periods."""
