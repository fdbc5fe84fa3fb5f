"""What a model's report says of the times at which predictions are judged."""
