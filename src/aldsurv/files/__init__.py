"""Files that are written whole or not at all, and the model file."""
