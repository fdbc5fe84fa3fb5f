"""Search over the settings that a model declares."""

from aldsurv.tuning.model_update import ModelUpdate, RungScore, update_model
from aldsurv.tuning.search import Finalist, Progress, Trial, Tuning, tune

__all__ = ["Finalist", "ModelUpdate", "Progress", "RungScore", "Trial", "Tuning", "tune", "update_model"]
