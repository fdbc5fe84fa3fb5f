"""JavaScript predicts what Python does: curves of hazards, quantiles and bins, causes, and models around models."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aldsurv import SurvivalData
from aldsurv.models.linear.aft import LogNormalAFT, WeibullAFT
from aldsurv.models.linear.competing.cause_specific_cox import CauseSpecificCox
from aldsurv.models.linear.competing.fine_gray import FineGray
from aldsurv.models.linear.cox import CoxRegression
from aldsurv.models.linear.elastic_net.elastic_net_cox import ElasticNetCox
from aldsurv.models.neural.ald import ALDSurvival
from aldsurv.models.neural.cqrnn import CQRNN
from aldsurv.models.neural.deephit import DeepHit
from aldsurv.models.neural.deepsurv import DeepSurv
from aldsurv.models.neural.icald import ICALDSurvival
from aldsurv.models.neural.log_normal_survival import LogNormalSurvival
from aldsurv.models.trees.boosted_ald import BoostedALD
from aldsurv.models.updating.updated_survival import UpdatedSurvival
from aldsurv.models.wrappers.icald_calibrated import ICALDCalibrated
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival
from aldsurv.models.wrappers.stacked import StackedSurvival
from export.javascript.comparison import Case, case_of, case_of_many, compare
from export.javascript.node import needs_node, run_script

pytestmark = needs_node

ROWS = 120
TINY = {"members": 2, "max_epochs": 2, "hidden": (4,), "random_state": 0, "progress": False}
TINY_TREES = {"members": 2, "max_rounds": 3, "random_state": 0}


def columns(n: int, seed: int, *, wild: bool = False) -> dict[str, list[Any]]:
    """Numbers, text, bools and codes with gaps; wild ones lie outside of training, or have an unknown level."""
    rng = np.random.default_rng(seed)
    spread = 30.0 if wild else 10.0
    grades = ["I", "II", "III", *(["IV"] if wild else [])]

    def with_gaps(values: list[Any], share: float) -> list[Any]:
        return [None if gap else value for gap, value in zip(rng.random(n) < share, values, strict=True)]

    return {
        "age": with_gaps(rng.normal(60, spread, n).tolist(), 0.1),
        "size": rng.lognormal(3, 0.5, n).tolist(),
        "grade": with_gaps(rng.choice(grades, n).tolist(), 0.1),
        "site": rng.choice(["left", "right"], n).tolist(),
        "smoker": (rng.random(n) < 0.4).tolist(),
        "code": rng.integers(1, 4, n).tolist(),
    }


def numbers(n: int, seed: int) -> np.ndarray:
    """Columns without names, the second of whole numbers that may be strata."""
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.normal(size=n), rng.integers(0, 2, n), rng.normal(5, 2, n)])


@cache
def outcome(n: int = ROWS) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times with ties, events and their causes."""
    rng = np.random.default_rng(3)
    size = np.log(columns(n, 1)["size"]) - 3
    event, lost = 10 * np.exp(0.6 * size + 0.5 * rng.normal(size=n)), rng.exponential(25, n)
    time = np.maximum(np.minimum(event, lost).round(1), 0.1)
    cause = np.where(event <= lost, 1 + (rng.random(n) < 0.4), 0)
    return time, event <= lost, cause


def fitted(model: Any) -> Any:
    time, event, _ = outcome()
    return model.fit(columns(ROWS, 1), (time, event))


def of_numbers(model: Any) -> Any:
    time, event, _ = outcome()
    return model.fit(numbers(ROWS, 1), (time, event))


def of_causes(model: Any) -> Any:
    time, _, cause = outcome()
    return model.fit(columns(ROWS, 1), SurvivalData.competing(time, cause, names=["relapse", "death"]))


def updated(model: Any, rung: str) -> Any:
    time, event, _ = outcome()
    return UpdatedSurvival(model, rung=rung, random_state=0).fit(columns(ROWS, 5), (2 * time[::-1], event[::-1]))


