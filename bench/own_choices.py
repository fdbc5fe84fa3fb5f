"""What an ensemble says of itself, on data whose truth is known: limits between members, and what "auto" chooses.

``python -m bench.own_choices bands | seeds | supports | points | criteria | time_scales``. Test rows; fits take
minutes. What docs/ald.md shows, bands, seeds and time_scales, is stored in docs/results/own_choices.json.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from aldsurv import ALDSurvival, SurvivalData, datasets, metrics
from aldsurv.distributions import Exponential, LogNormal
from aldsurv.models import fit_together
from aldsurv.models.neural.fitting.point_choice import HeldRows, chosen_points
from aldsurv.models.prediction.point_summaries import POINTS, summarised
from bench.pages.results import store_section, today
from bench.paper_data import SYNTHETIC

RESULTS_FILE = "own_choices.json"
SEEDS = {"bands": range(5), "seeds": range(8), "supports": range(3), "points": range(3), "time_scales": range(10)}
DATASETS = SYNTHETIC
# Of those that the study of accuracy decides on, some of each kind; all three supports take their time.
COMPARED = ("norm_linear", "norm_nonlinear", "exponential", "lognorm", "norm_med", "lognorm_med", "metabric", "gbsg")
ROWS = 300
LEVEL = 0.9


def fitted(name: str, seeds: range, **settings: Any) -> list[tuple[Any, Any, Any]]:
    """Models of all seeds, with their training and test rows."""
    pairs = [datasets.load_split(name, seed=seed, definition="printed") for seed in seeds]
    models = [ALDSurvival(**settings, random_state=seed, progress=False) for seed in seeds]
    fit_together(models, [(train.x, train.y) for train, _ in pairs])
    return [(model, train, test) for model, (train, test) in zip(models, pairs, strict=True)]


def bands() -> None:
    """How often the limits hold the true survival, at the true deciles, and the true median."""
    print(f"| {100 * LEVEL:g} % limits | rows | survival | median |")
    print("| --- | --: | --: | --: |")
    levels = np.linspace(0.1, 0.9, 9)
    shares: dict[str, dict[str, float]] = {}
    for name in DATASETS:
        inside = []
        models = fitted(name, SEEDS["bands"])
        for model, _, test in models:
            x, truth = test.x[:ROWS], test.truth[:ROWS]
            lower, upper = model.predict_survival_band(x, truth.quantile(levels), level=LEVEL)
            times, median = model.predict_time_band(x, point="median", level=LEVEL), truth.median()
            survival = (lower <= 1 - levels) & (1 - levels <= upper)
            inside.append([survival.mean(), ((times.lower <= median) & (median <= times.upper)).mean()])
        survival, median = (float(share) for share in np.mean(inside, axis=0))
        shares[name] = {"rows": len(models[0][1].y), "survival": round(survival, 4), "median": round(median, 4)}
        print(f"| {name} | {shares[name]['rows']} | {survival:.2f} | {median:.2f} |", flush=True)
    store_section(RESULTS_FILE, "bands", shares, today("python -m bench.own_choices bands", ["ald/default"]))


def time_scales() -> None:
    """CensDcal of the paper's recipe with times in standard deviations in place of medians inside the network."""
    scores: dict[str, dict[str, float]] = {}
    for name in ("norm_linear", "norm_nonlinear"):
        pairs = [datasets.load_split(name, seed=seed, definition="released") for seed in SEEDS["time_scales"]]
        for scale in ("median", "std"):
            models = [
                ALDSurvival("paper", time_scale=scale, random_state=seed, progress=False)
                for seed in SEEDS["time_scales"]
            ]
            fit_together(models, [(train.x, train.y) for train, _ in pairs])
            values = [
                metrics.censored_d_calibration(model.predict_distribution(test.x), test.y)
                for model, (_, test) in zip(models, pairs, strict=True)
            ]
            scores.setdefault(name, {})[scale] = round(float(np.mean(values)), 4)
        print(name, scores[name], flush=True)
    store_section(RESULTS_FILE, "time_scales", scores, today("python -m bench.own_choices time_scales", ["ald/paper"]))


def seeds() -> None:
    """How far another seed moves predictions of a model that was fitted to few rows: standard deviations over seeds."""
    data = datasets.load("gbsg")
    order = np.random.default_rng(0).permutation(len(data.y))
    learn, held = order[:ROWS], order[ROWS:]
    times = np.quantile(data.y.time[learn], [0.25, 0.5, 0.75])
    lines = {}
    for recipe in ("small", "large"):
        start = time.process_time()
        models = [ALDSurvival(recipe, random_state=seed, progress=False) for seed in SEEDS["seeds"]]
        for model in models:
            model.fit(data.x[learn], data.y[learn])
        seconds = (time.process_time() - start) / len(models)
        predicted = [model.predict_distribution(data.x[held]) for model in models]
        survival = np.std([one.survival(times) for one in predicted], axis=0, ddof=1)
        medians = np.std([np.log(one.median()) for one in predicted], axis=0, ddof=1)
        lines[recipe] = {
            "survival": float(survival.mean()),
            "largest": float(survival.max()),
            "median": float(medians.mean()),
            "seconds": seconds,
        }
        print(recipe, lines[recipe], flush=True)
    values = {"rows": ROWS, "fits": len(SEEDS["seeds"]), "recipes": lines}
    store_section(RESULTS_FILE, "seeds", values, today("python -m bench.own_choices seeds", ["ald/small", "ald/large"]))


