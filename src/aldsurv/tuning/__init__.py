"""Search over the settings of a model."""
