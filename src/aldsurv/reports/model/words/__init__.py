"""What columns and events are called on the page, and how to cite it."""
