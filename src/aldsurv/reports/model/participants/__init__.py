"""What a model's report says of the people that the model was trained and evaluated on."""
