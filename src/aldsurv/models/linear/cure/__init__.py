"""Failure times with a share that never has the event."""
