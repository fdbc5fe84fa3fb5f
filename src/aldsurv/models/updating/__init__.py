"""A fitted model that is used on other people, changed as little as they need."""
