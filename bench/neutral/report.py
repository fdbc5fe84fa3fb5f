"""Where our models stand among the study's learners: what was found in a folder, put into docs/results."""

from __future__ import annotations

import csv as csv_format
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

import pandas as pd

from aldsurv.benchmark.ranking import rank_scores
from aldsurv.models.wrappers.stack_members import DEFAULT_MEMBERS
from aldsurv.registry import MODELS
from bench.accuracy.models import fingerprint
from bench.neutral.models import CANDIDATES, LIBRARY, SAME_AS, model_named
from bench.neutral.ranks import dataset_means, place, published_means, versus
from bench.neutral.scores import MEASURES
from bench.neutral.study import Study
from bench.neutral.tried import tried_settings
from bench.pages import results
from bench.pages.results import comment_lines, store_section, today
from bench.study_runs import Lines

__all__ = ["COX", "CSV", "FOREST", "STUDY", "TRIED", "Standing", "standing", "store", "store_tried"]

CSV, STUDY = "neutral.csv", "neutral.json"
# Learners of the study that ours are compared with beside the best.
COX, FOREST = "CPH", "ORSF"
# Sections about the settings that were compared on inner splits, by stage.
TRIED = {"inner": "tried", "eighths": "tried, eighths"}
_COMMAND = "python -m bench.neutral"
_DIGITS = 6


@final
@dataclass(frozen=True)
class Standing:
    """Our models that were run on all datasets, with the published learners on the same iterations.

    Attributes
    ----------
    lines
        Of these models and iterations, one for each fit.
    models
        Their names.
    own, published
        By measure: mean scores (datasets, models or learners) over the iterations.
    missing
        By name of a model that was not run on all of it, or failed: how many fits are missing.
    iterations
        How many of each dataset, from the first; some have fewer.
    """

    lines: list[dict[str, Any]]
    models: list[str]
    own: dict[str, pd.DataFrame]
    published: dict[str, pd.DataFrame]
    missing: dict[str, int]
    iterations: int


def standing(folder: Path | str, study: Study, iterations: int) -> Standing:
    """What a folder has of the models as they are set today."""
    latest = {
        (line["model"], line["dataset"], line["iteration"]): line
        for line in Lines(folder).read("folds")
        if "error" not in line and line["settings"] == _settings_today(line["model"])
    }
    wanted = [
        (name, iteration)
        for name in study.names
        for iteration in range(1, min(iterations, study.table(name).iterations) + 1)
    ]
    run = {model: [latest.get((model, *one)) for one in wanted] for model in {key[0] for key in latest}}
    missing = {model: lines.count(None) for model, lines in run.items() if None in lines}
    models = [model for model in (*LIBRARY, *CANDIDATES) if model in run and model not in missing]
    lines = [line for model in models for line in run[model] if line is not None]
    own = {
        measure: pd.DataFrame({model: dataset_means(lines, model, measure, iterations) for model in models})
        for measure in MEASURES
    }
    published = {
        measure: published_means(study.published, measure, iterations).loc[study.names] for measure in MEASURES
    }
    return Standing(lines, models, own, published, missing, iterations)


def store(found: Standing, study: Study, folder: Path | str) -> None:
    """Write docs/results/neutral.csv, and the sections of neutral.json that a folder has results for."""
    ours = [model for model in found.models if model in LIBRARY]
    # What a stack predicts depends on its members, too.
    named = dict.fromkeys([*ours, *(DEFAULT_MEMBERS if "stack" in ours else ())])
    recipes = [f"{model}/default" for model in named if model in MODELS]
    _write_csv(found, results.RESULTS / CSV, recipes)
    origin = today(f"{_COMMAND} report FOLDER", recipes)
    places = _places(found)
    for section, values in {
        "places": places,
        "versus": _versus(found, places["ranks"]),
        "seconds": _seconds(found),
        "datasets": _datasets(found, study),
        "ranking": _ranking(found),
    }.items():
        store_section(STUDY, section, values, origin)
    store_tried(folder)


