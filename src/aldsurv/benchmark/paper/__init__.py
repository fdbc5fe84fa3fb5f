"""The paper's printed numbers, and what follows from them without running anything."""
