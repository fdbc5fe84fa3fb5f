from __future__ import annotations

import dataclasses
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sksurv.metrics import concordance_index_censored

from aldsurv import metrics
from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import Exponential, Step, Weibull
from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.metrics.catalogue import find_metric
from aldsurv.metrics.resampling.row_counts import by_counts
from aldsurv.registry import METRICS
from metrics.definitions import right_censored, simulated

TRAIN = simulated(9)


def weighted_rows(seed: int = 2, n: int = 80) -> tuple[Weibull, SurvivalData]:
    data, rng = simulated(seed, n), np.random.default_rng(seed)
    data = SurvivalData.right(data.time, data.event, weight=rng.integers(0, 4, n) / 2)
    return Weibull(rng.uniform(5, 30, n), 1.3), data


def options_of(name: str) -> dict[str, object]:
    """What the metric has to be told."""
    when = {None: {}, "time": {"time": 6.0}, "times": {"times": [8.0, 12.0]}}[METRICS[name].time_argument]
    return {"train": TRAIN, **when} if METRICS[name].train != "unused" else when


def on_rows(name: str):
    """The metric as a function that nothing is known of."""
    return lambda predicted, data, **options: find_metric(name)(predicted, data, **options)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_mean_of_a_column_as_scipy_has_it(method):
    rng = np.random.default_rng(5)
    mean, time = rng.uniform(1, 9, 60), rng.exponential(3, 60)
    column = -np.log(mean) - time / mean
    data = SurvivalData.right(time, np.ones(60, bool))
    found = metrics.bootstrap(
        "log_likelihood", Exponential(mean), data, samples=400, level=0.9, method=method, random_state=3
    )
    expected = stats.bootstrap(
        (column,), np.mean, n_resamples=400, confidence_level=0.9, method=method, rng=np.random.default_rng(3)
    )
    assert found.value == pytest.approx(column.mean(), rel=1e-12)
    assert (found.lower, found.upper) == pytest.approx(tuple(expected.confidence_interval), rel=1e-9)
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-9)
    assert found.samples == 400


def test_coverage_of_a_known_mean():
    rng, hits = np.random.default_rng(0), 0
    data = SurvivalData.right(np.ones(40), np.ones(40, bool))
    for _ in range(300):
        found = metrics.bootstrap(
            "mae", rng.uniform(0, 1, 40), data, truth=np.zeros(40), samples=200, level=0.9, random_state=rng
        )
        hits += found.lower <= 0.5 <= found.upper
    # Three standard errors around what a percentile interval of 40 rows comes to.
    assert 0.84 < hits / 300 < 0.94


# A draw of few events may have no slope: both leave it out.
@pytest.mark.filterwarnings("ignore::aldsurv.errors.SkippedResamplesWarning")
@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("name", METRICS)
def test_counting_rows_is_drawing_them(name, method):
    predicted, data = weighted_rows(n=40)
    options = options_of(name)
    settings = {"samples": 30, "random_state": 4, "method": method, **options}
    counted = metrics.bootstrap(name, predicted, data, **settings)
    drawn = metrics.bootstrap(on_rows(name), predicted, data, **settings)
    if METRICS[name].bounds is not None:
        # Of a function that nothing is known of limits are not freed of bias.
        drawn = dataclasses.replace(drawn, lower=counted.lower, upper=counted.upper)
    assert dataclasses.astuple(counted) == pytest.approx(dataclasses.astuple(drawn), rel=1e-10, abs=1e-13)
    assert counted.lower <= counted.value <= counted.upper
    assert counted.lower < counted.upper
    assert counted.standard_error > 0


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    "name",
    ["cens_dcal", "km_calibration", "average_calibration", "ici", "d_calibration", "one_calibration"],
)
def test_limits_of_a_distance_hold_its_value(name, method):
    """Draws of rows are further from uniform, or from a curve, than the rows themselves."""
    rng = np.random.default_rng(1)
    for n in (40, 150):
        truth = Exponential(rng.uniform(5, 20, n))
        data = SurvivalData.right(truth.sample(random_state=rng), np.ones(n, bool))
        options = {"time": 9.0} if METRICS[name].time_argument else {}
        found = metrics.bootstrap(name, truth, data, samples=60, random_state=0, method=method, **options)
        low, high = METRICS[name].bounds
        assert low <= found.lower <= found.value <= found.upper <= high
        assert found.lower < found.upper
        assert found.upper - found.lower < 6 * found.standard_error


