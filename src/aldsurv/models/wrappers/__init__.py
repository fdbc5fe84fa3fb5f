"""Models around another model."""
