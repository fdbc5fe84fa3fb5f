"""Statistics against scipy, statsmodels, printed tables and definitions written out."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from aldsurv.benchmark.ranking import friedman, nemenyi_critical_difference, rank_models
from aldsurv.benchmark.results import PAPER_METRICS, POINT_METRICS, Result, Results, Series
from aldsurv.benchmark.statistics import (
    adjusted_p_values,
    as_loss,
    corrected_resampled_t,
    run_summary,
    student_t,
    student_t_from_summary,
)
from aldsurv.benchmark.verdicts import Counts, Verdict, count_verdicts, verdicts
from aldsurv.benchmark.view import View

NAN, INF = math.nan, math.inf


def series(dataset: str, model: str, *, recipe: str = "paper", variant: str = "row") -> Series:
    definition = "real" if dataset in ("gbsg", "whas", "support") else "released"
    return Series(dataset, definition, variant, model, recipe)


def rows_of(one: Series, metric: str, values) -> list[Result]:
    points = ("mean", "median", "mode") if metric in POINT_METRICS else ("",)
    return [Result(one, seed, point, metric, float(value)) for seed, value in enumerate(values) for point in points]


@pytest.mark.parametrize(("n", "m"), [(10, 10), (2, 2), (3, 12)])
def test_student_t(n, m):
    rng = np.random.default_rng(n)
    for shift in (0.0, 0.5, 5.0):
        first, second = rng.normal(shift, 2.0, n), rng.normal(0.0, 0.5, m)
        found, wanted = student_t(first, second), stats.ttest_ind(first, second, equal_var=True)
        assert found.p_value == pytest.approx(wanted.pvalue, rel=1e-10)
        assert found.statistic == pytest.approx(wanted.statistic, rel=1e-10)
        assert found.degrees == wanted.df
        assert found.difference == pytest.approx(first.mean() - second.mean())


def test_student_t_from_summary_of_many():
    rng = np.random.default_rng(1)
    mean, sd, other, other_sd = rng.normal(size=50), rng.uniform(0.1, 2, 50), rng.normal(size=50), rng.uniform(1, 3, 50)
    wanted = stats.ttest_ind_from_stats(mean, sd, 10, other, other_sd, 7, equal_var=True)
    found = student_t_from_summary(mean, sd, 10, other, other_sd, 7)
    np.testing.assert_allclose(found.p_value, wanted.pvalue, rtol=1e-10)
    np.testing.assert_allclose(found.statistic, wanted.statistic, rtol=1e-10)


def test_corrected_resampled_t_from_its_formula():
    rng = np.random.default_rng(2)
    first, second = rng.normal(0.3, 1, 10), rng.normal(0, 1, 10)
    gaps = [a - b for a, b in zip(first, second, strict=True)]
    mean = sum(gaps) / 10
    variance = sum((gap - mean) ** 2 for gap in gaps) / 9
    t = mean / math.sqrt((1 / 10 + 447 / 1785) * variance)
    found = corrected_resampled_t(first, second, test_share=447 / 1785)
    assert found.statistic == pytest.approx(t, rel=1e-12)
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 9), rel=1e-10)


def test_corrected_resampled_t_on_new_rows_is_the_paired_test():
    rng = np.random.default_rng(3)
    first, second = rng.normal(0.3, 1, 8), rng.normal(0, 1, 8)
    wanted = stats.ttest_rel(first, second)
    found = corrected_resampled_t(first, second, test_share=0.0)
    assert (found.statistic, found.p_value) == pytest.approx((wanted.statistic, wanted.pvalue), rel=1e-10)


def test_the_correction_keeps_its_level_where_the_paired_test_does_not():
    # Runs share rows: their differences have correlation rho, which the correction takes as n_test/(n_train + n_test).
    rng = np.random.default_rng(4)
    rho, runs, trials = 0.2, 10, 4000
    gaps = math.sqrt(rho) * rng.normal(size=(trials, 1)) + math.sqrt(1 - rho) * rng.normal(size=(trials, runs))
    zero = np.zeros(runs)
    plain = np.mean([corrected_resampled_t(row, zero, test_share=0.0).p_value < 0.05 for row in gaps])
    corrected = np.mean([corrected_resampled_t(row, zero, test_share=0.25).p_value < 0.05 for row in gaps])
    assert plain > 0.2
    assert corrected == pytest.approx(0.05, abs=3.5 * math.sqrt(0.05 * 0.95 / trials))


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([1.0], [2.0]), ([1.0], [1.0, 2.0, 3.0]), ([1.0, NAN], [1.0, 2.0]), ([INF, 1.0], [1.0, 2.0])],
)
def test_what_cannot_be_tested_has_no_p_value(first, second):
    assert math.isnan(student_t(first, second).p_value)
    assert math.isnan(corrected_resampled_t(second[: len(first)], first, test_share=0.2).p_value)


def test_runs_that_are_all_the_same():
    for test in (student_t, lambda a, b: corrected_resampled_t(a, b, test_share=0.2)):
        same, apart = test([0.5] * 4, [0.5] * 4), test([0.5] * 4, [0.75] * 4)
        assert (same.statistic, same.p_value) == (0, 1)
        assert (apart.statistic, apart.p_value) == (-INF, 0)


@pytest.mark.parametrize("n", [1, 2, 5, 756])
def test_adjusted_p_values(n):
    rng = np.random.default_rng(n)
    p = rng.uniform(0, 1, n) ** 3
    p[n // 2] = p[0]  # a tie
    found = adjusted_p_values(p)
    np.testing.assert_allclose(found, stats.false_discovery_control(p), rtol=1e-12)
    np.testing.assert_allclose(found, multipletests(p, method="fdr_bh")[1], rtol=1e-12)


def test_tests_that_were_not_made_are_not_counted():
    p = np.array([[0.01, NAN, 0.04], [0.03, 0.9, NAN]])
    found = adjusted_p_values(p)
    assert found.shape == p.shape
    np.testing.assert_array_equal(np.isnan(found), np.isnan(p))
    np.testing.assert_allclose(found[~np.isnan(p)], stats.false_discovery_control(p[~np.isnan(p)]))
    assert adjusted_p_values([]).size == 0
    assert np.isnan(adjusted_p_values([NAN, NAN])).all()


def test_lower_losses_are_better():
    better = {
        "mae": (0.1, 0.2), "ibs": (0.1, 0.2), "cens_dcal": (0.1, 0.2), "harrell_c": (0.7, 0.6), "uno_c": (0.7, 0.6),
        "cal_s_slope": (1.1, 0.8), "cal_f_slope": (0.95, 1.1), "cal_s_intercept": (-0.1, 0.2),
        "cal_f_intercept": (0.1, -0.2), "log_likelihood": (-1.0, -2.0),
    }  # fmt: skip
    assert set(PAPER_METRICS) < set(better)
    for metric, (good, bad) in better.items():
        assert as_loss(metric, good) < as_loss(metric, bad), metric


def test_spread():
    values = np.random.default_rng(0).normal(size=9)
    assert run_summary(values) == pytest.approx((values.mean(), values.std(ddof=1), 9))
    assert run_summary([3.0])[0] == 3
    assert math.isnan(run_summary([3.0])[1])


@pytest.mark.parametrize("shape", [(21, 5), (5, 3), (40, 8)])
@pytest.mark.parametrize("ties", [False, True])
def test_friedman(shape, ties):
    scores = np.random.default_rng(shape[0]).normal(size=shape) + 0.3 * np.arange(shape[1])
    if ties:
        scores = np.round(scores)
    wanted = stats.friedmanchisquare(*scores.T)
    assert friedman(scores) == pytest.approx((wanted.statistic, wanted.pvalue), rel=1e-10)


# Demšar (2006), table 5(a): critical values of the two-tailed Nemenyi test.
@pytest.mark.parametrize(
    ("level", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_nemenyi_against_the_printed_table(level, values):
    for k, q in enumerate(values, start=2):
        n = 14
        found = nemenyi_critical_difference(k, n, level=level)
        # Printed after the range was rounded: off by up to 0.0007.
        assert found / math.sqrt(k * (k + 1) / (6 * n)) == pytest.approx(q, abs=8e-4)


def test_ranking_of_made_up_results():
    scores = {"ald": [1, 1, 1, 2], "cqrnn": [2, 2, 3, 1], "deephit": [3, 3, 2, 3]}
    datasets = ("weibull", "exponential", "gbsg", "support")
    rows = [
        row
        for model, means in scores.items()
        for dataset, mean in zip(datasets, means, strict=True)
        for row in rows_of(series(dataset, model), "ibs", [mean - 0.1, mean + 0.1])
    ]
    # A dataset on which a model is missing is left out.
    rows += rows_of(series("whas", "ald"), "ibs", [9.0, 9.0])
    # So is one on which a model is infinitely bad: it neither wins nor loses.
    for model, value in (("ald", np.inf), ("cqrnn", 1.0), ("deephit", 2.0)):
        rows += rows_of(series("metabric", model), "ibs", [value, value])
    found = rank_models(Results(rows), "ibs")
    assert found.models == ("ald", "cqrnn", "deephit")
    assert found.mean_ranks == (1.25, 2.0, 2.75)
    assert found.n_datasets == 4
    table = np.array(list(scores.values())).T
    assert (found.statistic, found.p_value) == pytest.approx(tuple(stats.friedmanchisquare(*table.T)), rel=1e-10)
    assert found.critical_difference == pytest.approx(2.343 * math.sqrt(12 / 24), rel=1e-3)
    assert found.groups == (("ald", "cqrnn", "deephit"),)


def test_groups_are_the_largest_sets_that_do_not_differ():
    rng = np.random.default_rng(5)
    names = ["ald", "cqrnn", "lognormal", "deepsurv", "deephit"]
    datasets = ["weibull", "exponential", "lognorm", "norm_linear", "norm_med", "gbsg", "support", "whas"]
    for _ in range(20):
        means = rng.normal(size=(len(datasets), 5)) + rng.uniform(0, 2) * np.arange(5)
        pairs = itertools.product(enumerate(datasets), enumerate(names))
        rows = [r for (i, d), (j, m) in pairs for r in rows_of(series(d, m), "ibs", [means[i, j]])]
        found = rank_models(Results(rows), "ibs")
        rank = dict(zip(found.models, found.mean_ranks, strict=True))
        alike = [
            set(some)
            for size in range(2, 6)
            for some in itertools.combinations(names, size)
            if max(rank[m] for m in some) - min(rank[m] for m in some) < found.critical_difference
        ]
        largest = [some for some in alike if not any(some < other for other in alike)]
        assert sorted(map(sorted, found.groups)) == sorted(map(sorted, largest))


@pytest.mark.parametrize("models", [(), ("ald",), ("ald", "cqrnn")])
def test_rankings_of_little(models):
    found = rank_models(Results([r for m in models for r in rows_of(series("gbsg", m), "mae", [1.0])]), "mae")
    assert len(found.models) == len(models)
    assert math.isnan(found.p_value)


@pytest.fixture(scope="module")
def made_up() -> Results:
    """ALD beside a model that is better, one that is worse and one that is the same, on two datasets."""
    rng = np.random.default_rng(6)
    ideal = {"harrell_c": 1.0, "uno_c": 1.0, "cal_s_slope": 1.0, "cal_f_slope": 1.0}
    rows: list[Result] = []
    for dataset in ("weibull", "gbsg"):
        for model, away in {"ald": 0.3, "cqrnn": 0.1, "deephit": 0.5, "deepsurv": 0.3}.items():
            for metric in PAPER_METRICS:
                # Slopes and intercepts miss their ideal on both sides: signed means would not tell.
                sign = np.where(np.arange(10) % 2, 1, -1) if metric.startswith("cal_") else 1
                sign = -1 if metric.endswith("_c") else sign
                values = ideal.get(metric, 0.0) + sign * (away + 0.01 * rng.normal(size=10))
                rows += rows_of(series(dataset, model), metric, values)
    return Results(rows)


@pytest.mark.parametrize("corrected", [False, True])
def test_verdicts_with_known_answers(made_up, corrected):
    counts = count_verdicts(verdicts(made_up), corrected=corrected)
    assert len(counts) == 27
    for metric in PAPER_METRICS:
        assert counts[metric, "cqrnn"] == Counts(0, 2, 0)
        assert counts[metric, "deephit"] == Counts(2, 0, 0)
        assert counts[metric, "deepsurv"] == Counts(0, 0, 2)


def test_every_verdict_against_scipy():
    rng = np.random.default_rng(8)
    rows: list[Result] = []
    for dataset, model, metric in itertools.product(("weibull", "gbsg"), ("ald", "cqrnn", "deephit"), PAPER_METRICS):
        rows += rows_of(series(dataset, model), metric, 0.6 + 0.1 * rng.normal() + 0.1 * rng.normal(size=10))
    made_up = Results(rows)
    found = verdicts(made_up, level=0.05)
    p, corrected = [], []
    for one in found:
        own, other = (
            as_loss(one.metric, made_up.by_seed(series(one.dataset, model), one.metric))
            for model in ("ald", one.versus)
        )
        p.append(stats.ttest_ind(own, other).pvalue)
        # Each run of a synthetic dataset has new rows; GBSG is split anew.
        factor = math.sqrt(1 + 10 * 447 / 1785) if one.dataset == "gbsg" else 1.0
        corrected.append(2 * stats.t.sf(abs(stats.ttest_rel(own, other).statistic) / factor, 9))
    np.testing.assert_allclose([one.p_value for one in found], p, rtol=1e-8)
    np.testing.assert_allclose([one.adjusted for one in found], stats.false_discovery_control(p), rtol=1e-8)
    np.testing.assert_allclose([one.corrected_p for one in found], corrected, rtol=1e-8)
    np.testing.assert_allclose(
        [one.corrected_adjusted for one in found], stats.false_discovery_control(corrected), rtol=1e-8
    )
    for side in ("adjusted", "verdict"), ("corrected_adjusted", "corrected_verdict"):
        pairs = [tuple(getattr(one, name) for name in side) for one in found]
        assert all((verdict == "same") == (q >= 0.05) for q, verdict in pairs)
    # Enough of them near the level for a wrong one to show.
    assert sum(0.005 < one.adjusted < 0.05 for one in found) >= 3


def test_runs_are_paired_by_seed_and_not_by_place():
    rng = np.random.default_rng(7)
    hard = rng.normal(0, 5, 6)
    ours = [Result(series("weibull", "ald"), seed, "", "ibs", hard[seed] + 0.1 * rng.normal()) for seed in range(6)]
    theirs = [
        Result(series("weibull", "cqrnn"), seed, "", "ibs", hard[seed] + 1 + 0.1 * rng.normal()) for seed in range(1, 6)
    ]
    (found,) = [one for one in verdicts(Results([*ours, *theirs])) if one.metric == "ibs"]
    assert found.corrected_p < 0.001
    assert found.p_value > 0.5


def test_what_is_missing_has_no_verdict():
    rows = rows_of(series("gbsg", "ald"), "mae", [1.0, 2.0, 3.0]) + rows_of(series("gbsg", "cqrnn"), "mae", [INF] * 3)
    rows += rows_of(series("whas", "ald"), "mae", [1.0]) + rows_of(series("whas", "cqrnn"), "mae", [2.0])
    rows += rows_of(series("support", "cqrnn"), "mae", [2.0, 2.0])
    found = verdicts(Results(rows))
    assert len(found) == 18
    assert {one.verdict for one in found} == {one.corrected_verdict for one in found} == {None}
    assert set(count_verdicts(found).values()) == {Counts(0, 0, 0)}
    assert verdicts(Results([])) == []
    assert verdicts(Results(rows), model="nothing") == []


def test_a_view_has_one_series_for_each_dataset_and_model():
    given = [
        series("gbsg", "cqrnn"), series("gbsg", "ald"), series("gbsg", "ald", recipe="best"),
        series("gbsg", "rsf", recipe="-"), series("whas", "ald", variant="group"),
        Series("weibull", "printed", "row", "ald", "paper"), Series("weibull", "released", "row", "ald", "paper"),
    ]  # fmt: skip
    results = Results([Result(one, 0, "", "ibs", 1.0) for one in given])
    assert list(View().series(results).items()) == [
        (("weibull", "ald"), given[6]),
        (("gbsg", "ald"), given[1]),
        (("gbsg", "cqrnn"), given[0]),
        (("gbsg", "rsf"), given[3]),
    ]
    assert View(recipe="best").series(results) == {("gbsg", "ald"): given[2], ("gbsg", "rsf"): given[3]}
    assert View(definition="printed").series(results)["weibull", "ald"] == given[5]
    assert View(variant="group").series(results) == {("whas", "ald"): given[4]}


def test_counting():
    def one(verdict, corrected):
        return Verdict("gbsg", "mae", "cqrnn", 0.0, 0.0, 0.0, verdict, 0.0, 0.0, corrected)

    found = [one("better", "same"), one("better", None), one("worse", "better"), one(None, "same")]
    assert count_verdicts(found) == {("mae", "cqrnn"): Counts(2, 1, 0)}
    assert count_verdicts(found, corrected=True) == {("mae", "cqrnn"): Counts(1, 0, 2)}
