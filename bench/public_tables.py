"""Public tables through every model of the registry: a fitted model or one clear line.

``python -m bench.public_tables`` fits every model, as it is by default, to every table, whole, and prints what came of
it; ``--rows`` and ``--quick`` make that shorter, ``--models`` and ``--tables`` choose. The tables come with lifelines,
scikit-survival, statsmodels and scikit-learn, or are made of such, with what tables of people have: text, gaps,
constant, repeated and collinear columns, rows given twice, times of 0, one event only, values out of all proportion.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError
from aldsurv.registry import MODELS

__all__ = ["QUICK", "TABLES", "Outcome", "Rows", "outcome_of", "settings_of", "some_rows"]

# Settings with which every model is fitted in a moment.
QUICK: dict[str, Any] = {
    "members": 1, "components": 2, "max_epochs": 1, "max_rounds": 2, "folds": 2, "patience": 1,
    "l1_ratio": 0.9, "n_alphas": 10, "estimators": ("weibull_aft", "lognormal_aft"),
}  # fmt: skip
_LEVELS = (0.1, 0.5, 0.9)
_LEAST_EVENTS = 10


class Rows(NamedTuple):
    """Covariates and outcomes."""

    x: Any
    y: SurvivalData


class Outcome(NamedTuple):
    """What came of a fit: ``"fitted"``, ``"refused"`` by an error of the library, or ``"broken"``; and the message."""

    result: str
    message: str


def _lifelines(name: str, time: str, event: str, *, drop: tuple[str, ...] = (), entry: str | None = None) -> Rows:
    import lifelines.datasets

    frame = getattr(lifelines.datasets, f"load_{name}")().dropna(subset=[time, event]).reset_index(drop=True)
    left = frame.drop(columns=[time, event, *drop, *([entry] if entry else [])])
    data = SurvivalData.right(
        frame[time].astype(float), frame[event].astype(bool), entry=None if entry is None else frame[entry]
    )
    return Rows(left, data)


def _lifelines_bounds(name: str, lower: str, upper: str) -> Rows:
    import lifelines.datasets

    frame = getattr(lifelines.datasets, f"load_{name}")()
    left = frame.drop(columns=[lower, upper, *(column for column in frame if column.startswith("Unnamed"))])
    bounds = (frame[column].to_numpy(float) for column in (lower, upper))
    return Rows(left, SurvivalData.interval(*bounds))


def _sksurv(name: str) -> Rows:
    import sksurv.datasets

    x, y = getattr(sksurv.datasets, f"load_{name}")()
    event, duration = y.dtype.names
    return Rows(x, SurvivalData.right(y[duration].astype(float), y[event].astype(bool)))


def _statsmodels_heart() -> Rows:
    from statsmodels.datasets import heart

    frame = heart.load_pandas().data
    return Rows(frame[["age"]], SurvivalData.right(frame["survival"], frame["censors"]))


def _sklearn(name: str) -> Rows:
    import sklearn.datasets

    x, target = getattr(sklearn.datasets, f"load_{name}")(return_X_y=True)
    return _with_drawn_times(x, (target - target.mean()) / target.std())


def _wide(n: int, columns: int) -> Rows:
    from sklearn.datasets import make_low_rank_matrix

    x = make_low_rank_matrix(n, columns, effective_rank=10, random_state=0) * 100
    return _with_drawn_times(x, x[:, 0] / x[:, 0].std())


def _with_drawn_times(x: Any, score: Any, seed: int = 0) -> Rows:
    rng = np.random.default_rng(seed)
    event_time, lost = 10 * np.exp(score / 2) * rng.weibull(1.5, len(score)), rng.exponential(20, len(score))
    return Rows(x, SurvivalData.right(np.minimum(event_time, lost), event_time <= lost))


def _mixed(n: int = 120) -> Rows:
    """Everything that a table of people can have, at once."""
    rng = np.random.default_rng(1)
    age = rng.normal(60, 10, n)
    frame = pd.DataFrame(
        {
            "id": [f"p{k}" for k in range(n)],
            "age": np.where(rng.random(n) < 0.2, np.nan, age),
            "age in months": 12 * age,
            "born": 2000 - age,
            "site": rng.choice(np.array(["north", "süd", None, ""], dtype=object), n),
            "country": "x",
            "nothing": np.nan,
            "huge": np.where(np.arange(n) == 3, 1e300, rng.normal(size=n)),
            "tiny": rng.normal(size=n) * 1e-300,
            "treated": rng.random(n) < 0.5,
            "grade": pd.Categorical(rng.choice(["I", "II", "III"], n), ["I", "II", "III", "IV"]),
            "rare": np.where(np.arange(n) == 7, "yes", "no"),
        }
    )
    data = _with_drawn_times(frame, (age - 60) / 10).y
    # The first rows happen at once, and the last were given twice.
    duration = np.where(np.arange(n) < 5, 0.0, data.time)
    rows = np.r_[np.arange(n), np.arange(n - 20, n)]
    return Rows(frame.iloc[rows].reset_index(drop=True), SurvivalData.right(duration, data.event)[rows])


def _dates() -> Rows:
    rows = _lifelines("rossi", "week", "arrest")
    return Rows(rows.x.assign(visit=pd.Timestamp("2020-01-01")), rows.y)


def _of_chance(n: int, *, events: int, columns: int = 3) -> Rows:
    rng = np.random.default_rng(2)
    return Rows(rng.normal(size=(n, columns)), SurvivalData.right(rng.exponential(5, n) + 0.1, np.arange(n) < events))


def _separated() -> Rows:
    """A column that tells early from late exactly, and one that is that column again."""
    duration = np.arange(1.0, 61.0)
    x = np.column_stack([duration > 30, duration > 30, np.random.default_rng(3).normal(size=60)]).astype(float)
    return Rows(x, SurvivalData.right(duration, np.ones(60)))


def _steps() -> Rows:
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, (150, 1)).astype(float)
    return Rows(x, SurvivalData.right(rng.integers(0, 4, 150) + x[:, 0], rng.random(150) < 0.7))


def _weighted() -> Rows:
    rows = _sksurv("whas500")
    n = len(rows.y)
    weight = np.where(np.arange(n) % 7 == 0, 0.0, 1.0 + np.arange(n) % 3)
    return Rows(rows.x, rows.y.with_weight(weight))


TABLES: dict[str, Callable[[], Rows]] = {
    "rossi": lambda: _lifelines("rossi", "week", "arrest"),
    "lung": lambda: _lifelines("lung", "time", "status"),
    "gbsg2": lambda: _lifelines("gbsg2", "time", "cens"),
    "larynx": lambda: _lifelines("larynx", "time", "death"),
    "leukemia": lambda: _lifelines("leukemia", "t", "status"),
    "waltons": lambda: _lifelines("waltons", "T", "E"),
    "dd": lambda: _lifelines("dd", "duration", "observed"),
    "kidney_transplant": lambda: _lifelines("kidney_transplant", "time", "death"),
    "lymph_node": lambda: _lifelines("lymph_node", "rectime", "censrec"),
    "lymphoma": lambda: _lifelines("lymphoma", "Time", "Censor"),
    "multicenter_aids": lambda: _lifelines("multicenter_aids_cohort_study", "T", "D"),
    "psychiatric_patients": lambda: _lifelines("psychiatric_patients", "T", "C"),
    "regression_dataset": lambda: _lifelines("regression_dataset", "T", "E"),
    "canadian_senators": lambda: _lifelines("canadian_senators", "diff_days", "observed"),
    "g3": lambda: _lifelines("g3", "time", "event"),
    "static_test": lambda: _lifelines("static_test", "t", "E"),
    "heart_transplants": lambda: _lifelines("stanford_heart_transplants", "stop", "event", drop=("id",), entry="start"),
    "diabetes": lambda: _lifelines_bounds("diabetes", "left", "right"),
    "mice": lambda: _lifelines_bounds("mice", "l", "u"),
    "botulinum": lambda: _lifelines_bounds("c_botulinum_lag_phase", "lower_bound_days", "upper_bound_days"),
    "veterans": lambda: _sksurv("veterans_lung_cancer"),
    "whas500": lambda: _sksurv("whas500"),
    "aids": lambda: _sksurv("aids"),
    "flchain": lambda: _sksurv("flchain"),
    "breast_cancer_genes": lambda: _sksurv("breast_cancer"),
    "bmt": lambda: _sksurv("bmt"),
    "heart": _statsmodels_heart,
    "breast_cancer": lambda: _sklearn("breast_cancer"),
    "digits": lambda: _sklearn("digits"),
    "diabetes_progression": lambda: _sklearn("diabetes"),
    "wide": lambda: _wide(120, 1200),
    "mixed": _mixed,
    "dates": _dates,
    "weighted": _weighted,
    "separated": _separated,
    "steps": _steps,
    "one_event": lambda: _of_chance(40, events=1),
    "five_rows": lambda: _of_chance(5, events=4),
    "three_rows": lambda: _of_chance(3, events=2),
    "no_events": lambda: _of_chance(40, events=0),
}


def some_rows(rows: Rows, most: int) -> Rows:
    """At most so many rows, evenly over the table."""
    n = len(rows.y)
    if n <= most:
        return rows
    chosen = np.linspace(0, n - 1, most).round().astype(np.intp)
    return Rows(rows.x.iloc[chosen] if hasattr(rows.x, "iloc") else rows.x[chosen], rows.y[chosen])


def settings_of(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Those of the settings that a model has; one around another hands them on."""
    known = MODELS.load(name).parameter_defaults()
    own: dict[str, Any] = {key: value for key, value in given.items() if key in known}
    if "estimator" in known and "components" in given:
        own["estimator"] = MODELS.load("ald")(**settings_of("ald", {**given, "components": 1, "start": "random"}))
    return own