def supports() -> None:
    """Log-loss on test rows of each support and of the one chosen, and how often each was."""
    print("| | log | positive | real | auto | chosen |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in COMPARED:
        found: dict[str, list[float]] = {}
        chosen: list[str] = []
        for support in ("log", "positive", "real", "auto"):
            for model, _, test in fitted(name, SEEDS["supports"], support=support):
                loss = -metrics.log_likelihood(model.predict_distribution(test.x), test.y)
                found.setdefault(support, []).append(float(loss))
                chosen += [model.settings_.support] if support == "auto" else []
        print(
            f"| {name} | " + " | ".join(f"{np.mean(own):.3f}" for own in found.values()) + f" | {_counted(chosen)} |",
            flush=True,
        )


def points() -> None:
    """Distance from the true event times, and C, of the default and of the summaries chosen."""
    print("| | error: median | chosen | best | C: follow-up | chosen | best | chosen for the error | for the ranking |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in DATASETS:
        lines = []
        models = fitted(name, SEEDS["points"], point="auto")
        for model, _, test in models:
            predicted, last = model.predict_distribution(test.x), float(model.unique_times_[-1])
            times = {p: summarised(predicted, p, last) for p in POINTS}
            # Far tails would outweigh everything else.
            true = np.minimum(test.event_time, np.quantile(test.event_time, 0.99))
            error = {p: float(np.abs(np.minimum(own, true.max()) - true).mean()) for p, own in times.items()}
            areas = {"follow_up": summarised(predicted, "restricted_mean", model.follow_up_)}
            rank = {p: metrics.concordance_harrell(own, test.y) for p, own in {**times, **areas}.items()}
            found = [error["median"], error[model.error_point_], min(error.values())]
            lines.append([*found, rank["follow_up"], rank[model.ranking_point_], max(rank.values())])
        told = [_counted([model.error_point_ for model, _, _ in models])]
        told.append(_counted([model.ranking_point_ for model, _, _ in models]))
        print(f"| {name} | {' | '.join([f'{v:.3f}' for v in np.mean(lines, axis=0)] + told)} |", flush=True)


def _counted(names: list[str]) -> str:
    return ", ".join(f"{name} {names.count(name)}" for name in dict.fromkeys(names))


def criteria() -> None:
    """Which summary of the *true* distribution has the least error by each criterion, of twenty draws of 1500 rows."""
    print("| times, share censored | hidden times | uncensored rows | margin | pseudo-observations | as chosen |")
    print("| --- | --- | --- | --- | --- | --- |")
    for family in ("log-normal", "exponential"):
        for share in (0.3, 0.6, 0.8):
            found: list[list[str]] = [[], [], [], [], []]
            for seed in range(20):
                predicted, time, data = _drawn(family, share, seed)
                last = float(data.time.max())
                times = {p: summarised(predicted, p, last) for p in POINTS}
                errors: list[Callable[[Any], float]] = [
                    lambda own, time=time: float(np.abs(own - time).mean()),
                    lambda own, data=data: metrics.mean_absolute_error(own, data),
                    lambda own, data=data: metrics.mean_absolute_error_margin(own, data, train=data),
                    lambda own, data=data: metrics.mean_absolute_error_pseudo(own, data, train=data),
                ]
                for names, error in zip(found, errors, strict=False):
                    names.append(min(POINTS, key=lambda p, error=error, times=times: error(times[p])))
                found[4].append(chosen_points([HeldRows(predicted, data, np.arange(1500))], data, last).error)
            print(f"| {family}, {share} | {' | '.join(_counted(names) for names in found)} |", flush=True)


def _drawn(family: str, share: float, seed: int) -> tuple[Any, Any, SurvivalData]:
    """True distributions, event times, and these under uniform censoring of a share of the rows."""
    rng = np.random.default_rng(seed)
    place = 0.7 * rng.normal(size=1500)
    log_normal = family == "log-normal"
    predicted = LogNormal(place, np.ones(1500)) if log_normal else Exponential(np.exp(place))
    time = np.exp(place + rng.normal(size=1500)) if log_normal else rng.exponential(np.exp(place))
    lost = rng.uniform(size=1500)
    lost *= np.quantile(time / lost, 1 - share)
    return predicted, time, SurvivalData.right(np.minimum(time, lost), time <= lost)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    studies = {
        "bands": bands,
        "seeds": seeds,
        "supports": supports,
        "points": points,
        "criteria": criteria,
        "time_scales": time_scales,
    }
    studies[sys.argv[1]]()
