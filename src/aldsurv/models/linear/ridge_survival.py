"""Linear models at the maximum of their likelihood: standard errors, columns that were dropped, a ridge."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Constraint, Number, Satisfies, listed
from aldsurv.models.file_entries import Arrays, Document, FileContent, finite_floats, require
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.linear_fit import LinearFit, Penalty
from aldsurv.models.linear.linear_survival import LinearSurvival
from aldsurv.models.search_space import Range

__all__ = ["RIDGE_RANGE", "ROBUST", "RidgeSurvival"]

FloatArray = NDArray[np.float64]

# What a search tries: from a negligible penalty to one that leaves little of coefficients of a thousand events.
RIDGE_RANGE = Range(0.01, 1000.0, log=True)
ROBUST: Constraint = Satisfies(lambda value: isinstance(value, bool) or value == "auto", "True, False or 'auto'")


@dataclass(kw_only=True, eq=False, repr=False)
class RidgeSurvival(LinearSurvival):
    """A linear model at the maximum of its likelihood, perhaps with a ridge.

    Parameters
    ----------
    ridge
        Penalty ``½·ridge·Σ(β·s)²``, s the standard deviation of a column: it does not depend on the columns' units.
    robust
        Whether standard errors are robust, by the sandwich estimate: right where rows of one group (`groups` of `fit`)
        are alike, or where the model fits only roughly. ``"auto"``: with groups, and with weights that are not all
        whole numbers, as in R's ``coxph``. Without groups every row is its own cluster.
    categorical, point, unit
        As in `LinearSurvival`.

    Attributes
    ----------
    coefficients_
        Table of coefficients in the unit of the columns, with standard errors and ratios; NaN for columns that
        were dropped. With robust standard errors those of the model stand beside them.
    covariance_
        Covariance matrix of the coefficients, the robust one if `robust` says so; None if there are more columns than
        rows.
    model_covariance_
        The inverse of the information, whatever `robust` is.
    dropped_
        Columns that have no coefficient, by name, and why: those that are a combination of columns before them.
    penalty_
        The ridge that the fit needed without having been given one, at separation or if columns outnumber events;
        else None.
    log_likelihood_
        Without the penalty.
    """

    ridge: float = 0.0
    robust: bool | str = "auto"

    standardised_covariance_: FloatArray | None = field(init=False)
    standardised_robust_: FloatArray | None = field(init=False)
    dropped_: Mapping[str, str] = field(init=False)
    penalty_: Penalty | None = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "ridge": Number(0, meaning="0: no penalty"),
        "robust": ROBUST,
    }
    LATER_PARAMETERS: ClassVar[frozenset[str]] = frozenset({"robust"})
    # Files of earlier versions have none of these.
    FIT_ENTRIES: ClassVar[frozenset[str]] = frozenset({"dropped", "penalty"})
    FIT_ARRAYS: ClassVar[frozenset[str]] = frozenset({"covariance", "robust_covariance"})

    @property
    def coefficients_(self) -> CoefficientTable:
        """Coefficients in the unit of the columns: names, estimates, standard errors, ratios with intervals."""
        self._require_fitted()
        unit = self._to_users_unit(self.design_)
        values = unit.convert(self.standardised_)
        values[self._is_dropped(unit.names)] = np.nan
        without = np.full(values.size, np.nan)
        errors, by_model = (
            without if covariance is None else np.sqrt(np.diag(covariance))
            for covariance in (self.covariance_, self.model_covariance_)
        )
        robust = self.standardised_robust_ is not None
        return CoefficientTable(tuple(unit.names), values, errors, self.RATIO_NAME, by_model if robust else None)

    @property
    def covariance_(self) -> FloatArray | None:
        """Covariance matrix of the coefficients: the robust one if it was computed, else `model_covariance_`.

        NaN for columns that were dropped; None if there are more columns than rows.
        """
        self._require_fitted()
        robust = self.standardised_robust_
        return self.model_covariance_ if robust is None else self._in_users_unit(robust)

    @property
    def model_covariance_(self) -> FloatArray | None:
        """Covariance matrix of the coefficients by the observed information; with a ridge, by the penalised one.

        NaN for columns that were dropped; None if there are more columns than rows.
        """
        self._require_fitted()
        covariance = self.standardised_covariance_
        return None if covariance is None else self._in_users_unit(covariance)

    def _in_users_unit(self, covariance: FloatArray) -> FloatArray:
        unit = self._to_users_unit(self.design_)
        converted = unit.convert(unit.convert(covariance).T)
        dropped = self._is_dropped(unit.names)
        converted[dropped], converted[:, dropped] = np.nan, np.nan
        return converted

    def _is_dropped(self, names: Sequence[str], dropped: Mapping[str, str] | None = None) -> NDArray[np.bool_]:
        """Which coefficients are of columns that were dropped: `dropped_`, or those given."""
        lost = self.dropped_ if dropped is None else dropped
        return np.array([name in lost for name in names], np.bool_)

    def _free_columns(self) -> NDArray[np.bool_]:
        return np.array([name not in self.dropped_ for name in self.design_.names], np.bool_)

    def _changed_fit(self, estimates: FloatArray, covariance: FloatArray, log_likelihood: float) -> LinearFit:
        return LinearFit(
            standardised=estimates,
            standardised_covariance=covariance,
            log_likelihood=log_likelihood,
            dropped=self.dropped_,
            penalty=None,
        )

    def _summary_facts(self) -> list[str]:
        lines = []
        if self.penalty_ is not None:
            many = len(self.penalty_.columns)
            named = f"of {listed(self.penalty_.columns, 8)}" if many < len(self.coefficients_) else f"of {many} columns"
            lines.append(f"  ridge           {self.penalty_.ridge:.4g} {named}: {self.penalty_.reason}")
        return [*lines, *(f"  dropped         {name!r}: {reason}" for name, reason in self.dropped_.items())]

    def _fit_content(self) -> FileContent:
        entries = {
            "dropped": dict(self.dropped_),
            "penalty": None if self.penalty_ is None else self.penalty_._asdict(),
        }
        matrices = {"covariance": self.standardised_covariance_, "robust_covariance": self.standardised_robust_}
        return entries, {name: matrix for name, matrix in matrices.items() if matrix is not None}

    def _read_fit(
        self, design: Design, estimates: FloatArray, log_likelihood: float, document: Document, arrays: Arrays
    ) -> LinearFit:
        names = self._to_users_unit(design).names
        dropped = _read_dropped(document.get("dropped", {}), design.names)
        penalty = _read_penalty(document.get("penalty"), design.names)
        # Without a covariance columns outnumber rows, which needs a penalty.
        without = "covariance" not in arrays and (penalty is not None or bool(self.ridge))
        covariance = None if without else finite_floats(arrays, "covariance")
        robust = finite_floats(arrays, "robust_covariance") if "robust_covariance" in arrays else None
        lost = self._is_dropped(names, dropped)
        require(not estimates[lost].any(), "a column that was dropped has a coefficient")
        if covariance is not None:
            require(covariance.shape == (len(names), len(names)), "its covariance is not that of its columns")
            require(bool((np.diag(covariance)[~lost] > 0).all()), "its covariance must have positive variances")
        if robust is not None:
            require(covariance is not None and robust.shape == covariance.shape, "its robust covariance is unclear")
            require(bool((np.diag(robust) >= 0).all()), "its robust covariance must not have negative variances")
        return LinearFit(
            standardised=estimates,
            standardised_covariance=covariance,
            log_likelihood=log_likelihood,
            dropped=dropped,
            penalty=penalty,
            standardised_robust=robust,
        )


def _read_dropped(entry: Any, names: Sequence[str]) -> dict[str, str]:
    require(isinstance(entry, dict), "the columns that were dropped are unclear")
    require(
        all(name in names and isinstance(reason, str) for name, reason in entry.items()),
        "the columns that were dropped are not columns of the model",
    )
    return dict(entry)


def _read_penalty(entry: Any, names: Sequence[str]) -> Penalty | None:
    if entry is None:
        return None
    require(isinstance(entry, dict) and set(entry) == set(Penalty._fields), "its penalty is unclear")
    reason, ridge, columns = (entry[name] for name in Penalty._fields)
    require(isinstance(reason, str) and Number(0, above=True).allows(ridge), "its penalty is unclear")
    every = set(names)
    require(isinstance(columns, (list, tuple)) and all(name in every for name in columns), "its penalty is unclear")
    return Penalty(reason, float(ridge), tuple(columns))
