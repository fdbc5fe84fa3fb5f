"""Gray's test and the log-rank test, against cmprsk and survival of R, and laws."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lifelines.statistics import multivariate_logrank_test
from scipy.stats import chi2, kstest

from aldsurv import SurvivalData
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.nonparametric import gray_test, log_rank_test

FROZEN = json.loads((Path(__file__).parent / "frozen" / "competing.json").read_text(encoding="utf-8"))


@pytest.fixture(params=sorted(FROZEN))
def frozen(request):
    part = FROZEN[request.param]
    rows = {name: np.array(column) for name, column in part["rows"].items()}
    return SurvivalData.competing(rows["time"], rows["cause"]), rows["group"], rows["stratum"], part


def drawn(rng, n=120, rate=None):
    """Rows of two causes, of which the first has these rates."""
    first, second = rng.exponential(1 / (np.full(n, 0.1) if rate is None else rate)), rng.exponential(12, n)
    lost = rng.uniform(0, 15, n)
    event = np.minimum(first, second)
    return SurvivalData.competing(np.minimum(event, lost), np.where(lost < event, 0, np.where(first < second, 1, 2)))


@pytest.mark.parametrize("rho", [0, 1, -1])
def test_gray_test_is_that_of_cmprsk(frozen, rho):
    data, group, _, part = frozen
    for test, (statistic, p_value, freedom) in zip(
        gray_test(data, group, rho=rho).values(), part["gray"][str(rho)], strict=True
    ):
        assert test.statistic == pytest.approx(statistic, rel=1e-10)
        assert test.p_value == pytest.approx(p_value, rel=1e-10)
        assert test.degrees_of_freedom == freedom


def test_gray_test_of_two_groups_and_of_strata_is_that_of_cmprsk(frozen):
    data, group, stratum, part = frozen
    two = group != "c"
    found = [gray_test(data[two], group[two], cause=k).statistic for k in (1, 2)]
    assert found == pytest.approx([row[0] for row in part["gray"]["two"]], rel=1e-10)
    found = [test.statistic for test in gray_test(data, group, strata=stratum).values()]
    assert found == pytest.approx([row[0] for row in part["gray"]["strata"]], rel=1e-10)


def test_log_rank_test_is_that_of_survdiff_and_lifelines(frozen):
    data, group, stratum, part = frozen
    for rho in (0, 1):
        assert log_rank_test(data, group, rho=rho).statistic == pytest.approx(part["log_rank"][str(rho)], rel=1e-10)
    found = log_rank_test(data, group, strata=stratum)
    assert found.statistic == pytest.approx(part["log_rank"]["strata"], rel=1e-10)
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, 2), rel=1e-12)
    by_cause = log_rank_test(data.of_cause(1), group)
    peer = multivariate_logrank_test(data.time, group, data.cause == 1)
    assert by_cause.statistic == pytest.approx(peer.test_statistic, rel=1e-9)


def test_the_log_rank_test_counts_delayed_entry_by_its_definition():
    rng = np.random.default_rng(3)
    time = np.ceil(rng.exponential(6, 60)) + 1
    data = SurvivalData.right(time, rng.random(60) < 0.7, entry=np.floor(time * rng.uniform(0, 0.9, 60)))
    first = rng.random(60) < 0.5
    score = variance = 0.0
    for t in np.unique(data.time[data.event]):
        at_risk, events = (data.entry < t) & (data.time >= t), data.event & (data.time == t)
        n, n1, d = at_risk.sum(), (at_risk & first).sum(), events.sum()
        score += (events & first).sum() - d * n1 / n
        variance += d * (n1 / n) * (1 - n1 / n) * (n - d) / (n - 1) if n > 1 else 0.0
    assert log_rank_test(data, first).statistic == pytest.approx(score**2 / variance, rel=1e-10)


def test_p_values_of_equal_groups_are_uniform_and_of_others_small():
    rng = np.random.default_rng(1)
    group = np.repeat([0, 1, 2], 40)
    p_values = [gray_test(drawn(rng), group, cause=1).p_value for _ in range(200)]
    assert kstest(p_values, "uniform").pvalue > 0.01
    different = [gray_test(drawn(rng, rate=np.where(group > 0, 0.1, 0.4)), group, cause=1).p_value for _ in range(20)]
    assert np.median(different) < 0.01


def test_a_weight_counts_as_that_many_rows_and_labels_do_not_matter():
    rng = np.random.default_rng(2)
    data, group, copies = drawn(rng), rng.integers(0, 3, 120), rng.integers(0, 3, 120)
    rows = np.repeat(np.arange(120), copies)
    for test in (gray_test, log_rank_test):
        weighted = test(data.with_weight(copies), group)
        repeated = test(data[rows], np.array(["c", "a", "b"])[group[rows]])
        for one, other in zip(
            np.atleast_2d(list(_tests(weighted))), np.atleast_2d(list(_tests(repeated))), strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-8)


def _tests(result):
    return result.values() if isinstance(result, dict) else [result]


def test_bad_arguments_are_refused_in_one_line():
    data = drawn(np.random.default_rng(0), 20)
    half = np.repeat([0, 1], 10)
    for given, groups, options, kind, problem in (
        (data, half, {"cause": "relapse"}, ParameterError, "cause must be a number from 1 to 2"),
        (data, half, {"rho": "x"}, ParameterError, "rho must be"),
        (data, half[:5], {}, ParameterError, "groups must have one label for each of 20 rows"),
        (data, np.zeros(20), {}, DataError, "two or more"),
        (data, half, {"strata": [1]}, ParameterError, "strata must have one label"),
        (data, np.where(half == 0, np.nan, 1.0), {}, ParameterError, "none missing"),
        (SurvivalData.right([1, 2], [True, True]), [0, 1], {}, ParameterError, "SurvivalData.competing"),
        (
            SurvivalData.competing([1, 2], [0, 1], names=["a", "b"]),
            [0, 1],
            {"cause": "b"},
            DataError,
            "no event of cause 'b'",
        ),
        (SurvivalData.competing([1, 2], [0, 1], entry=[0.5, 1]), [0, 1], {}, CensoringError, "delayed entry"),
    ):
        with pytest.raises(kind, match=problem) as caught:
            gray_test(given, groups, **options)
        assert "\n" not in str(caught.value)
