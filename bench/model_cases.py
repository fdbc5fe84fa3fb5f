"""Every model in its settings, small data for each, and what of its predictions is compared."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import aldsurv
from aldsurv import SurvivalData, registry

TIMES = [1.0, 3.0, 6.0, 10.0, 20.0, 40.0]
LEVELS = [0.1, 0.5, 0.9]
HORIZON = 30.0
ROWS, PREDICTED_ROWS, COPIES = 200, 8, 6
# Of the predictions those that are frozen.
FROZEN_PREDICTIONS = ("survival", "quantile", "time", "risk", "incidence", "time band lower", "time band upper")

Predictions = dict[str, NDArray[np.float64]]


class Sample(NamedTuple):
    """Covariates and outcome to fit, and covariates to predict."""

    x: Any
    y: SurvivalData
    predicted: Any


def table(rng: np.random.Generator, n: int) -> dict[str, list[Any]]:
    """Numbers, text, bools, codes, and gaps in numbers and text."""
    age, size = rng.normal(60, 10, n).round(1).tolist(), rng.lognormal(3, 0.5, n).round(2).tolist()
    grade = rng.choice(["I", "II", "III"], n).tolist()
    return {
        "age": [None if k % 11 == 3 else value for k, value in enumerate(age)],
        "size": size,
        "grade": [None if k % 17 == 5 else value for k, value in enumerate(grade)],
        "site": rng.choice(["left", "right"], n).tolist(),
        "smoker": (rng.uniform(size=n) < 0.4).tolist(),
        "code": rng.integers(1, 4, n).tolist(),
    }


def samples() -> dict[str, Sample]:
    """Small data by name: right-censored with ties, with entry or weight, with intervals, causes, and as images."""
    rng = np.random.default_rng(17)
    drawn, predicted = table(rng, ROWS), table(rng, PREDICTED_ROWS)
    # Some rows are there twice: copies are kept on one side when rows are held out.
    chosen = np.r_[np.arange(ROWS - COPIES), np.arange(COPIES)]
    x = {name: [column[k] for k in chosen] for name, column in drawn.items()}
    site, size = np.array(x["site"]) == "left", np.log(x["size"]) - 3
    event_time = (10 * np.exp(0.6 * size + 0.4 * site + 0.5 * rng.normal(size=ROWS)))[chosen]
    lost = rng.exponential(25, ROWS)[chosen]
    observed, event = np.minimum(event_time, lost).round(1), event_time <= lost
    observed[20], event[20] = 0.0, True
    weight = rng.uniform(0.5, 2, ROWS).round(2)[chosen]
    entry = np.where(rng.uniform(size=ROWS) < 0.3, 0.5 * observed, -np.inf)[chosen]
    # Visits some time apart: an event is known to lie between two of them, or before the first; some are exact.
    apart = rng.uniform(1, 6, ROWS)
    before = np.floor(event_time / apart) * apart
    exact = (rng.uniform(size=ROWS) < 0.3) | (observed == 0)
    lower = np.where(exact, observed, np.where(before > 0, before, -np.inf))
    upper = np.where(exact, observed, before + apart)
    lower, upper = np.where(event, lower, observed), np.where(event, upper, np.inf)
    since = np.where(lower > 0, entry, -np.inf)
    since = np.where(since < lower, since, -np.inf)
    cause = np.where(event, 1 + (rng.uniform(size=ROWS) < 0.4), 0)
    images, few = rng.normal(size=(ROWS, 2, 3)).round(3), rng.normal(size=(PREDICTED_ROWS, 2, 3)).round(3)
    bright = 10 * np.exp(images.mean((1, 2)) + 0.3 * rng.normal(size=ROWS))
    return {
        "right": Sample(x, SurvivalData.right(observed, event), predicted),
        "entry": Sample(x, SurvivalData.right(observed, event, entry=entry, weight=weight), predicted),
        "weight": Sample(x, SurvivalData.right(observed, event, weight=weight), predicted),
        "interval": Sample(x, SurvivalData.interval(lower, upper, entry=since, weight=weight), predicted),
        "visits": Sample(x, SurvivalData.interval(lower, upper, weight=weight), predicted),
        "causes": Sample(x, SurvivalData.competing(observed, cause, names=["relapse", "death"]), predicted),
        "images": Sample(images, SurvivalData.right(np.minimum(bright, lost), bright <= lost), few),
    }


def encoder() -> Any:
    """A module in place of the shared layers, for rows of shape (2, 3)."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(6, 4), nn.Tanh())


@dataclass(frozen=True)
class Case:
    """A model in one setting.

    Attributes
    ----------
    name
        The model's name in the registry, and what is set.
    estimator
        The estimator, not fitted; its ``fit`` gives the fitted model.
    sample
        Name of the data that it is fitted to.
    encoder
        Whether loading it needs the encoder.
    frozen
        Whether it is among the frozen files.
    """

    name: str
    estimator: Any
    sample: str = "right"
    encoder: bool = False
    frozen: bool = True

    @property
    def file(self) -> str:
        """Name of its file."""
        return self.name.replace(" ", "_").replace("=", "-") + ".aldsurv"


