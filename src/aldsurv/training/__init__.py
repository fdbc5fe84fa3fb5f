"""One training loop for every neural model: mini-batches, early stopping a member, checkpoints, history."""

from aldsurv.training.history import EpochReport, History
from aldsurv.training.settings import TrainingSettings

__all__ = ["EpochReport", "History", "TrainingSettings"]
