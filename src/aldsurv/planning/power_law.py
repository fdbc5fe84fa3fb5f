"""Scores as a power law in the number of rows, and what it says about more of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Extrapolation", "extrapolate", "missed_last", "power_law"]

FloatArray = NDArray[np.float64]

_EXPONENTS = np.arange(2, 41) / 20
_SAMPLES = 400
_LEVEL = 0.95


class Extrapolation(NamedTuple):
    """What more rows would bring if the score goes on as a power law.

    Attributes
    ----------
    rows
        Number of training rows.
    value
        The score: that of the largest number of rows seen, and the change.
    change, lower, upper
        The change, and its 95 % limits over the repetitions.
    """

    rows: int
    value: float
    change: float
    lower: float
    upper: float


def power_law(rows: FloatArray, scores: FloatArray, at: FloatArray) -> FloatArray:
    """Values (…, m) at other numbers of rows of ``a - b·n^(-c)``, b ≥ 0, fitted by least squares; greater is better.

    Parameters
    ----------
    rows
        Numbers of rows (k,).
    scores
        A score for each (k,), or several curves of them (…, k).
    at
        Other numbers of rows (m,).
    """
    x = (rows / rows[-1]) ** -_EXPONENTS[:, None]
    centred = x - x.mean(axis=1, keepdims=True)
    # A score that falls with more rows is taken for constant.
    slope = np.minimum(scores @ centred.T / (centred**2).sum(axis=1), 0.0)
    level = scores.mean(axis=-1)[..., None] - slope * x.mean(axis=1)
    error = ((level[..., None] + slope[..., None] * x - scores[..., None, :]) ** 2).sum(axis=-1)
    best = np.argmin(error, axis=-1)[..., None]
    slope, level = (np.take_along_axis(part, best, axis=-1) for part in (slope, level))
    return np.asarray(level + slope * (at / rows[-1]) ** -_EXPONENTS[best])


def extrapolate(rows: FloatArray, scores: FloatArray, at: list[int], seed: int) -> list[Extrapolation]:
    """The score at other numbers of rows, with limits from drawing the repetitions again.

    Limits are of the change from the largest number of rows: how hard the held-out rows are is the same for both.

    Parameters
    ----------
    rows
        Numbers of rows (k,), ascending.
    scores
        One per repetition and number (r, k), greater is better.
    at
        Other numbers.
    seed
        Of the draws.
    """
    places, last = np.array([rows[-1], *at], np.float64), float(scores[:, -1].mean())

    def change(curves: FloatArray) -> FloatArray:
        values = power_law(rows, curves, places)
        return np.asarray(values[..., 1:] - values[..., :1])

    changes, best = change(_drawn_means(scores, seed)), change(scores.mean(axis=0))
    lower, upper = np.quantile(changes, [(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], axis=0)
    return [
        Extrapolation(number, last + step, step, min(low, step), max(high, step))
        for number, step, low, high in zip(at, best.tolist(), lower.tolist(), upper.tolist(), strict=True)
    ]


def missed_last(rows: FloatArray, scores: FloatArray, seed: int) -> tuple[float, float]:
    """What the law through all but the last number of rows gives for it, less its score, and the error of that.

    Parameters
    ----------
    rows, scores, seed
        As in `extrapolate`.
    """

    def difference(curves: FloatArray) -> FloatArray:
        return power_law(rows[:-1], curves[..., :-1], rows[-1:])[..., 0] - curves[..., -1]

    return float(difference(scores.mean(axis=0))), float(difference(_drawn_means(scores, seed)).std())


def _drawn_means(scores: FloatArray, seed: int) -> FloatArray:
    """Mean curves (b, k) of repetitions drawn again."""
    count = len(scores)
    drawn = np.random.default_rng(seed).integers(0, count, (_SAMPLES, count))
    # Of r repetitions drawn again the mean scatters by the factor √((r - 1)/r) too little.
    spread = scores[drawn].mean(axis=1) - scores.mean(axis=0)
    return np.asarray(scores.mean(axis=0) + np.sqrt(count / (count - 1)) * spread)
