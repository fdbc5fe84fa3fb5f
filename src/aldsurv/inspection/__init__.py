"""What each column does to the predictions of any model: how much it matters, and in which direction."""

from aldsurv.inspection.importance import Importance, permutation_importance
from aldsurv.inspection.partial_dependence import PartialDependence, partial_dependence

__all__ = ["Importance", "PartialDependence", "partial_dependence", "permutation_importance"]
