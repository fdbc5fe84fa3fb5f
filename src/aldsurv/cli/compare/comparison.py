"""Models side by side: which is best in what, by how much, and whether that is more than chance."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from aldsurv.cli.shared.metric_lines import FIGURES, limits_text, number_text, p_text, shown_figures
from aldsurv.cli.shared.metric_settings import MetricSettings
from aldsurv.cli.shared.text_layout import screen_width

if TYPE_CHECKING:
    from aldsurv.data.survival_data import SurvivalData
    from aldsurv.distributions import SurvivalDistribution

__all__ = ["Differences", "best_of", "paired", "table_of_differences", "table_of_models", "verdict"]

# Those that have a better and a worse direction throughout; a slope may miss its ideal on either side.
_DIRECTED = ("harrell_c", "uno_c", "ibs", "mae", "log_likelihood", "bounded_log_likelihood", "cens_dcal")
_WITH_POINT = ("harrell_c", "uno_c", "mae")
# By which models of any kind are judged on the same ground: a density is at the mercy of how a curve is interpolated.
_MAIN = ("ibs", "log_likelihood")

# By model, by metric: difference, limits and p-values.
Differences: TypeAlias = dict[str, dict[str, dict[str, float]]]


def paired(
    predictions: Mapping[str, SurvivalDistribution],
    rows: SurvivalData,
    train: SurvivalData,
    settings: MetricSettings,
    metrics_known: Sequence[str],
) -> Differences:
    """Each prediction but the first less the first, by `metrics.compare`.

    Parameters
    ----------
    predictions
        By name.
    rows, train, settings
        As in `measure`; with a number of resamples.
    metrics_known
        Metrics that have a finite value for all of them.
    """
    from aldsurv import metrics

    (_, first), *others = predictions.items()
    found: Differences = {name: {} for name, _ in others}
    for key in (key for key in _DIRECTED if key in metrics_known):
        # By the point that is asked for, computed once; the others take the whole distribution.
        take = _points(rows, settings.point) if key in _WITH_POINT else lambda predicted: predicted
        base = take(first)
        for name, predicted in others:
            one = metrics.compare(
                take(predicted), base, rows, metric=key, train=train, samples=settings.bootstrap or 2,
                level=settings.confidence, random_state=settings.seed,
            )  # fmt: skip
            found[name][key] = {
                "difference": float(one.difference),
                "lower": float(one.lower),
                "upper": float(one.upper),
                "p_value": float(one.p_value),
            }
        corrected = _holm([found[name][key]["p_value"] for name, _ in others])
        for (name, _), value in zip(others, corrected, strict=True):
            found[name][key]["p_corrected"] = value
    least = 2 * len(others) / ((settings.bootstrap or 2) + 1)
    if least >= 1 - settings.confidence:
        warnings.warn(
            f"with {settings.bootstrap} resamples no p-value is below {least:.3g}, and no difference clear: "
            "give a larger --bootstrap.",
            stacklevel=2,
        )
    return found


def best_of(key: str, values: Sequence[float]) -> list[int]:
    """Places of the best values of a metric; of ties all. What is NaN or infinite is not compared."""
    ideal = FIGURES[key].ideal
    distance = [-value if ideal == math.inf else abs(value - ideal) for value in values]
    known = [one for one in distance if math.isfinite(one)]
    return [place for place, one in enumerate(distance) if known and one == min(known)]


def table_of_models(models: Sequence[Mapping[str, Any]]) -> list[str]:
    """The metrics of all models, the best marked by a star; in as many blocks of columns as the terminal needs."""
    keys = shown_figures(models[0]["metrics"], [model["metrics"]["log_likelihood"] for model in models])
    values = {key: [model["metrics"][key] for model in models] for key in keys}
    best = {key: best_of(key, values[key]) for key in keys}
    room = screen_width()
    label = max(len(FIGURES[key].name) for key in keys)
    names = [_shortened(model["name"], max(8, room - label - 4)) for model in models]
    blocks: list[list[int]] = [[]]
    widths = [max(len(name), 8) + 1 for name in names]
    for place, width in enumerate(widths):
        if blocks[-1] and label + sum(2 + widths[k] for k in blocks[-1]) + 2 + width > room:
            blocks.append([])
        blocks[-1].append(place)
    told: list[str] = []
    for block in blocks:
        told += [""] if told else []
        told.append(f"{'* best':<{label}}" + "".join(f"  {names[k]:>{widths[k] - 1}} " for k in block).rstrip())
        for key in keys:
            cells = (f"{number_text(values[key][k])}{'*' if k in best[key] else ' '}" for k in block)
            line = "".join(f"  {cell:>{widths[k]}}" for k, cell in zip(block, cells, strict=True))
            told.append(f"{FIGURES[key].name:<{label}}{line}".rstrip())
    return told


def table_of_differences(
    name: str, first: str, found: Mapping[str, Mapping[str, float]], confidence: float
) -> list[str]:
    """What a model has more, or less, of each metric than the first one."""
    lines = [("", "difference", f"{100 * confidence:g} % interval", "p", "")]
    for key, one in found.items():
        limits = limits_text(one["lower"], one["upper"], more=1)
        p, side = p_text(one["p_corrected"]), _side(key, one, confidence)
        lines.append((FIGURES[key].name, number_text(one["difference"], more=1), limits, p, side))
    widths = [max(len(line[k]) for line in lines) for k in range(5)]
    told = [f"{name} less {first}"]
    if sum(widths) + 8 > screen_width():
        for title, value, limits, p, side in lines[1:]:
            told += [f"{title:<{widths[0]}}  {value}", f"    {limits}, p {p}{', ' if side else ''}{side}"]
        return told
    for title, value, limits, p, side in lines:
        line = f"{title:<{widths[0]}}  {value:>{widths[1]}}  {limits:<{widths[2]}}  {p:>{widths[3]}}  {side}"
        told.append(line.rstrip())
    return told


def verdict(
    names: Sequence[str], values: Sequence[Mapping[str, float]], differences: Differences, confidence: float
) -> list[str]:
    """Sentences: who is best by the main score, and in what each differs clearly from the first."""
    main = next((key for key in _MAIN if all(math.isfinite(one[key]) for one in values)), None)
    if main is None:
        return ["No verdict: the main scores have no finite value for these rows."]
    scores, word = [one[main] for one in values], FIGURES[main].name
    best = best_of(main, scores)
    if not differences:
        leader = f"{_listed([names[k] for k in best])} {'has' if len(best) == 1 else 'have'} the best {word}"
        return [f"Verdict: {leader} ({number_text(scores[best[0]])}); without intervals it may be chance."]
    sides = {name: _side(main, found[main], confidence) for name, found in differences.items()}
    if len(names) == 2:
        first = _of_two(names, scores, differences[names[1]][main]["p_value"], sides[names[1]], word)
    else:
        first = _of_many(names, scores, best, sides, word)
    return [first, *(_summary(name, names[0], found, confidence) for name, found in differences.items())]


def _of_two(names: Sequence[str], scores: Sequence[float], p: float, side: str, word: str) -> str:
    numbers = f"({number_text(scores[1])} against {number_text(scores[0])}, p {p_text(p)})"
    if not side:
        return f"Verdict: no clear difference between {names[1]} and {names[0]} by {word} {numbers}."
    return f"Verdict: {names[1]} is clearly {side} than {names[0]} by {word} {numbers}."


def _of_many(
    names: Sequence[str], scores: Sequence[float], best: Sequence[int], sides: Mapping[str, str], word: str
) -> str:
    leader = f"{_listed([names[k] for k in best])} {'has' if len(best) == 1 else 'have'}"
    sentence = f"Verdict: {leader} the best {word} ({number_text(scores[best[0]])})"
    parts = []
    for side in ("better", "worse"):
        those = [name for name, own in sides.items() if own == side]
        parts += [f"clearly {side} than {names[0]}: {_listed(those)}"] if those else []
    if not parts:
        return f"{sentence}, but by this score no model differs clearly from {names[0]}."
    return f"{sentence}; {'; '.join(parts)}."


def _summary(name: str, first: str, found: Mapping[str, Mapping[str, float]], confidence: float) -> str:
    sides: dict[str, list[str]] = {"better": [], "worse": [], "": []}
    for key, one in found.items():
        sides[_side(key, one, confidence)].append(FIGURES[key].name)
    parts = [f"{side} in {_listed(sides[side])}" for side in ("better", "worse") if sides[side]]
    if sides[""]:
        parts.append(f"no clear difference in {_listed(sides[''])}")
    return f"{name} against {first}: {'; '.join(parts)}."


def _side(key: str, one: Mapping[str, float], confidence: float) -> str:
    """Whether the difference is clearly for the better or the worse."""
    p = one["p_corrected"]
    if math.isnan(p) or p >= 1 - confidence or math.isnan(one["difference"]) or one["difference"] == 0:
        return ""
    return "better" if (one["difference"] > 0) == (FIGURES[key].ideal == math.inf) else "worse"


def _points(rows: SurvivalData, point: str) -> Any:
    from aldsurv import metrics

    return lambda predicted: metrics.point_estimate(predicted, rows, point=point)  # type: ignore[arg-type]


def _holm(values: Sequence[float]) -> list[float]:
    """Holm's correction: of many p-values the smallest is small by chance."""
    order = sorted((value, place) for place, value in enumerate(values) if not math.isnan(value))
    found, largest = [math.nan] * len(values), 0.0
    for rank, (value, place) in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * value))
        found[place] = largest
    return found


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + (" and " if len(names) > 1 else "") + names[-1]


def _shortened(name: str, room: int) -> str:
    return name if len(name) <= room else f"…{name[1 - room :]}"