NEURAL: dict[str, type[Any]] = {
    "ald": aldsurv.ALDSurvival,
    "lognormal": aldsurv.LogNormalSurvival,
    "cqrnn": aldsurv.CQRNN,
    "deepsurv": aldsurv.DeepSurv,
    "deephit": aldsurv.DeepHit,
    "icald": aldsurv.ICALDSurvival,
}
CODED: dict[str, Any] = {"categorical": ["code"]}
QUIET: dict[str, Any] = {"progress": False, "random_state": 0}
SMALL: dict[str, Any] = {
    "members": 2,
    "hidden": (8,),
    "head_hidden": (4,),
    "max_epochs": 4,
    "batch_size": 64,
    **CODED,
    **QUIET,
}


def small_ald(**settings: Any) -> Any:
    """The paper's model with two members of a few weights."""
    return aldsurv.ALDSurvival(**{**SMALL, **settings})


class _StoppedError(Exception):
    """Ends a fit in the middle."""


def resumed() -> Any:
    """A fit that ends after two epochs and goes on from its checkpoint."""

    def stop(report: Any) -> None:
        if report.epoch >= 2:
            raise _StoppedError

    def fit(x: Any, y: Any) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "checkpoint")
            try:
                small_ald(checkpoint=path, callbacks=[stop]).fit(x, y)
            except _StoppedError:
                return small_ald(checkpoint=path).fit(x, y)
        raise RuntimeError("the first fit was not stopped.")

    return SimpleNamespace(fit=fit)


def joint() -> Any:
    """The last of three models that are fitted in one loop."""

    def fit(x: Any, y: Any) -> Any:
        models = [small_ald(random_state=seed) for seed in range(3)]
        return aldsurv.models.fit_together(models, [(x, y)] * 3)[2]

    return SimpleNamespace(fit=fit)


def adapter(name: str) -> Any:
    """The class of another library's model, which a tree has in a registry of its own or among all models."""
    return getattr(registry, "PEERS", registry.MODELS).load(name)


def whole_cases() -> Iterator[Case]:
    """Recipes as they are, except for a few epochs: too large to be frozen."""
    for name, kind in NEURAL.items():
        for recipe in ("default", "paper"):
            yield Case(f"{name} whole {recipe}", kind(recipe, max_epochs=3, **QUIET), frozen=False)
    yield Case("boosted_ald whole", aldsurv.BoostedALD(max_rounds=5, random_state=0), frozen=False)
    yield Case("ald checkpoint", resumed(), frozen=False)
    yield Case("ald fit_together", joint(), frozen=False)


def neural_cases() -> Iterator[Case]:
    """Small networks."""

    def case(model: str, title: str, sample: str = "right", **settings: Any) -> Case:
        estimator = NEURAL[model](**{**SMALL, **settings})
        return Case(f"{model} {title}", estimator, sample, settings.get("encoder") is not None)

    for model in NEURAL:
        yield case(model, "default")
        yield case(model, "paper", recipe="paper")
        yield case(model, "encoder", "images", encoder=encoder, categorical=None)
        if model != "deepsurv":
            yield case(model, "point=auto", point="auto", validation=0.3)
        if model != "cqrnn":
            yield case(model, "entry", "entry")
    for support in ("real", "positive", "log", "auto"):
        yield case("ald", f"components=1 {support}", support=support, components=1)
        yield case("ald", f"interval {support}", "interval", support=support, components=2, bins=0)
    yield case("ald", "components=5 tied", components=5, shapes="tied")
    yield case("ald", "components=5 free", components=5, shapes="free", support="positive")
    yield case("ald", "calibration", calibration=0.5)
    yield case("ald", "crps", "weight", crps=0.5)
    yield case("ald", "calibration crps", calibration=0.2, crps=0.3, support="real", components=3)
    yield case("ald", "layers", hidden=(8, 8), batch_norm=True, dropout=0.3, activation="gelu", residual=False, bins=4)
    yield case("ald", "training", optimizer="adam", schedule="cosine", warmup=2, clip_norm=0.5, weight_decay=0.01)
    yield case("ald", "one member", members=1, validation=0.0, start="random", time_scale="std", theta_link="exp")
    yield case("lognormal", "interval", "interval")
    for support in ("real", "log"):
        for algorithm in ("grid", "sequential"):
            levels = (0.1, 0.3, 0.5, 0.7, 0.9)
            title = f"{algorithm} {support}"
            yield case("cqrnn", title, "weight", support=support, algorithm=algorithm, quantiles=levels)
    yield case("cqrnn", "sorted", crossing="sorted", censored_level="nearest", y_star=60, y_star_kind="value")
    yield case("deepsurv", "breslow", "entry", ties="breslow", point="median")
    yield case("deepsurv", "strata", "entry", strata=["site", "code"], categorical=None)
    yield case("deephit", "causes", "causes")
    yield case("deephit", "equidistant", "weight", durations=12, scheme="equidistant", censoring="rounded")
    yield case("deephit", "step", "causes", interpolation="step", alpha=0.3, sigma=0.5)
    for support in ("real", "positive", "log"):
        yield case("icald", f"interval {support}", "interval", support=support, nodes=8)
    yield case("icald", "pinball", "entry", target="pinball", nodes=8, likelihood_share=0.3)