def outcome_of(name: str, rows: Rows, given: dict[str, Any]) -> Outcome:
    """Fit a model, ask it for everything, and say what came of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = MODELS.load(name)(**settings_of(name, given)).fit(rows.x, rows.y)
            wrong = _wrong(model, some_rows(rows, 50), rows.y)
        except AldsurvError as error:
            return Outcome("refused", f"{type(error).__name__}: {error}")
        except Exception as error:
            return Outcome("broken", f"{type(error).__name__}: {' '.join(str(error).split())[:160]}")
    return Outcome("broken", wrong) if wrong else Outcome("fitted", "")


def _wrong(model: Any, rows: Rows, train: SurvivalData) -> str:
    """What is wrong with predictions for rows of training; empty if nothing is."""
    from aldsurv import metrics

    predicted = model.predict_distribution(rows.x)
    bounds = np.concatenate([train.lower, train.upper])
    last = float(bounds[np.isfinite(bounds)].max())
    times = np.linspace(0, last, 7)
    survival = np.asarray(predicted.survival(times))
    if not np.isfinite(survival).all() or (survival < 0).any() or (survival > 1).any():
        return "survival is not between 0 and 1"
    if (np.diff(survival, axis=1) > 1e-9).any():
        return "survival rises"
    quantiles = np.asarray(predicted.quantile(_LEVELS))
    # A curve that ends above a level has no such quantile.
    reached = survival[:, -1:] <= 1 - np.array(_LEVELS)
    if np.isnan(quantiles).any() or np.isinf(quantiles[reached]).any():
        return "a quantile is not finite, although survival falls below its level"
    if np.isnan(np.asarray(model.predict(rows.x))).any():
        return "a prediction is NaN"
    simple = bool((train.exact | train.right_censored).all()) and train.entry is None
    if simple and rows.y.n_events >= _LEAST_EVENTS:
        scores = metrics.evaluate(predicted, rows.y, train=train)
        # Who is expected to outlive all times has an infinite error.
        endless = np.isinf(np.asarray(predicted.median())).any()
        bad = [key for key, value in scores.items() if not np.isfinite(value) and not (endless and key == "mae")]
        if bad:
            return f"not finite: {', '.join(bad)}"
    return ""


def main() -> None:
    """Print a table of what came of every model on every table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--tables", default=",".join(TABLES))
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="members, epochs and rounds of the tests")
    options = parser.parse_args()
    given: dict[str, Any] = {"random_state": 0, "progress": False, **(QUICK if options.quick else {})}
    counts: dict[str, int] = {}
    print("| table | rows | model | result | seconds | message |\n| --- | --- | --- | --- | --- | --- |")
    for table in options.tables.split(","):
        rows = some_rows(TABLES[table](), options.rows)
        for name in options.models.split(","):
            start = time.perf_counter()
            found = outcome_of(name, rows, given)
            counts[found.result] = counts.get(found.result, 0) + 1
            seconds = time.perf_counter() - start
            print(
                f"| {table} | {len(rows.y)} | {name} | {found.result} | {seconds:.1f} | {found.message} |", flush=True
            )
    print(", ".join(f"{count} {result}" for result, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
