"""Planning a study: how many people it takes to develop a model or to validate one, and what more rows would bring."""

from aldsurv.planning.development import development_sample_size
from aldsurv.planning.growing_parts import LearningCell, LearningCurve, LearningPoint, learning_curve
from aldsurv.planning.power_law import Extrapolation
from aldsurv.planning.sample_size import Criterion, SampleSize
from aldsurv.planning.validation import validation_sample_size

__all__ = [
    "Criterion",
    "Extrapolation",
    "LearningCell",
    "LearningCurve",
    "LearningPoint",
    "SampleSize",
    "development_sample_size",
    "learning_curve",
    "validation_sample_size",
]
