"""What each column does to the predictions of any model, and which columns should not be learned from."""

from aldsurv.inspection.importance import Importance, permutation_importance
from aldsurv.inspection.leak_signs import Sign
from aldsurv.inspection.partial_dependence import PartialDependence, partial_dependence
from aldsurv.inspection.shapley import Attributions, shapley_values
from aldsurv.inspection.suspicious_columns import SuspiciousColumn, suspicious_columns

__all__ = [
    "Attributions",
    "Importance",
    "PartialDependence",
    "Sign",
    "SuspiciousColumn",
    "partial_dependence",
    "permutation_importance",
    "shapley_values",
    "suspicious_columns",
]
