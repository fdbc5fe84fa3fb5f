"""The same predictions by Python and by JavaScript, side by side."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aldsurv.errors import AldsurvError
from export.javascript.node import run_script

# Relative to the value, or to 1 if that is larger.
CLOSE = 1e-9
OF_CURVES = ("survival", "log_survival", "cdf", "density", "hazard", "cumulative_hazard", "quantile", "restricted_mean")
OF_ROWS = ("mean", "median", "mean_residual_life", "interval", "cure_probability", "time", "risk", "outside")
OF_CONDITIONS = ("conditional_survival", "conditional_quantile", "conditional_restricted_mean")
OF_MEMBERS = ("member_survival", "survival_band", "time_band")
OF_CAUSES = ("incidence", "cause_density", "cause_hazard", "cause_probability", "conditional_incidence")


@dataclass(frozen=True)
class Case:
    """A model in a file, rows for which it is asked, by column, and what it is asked for."""

    name: str
    model: Any
    path: Path
    columns: Mapping[str, Sequence[Any]]
    what: tuple[str, ...]
    times: np.ndarray
    since: np.ndarray
    levels: tuple[float, ...] = (0.05, 0.5, 0.83)

    @property
    def table(self) -> Any:
        """The rows as Python takes them."""
        named = self.model.innermost.features_.named
        if named:
            return {name: np.array(values, object) for name, values in self.columns.items()}
        return np.array(list(self.columns.values()), np.float64).T

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows as JavaScript takes them."""
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*self.columns.values(), strict=True)]


def case_of(
    name: str,
    model: Any,
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    *,
    seed: int = 0,
    times: int = 4,
    what: Sequence[str] | None = None,
) -> Case:
    """A case with random times, different for each row, whose model is asked for all that it can answer."""
    rng = np.random.default_rng(seed)
    n, last = len(next(iter(columns.values()))), float(model.unique_times_[-1])
    drawn = np.sort(rng.uniform(0.0, 1.3 * last, (n, times)), axis=1)
    drawn[:, 0] = np.where(rng.random(n) < 0.1, 0.0, drawn[:, 0] * rng.random(n) ** 3)
    if what is None:
        several = OF_MEMBERS if model.n_members > 1 else ()
        what = (*OF_CURVES, *OF_ROWS, *OF_CONDITIONS, *several, *(OF_CAUSES if model.causes_ else ()))
    case = Case(name, model, path, columns, tuple(what), drawn, np.zeros(n))
    with _quiet():
        early = np.asarray(model.predict_distribution(case.table).quantile(0.2))
    since = np.where(np.isfinite(early), np.clip(early, 0.0, last), 0.5 * last)
    return Case(name, model, path, columns, tuple(what), drawn, since)


def case_of_many(name: str, model: Any, path: Path, columns: Mapping[str, Sequence[Any]], *, seed: int = 0) -> Case:
    """A case with so many rows that the model is asked for its curve alone, and for that of each cause.

    Incidences of hazards are an integral for each row and time: of those few rows must do.
    """
    integrals = getattr(model, "causes", None) == "hazards"
    what = ("survival", *(("incidence",) if model.causes_ and not integrals else ()))
    return case_of(name, model, path, columns, seed=seed, times=2, what=what)


def compare(cases: Sequence[Case]) -> dict[str, list[str]]:
    """For each case where JavaScript answers otherwise than Python, in words; empty lists if nowhere."""
    asked = [
        {
            "path": str(case.path),
            "rows": case.rows,
            "what": case.what,
            "asked": [
                {"times": [_portable(t) for t in times], "levels": case.levels, "since": float(since)}
                for times, since in zip(case.times, case.since, strict=True)
            ],
        }
        for case in cases
    ]
    answers = run_script("predict.mjs", {"cases": asked})
    return {case.name: _differences(case, answer) for case, answer in zip(cases, answers, strict=True)}


