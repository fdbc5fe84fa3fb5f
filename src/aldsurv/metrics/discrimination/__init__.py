"""Whether predictions put rows in the order of their events."""
