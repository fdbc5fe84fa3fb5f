"""What a stack of models learned, as a value, and as entries and arrays of a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.checks import Number
from aldsurv.models.base import SurvivalEstimator
from aldsurv.models.file_entries import Arrays, FileContent, finite_floats, require, text
from aldsurv.registry import saved_model_class, saved_model_name

__all__ = ["FittedStack", "StackMember"]

FloatArray = NDArray[np.float64]

_ENTRIES = {"members", "scores", "left_out"}
_ARRAY = re.compile(r"member(\d{1,4})\.(.+)", re.DOTALL)
# Of a file: weights add up to 1 except for rounding.
_ROUNDING = 1e-9


@final
@dataclass(frozen=True)
class StackMember:
    """A fitted model and its weight."""

    name: str
    model: SurvivalEstimator
    weight: float


@final
@dataclass(frozen=True)
class FittedStack:
    """The members of a stack and how their weights came about.

    Attributes
    ----------
    members
        Those that make up the prediction.
    knots
        Times (m,) between which curves of steps are joined by lines.
    scores
        Mean log-likelihood per held-out row, by name of the member, and of the ``"stack"``; empty without such rows.
    left_out
        Members that are not part of the prediction, and why.
    seconds
        How long each member took; not in the file, which the same seed makes again.
    """

    members: tuple[StackMember, ...]
    knots: FloatArray
    scores: dict[str, float]
    left_out: dict[str, str]
    seconds: dict[str, float]

    def to_file(self) -> FileContent:
        """Entries and arrays; those of member k have names that begin with ``memberk.``."""
        entries, arrays = [], {"knots": self.knots, "weights": np.array([member.weight for member in self.members])}
        for k, member in enumerate(self.members):
            document, inner = member.model._to_file()
            entries.append({"name": member.name, "model": saved_model_name(type(member.model)), "entries": document})
            arrays |= {f"member{k}.{name}": array for name, array in inner.items()}
        return {"members": entries, "scores": self.scores, "left_out": self.left_out}, arrays

    @classmethod
    def from_file(cls, document: Mapping[str, Any], arrays: Arrays, encoder: object) -> FittedStack:
        """The inverse of `to_file`, for untrusted input."""
        require(set(document) == _ENTRIES, "its entries are not those of a stack")
        entries = document["members"]
        require(isinstance(entries, list) and len(entries) > 0, "its members are unclear")
        inner: list[dict[str, NDArray[Any]]] = [{} for _ in entries]
        for name, array in arrays.items():
            match = _ARRAY.fullmatch(name)
            known = match is not None and int(match[1]) < len(inner) and str(int(match[1])) == match[1]
            require(known or name in ("knots", "weights"), "it holds arrays that are not of its members")
            if match is not None:
                inner[int(match[1])][match[2]] = array
        weights, knots = _read_weights(arrays, len(entries)), _read_knots(arrays)
        members = [
            _read_member(entry, own, weight, encoder)
            for entry, own, weight in zip(entries, inner, weights, strict=True)
        ]
        names = [member.name for member in members]
        require(len(set(names)) == len(names), "two of its members have one name")
        widths = {member.model.n_features_in_ for member in members}
        require(len(widths) == 1, "its members are not of the same columns")
        scores, left_out = document["scores"], document["left_out"]
        numbers = isinstance(scores, dict) and all(Number().allows(score) for score in scores.values())
        require(numbers, "its scores are not numbers by name")
        texts = isinstance(left_out, dict) and all(isinstance(reason, str) for reason in left_out.values())
        require(texts, "the members that were left out are unclear")
        return cls(tuple(members), knots, {name: float(score) for name, score in scores.items()}, dict(left_out), {})


def _read_member(entry: Any, arrays: Arrays, weight: float, encoder: object) -> StackMember:
    require(isinstance(entry, dict) and set(entry) == {"name", "model", "entries"}, "a member is unclear")
    require(isinstance(entry["entries"], dict), "a member is unclear")
    name = text(entry["name"], "the name of a member")
    require(0 < len(name) <= 200 and name.isprintable() and "__" not in name, "the name of a member is unclear")
    kind = saved_model_class(text(entry["model"], "model"))
    model: SurvivalEstimator = kind._from_file(entry["entries"], arrays, encoder)
    return StackMember(name, model, float(weight))


def _read_weights(arrays: Arrays, count: int) -> FloatArray:
    weights = finite_floats(arrays, "weights")
    require(weights.shape == (count,) and bool((weights > 0).all()), "weights must be positive, one for each member")
    require(abs(float(weights.sum()) - 1) < _ROUNDING, "weights must add up to 1")
    return weights


def _read_knots(arrays: Arrays) -> FloatArray:
    knots = finite_floats(arrays, "knots")
    require(knots.ndim == 1 and knots.size > 0, "knots must be times")
    rising = bool((np.diff(knots) > 0).all()) and knots[0] > 0
    require(rising, "knots must be positive and ascend")
    return knots
