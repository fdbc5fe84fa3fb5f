"""Whether settings are better than others on the same rows, by more than noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aldsurv.tuning.score import FloatArray, IntArray, PartScores

__all__ = ["Gain", "concordance_gain", "critical_value", "paired_gain"]


class Gain(NamedTuple):
    """A mean difference, its standard error, and the degrees of freedom of that."""

    mean: float
    standard_error: float
    degrees: int


def paired_gain(
    scores: Sequence[PartScores],
    reference: Sequence[PartScores],
    parts: Sequence[IntArray],
    weights: FloatArray,
    clusters: IntArray,
) -> Gain:
    """By how much some settings score better than others, on average over the rows of the same parts.

    The difference has two sources of noise. Rows differ: a row that suits some settings does so in every repetition,
    so repetitions count as one observation of it. And models differ, by their seeds and training rows: all rows of a
    part share its model. The first is in the variance of the rows' mean differences, the second in that of the parts'
    means, each of which misses a share of the other: the greater one counts. In simulations with closed-form models it
    kept its level where only seeds differ as where rows decide; the corrected resampled t test of Nadeau and Bengio
    was twice too wide.

    Parameters
    ----------
    scores, reference
        Of the two settings, part by part.
    parts
        Rows of each part; those of all repetitions one after the other.
    weights
        Of all rows (n,).
    clusters
        A number for each row (n,); rows with the same one count as one observation.
    """
    total, times = np.zeros(len(weights)), np.zeros(len(weights))
    part_means = []
    for one, other, part in zip(scores, reference, parts, strict=True):
        difference = one.rows - other.rows
        total[part] += difference
        times[part] += 1
        if weights[part].sum() > 0:
            part_means.append(float(np.average(difference, weights=weights[part])))
    mean = float(np.average(total / np.maximum(times, 1), weights=weights * times))
    of_parts = float(np.std(part_means, ddof=1)) / math.sqrt(len(part_means)) if len(part_means) > 1 else math.inf
    scored = times > 0
    pulls = weights[scored] * (total[scored] / times[scored] - mean)
    sums = np.bincount(np.unique(clusters[scored], return_inverse=True)[1], pulls)
    of_rows = math.sqrt(float(sums @ sums) * sums.size / max(sums.size - 1, 1)) / float(weights[scored].sum())
    return Gain(mean, max(of_parts, of_rows), max(len(part_means) - 1, 1))


def concordance_gain(scores: Sequence[PartScores], reference: Sequence[PartScores]) -> Gain | None:
    """By how much Harrell's C within parts is higher, paired by part; None where fewer than two parts have one."""
    both = np.array([one.concordance - other.concordance for one, other in zip(scores, reference, strict=True)])
    defined = both[np.isfinite(both)]
    if defined.size < 2:
        return None
    return Gain(float(defined.mean()), float(defined.std(ddof=1)) / math.sqrt(defined.size), defined.size - 1)


def critical_value(level: float, comparisons: int, degrees: int) -> float:
    """Standard errors that the best of many differences exceeds by chance with probability `level` at most.

    Student's t with Bonferroni's correction. Fresh folds are folds of the same rows: settings that suit these rows by
    chance do so on every division of them, so all settings that were tried count, not only those tried again.
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / max(comparisons, 1)))
