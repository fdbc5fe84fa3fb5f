"""How far predictions are from what was observed."""
