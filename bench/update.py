"""At which rung the ladder of ``update_model`` stops on drawn shifts, and what it costs where events are few.

``python -m bench.update`` draws a model's home and 100 new places for each shift. With 300 events the rung that the
shift calls for should be chosen in at least 90 of 100; with 30 the update should never make the log-likelihood of
fresh rows worse by more than the standard error of its held-out difference. It takes a few minutes, and puts the counts
into docs/results/update.json.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, WeibullAFT, metrics
from aldsurv.models.base import SurvivalEstimator
from aldsurv.tuning.model_update import ModelUpdate, update_model
from bench.pages.results import store_section, today

__all__ = ["FILE", "SECTION"]

FILE, SECTION = "update.json", "update"
COEFFICIENTS = np.array([0.8, -0.5, 0.4, 0.0, 0.3])
OTHER_COEFFICIENTS = np.array([-0.2, 0.5, 0.4, 0.6, -0.5])
# Coefficients, log factor of the hazard and shape of the times in the new place, and the rung that this calls for.
SHIFTS: dict[str, tuple[NDArray[np.float64], float, float, str]] = {
    "nothing": (COEFFICIENTS, 0.0, 1.5, "none"),
    "baseline": (COEFFICIENTS, 0.5, 1.5, "intercept"),
    "slope": (0.4 * COEFFICIENTS, 0.0, 1.5, "slope"),
    "one effect": (np.where(np.arange(5) == 0, -0.4, COEFFICIENTS), 0.0, 1.5, "last_layer"),
    "everything": (OTHER_COEFFICIENTS, 0.5, 1.0, "refit"),
}


def draw(
    n: int, coefficients: NDArray[np.float64], log_factor: float, shape: float, generator: np.random.Generator
) -> tuple[NDArray[np.float64], SurvivalData]:
    """Covariates and right-censored Weibull times with proportional hazards, about two thirds of them events."""
    x = generator.normal(size=(n, len(coefficients)))
    hazard = np.exp(x @ coefficients + log_factor)
    time, censoring = (generator.exponential(size=n) / hazard) ** (1 / shape), generator.exponential(2.0, n)
    return x, SurvivalData.right(np.minimum(time, censoring), time <= censoring)


def with_events(x: NDArray[np.float64], y: SurvivalData, events: int) -> tuple[NDArray[np.float64], SurvivalData]:
    """The first rows that hold so many events."""
    count = int(np.searchsorted(np.cumsum(y.event), events)) + 1
    return x[:count], y[:count]


def one_update(model: SurvivalEstimator, shift: str, events: int, seed: int) -> ModelUpdate:
    """The update of a model in a new place."""
    coefficients, log_factor, shape, _ = SHIFTS[shift]
    generator = np.random.default_rng([seed, events])
    return update_model(model, *with_events(*draw(6 * events, coefficients, log_factor, shape, generator), events))


def worst_loss(model: SurvivalEstimator, shift: str, update: ModelUpdate, seed: int) -> float:
    """Standard errors by which fresh rows become less likely by the update; 0 if it changed nothing or gains."""
    chosen = next(score for score in update.rungs if score.rung == update.rung)
    coefficients, log_factor, shape, _ = SHIFTS[shift]
    x, y = draw(4000, coefficients, log_factor, shape, np.random.default_rng([seed, 1]))
    before, after = (metrics.log_likelihood(each.predict_distribution(x), y) for each in (model, update.model))
    return max(0.0, before - after) / chosen.standard_error if chosen.standard_error else 0.0


def main() -> None:
    """Print counts of the rungs by shift, as JSON, and keep them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    repetitions = parser.parse_args().repetitions
    model = WeibullAFT().fit(*draw(4000, COEFFICIENTS, 0.0, 1.5, np.random.default_rng(0)))
    lines = []
    for shift in SHIFTS:
        many = Counter(one_update(model, shift, 300, seed).rung for seed in range(repetitions))
        few = [(seed, one_update(model, shift, 30, seed)) for seed in range(repetitions)]
        losses = [worst_loss(model, shift, update, seed) for seed, update in few]
        line = {
            "shift": shift,
            "right rung": SHIFTS[shift][3],
            "rungs with 300 events": dict(many),
            "rungs with 30 events": dict(Counter(update.rung for _, update in few)),
            "worst loss with 30 events, standard errors": round(max(losses), 2),
            "losses above one": sum(loss > 1 for loss in losses),
        }
        print(json.dumps(line), flush=True)
        lines.append(line)
    keep(lines, repetitions)


def keep(lines: list[dict[str, object]], repetitions: int) -> None:
    """Put the counts into the results file."""
    values = {"repetitions": repetitions, "shifts": lines}
    store_section(FILE, SECTION, values, today("python -m bench.update", ["weibull_aft/default"]))


if __name__ == "__main__":
    main()
