"""Networks fitted to tables in parts: rows encoded once into a file, and learned from bucket by bucket."""