def stack() -> Any:
    """The kinds of members of the default stack, none of which is left out."""
    members = [
        ("ald", ALDSurvival(**TINY)),
        ("boosted_ald", BoostedALD(**TINY_TREES)),
        ("cox", CoxRegression(ridge=1.0)),
        ("lognormal", LogNormalSurvival(**TINY)),
        ("deepsurv", DeepSurv(**TINY)),
    ]
    return StackedSurvival(members, weights=[0.3, 0.25, 0.2, 0.15, 0.1], random_state=0, progress=False)


def stack_of_steps() -> Any:
    """Members whose curves fall by steps, with strata and without, and two that do not."""
    members = [
        ("strata", CoxRegression(strata="site", ridge=1.0)),
        ("hazards", CauseSpecificCox(ridge=1.0)),
        ("incidences", FineGray(ridge=1.0)),
        ("bins", DeepHit(interpolation="step", **TINY)),
        ("lines", DeepHit(**TINY)),
        ("levels", recalibrated(CoxRegression(ridge=1.0))),
        ("quantiles", CQRNN(quantiles=(0.2, 0.5, 0.8), **TINY)),
    ]
    return StackedSurvival(members, weights="equal", random_state=0, progress=False)


def recalibrated(model: Any) -> Any:
    return RecalibratedSurvival(model, folds=2, bins=4, random_state=0)


MODELS: dict[str, Callable[[], Any]] = {
    "cox": lambda: fitted(CoxRegression()),
    "cox strata": lambda: fitted(CoxRegression("breslow", strata=["site", "code"], ridge=1.0)),
    "cox numbers": lambda: of_numbers(CoxRegression(strata=1, point="mode")),
    "coxnet": lambda: fitted(ElasticNetCox(0.5, folds=2, n_alphas=5, random_state=0)),
    "deepsurv in another unit": lambda: fitted(DeepSurv(time_scale=10.0, **TINY)),
    "deepsurv strata": lambda: fitted(DeepSurv(strata=["site"], **TINY)),
    "deepsurv strata of numbers": lambda: of_numbers(DeepSurv(strata=1, point="mode", **TINY)),
    "deephit": lambda: fitted(DeepHit(durations=6, point="mode", **TINY)),
    "deephit causes": lambda: of_causes(DeepHit(durations=6, point="mean", **TINY)),
    "cqrnn": lambda: fitted(CQRNN(quantiles=(0.2, 0.5, 0.8), point="mode", **TINY)),
    "icald": lambda: fitted(ICALDSurvival(nodes=4, point="mode", **TINY)),
    "icald calibrated": lambda: fitted(
        ICALDCalibrated(ALDSurvival(**TINY), folds=2, nodes=3, hidden=(4,), members=2, max_epochs=2, random_state=0)
    ),
    "cause-specific cox": lambda: of_causes(CauseSpecificCox(strata="site", ridge=1.0)),
    "fine-gray": lambda: of_causes(FineGray(ridge=1.0)),
    "fine-gray of one cause": lambda: of_causes(FineGray("death", point="restricted_mean")),
    "stack": lambda: fitted(stack()),
    "stack of steps": lambda: fitted(stack_of_steps()),
    "recalibrated cox": lambda: fitted(recalibrated(CoxRegression(ridge=1.0))),
    "recalibrated weibull": lambda: fitted(recalibrated(WeibullAFT(ridge=1.0, point="mean"))),
    "recalibrated ald": lambda: fitted(recalibrated(ALDSurvival(**TINY))),
    "recalibrated boosted": lambda: fitted(recalibrated(BoostedALD(**TINY_TREES))),
    "recalibrated deepsurv": lambda: fitted(recalibrated(DeepSurv(**TINY))),
    "recalibrated cqrnn": lambda: fitted(recalibrated(CQRNN(quantiles=(0.2, 0.5, 0.8), **TINY))),
    "intercept of cox": lambda: updated(fitted(CoxRegression(ridge=1.0)), "intercept"),
    "slope of deepsurv": lambda: updated(fitted(DeepSurv(**TINY)), "slope"),
    "slope of log-normal": lambda: updated(fitted(LogNormalAFT(ridge=1.0, point="mean")), "slope"),
    "levels of weibull": lambda: updated(fitted(WeibullAFT(ridge=1.0)), "levels"),
    "levels of ald": lambda: updated(fitted(ALDSurvival(**TINY)), "levels"),
    "last layer of ald": lambda: updated(fitted(ALDSurvival(**TINY)), "last_layer"),
    "slope of recalibrated": lambda: updated(fitted(recalibrated(WeibullAFT(ridge=1.0))), "slope"),
    "levels of updated": lambda: updated(updated(fitted(WeibullAFT(ridge=1.0)), "slope"), "levels"),
    "slope of stack": lambda: updated(fitted(stack()), "slope"),
}
# Where incidences add up to one, survival is what rounding leaves of it: so is its logarithm, and whether anybody is
# left at the end, which makes a mean infinite.
ROUNDED = {"fine-gray", "fine-gray of one cause"}
OF_ROUNDING = {"log_survival", "hazard", "cumulative_hazard", "cause_hazard", "mean", "mean_residual_life"}
# A quadrature for each row and time: fewer of them.
SLOW = {
    "stack", "slope of stack", "slope of recalibrated", "stack of steps", "levels of updated", "levels of ald",
    "recalibrated ald", "recalibrated boosted", "recalibrated cqrnn",
}  # fmt: skip


