"""The published numbers, and what is made of them, against scipy and definitions written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds, least_cens_dcal
from aldsurv.benchmark.paper.published import (
    count_agreement,
    published_at_zero,
    published_by_summary,
    published_counts,
    published_results,
    recomputed_verdicts,
)
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS
from aldsurv.benchmark.verdicts import Counts, count_verdicts
from aldsurv.datasets import names
from aldsurv.errors import ParameterError

OTHERS = [model for model in PAPER_MODELS if model != "ald"]
PAPER_DATASETS = names(paper=True)


def test_every_number_is_there():
    assert set(published_results()) == set(itertools.product(PAPER_DATASETS, PAPER_MODELS, PAPER_METRICS))
    assert set(published_counts()) == set(itertools.product(PAPER_METRICS, OTHERS))
    assert set(published_at_zero()) == set(itertools.product(PAPER_DATASETS, ("f0_p50", "f0_p75", "f0_p95")))
    by_summary = {(d, s, m) for d in PAPER_DATASETS for s in ("mean", "mode") for m in ("mae", "harrell_c", "uno_c")}
    assert set(published_by_summary()) == by_summary | {(d, "median", m) for d in PAPER_DATASETS for m in PAPER_METRICS}
    assert all(sd > 0 for _, sd in published_results().values())


# Read off the pages of the paper.
@pytest.mark.parametrize(
    ("dataset", "model", "metric", "mean", "sd"),
    [
        ("norm_linear", "ald", "mae", 0.865, 1.337),
        ("whas", "lognormal", "cal_f_intercept", -0.002, 0.033),
        ("support", "deephit", "cal_s_slope", 0.891, 0.013),
        ("lgggbm", "cqrnn", "uno_c", 0.754, 0.034),
    ],
)
def test_numbers_of_the_full_table(dataset, model, metric, mean, sd):
    assert published_results()[dataset, model, metric] == (mean, sd)


def test_counts_add_up_to_the_totals_that_the_paper_prints():
    printed = {"cqrnn": (43, 22, 124), "lognormal": (113, 9, 67), "deepsurv": (77, 27, 85), "deephit": (138, 7, 44)}
    for other, totals in printed.items():
        counts = [published_counts()[metric, other] for metric in PAPER_METRICS]
        assert tuple(map(sum, zip(*counts, strict=True))) == totals
        assert all(sum(one) == 21 for one in counts)


def test_the_two_large_tables_have_the_calibration_columns_exchanged():
    def gap(metric, other):
        pairs = [
            (published_by_summary()[d, "median", metric], published_results()[d, "ald", other]) for d in PAPER_DATASETS
        ]
        return np.median([abs(one.mean - two.mean) for one, two in pairs])

    for which in ("slope", "intercept"):
        assert gap(f"cal_s_{which}", f"cal_f_{which}") == gap(f"cal_f_{which}", f"cal_s_{which}") == 0
        assert gap(f"cal_s_{which}", f"cal_s_{which}") > 0.005


def loss(metric: str, mean: float, sd: float, distances: str) -> tuple[float, float]:
    """Mean and standard deviation of what is compared."""
    if metric.endswith("_c"):
        return -mean, sd
    if not metric.startswith("cal_"):
        return mean, sd
    away = abs(mean - 1) if metric.endswith("slope") else abs(mean)
    if distances == "of_means":
        return away, sd
    folded = stats.foldnorm(away / sd, scale=sd)
    return folded.mean(), folded.std()


@pytest.mark.parametrize("distances", ["of_means", "folded_normal"])
def test_recomputed_verdicts(distances):
    found = recomputed_verdicts(distances=distances)
    assert len(found) == 21 * 9 * 4
    p = []
    for one in found:
        both = [published_results()[one.dataset, model, one.metric] for model in ("ald", one.versus)]
        (own, own_sd), (other, other_sd) = (loss(one.metric, *printed, distances) for printed in both)
        p.append(stats.ttest_ind_from_stats(own, own_sd, 10, other, other_sd, 10, equal_var=True).pvalue)
        assert one.difference == pytest.approx(own - other, abs=1e-12)
    np.testing.assert_allclose([one.p_value for one in found], p, rtol=1e-7)
    adjusted = stats.false_discovery_control(p)
    for one, q in zip(found, adjusted, strict=True):
        wanted = "same" if q >= 0.05 else "better" if one.difference < 0 else "worse"
        assert one.verdict == wanted


def test_recomputed_verdicts_refuse_other_distances():
    with pytest.raises(ParameterError, match="distances must be"):
        recomputed_verdicts(distances="absolute")


def test_agreement():
    first = {("mae", "a"): Counts(2, 1, 3), ("mae", "b"): Counts(6, 0, 0), ("ibs", "a"): Counts(0, 0, 6)}
    second = {("mae", "a"): Counts(2, 1, 3), ("mae", "b"): Counts(3, 2, 1), ("ibs", "b"): Counts(6, 0, 0)}
    found = count_agreement(first, second)
    assert found == (2, 1, 6, 3, 12, 3)
    assert count_agreement({}, second) == (0, 0, 0, 0, 0, 0)
    same = count_agreement(published_counts())
    assert (same.rows_equal, same.counts_equal, same.different_at_least) == (36, 108, 0)
    assert same.verdicts == 756


def test_the_least_number_of_differing_verdicts_by_trying():
    # All ways in which three verdicts can have been reached on four datasets, against all others with other counts.
    sides = ("better", "worse", "same")
    for counts, others in itertools.product(itertools.combinations_with_replacement(sides, 4), repeat=2):
        first, second = ({("m", "v"): Counts(*(some.count(side) for side in sides))} for some in (counts, others))
        least = min(sum(a != b for a, b in zip(counts, order, strict=True)) for order in itertools.permutations(others))
        assert count_agreement(first, second).different_at_least == least


def calibration(shares: np.ndarray) -> tuple[float, float, float]:
    slope, intercept = np.polyfit(np.arange(1, 11) / 10, np.cumsum(shares), 1)
    return slope, intercept, 100 * float(np.sum((0.1 - shares) ** 2))


def test_no_curve_has_less_than_the_least_cens_dcal():
    rng = np.random.default_rng(0)
    for concentration in (0.3, 1.0, 10.0, 300.0):
        for shares in rng.dirichlet(np.full(10, concentration), 200):
            slope, intercept, cens_dcal = calibration(shares)
            assert least_cens_dcal(slope, intercept) <= cens_dcal * (1 + 1e-9)


def test_a_curve_reaches_the_least():
    # Shares of least norm, found by least squares with the sum of shares as a third condition.
    unit = [calibration(0.1 + np.eye(10)[k])[:2] for k in range(10)]
    conditions = np.vstack([np.array(unit).T - np.array([[1.0], [0.0]]), np.ones(10)])
    for slope, intercept in ((1.05, 0.02), (0.9, 0.084), (1.0, -0.03)):
        shortest = np.linalg.lstsq(conditions, np.array([slope - 1, intercept, 0.0]), rcond=None)[0]
        found = calibration(0.1 + shortest)
        assert found[:2] == pytest.approx((slope, intercept), abs=1e-12)
        assert least_cens_dcal(slope, intercept) == pytest.approx(found[2], rel=1e-9)


# None: the best slope for that intercept or the best intercept for that slope; the least is on another edge.
@pytest.mark.parametrize(
    ("slope", "intercept"), [(1.05, 0.02), (1.0, -0.03), (1.0004, 0.0003), (0.97, 0.0001), (None, 0.02), (1.02, None)]
)
def test_rounding_is_to_the_favour_of_the_table(slope, intercept):
    slopes = np.linspace(0.9, 1.1, 2001)
    if slope is None:
        slope = float(min(slopes, key=lambda tried: least_cens_dcal(tried, intercept)))
    if intercept is None:
        intercept = float(min(slopes - 1, key=lambda tried: least_cens_dcal(slope, tried)))
    near = np.linspace(-0.0005, 0.0005, 41)
    tried = min(least_cens_dcal(slope + a, intercept + b) for a in near for b in near)
    found = least_cens_dcal(slope, intercept, rounding=0.0005)
    assert found <= tried + 1e-12
    assert found == pytest.approx(tried, rel=1e-4, abs=1e-7)


def test_only_one_of_the_printed_columns_can_be_that_of_survival():
    found = calibration_bounds()
    assert len(found) == 2 * 105
    impossible = [one for one in found if one.ratio > 1]
    assert {one.column for one in impossible} == {"cal_s"}
    # DeepHit on SUPPORT prints slope 0.891 and intercept 0.006 beside a CensDcal of 0.829.
    (worst,) = [one for one in found if one[:3] == ("support", "deephit", "cal_s")]
    assert worst.ratio == max(one.ratio for one in found)
    assert worst.ratio == pytest.approx(least_cens_dcal(0.891, 0.006) / 0.829, rel=0.05)


def test_what_the_table_of_counts_is_worth():
    found = count_agreement(count_verdicts(recomputed_verdicts()))
    # The published counts do not follow from the published means and standard deviations.
    assert found.rows == 36
    assert found.rows_equal < 18
    assert math.isclose(found.verdicts, 756)
    assert found.different_at_least > 50
