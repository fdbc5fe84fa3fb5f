"""The model in full: all that is needed to reproduce it and to apply it to others."""
