"""Speed and memory, side by side with peers in one run.

Each benchmark prints what it measures and stores it in docs/results/performance.json, from which ``python -m
bench.pages`` writes docs/performance.md.
"""