def store_tried(folder: Path | str) -> list[str]:
    """Write the sections of neutral.json about inner splits that a folder has results for; gives their stages."""
    lines = {stage: found for stage in TRIED if (found := Lines(folder).read(stage))}
    tried = {stage: tried_settings(found) for stage, found in lines.items()}
    for stage, settings in tried.items():
        store_section(STUDY, TRIED[stage], settings, today(f"{_COMMAND} {stage} FOLDER"))
    return list(tried)


def _settings_today(model: str) -> str | None:
    return fingerprint(model_named(model, 0)) if model in LIBRARY or model in CANDIDATES else None


def _places(found: Standing) -> dict[str, Any]:
    """Each of ours ranked alone among the published learners."""
    ranks = {
        model: {
            measure: place(model, found.own[measure][model], found.published[measure], measure).mean_ranks
            for measure in MEASURES
        }
        for model in found.models
    }
    learners = {measure: len(found.published[measure].columns) for measure in MEASURES}
    return {
        "datasets": len(found.published["isbs"]),
        "iterations": found.iterations,
        "learners": learners,
        "ranks": ranks,
    }


def _versus(found: Standing, ranks: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, Any]:
    """Each of ours against Cox, the oblique forest, and the published learner with the lowest mean rank beside it."""
    compared: dict[str, Any] = {}
    for model in found.models:
        for measure in MEASURES:
            others = {name: rank for name, rank in ranks[model][measure].items() if name != model}
            named = {"cox": COX, "best": min(others, key=others.__getitem__), "forest": FOREST}
            own, published = found.own[measure][model], found.published[measure]
            compared.setdefault(model, {})[measure] = {
                who: {"learner": learner, **asdict(versus(own, published[learner], measure))}
                for who, learner in named.items()
            }
    return compared


def _seconds(found: Standing) -> dict[str, dict[str, float]]:
    """Processor seconds of a fit: the mean over datasets, and the longest."""
    frame = pd.DataFrame(found.lines)
    by_dataset = frame.groupby(["model", "dataset"])["seconds"].mean()
    return {
        model: {"mean": float(by_dataset[model].mean()), "longest": float(by_dataset[model].max())}
        for model in found.models
    }


def _datasets(found: Standing, study: Study) -> dict[str, Any]:
    """By dataset: its size, and the means of ours, of Cox and of whichever published learner is best there."""
    tables: dict[str, Any] = {}
    for name in study.names:
        table = study.table(name)
        tables[name] = {"rows": len(table.y), "columns": table.x.shape[1], "events": int(table.y.event.sum())}
        for measure, higher in MEASURES.items():
            published = found.published[measure].loc[name]
            best = published.idxmax() if higher else published.idxmin()
            tables[name][measure] = {
                "own": {model: float(found.own[measure].loc[name, model]) for model in found.models},
                "cox": float(published[COX]),
                "best": {"learner": str(best), "mean": float(published[best])},
            }
    return tables


def _ranking(found: Standing) -> dict[str, Any]:
    """All of them ranked together, but not those of ours that are learners of the study themselves."""
    ranked = {}
    for measure, higher in MEASURES.items():
        ours = [model for model in found.models if model not in SAME_AS]
        losses = pd.concat([found.own[measure][ours], found.published[measure]], axis=1) * (-1 if higher else 1)
        ranked[measure] = asdict(rank_scores(list(losses.columns), losses.to_numpy(), measure))
    return ranked


def _write_csv(found: Standing, file: Path, recipes: Sequence[str]) -> None:
    """Every fit a line, after where they come from."""
    with file.open("w", encoding="utf-8", newline="") as out:
        out.write(comment_lines(today(f"{_COMMAND} folds FOLDER", recipes)))
        writer = csv_format.writer(out, lineterminator="\n")
        names = [*MEASURES, "seconds"]
        writer.writerow(["dataset", "model", "iteration", *names])
        for line in found.lines:
            values = (f"{line[name]:.{_DIGITS}g}" for name in names)
            writer.writerow([line["dataset"], line["model"], line["iteration"], *values])
