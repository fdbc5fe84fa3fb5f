"""What acting on predictions is worth."""
