"""Regressions for competing causes: of the hazard of each cause, and of its incidence."""
