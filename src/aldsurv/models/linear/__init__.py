"""Models with a linear predictor."""
