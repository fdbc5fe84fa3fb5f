"""Settings of models that are trained with a random level."""

from __future__ import annotations

from collections.abc import Mapping

from aldsurv.checks import Choice, Constraint, Number, WholeNumber, check_all

__all__ = ["LEVEL_CONSTRAINTS", "check_level_settings"]

LEVEL_CONSTRAINTS: Mapping[str, Constraint] = {
    # Without any likelihood every distribution would do that is wide enough.
    "likelihood_share": Number(0, 1, above=True),
    "target": Choice(("cdf", "pinball")),
    "nodes": WholeNumber(1, 1000),
}


def check_level_settings(share: object, target: object, nodes: object) -> None:
    """Raise `ParameterError` unless they say what the loss is and at how many levels it is taken."""
    check_all({"likelihood_share": share, "target": target, "nodes": nodes}, LEVEL_CONSTRAINTS)