def _portable(value: float) -> float | str:
    """JSON has no infinities."""
    return float(value) if np.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _differences(case: Case, answer: dict[str, Any]) -> list[str]:
    if "error" in answer:
        return [answer["error"]]
    refused = [row["error"] for row in answer["rows"] if "error" in row]
    if refused:
        return [f"{len(refused)} rows are refused: {refused[0]}"]
    found = []
    with _quiet():
        expected = expected_values(case)
    for what, values in expected.items():
        given = [row[what] for row in answer["rows"]]
        complaints = [value["error"] for value in given if isinstance(value, dict)]
        if values is None:
            found += [] if len(complaints) == len(given) else [f"{what}: Python refuses it, JavaScript does not"]
            continue
        if complaints:
            found.append(f"{what}: {len(complaints)} rows are refused: {complaints[0]}")
            continue
        if what == "outside":
            found += [] if given == values else [f"outside: {given[:3]} instead of {values[:3]}"]
            continue
        theirs, values = np.array(given, np.float64), np.asarray(values)
        if theirs.shape != values.shape:
            found.append(f"{what}: shape {theirs.shape} instead of {values.shape}")
            continue
        with np.errstate(invalid="ignore"):
            error = np.where(theirs == values, 0.0, np.abs(theirs - values) / np.maximum(1.0, np.abs(values)))
        error = np.where(np.isnan(theirs) & np.isnan(values), 0.0, np.where(np.isnan(error), np.inf, error))
        if error.size and error.max() > CLOSE:
            place = np.unravel_index(int(np.argmax(error)), error.shape)
            found.append(f"{what} {place}: {theirs[place]!r} instead of {values[place]!r} ({error.max():.1e})")
    return found


def expected_values(case: Case) -> dict[str, Any]:
    """What Python predicts, with one row of answers per row; None of what it refuses."""
    answers = _answers(case, case.model.predict_distribution(case.table))
    if any(what in _BY_CAUSE for what in case.what):
        incidence = case.model.predict_incidence(case.table)
        for what, formula in _BY_CAUSE.items():
            answers[what] = lambda formula=formula: np.moveaxis(
                np.asarray(formula(incidence, case.times, case.since)), 0, 1
            )
    return {what: _unless_refused(answers[what]) for what in case.what}


def _unless_refused(answer: Callable[[], Any]) -> Any:
    try:
        return answer()
    except AldsurvError:
        return None


def _names_outside(case: Case) -> list[list[str]]:
    features = case.model.innermost.features_
    names = [plan.name for plan in features.columns]
    return [[names[j] for j in np.flatnonzero(row)] for row in features.outside(case.table)]


_BY_CAUSE: dict[str, Callable[[Any, np.ndarray, np.ndarray], Any]] = {
    "incidence": lambda d, t, _: d.incidence(t),
    "cause_density": lambda d, t, _: d.density(t),
    "cause_hazard": lambda d, t, _: d.cause_specific_hazard(t),
    "cause_probability": lambda d, t, _: d.cause_probability(),
    "cause_median": lambda d, t, _: [d.median(k + 1) for k in range(len(d.causes))],
    "conditional_incidence": lambda d, t, since: d.conditional(since).incidence(t),
}


def _answers(case: Case, d: Any) -> dict[str, Callable[[], Any]]:
    model, table, times, levels = case.model, case.table, case.times, case.levels
    curves = ("survival", "log_survival", "cdf", "density", "hazard", "cumulative_hazard", "restricted_mean")
    summaries = ("median", "mean", "mode", "cure_probability")
    return {
        **{name: (lambda name=name: getattr(d, name)(times)) for name in (*curves, "mean_residual_life")},
        **{name: (lambda name=name: getattr(d, name)()) for name in summaries},
        "outside": lambda: _names_outside(case),
        "quantile": lambda: d.quantile(levels),
        "interval": lambda: d.interval(0.8),
        "conditional_survival": lambda: d.conditional(case.since).survival(times),
        "conditional_quantile": lambda: d.conditional(case.since).quantile(levels),
        "conditional_restricted_mean": lambda: d.conditional(case.since).restricted_mean(times[:, -1:])[:, 0],
        "time": lambda: model.predict_time(table),
        "risk": lambda: model.predict(table),
        "member_survival": lambda: np.stack([one.survival(times) for one in model.predict_members(table)], axis=1),
        "survival_band": lambda: np.stack(model.predict_survival_band(table, times, level=0.9), axis=1),
        "time_band": lambda: np.stack(model.predict_time_band(table, level=0.8), axis=1),
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """Gaps and unknown levels are what the rows are about."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
