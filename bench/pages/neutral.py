"""Values of docs/neutral.md, and of README.md's sentence about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from aldsurv.registry import MODELS
from bench.neutral.models import SAME_AS
from bench.neutral.report import CSV, STUDY, TRIED
from bench.neutral.scores import MEASURES
from bench.neutral.tried import DEFAULT
from bench.pages.markdown import in_words, number, table
from bench.pages.results import origins, read_section

__all__ = ["LEARNERS", "headline", "model_titles", "tables", "values"]

# The study's learners in words.
LEARNERS = {
    "KM": "Kaplan-Meier", "NEL": "Nelson-Aalen", "CPH": "Cox", "GLMN": "elastic net", "AK": "Akritas estimator",
    "Pen": "penalised Cox", "NCV": "Cox with concave penalties", "AFT": "parametric AFT", "Flex": "flexible splines",
    "GAM": "additive Cox", "CoxB": "CoxBoost", "MBSTCox": "mboost, Cox", "MBSTAFT": "mboost, AFT",
    "XGBCox": "XGBoost, Cox", "XGBAFT": "XGBoost, AFT", "RFSRC": "random survival forest", "RAN": "ranger forest",
    "CIF": "conditional inference forest", "ORSF": "oblique forest", "RRT": "relative risk tree",
    "SSVM": "survival SVM",
}  # fmt: skip
_MEASURES = {"isbs": "ISBS", "isll": "ISLL", "harrell_c": "C"}
# Ours of the study's own kind, which no record names.
_TITLES = {"kaplan_meier": "Kaplan-Meier of aldsurv"}
_OPPONENTS = {"cox": "Cox", "best": "the best published", "forest": "the oblique forest"}
_NONE = "No setting has been compared yet."


def values() -> dict[str, str]:
    """By name; ``MODEL / MEASURE / rank`` and the like are of one of our models by its name."""
    proof = read_section(STUDY, "proof")
    dates = {f"date of {name}": origin.date for name, origin in origins(STUDY).items()}
    dates["date of the fits"] = origins(CSV)[""].date
    counts = {}
    for section in TRIED.values():
        tried = _tried(section)
        counts[f"settings {section}"] = str(len(tried))
        counts[f"splits of the default, {section}"] = str(tried[DEFAULT]["splits"] if tried else 0)
    counts |= {
        "iterations proved": str(proof["iterations"]),
        "iterations left out of the proof": str(proof["left_out"]),
        "iterations beyond what was asked": in_words(
            [f"{name} {iteration}" for name, beyond in proof["beyond"].items() for iteration in beyond]
        ),
    }
    return tables() | headline() | counts | dates


def tables() -> dict[str, str]:
    """The tables of the page."""
    return {
        "ours": _ours(),
        "versus": _versus(),
        "learners": _learners(),
        "friedman": _friedman(),
        "by dataset": _by_dataset(),
        **{section: _tried_table(section) for section in TRIED.values()},
        "proof": _proof(),
    }


def headline() -> dict[str, str]:
    """Ranks, wins and seconds of each of our models, and whom they are compared with."""
    return dict(_of_models())


def model_titles(models: Iterable[str]) -> dict[str, str]:
    """What those that are ours are called, without marks."""
    return {model: _title(model).strip("`") for model in models if model not in LEARNERS}


def _of_models() -> Iterator[tuple[str, str]]:
    places, versus, seconds = (read_section(STUDY, name) for name in ("places", "versus", "seconds"))
    yield "neutral datasets", str(places["datasets"])
    yield "neutral iterations", str(places["iterations"])
    for measure in MEASURES:
        yield f"learners / {measure}", str(places["learners"][measure])
        yield f"ranked / {measure}", str(places["learners"][measure] + 1)
    for model, by_measure in places["ranks"].items():
        yield f"{model} / seconds", number(seconds[model]["mean"])
        for measure, ranks in by_measure.items():
            start = f"{model} / {measure}"
            yield f"{start} / rank", f"{ranks[model]:.1f}"
            for who, against in versus[model][measure].items():
                learner = against["learner"]
                yield f"{start} / {who}", LEARNERS.get(learner, learner)
                yield f"{start} / {who} / rank", f"{ranks[learner]:.1f}"
                yield f"{start} / {who} / wins", f"{against['wins']} of {against['datasets']}"
                yield f"{start} / {who} / p", _probability(against["p_value"])


def _ours() -> str:
    places, seconds = read_section(STUDY, "places"), read_section(STUDY, "seconds")
    head = ["", *(f"rank by {title} of {places['learners'][name] + 1}" for name, title in _MEASURES.items())]
    rows = [
        [_title(model), *(f"{ranks[measure][model]:.2f}" for measure in _MEASURES)]
        + [number(seconds[model][which]) for which in ("mean", "longest")]
        for model, ranks in places["ranks"].items()
    ]
    return table([*head, "seconds per fit", "on the slowest set"], rows)


def _versus() -> str:
    rows = []
    # Twins of learners of the study are not compared with themselves.
    compared = {model: found for model, found in read_section(STUDY, "versus").items() if model not in SAME_AS}
    for model, by_measure in compared.items():
        for measure, opponents in by_measure.items():
            cells = [
                f"{found['wins']} of {found['datasets']}, {_probability(found['p_value'])}"
                + (f" ({LEARNERS[found['learner']]})" if who == "best" else "")
                for who, found in opponents.items()
            ]
            rows.append([_title(model), _MEASURES[measure], *cells])
    return table(["better on, p", "by", *(_OPPONENTS.values())], rows, left=2)


def _learners() -> str:
    """Mean ranks of the default and of the published learners beside it, the lowest ISBS first."""
    ranks = read_section(STUDY, "places")["ranks"][DEFAULT]
    names = list(dict.fromkeys(name for measure in _MEASURES for name in ranks[measure]))
    rows = [
        [
            f"**{_title(name)}**" if name == DEFAULT else f"{LEARNERS[name]} (`{name}`)",
            *(f"{ranks[measure][name]:.2f}" if name in ranks[measure] else "" for measure in _MEASURES),
        ]
        for name in names
    ]
    return table(["mean rank", *_MEASURES.values()], rows)


def _friedman() -> str:
    rows = []
    for measure, found in read_section(STUDY, "ranking").items():
        ranks = dict(zip(found["models"], found["mean_ranks"], strict=True))
        distance = found["critical_difference"]
        behind = [f"`{name}`" for name, rank in ranks.items() if rank - ranks[DEFAULT] >= distance]
        test = [f"{found['statistic']:.0f}", _probability(found["p_value"]).removeprefix("p ").removeprefix("= ")]
        rows.append([_MEASURES[measure], str(len(ranks)), *test, f"{distance:.1f}", in_words(behind)])
    head = ["", "learners", "Friedman's χ²", "p", "critical difference", f"significantly behind {_title(DEFAULT)}"]
    return table(head, rows)


def _by_dataset() -> str:
    measures = ("isbs", "harrell_c")
    head = ["", "rows", "events", "columns"]
    for measure in measures:
        title = _MEASURES[measure]
        head += [f"{title}: {_title(DEFAULT)}", "Cox", "best published there"]
    rows = []
    for name, found in read_section(STUDY, "datasets").items():
        row = [name, *(str(found[count]) for count in ("rows", "events", "columns"))]
        for measure in measures:
            one = found[measure]
            best = f"{one['best']['mean']:.3f} ({one['best']['learner']})"
            row += [f"{one['own'][DEFAULT]:.3f}", f"{one['cox']:.3f}", best]
        rows.append(row)
    return table(head, rows)


def _tried(section: str) -> dict[str, Any]:
    return dict(read_section(STUDY, section)) if section in origins(STUDY) else {}


def _tried_table(section: str) -> str:
    rows = []
    for name, one in _tried(section).items():
        wins = ("" if name == DEFAULT else f"{one[f'wins_{by}']} of {one['datasets']}" for by in ("isbs", "harrell_c"))
        scores = (f"{one['isbs']:.4f}", f"{one['harrell_c']:.4f}")
        rows.append([f"`{name}`", *scores, *wins, str(one["splits"]), number(one["seconds"])])
    head = ["", "ISBS over Kaplan-Meier's", "C", "ISBS better than the default's", "C better", "splits", "seconds"]
    return table(head, rows) if rows else _NONE


def _proof() -> str:
    found = read_section(STUDY, "proof")["differences"].values() if "proof" in origins(STUDY) else ()
    rows = [
        [LEARNERS[who], *(f"{max(one[who][measure] for one in found):.1e}" for measure in _MEASURES)]
        for who in (SAME_AS.values() if found else ())
    ]
    return table(["largest difference", *_MEASURES.values()], rows)


def _title(model: str) -> str:
    return _TITLES.get(model) or (f"`{MODELS.load(model).__name__}()`" if model in MODELS else f"`{model}`")


def _probability(p: float) -> str:
    return f"p = {number(p)}" if p >= 0.0001 else "p < 0.0001"
