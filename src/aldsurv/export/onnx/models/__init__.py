"""Models as graphs: one module per kind, each registered under the class it is for."""