def other_cases() -> Iterator[Case]:
    """Linear models, trees, models around others, and those of other libraries."""
    seed: dict[str, Any] = {"random_state": 0}
    weibull, cox = aldsurv.WeibullAFT(**CODED), aldsurv.CoxRegression(**CODED)
    yield Case("cox efron", cox, "entry")
    yield Case("cox breslow", aldsurv.CoxRegression("breslow", **CODED), "entry")
    yield Case("cox strata", aldsurv.CoxRegression(strata=["site"], ridge=1.0, **CODED), "entry")
    for sample in ("entry", "interval"):
        yield Case(f"weibull_aft {sample}", weibull, sample)
        yield Case(f"lognormal_aft {sample}", aldsurv.LogNormalAFT(**CODED), sample)
    yield Case("weibull_aft ridge", aldsurv.WeibullAFT(5.0, point="mean", unit="months"))
    trees: dict[str, Any] = {"members": 2, "max_rounds": 12, **CODED, **seed}
    for support in ("log", "positive", "real"):
        for sample in ("entry", "interval"):
            yield Case(f"boosted_ald {sample} {support}", aldsurv.BoostedALD(support, **trees), sample)
    yield Case("boosted_ald components=1", aldsurv.BoostedALD(components=1, **trees))

    for name, inner in (("weibull_aft", weibull), ("cox", cox), ("ald", small_ald())):
        yield Case(f"recalibrated {name}", aldsurv.RecalibratedSurvival(inner, folds=3, **seed), "entry")
        for method in ("both", "ipcw", "levels"):
            bound = aldsurv.ConformalLowerBound(inner, 0.8, method=method, **seed)
            yield Case(f"conformal {name} {method}", bound, "weight", frozen=False)
    bound = aldsurv.ConformalLowerBound(small_ald(), censoring=cox, validation=None, folds=3, **seed)
    yield Case("conformal censoring", bound, frozen=False)
    validated = aldsurv.RecalibratedSurvival(small_ald(), validation=0.3, bins=4, **seed)
    yield Case("recalibrated validation", validated, "weight")
    yield Case("stack", aldsurv.StackedSurvival([cox, weibull], folds=3, **seed), "entry")
    few: dict[str, Any] = {"hidden": (4,), "max_epochs": 3, "nodes": 8, **seed}
    for support in ("real", "positive", "log"):
        corrected = aldsurv.ICALDCalibrated(small_ald(support=support), folds=2, **few)
        yield Case(f"icald_calibrated {support}", corrected, "entry")
    corrected = aldsurv.ICALDCalibrated(small_ald(), validation=0.3, target="pinball", members=2, **few)
    yield Case("icald_calibrated pinball", corrected)

    for name, sample in (("rsf", "right"), ("gbsa", "weight"), ("xgb_cox", "weight"), ("xgb_aft", "visits")):
        yield Case(name, adapter(name)(n_estimators=20, **CODED, **seed), sample, frozen=False)


def chosen_cases(words: Sequence[str] = ()) -> list[Case]:
    """Cases that have any of some words in their names; all if there are no words."""
    cases = [*whole_cases(), *neural_cases(), *other_cases()]
    return [case for case in cases if not words or {*case.name.split()} & {*words}]


def predictions(model: Any, x: Any) -> Predictions:
    """What a fitted model predicts, by name."""
    if isinstance(model, aldsurv.ConformalLowerBound):
        return {"lower bound": model.predict_lower(x), "quantile level": np.array([model.quantile_level_])}
    distribution = model.predict_distribution(x)
    found = {
        "survival": distribution.survival(TIMES),
        "quantile": distribution.quantile(LEVELS),
        "mean": distribution.mean(),
        "restricted mean": distribution.restricted_mean(HORIZON),
        "crps": distribution.crps(np.full((len(distribution), 1), 10.0)),
        "cumulative hazard": model.predict_cumulative_hazard_function(x, TIMES),
        "time": model.predict_time(x),
        "risk": model.predict(x),
    }
    members = model.predict_members(x)
    if len(members) > 1:
        bands = {"survival": model.predict_survival_band(x, TIMES), "time": model.predict_time_band(x)}
        found |= {f"{name} band {side}": getattr(band, side) for name, band in bands.items() for side in band._fields}
        spread = model.predict_spread(x, horizon=HORIZON)
        found |= {f"variance {part}": getattr(spread, part) for part in spread._fields}
        found["members' survival"] = np.stack([member.survival(TIMES) for member in members])
    if isinstance(model, aldsurv.DeepHit):
        found["incidence"] = model.predict_incidence(x).incidence(TIMES)
    return {name: np.asarray(value, np.float64) for name, value in found.items()}
