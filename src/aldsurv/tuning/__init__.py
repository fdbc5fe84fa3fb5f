"""Search over the settings that a model declares."""

from aldsurv.tuning.search import Trial, Tuning, tune

__all__ = ["Trial", "Tuning", "tune"]
