"""Results as people look at them: tables and curves in notebooks, pandas frames."""
