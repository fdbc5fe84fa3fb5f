"""The items of TRIPOD+AI, and what a report can answer of each from the model and the rows."""
