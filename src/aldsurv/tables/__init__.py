"""Tables from CSV and Parquet files, whole or in blocks."""
