"""Diagrams of the paper's networks, drawn from the architectures that the benchmark trained."""

from __future__ import annotations

from pathlib import Path

from aldsurv.benchmark.display_names import dataset_title, model_title
from aldsurv.benchmark.plan import PAPER_MODELS, Plan
from aldsurv.benchmark.view import sorted_datasets
from aldsurv.datasets import describe
from aldsurv.models.neural.network_model import Output
from aldsurv.models.neural.neural_survival import NeuralSurvival
from aldsurv.models.paper_settings import paper_settings
from aldsurv.networks import Architecture
from aldsurv.plots import plot_architecture
from aldsurv.registry import MODELS
from aldsurv.reports.page.page_figures import Picture, picture_of

__all__ = ["network_pictures", "paper_network"]

_RECIPE = "paper"


def network_pictures(plan: Plan, folder: Path) -> tuple[Picture, ...]:
    """The networks of the paper's models with the paper's recipe, as for one dataset of the plan, ALD's first."""
    if _RECIPE not in plan.recipes:
        return ()
    # Those of real data have more than one covariate.
    named = sorted_datasets(name for name in plan.datasets if describe(name).censored_in_paper is not None)
    dataset = next((name for name in named if describe(name).kind != "synthetic"), next(iter(named), None))
    if dataset is None:
        return ()
    pictures = []
    for model in PAPER_MODELS:
        if model not in plan.models or not issubclass(MODELS.load(model), NeuralSurvival):
            continue
        network, outputs = paper_network(model, dataset)
        title = model_title(model)
        names, links = [output.name for output in outputs], [output.link for output in outputs]
        ax = plot_architecture(network, outputs=names, links=links, title=title)
        caption = f"The network of {title}, recipe “{_RECIPE}”, as for {dataset_title(dataset)}."
        alt = _describe(title, network, outputs)
        pictures.append(picture_of(ax.figure, folder, f"network_{model}", caption=caption, alt=alt))
    return tuple(pictures)


def paper_network(model: str, dataset: str) -> tuple[Architecture, tuple[Output, ...]]:
    """The network of a model with the paper's recipe for a dataset, and what its outputs stand for.

    Parameters
    ----------
    model
        Name of a model with a network.
    dataset
        One of the paper's.
    """
    kind: type[NeuralSurvival] = MODELS.load(model)
    settings = kind(recipe=_RECIPE, **paper_settings(model, dataset)).settings()
    outputs = settings.describe_outputs()
    return settings.architecture(describe(dataset).n_features, len(outputs), encoded=False), outputs


def _describe(title: str, network: Architecture, outputs: tuple[Output, ...]) -> str:
    parts = [f"{network.inputs} inputs"]
    if network.hidden:
        sizes = ", ".join(map(str, network.hidden))
        parts.append(f"shared layers of {sizes} units{' with a residual projection' if network.residual else ''}")
    if network.head_hidden:
        parts.append(f"for each output layers of {', '.join(map(str, network.head_hidden))} units")
    links = ", ".join(dict.fromkeys(output.link for output in outputs))
    ends = f"{len(outputs)} output{'s' * (len(outputs) != 1)} through {links}"
    return f"Network of {title}: {'; '.join([*parts, ends])}."
