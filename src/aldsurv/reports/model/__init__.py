"""The report of a model: what its sections say."""
