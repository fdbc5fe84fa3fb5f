"""Estimators of other libraries behind the interface of aldsurv; each library is imported when one is fitted."""

from aldsurv.models.adapters.scikit_survival import ForestPeer, GradientBoostingPeer
from aldsurv.models.adapters.xgboost_trees import XGBoostAFT, XGBoostCox

__all__ = ["ForestPeer", "GradientBoostingPeer", "XGBoostAFT", "XGBoostCox"]
