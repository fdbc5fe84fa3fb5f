"""What comes in: bodies, rows by column name, options, and what is wrong with them."""