def test_limits_hold_the_value_of_any_function():
    """A largest value is never exceeded on a resample: without correction its limits would end below it."""
    data = SurvivalData.right(np.arange(1.0, 31.0), np.ones(30, bool))
    found = metrics.bootstrap(
        lambda p, d: -float(np.unique(d.time).size), np.ones(30), data, samples=50, random_state=0
    )
    assert found.value == -30
    assert found.lower <= found.value <= found.upper < -25


@given(
    data=right_censored(),
    name=st.sampled_from(sorted(METRICS)),
    method=st.sampled_from(["percentile", "bca"]),
    level=st.floats(0.05, 0.99),
    seed=st.integers(0, 99),
)
def test_limits_hold_the_value_whatever_the_rows(data, name, method, level, seed):
    """Finite, or infinite as an error by a median that is not reached or the logarithm of an impossible event."""
    rng = np.random.default_rng(seed)
    predicted = Step([2.0, 4.0, 8.0], np.sort(rng.choice([0.0, 0.2, 0.5, 0.9], (len(data), 3)), axis=1)[:, ::-1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = metrics.bootstrap(
            name, predicted, data, samples=6, level=level, method=method, random_state=seed, **options_of(name)
        )
    if np.isnan(found.value):
        assert np.isnan([found.lower, found.upper]).all()
    elif found.samples:
        assert found.lower <= found.value <= found.upper


@pytest.mark.parametrize(("n", "power"), [(60, 1.0), (150, 1.1), (300, 1.5)])
def test_coverage_of_a_known_distance(n, power):
    """Levels with the distribution function u^power: CensDcal of the population is known.

    Percentiles of the replicates cover a small distance never, and shifted by their bias in 80 % to 90 %.
    """
    ends = np.linspace(0, 1, 11) ** power
    truth = 100 * ((0.1 - np.diff(ends)) ** 2).sum()
    rng, runs, hits = np.random.default_rng(0), 150, 0
    for _ in range(runs):
        levels = rng.random(n) ** (1 / power)
        data = SurvivalData.right(-np.log1p(-levels), np.ones(n, bool))
        found = metrics.bootstrap("cens_dcal", Exponential(np.ones(n)), data, samples=150, random_state=rng)
        hits += found.lower <= truth <= found.upper
        assert found.lower <= found.value <= found.upper
    assert hits >= stats.binom.ppf(0.001, runs, 0.95)


def weighted(data: SurvivalData, counts: np.ndarray) -> SurvivalData:
    """The rows with so many times their weight; all zero can only come about by choosing rows."""
    one_more = SurvivalData.concatenate([data, SurvivalData.right([9], [True])])
    return one_more.with_weight([*(counts * data.weights), 1])[: len(data)]


@given(data=right_censored(), name=st.sampled_from(sorted(METRICS)), seed=st.integers(0, 99))
def test_any_counts(data, name, seed):
    rng = np.random.default_rng(seed)
    # Some rows are impossible, or have no median: these must count wherever they are drawn, and nowhere else.
    predicted = Step([2.0, 4.0, 8.0], np.sort(rng.choice([0.0, 0.2, 0.5, 0.9], (len(data), 3)), axis=1)[:, ::-1])
    options = options_of(name)
    counts = rng.integers(0, 3, (4, len(data)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = by_counts(find_metric(name), predicted, data, options)(counts)
        for row, value in zip(counts, found, strict=True):
            # Weights keep the rows that are not drawn, and with them the smallest time above 0.
            expected = find_metric(name)(predicted, weighted(data, row), **options)
            assert value == pytest.approx([expected], rel=1e-10, abs=1e-12, nan_ok=True)


def test_counted_concordance_is_the_drawn_one_to_the_last_bit():
    data = simulated(3, 200)
    estimate = np.random.default_rng(0).integers(0, 50, 200).astype(float)
    counted = metrics.bootstrap("harrell_c", estimate, data, samples=50, random_state=1)
    assert counted == metrics.bootstrap(on_rows("harrell_c"), estimate, data, samples=50, random_state=1)


def test_options_reach_the_metric():
    predicted, data = weighted_rows()
    truth = np.random.default_rng(1).uniform(0, 20, len(data))
    for name, options in [
        ("mae", {"truth": truth, "unit": 3.0, "point": "mean"}),
        ("ibs", {"times": [2.0, 3.0, 9.0], "train": TRAIN}),
        ("uno_c", {"tau": 8.0, "train": TRAIN, "point": "mode"}),
        ("cens_dcal", {"bins": 4}),
        ("cal_f_slope", {"bins": 5}),
    ]:
        found = metrics.bootstrap(name, predicted, data, samples=60, random_state=0, **options)
        assert found.value == find_metric(name)(predicted, data, **options)
        assert abs(found.value - (found.lower + found.upper) / 2) < 4 * found.standard_error
        usual = metrics.bootstrap(name, predicted, data, samples=60, random_state=0, train=TRAIN)
        assert usual.standard_error != found.standard_error


@pytest.mark.parametrize("name", [record.name for record in METRICS.records() if record.time_argument])
def test_times_are_chosen_once(name):
    """By default from the training rows, or from all rows: not from those drawn."""
    predicted, data = weighted_rows()
    options = {"train": TRAIN} if METRICS[name].train != "unused" else {}
    rows = TRAIN if options else data
    copies = np.repeat(rows.time[rows.event], (2 * rows.weights[rows.event]).astype(int))
    quartiles = np.quantile(copies, [0.25, 0.5, 0.75], method="inverted_cdf")
    when = {"times": quartiles} if METRICS[name].time_argument == "times" else {"time": float(quartiles[1])}
    found = metrics.bootstrap(name, predicted, data, samples=20, random_state=0, **options)
    assert found == metrics.bootstrap(name, predicted, data, samples=20, random_state=0, **options, **when)


def test_true_times_go_with_their_rows():
    data = SurvivalData.right(np.arange(1.0, 31), np.ones(30, bool))
    times = np.random.default_rng(0).uniform(0, 9, 30)
    found = metrics.bootstrap("mae", times, data, truth=times, samples=20, random_state=0)
    assert dataclasses.astuple(found) == (0, 0, 0, 0, 20)


def test_functions_of_the_package():
    predicted, data = weighted_rows()
    found = metrics.bootstrap(metrics.survival_calibration, predicted, data, samples=50, random_state=2)
    parts = [
        metrics.bootstrap(name, predicted, data, samples=50, random_state=2)
        for name in ("cal_s_slope", "cal_s_intercept")
    ]
    for field in ("value", "lower", "upper", "standard_error"):
        np.testing.assert_allclose(getattr(found, field), [getattr(part, field) for part in parts], rtol=1e-12)
    at_times = metrics.bootstrap(
        metrics.brier_score, predicted, data, times=[3.0, 6.0], train=TRAIN, samples=20, random_state=2
    )
    np.testing.assert_array_equal(at_times.value, metrics.brier_score(predicted, data, [3.0, 6.0], train=TRAIN))
    assert (at_times.lower < at_times.upper).all()
    same = metrics.bootstrap(metrics.concordance_uno, predicted, data, train=TRAIN, samples=20, random_state=2)
    assert same == metrics.bootstrap("uno_c", predicted, data, train=TRAIN, samples=20, random_state=2)
    # The training rows do no harm where they have no use.
    assert np.isfinite(metrics.bootstrap(metrics.log_likelihood, predicted, data, train=TRAIN, samples=9).value)


def test_the_seed_decides():
    predicted, data = weighted_rows()
    first, again, other = (
        metrics.bootstrap("ibs", predicted, data, train=TRAIN, samples=40, random_state=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first.lower != other.lower
    assert first.value == other.value


def test_the_number_of_rows_held_at_once_does_not_matter(monkeypatch):
    predicted, data = weighted_rows()
    settings = {"samples": 50, "random_state": 1, "method": "bca"}
    expected = metrics.bootstrap("mae", predicted, data, **settings)
    monkeypatch.setattr("aldsurv.metrics.resampling.bootstrap._BLOCK_VALUES", 700)
    assert dataclasses.astuple(metrics.bootstrap("mae", predicted, data, **settings)) == pytest.approx(
        dataclasses.astuple(expected), rel=1e-12
    )


def test_contains_the_value_of_scikit_survival():
    data = simulated(4)
    predicted = Exponential(data.time + np.random.default_rng(0).exponential(20, len(data)))
    expected = concordance_index_censored(data.event, data.time, -predicted.median())[0]
    found = metrics.bootstrap("harrell_c", predicted, data, samples=200, random_state=0)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.lower < expected < found.upper
    assert expected - found.lower < 0.1


def test_resamples_without_a_value_are_left_out():
    data = SurvivalData.right([1, 2, 3], [True, False, False])
    with pytest.warns(UserWarning, match=r"^\d+ of 200 resamples have no value .* left out.$") as caught:
        found = metrics.bootstrap("harrell_c", [1.0, 2.0, 0.5], data, samples=200, random_state=0)
    # A pair needs the first row and another: P = 1 - (2/3)^3 - (1/3)^3 = 2/3.
    assert abs(found.samples - 200 * 2 / 3) < 4 * np.sqrt(200 * 2 / 9)
    assert str(caught[0].message).startswith(f"{200 - found.samples} of")
    assert 0 <= found.lower <= found.value <= found.upper <= 1


def test_no_value_at_all():
    data = SurvivalData.right([1, 2, 3], [False] * 3)
    with pytest.warns(UserWarning, match="NaN|left out") as caught:
        found = metrics.bootstrap("harrell_c", [1.0, 2.0, 0.5], data, samples=20, random_state=0)
    assert len(caught) == 2
    assert np.isnan([found.value, found.lower, found.upper, found.standard_error]).all()
    assert found.samples == 0


def test_infinite_replicates():
    data = SurvivalData.right([1, 2, 3, 4], [True] * 4)
    found = metrics.bootstrap("mae", [np.inf, 2.0, 3.0, 4.0], data, samples=400, random_state=0)
    assert (found.value, found.lower, found.upper, found.standard_error) == (np.inf, 0.0, np.inf, np.inf)


def test_frozen():
    found = metrics.bootstrap("mae", [1.0, 2.0], SurvivalData.right([1, 2], [True, True]), samples=5, random_state=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.value = 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"samples": 1}, "samples must be a whole number from 2 on, but is 1"),
        ({"samples": True}, "samples must be a whole number"),
        ({"samples": 10.0}, "samples must be a whole number"),
        ({"level": 95}, "level must be a number between 0 and 1, but is 95"),
        ({"method": "basic"}, "method must be 'percentile' or 'bca', but is 'basic'"),
        ({"metric": "ibs"}, "integrated_brier_score estimates .* Give them as train="),
        ({"metric": 3}, "metric must be a name or a function, but is int"),
        ({"metric": lambda predicted, data: "good"}, "metric must give a number or a tuple of numbers, but gave str"),
        ({"metric": lambda predicted, data: np.ones((2, 2))}, "metric must give a number or a tuple"),
        ({"metric": lambda predicted, data: 1.0, "data": TRAIN[:0]}, "data must have rows"),
    ],
)
def test_what_is_refused(change, message):
    predicted, data = weighted_rows()
    arguments = {"metric": "mae", "predicted": predicted, "data": data} | change
    with pytest.raises(ParameterError, match=message):
        metrics.bootstrap(**arguments)


def test_names_and_options_that_do_not_exist():
    predicted, data = weighted_rows()
    with pytest.raises(UnknownNameError, match=r"unknown metric 'c_index'. Known: harrell_c, uno_c, ibs, mae"):
        metrics.bootstrap("c_index", predicted, data)
    with pytest.raises(TypeError, match="colour"):
        metrics.bootstrap("mae", predicted, data, colour=3)


def test_nothing_to_correct():
    data = SurvivalData.right(np.arange(1.0, 11), np.ones(10, bool))
    settings = {"truth": np.zeros(10), "samples": 20, "random_state": 0}
    found = metrics.bootstrap("mae", np.ones(10), data, method="bca", **settings)
    assert dataclasses.astuple(found) == (1, 1, 1, 0, 20)


def test_no_time_with_an_estimate_of_the_censoring():
    predicted, data = weighted_rows()
    with pytest.warns(UserWarning, match="no time is left|fewer than two times|20 of 20 resamples") as caught:
        found = metrics.bootstrap("ibs", predicted, data, train=TRAIN, times=[900.0, 901.0], samples=20)
    assert len(caught) == 3
    assert np.isnan(found.value)
    assert found.samples == 0
