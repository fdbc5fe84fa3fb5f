"""How good the predictions are: one study of all models on all datasets, with choices made on validation rows only."""
