"""What elastic-net models share: penalties chosen by folds, columns that have a coefficient, files."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Choice, Constraint, Number, OrNone, Satisfies, WholeNumber
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import DataError, NoSkillWarning
from aldsurv.models.file_entries import Arrays, Document, FileContent, finite_floats, require
from aldsurv.models.fitted_state import FittedState, fitted_state
from aldsurv.models.linear.coefficients import CoefficientTable
from aldsurv.models.linear.design import Design
from aldsurv.models.linear.elastic_net.path import largest_alpha
from aldsurv.models.linear.elastic_net.ridge import ridge_alphas
from aldsurv.models.linear.elastic_net.scored_path import PathProblem, RegularisationPath, score_path
from aldsurv.models.linear.elastic_net.solver import PenalisedFit
from aldsurv.models.linear.linear_survival import LinearSurvival, spreads
from aldsurv.models.rows.member_rows import member_seeds
from aldsurv.models.wrappers.cross_fitting import choose_parts

__all__ = ["ElasticNetFit", "ElasticNetSurvival", "Solution"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

# Ends of a path, as shares of the largest alpha: with more columns than rows what lies beyond fits noise.
_SMALLEST_SHARE, _SMALLEST_SHARE_WIDE = 1e-4, 1e-2
# How far apart alphas are on the way to one that was given.
_STRIDE = 0.7
# Coefficients that `summary` shows.
_MOST_LINES = 30
_PATH_FLOATS = ("alphas", "gains", "scores", "standard_errors", "values")
_PATH_INTEGERS = ("starts", "columns")
_SHARE = Number(0, 1)
# Values of l1_ratio that the folds choose from; the ridge is for tables with more columns than rows.
_RATIOS, _RATIOS_WIDE = (0.1, 0.5, 0.9), (0.0, 0.1, 0.5, 0.9)


def _is_share(value: object) -> bool:
    if isinstance(value, str):
        return value == "auto"
    several = isinstance(value, (list, tuple, np.ndarray)) and len(value) > 0
    return all(map(_SHARE.allows, value)) if several else _SHARE.allows(value)  # type: ignore[call-overload]


@final
@dataclass(frozen=True, kw_only=True)
class ElasticNetFit(FittedState):
    """What an elastic net learns.

    Attributes
    ----------
    standardised
        Parameters (k,) of centred and scaled columns, as in `LinearSurvival`.
    log_likelihood
        Of the training rows, without the penalty.
    alpha, l1_ratio
        The penalty that was chosen or given.
    path
        Fits along falling alphas.
    """

    standardised: FloatArray
    log_likelihood: float
    alpha: float
    l1_ratio: float
    path: RegularisationPath


@final
@dataclass(frozen=True)
class Solution:
    """Where the path was left.

    Attributes
    ----------
    slopes
        Coefficients (d,) of the columns as they were given.
    centre
        What the columns add up to (times their slopes) in an average row.
    free
        Parameters without a penalty.
    alpha, path
        The penalty there, and the path.
    """

    slopes: FloatArray
    centre: float
    free: FloatArray
    alpha: float
    path: RegularisationPath


@dataclass(kw_only=True, eq=False, repr=False)
class ElasticNetSurvival(LinearSurvival):
    """A linear model whose coefficients have a price: most columns of a wide table get none.

    The objective is ``-ℓ/n + alpha·(l1_ratio·Σ|β| + ½·(1 - l1_ratio)·Σβ²)``, ℓ the log-likelihood, n the number of rows
    (their total weight) and β the effects of one standard deviation of a column, as in glmnet and in scikit-survival.

    Parameters
    ----------
    l1_ratio
        Share of the penalty on absolute values, from 0 (a ridge, under which every column has a coefficient) to 1 (the
        lasso): the larger, the fewer columns have a coefficient. Of several the folds choose one. ``"auto"``: 0.1, 0.5
        and 0.9, and 0 where columns outnumber rows.
    alpha
        Strength of the penalty. None: the folds choose it from a path that begins where all coefficients are 0; of a
        ridge the first alpha stands for a model without columns.
    n_alphas
        Number of alphas on the path, evenly by their logarithms. It ends early where held-out rows are predicted
        worse and worse, or where smaller alphas change nothing.
    alpha_min_ratio
        The last alpha as a share of the first; ``"auto"``: 0.01 if columns outnumber rows, else 0.0001. A ridge has a
        path of its own, from next to no effect to one that explains the rows almost freely.
    folds
        Parts in which rows are held out in turn, each with its share of the events; copies of a row stay in one part.
    choose
        ``"best"``: the alpha with the best held-out log-likelihood. ``"one_standard_error"``: the largest one within
        one standard error of it, which leaves fewer columns. If none is better than a model without columns, all
        coefficients are 0.
    random_state
        Seed or generator of the folds.
    categorical, point, unit
        As in `LinearSurvival`.

    Attributes
    ----------
    coefficients_
        Table of the coefficients that are not 0, in the unit of the columns.
    selected_columns_
        Names of the columns that have a coefficient.
    alpha_, l1_ratio_
        The penalty.
    path_
        The `RegularisationPath`: alphas, scores with standard errors, and effects.
    alphas_
        The alphas of that path.
    log_likelihood_
        Without the penalty.
    """

    l1_ratio: float | Sequence[float] | str = field(default="auto", kw_only=False)
    alpha: float | None = field(default=None, kw_only=False)
    n_alphas: int = 50
    alpha_min_ratio: float | str = "auto"
    folds: int = 10
    choose: str = "best"
    random_state: Any = None

    alpha_: float = field(init=False)
    l1_ratio_: float = field(init=False)
    path_: RegularisationPath = field(init=False)

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "l1_ratio": Satisfies(_is_share, "a number from 0 to 1, several of them, or 'auto'"),
        "alpha": OrNone(Number(0, above=True)),
        "n_alphas": WholeNumber(2, 1000),
        "alpha_min_ratio": Number(0, 1, above=True, below=True, or_one_of=("auto",)),
        "folds": WholeNumber(2, 1000),
        "choose": Choice(("best", "one_standard_error")),
    }
    FIT_ENTRIES: ClassVar[frozenset[str]] = frozenset({"alpha", "l1_ratio"})
    FIT_ARRAYS: ClassVar[frozenset[str]] = frozenset(f"path.{name}" for name in (*_PATH_FLOATS, *_PATH_INTEGERS))

    @property
    def alphas_(self) -> FloatArray:
        """Alphas of the path, falling."""
        self._require_fitted()
        return self.path_.alphas

    @property
    def selected_columns_(self) -> list[str]:
        """Names of the columns that have a coefficient."""
        self._require_fitted()
        names = self.design_.names
        return [names[k] for k in np.flatnonzero(self._slopes())]

    @property
    def coefficients_(self) -> CoefficientTable:
        """The coefficients that are not 0, in the unit of the columns; they have no standard errors."""
        self._require_fitted()
        unit = self._to_users_unit(self.design_)
        table = CoefficientTable(
            tuple(unit.names), unit.convert(self.standardised_), np.full(len(unit.names), np.nan), self.RATIO_NAME
        )
        return table.lines(self._shown())

    @abstractmethod
    def _slopes(self) -> FloatArray:
        """Those of the parameters that are coefficients of columns."""

    @abstractmethod
    def _shown(self) -> list[int]:
        """Numbers of the parameters that are not 0 or belong to no column."""

    def _free_columns(self) -> NDArray[np.bool_]:
        return np.asarray(self._slopes() != 0)

    def _changed_fit(self, estimates: FloatArray, covariance: FloatArray, log_likelihood: float) -> ElasticNetFit:
        return replace(fitted_state(self, ElasticNetFit), standardised=estimates, log_likelihood=log_likelihood)

    def _solve(self, problem: PathProblem, x: FloatArray, weights: FloatArray, parts: list[IntArray]) -> Solution:
        """The path over standardised columns of rows of numbers (n, d), and where on it to stay."""
        centre, spread = weights @ x / weights.sum(), spreads(x, weights)
        factor = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
        columns = np.array(x.T, order="C")
        columns -= centre[:, None]
        columns *= factor[:, None]
        given = self.l1_ratio
        if isinstance(given, str):
            given = _RATIOS_WIDE if len(columns) > problem.n else _RATIOS
        ratios = np.atleast_1d(np.asarray(given, np.float64)).tolist()
        if not parts:
            # A penalty that was given, or too few events to hold any out.
            ratios = [ratio for ratio in ratios if ratio > 0][:1] or ratios[:1]
        results = [score_path(problem, columns, parts, self._alphas(problem, columns, r), r) for r in ratios]
        paths = [path for path, _ in results]
        if any(path.alphas.size == 0 for path in paths) or (
            self.alpha is not None and paths[0].alphas[-1] > self.alpha
        ):
            raise DataError(
                "the penalised likelihood has no maximum that Newton's method could find",
                argument="X",
                advice="Look for extreme values, or take a larger alpha.",
            )
        place = 0
        if parts:
            place = int(np.argmax([path.scores.max() for path in paths]))
        path, free = results[place]
        step = path.best(self.choose) if parts else -1 if self.alpha is not None else 0
        step %= path.alphas.size
        slopes = path.effects(step, len(factor)) * factor
        return Solution(slopes, float(centre @ slopes), free[step], float(path.alphas[step]), path)

    def _alphas(self, problem: PathProblem, columns: FloatArray, l1_ratio: float) -> FloatArray:
        every = np.arange(problem.n)
        if l1_ratio == 0:
            return np.array([self.alpha]) if self.alpha is not None else ridge_alphas(columns, self.n_alphas)
        largest = largest_alpha(
            columns, PenalisedFit.without_columns(problem.loss(every), every, len(columns)), l1_ratio
        )
        # Without a column that varies any alpha leaves all coefficients at 0.
        largest = largest or 1.0
        if self.alpha is not None:
            steps = max(int(np.ceil(np.log(self.alpha / largest) / np.log(_STRIDE))), 0)
            last = float(self.alpha)
            return np.append(largest * (last / largest) ** (np.arange(1, steps) / max(steps, 1)), last)
        share = self.alpha_min_ratio
        if isinstance(share, str):
            share = _SMALLEST_SHARE_WIDE if len(columns) > problem.n else _SMALLEST_SHARE
        return np.asarray(largest * np.geomspace(1.0, share, self.n_alphas))

    def _parts(self, x: FloatArray, data: SurvivalData) -> list[IntArray]:
        """Rows to hold out; none if alpha was given, or if there are too few events."""
        if self.alpha is not None:
            return []
        seed = member_seeds(self.random_state, 1)[0]
        return choose_parts(data, folds=self.folds, validation=None, seed=seed, X=x)

    def _warn_without_columns(self, solution: Solution) -> None:
        if self.alpha is None and not solution.slopes.any():
            warnings.warn(
                f"{type(self).__name__} gives no column a coefficient: {_reason(solution.path)}. Every row gets the "
                "same prediction.",
                NoSkillWarning,
                stacklevel=4,
            )

    def _summary_facts(self) -> list[str]:
        path, chosen = self.path_, len(self.selected_columns_)
        rows = [f"alpha {self.alpha_:.4g}, l1_ratio {self.l1_ratio_:.4g}"]
        if path.scores.size:
            rule = "best" if self.choose == "best" else "largest within a standard error of the best"
            rows[0] += f"; {rule} of {path.alphas.size} alphas by held-out rows"
            k = int(np.argmin(np.abs(path.alphas - self.alpha_)))
            if chosen:
                error = path.standard_errors[k]
                rows.append(f"{path.scores[k]:.4f} (standard error {error:.4f}) over a model without columns")
        lines = [f"  {name:<15} {row}" for name, row in zip(("penalty", "held-out gain"), rows, strict=False)]
        total = len(self.design_.names)
        text = f"{chosen} of {total} have a coefficient" if chosen else f"none of {total} has a coefficient"
        if not chosen and self.alpha is None:
            text += f": {_reason(path)}"
        return [*lines, f"  columns         {text}"]

    def _coefficient_text(self) -> str:
        table = self.coefficients_
        shown = self._shown()
        if len(table) <= _MOST_LINES:
            return str(table) if len(table) else ""
        sizes = np.abs(self.standardised_[shown])
        largest = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_LINES])
        more = len(table) - _MOST_LINES
        return f"{table.lines(largest.tolist())}\nand {more} more with smaller effects of one standard deviation"

    def _fit_content(self) -> FileContent:
        arrays = {f"path.{name}": getattr(self.path_, name) for name in (*_PATH_FLOATS, *_PATH_INTEGERS)}
        return {"alpha": self.alpha_, "l1_ratio": self.l1_ratio_}, arrays

    def _read_fit(
        self, design: Design, estimates: FloatArray, log_likelihood: float, document: Document, arrays: Arrays
    ) -> ElasticNetFit:
        alpha, ratio = document.get("alpha"), document.get("l1_ratio")
        require(Number(0, above=True).allows(alpha) and _SHARE.allows(ratio), "its penalty is unclear")
        path = _read_path(float(ratio), len(design.names), arrays)  # type: ignore[arg-type]
        return ElasticNetFit(
            standardised=estimates,
            log_likelihood=log_likelihood,
            alpha=float(alpha),  # type: ignore[arg-type]
            l1_ratio=path.l1_ratio,
            path=path,
        )


def _reason(path: RegularisationPath) -> str:
    if not path.scores.size:
        return "there are too few events to choose a penalty by held-out rows"
    return "held-out rows are predicted best without columns"


def _read_path(l1_ratio: float, size: int, arrays: Arrays) -> RegularisationPath:
    floats = {name: finite_floats(arrays, f"path.{name}") for name in _PATH_FLOATS}
    integers = {name: arrays.get(f"path.{name}", np.zeros(0)) for name in _PATH_INTEGERS}
    require(all(array.ndim == 1 for array in (*floats.values(), *integers.values())), "its path must be of columns")
    require(all(array.dtype == np.int64 for array in integers.values()), "columns of its path must be numbered")
    steps = floats["alphas"].size
    require(steps > 0 and floats["gains"].size == steps, "its path is unclear")
    require(bool((floats["alphas"] > 0).all() and (np.diff(floats["alphas"]) < 0).all()), "its alphas must fall")
    require(floats["scores"].size == floats["standard_errors"].size in (0, steps), "its scores are not of its alphas")
    require(bool((floats["standard_errors"] >= 0).all()), "its standard errors must not be negative")
    starts, columns = integers["starts"], integers["columns"]
    ends = starts.size == steps + 1 and starts[0] == 0 and starts[-1] == columns.size == floats["values"].size
    require(bool(ends and (np.diff(starts) >= 0).all()), "its path is unclear")
    require(bool(((columns >= 0) & (columns < size)).all()), "its path is not of its columns")
    return RegularisationPath(l1_ratio=l1_ratio, starts=starts, columns=columns, **floats)
