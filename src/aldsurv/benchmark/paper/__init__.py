"""The published numbers."""
