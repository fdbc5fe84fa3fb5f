"""The networks of a fitted model in words: what their outputs stand for, layers, weights, and how training ended."""

from __future__ import annotations

from aldsurv.models.neural.fitting.fitted_network import FittedNetwork
from aldsurv.models.structure import ModelStructure
from aldsurv.networks import Architecture
from aldsurv.plain_numbers import plain_number

__all__ = ["network_structure"]

_MOST_OUTPUTS = 12


def network_structure(fitted: FittedNetwork) -> ModelStructure:
    """Names and values that describe the networks of all members."""
    model, history = fitted.model, fitted.history
    held_out = history.validation_loss is not None
    label, loss = model.format_loss(float(history.best_loss.mean()))
    kept = ", ".join(str(epoch) for epoch in history.best_epoch)
    inputs = "what the encoder gives" if fitted.features is None else f"{fitted.features.width} numbers"
    facts = [
        ("Predicted distribution", model.describe(fitted.extras)),
        ("Members", f"{fitted.n_members}, mixed in equal parts" if fitted.n_members > 1 else "1"),
        ("Inputs of each network", f"{inputs} from {fitted.n_features_in} columns"),
        ("Layers", _layers(fitted.network)),
        ("Weights of each network", f"{fitted.n_weights:,}"),
        ("Outputs", _outputs(fitted)),
        ("Times are divided by", plain_number(fitted.time_scale, 6)),
        ("Epochs", f"{history.epochs}, stopped by {history.stopped_by}; kept by each member: {kept}"),
        (label.capitalize(), f"{loss} on {'validation' if held_out else 'training'} rows, mean of the members"),
    ]
    if fitted.support_scores:
        scores = ", ".join(f"{name} {score:.4f}" for name, score in fitted.support_scores.items())
        facts.append(("Chosen by held-out log-likelihood", f"{model.alternative_name()} ({scores})"))
    return ModelStructure(facts=tuple(facts), held_out=float(model.validation) if held_out else 0.0)


def _layers(network: Architecture) -> str:
    """Sizes of the layers, and what is between them."""
    shared = ", ".join(map(str, network.hidden)) or "none"
    heads = ", ".join(map(str, network.head_hidden)) or "none"
    parts = [
        f"shared: {shared}",
        f"of each of {network.heads} outputs: {heads}",
        f"activation {network.activation}",
        *(["linear projections around the shared layers"] if network.residual else []),
        *(["batch normalisation"] if network.batch_norm else []),
        *([f"dropout {network.dropout:g}"] if network.dropout else []),
        *([f"embedding of the level: {', '.join(map(str, network.level_units))}"] if network.level_units else []),
        *([f"{network.constants} outputs that are the same for all rows"] if network.constants else []),
    ]
    return "; ".join(parts)


def _outputs(fitted: FittedNetwork) -> str:
    outputs = [str(output.name) for output in fitted.model.describe_outputs()]
    if not outputs or fitted.network.outputs != len(outputs):
        return str(fitted.network.outputs)
    more = f" and {len(outputs) - _MOST_OUTPUTS} more" if len(outputs) > _MOST_OUTPUTS else ""
    return f"{len(outputs)}: {', '.join(outputs[:_MOST_OUTPUTS])}{more}"
