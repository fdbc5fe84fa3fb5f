"""Search over the settings that a model declares."""

from aldsurv.tuning.search import Finalist, Progress, Trial, Tuning, tune

__all__ = ["Finalist", "Progress", "Trial", "Tuning", "tune"]
