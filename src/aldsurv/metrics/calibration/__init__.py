"""Whether predicted probabilities come true as often as they say."""