@cache
def differences(folder: Path) -> dict[str, list[str]]:
    cases = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, (name, make) in enumerate(MODELS.items()):
            model, path = make(), folder / f"{k}.aldsurv"
            cases.append(_case(name, model, path))
            cases.append(case_of_many(f"{name}, many rows", model, path, _rows(name, model, 1000), seed=k))
    return compare(cases)


def _case(name: str, model: Any, path: Path) -> Case:
    model.save(path)
    rows = _rows(name, model, 2 if name in SLOW else 8)
    case = case_of(name, model, path, rows, times=2 if name in SLOW else 4)
    # Columns of strata are not among those that a network has learned.
    left_out = {*(OF_ROUNDING if name in ROUNDED else ()), *(["outside"] if "strata" in name else [])}
    return replace(case, what=tuple(what for what in case.what if what not in left_out))


def _rows(name: str, model: Any, count: int) -> dict[str, list[Any]]:
    if model.innermost.features_.named:
        return columns(count, 7, wild="strata" not in name)
    return {f"x{k}": column.tolist() for k, column in enumerate(numbers(count, 7).T)}


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, list[str]]:
    return differences(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_python(found, name):
    assert found[name] == []
    assert found[f"{name}, many rows"] == []


@pytest.mark.parametrize(
    ("make", "order"),
    [
        (lambda: of_numbers(CoxRegression(strata=1)), ["number", "stratum", "number"]),
        (lambda: of_numbers(DeepSurv(strata=1, **TINY)), ["number", "stratum", "number"]),
        (lambda: updated_of_strata(), ["number", "stratum", "number"]),
    ],
    ids=["cox", "deepsurv", "updated"],
)
def test_columns_of_strata_are_told_from_others_and_unknown_ones_are_refused(tmp_path, make, order):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = make().save(tmp_path / "strata.aldsurv")
    rows = [{"x0": 0.1, "x1": value, "x2": 4.0} for value in (1, 7, None)]
    asked = [{"times": [5.0]}] * 3
    case = {"path": str(path), "rows": rows, "what": ["survival", "outside"], "asked": asked}
    answer = run_script("predict.mjs", {"cases": [case]})[0]
    described = answer["facts"]["columns"]
    assert [column["name"] for column in described] == ["x0", "x1", "x2"]
    assert [column["kind"] for column in described] == order
    assert [level["value"] for level in described[1]["levels"]] == [0, 1]
    known, unknown, gap = answer["rows"]
    assert 0 < known["survival"][0] < 1
    assert "x1=7" in unknown["error"]
    assert "x1=a gap" in gap["error"]


def updated_of_strata() -> Any:
    time, event, _ = outcome()
    model = of_numbers(CoxRegression(strata=1))
    return UpdatedSurvival(model, rung="slope").fit(numbers(ROWS, 5), (2 * time, event))
