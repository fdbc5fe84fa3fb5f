from __future__ import annotations

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lifelines import KaplanMeierFitter
from sksurv.nonparametric import kaplan_meier_estimator

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError, DataError, ParameterError
from aldsurv.nonparametric import KaplanMeier, kaplan_meier

INF = np.inf
EXACT = {"rtol": 1e-12, "atol": 0}


def quiet(data: SurvivalData) -> KaplanMeier:
    """The curve where it may fall to 0 early, which is warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kaplan_meier(data)


def lifelines_fit(data: SurvivalData, **options: float) -> KaplanMeierFitter:
    # lifelines switches numpy's warnings off for the whole process, and warns of weights that are not whole.
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return KaplanMeierFitter().fit(data.time, data.event, entry=data.entry, weights=data.weight, **options)


def simulated(seed: int, n: int = 300, *, ties: bool = True, entry: bool = False, weight: str = "") -> SurvivalData:
    rng = np.random.default_rng(seed)
    time = rng.exponential(20, n)
    time = np.ceil(time) if ties else time
    # Whole entries below 8 often equal the event time of somebody else; the first rows fill early risk sets.
    start = np.minimum(rng.integers(0, 8, n), np.ceil(time) - 1) * (np.arange(n) > n / 3)
    weights = {"": None, "whole": rng.integers(1, 5, n), "real": rng.uniform(0.1, 3, n)}[weight]
    return SurvivalData.right(time, rng.random(n) < 0.6, entry=start if entry else None, weight=weights)


@st.composite
def small_data(draw: st.DrawFn) -> SurvivalData:
    n = draw(st.integers(1, 12))
    time = np.array(draw(st.lists(st.integers(0, 6), min_size=n, max_size=n)), float)
    event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    entry = weight = None
    if draw(st.booleans()):
        start = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), float)
        entry = np.where(start < time, start, -INF)
    if draw(st.booleans()):
        weight = draw(st.lists(st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0, 1e9]), min_size=n, max_size=n))
        weight[0] = 0.3
    return SurvivalData.right(time, event, entry=entry, weight=weight)


def by_definition(data: SurvivalData) -> dict[str, list[Fraction]]:
    """Exact arithmetic, looping over times and rows: those with entry < t <= time are at risk at t."""
    entry = [-INF] * len(data) if data.entry is None else data.entry.tolist()
    rows = list(zip(entry, data.time.tolist(), data.event.tolist(), map(Fraction, data.weights.tolist()), strict=True))
    rows = [row for row in rows if row[3] > 0]
    found: dict[str, list[Fraction]] = {
        name: [] for name in ("times", "at_risk", "events", "censored", "survival", "greenwood")
    }
    survival, greenwood = Fraction(1), Fraction(0)
    for t in sorted({time for _, time, _, _ in rows}):
        at_risk = sum((w for start, time, _, w in rows if start < t <= time), Fraction(0))
        events = sum((w for _, time, event, w in rows if time == t and event), Fraction(0))
        censored = sum((w for _, time, event, w in rows if time == t and not event), Fraction(0))
        survival *= 1 - events / at_risk
        if events < at_risk:
            greenwood += events / (at_risk * (at_risk - events))
        for name, value in zip(found, (Fraction(t), at_risk, events, censored, survival, greenwood), strict=True):
            found[name].append(value)
    return found


@given(small_data())
def test_by_definition(data):
    expected = by_definition(data)
    falls_early = len(expected["survival"]) > 1 and expected["survival"][-2] == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        curve = kaplan_meier(data)
    assert [str(w.message).startswith("survival falls to 0") for w in caught] == [True] * falls_early
    for name, values in expected.items():
        np.testing.assert_allclose(getattr(curve, name), [float(v) for v in values], **EXACT, err_msg=name)
        # What is exactly 0 comes out as exactly 0: no rest of rounding keeps a curve above it.
        np.testing.assert_array_equal(getattr(curve, name) == 0, [v == 0 for v in values], err_msg=name)


@given(small_data(), st.lists(st.floats(-1, 8) | st.integers(0, 7), max_size=8))
def test_numbers_at_risk_and_survival_at_any_time(data, times):
    curve = quiet(data)
    entry = np.full(len(data), -INF) if data.entry is None else data.entry
    if curve.times[0] > 0:
        entry = np.where(entry == 0, -INF, entry)  # whoever enters at 0 is there from the start
    expected = [data.weights[(entry < t) & (t <= data.time)].sum() for t in times]
    np.testing.assert_allclose(curve.at_risk_at(times), expected, rtol=1e-12, atol=1e-15 * data.total_weight)
    np.testing.assert_allclose(curve.at_risk_at(curve.times), curve.at_risk, **EXACT)
    expected = [([1.0, *curve.survival[curve.times <= t]])[-1] for t in times]
    np.testing.assert_array_equal(curve.survival_at(times), expected)


def test_numbers_at_risk_before_the_first_time():
    data = SurvivalData.right([3, 4, 5, 6], [1, 0, 1, 1], entry=[0, -INF, 1, 2])
    assert kaplan_meier(data).at_risk_at([-1, 0, 1, 1.5, 2, 2.5, 3]).tolist() == [2, 2, 2, 3, 3, 4, 4]


def test_shapes_of_times():
    curve = kaplan_meier(SurvivalData.right([1, 2, 3], [1, 1, 0]))
    assert curve.at_risk_at(2.0).shape == curve.survival_at(2.0).shape == ()
    assert curve.at_risk_at([[0, 1], [2, INF]]).tolist() == [[3, 3], [2, 0]]
    assert curve.survival_at([[0, 1], [2, INF]]).tolist() == [[1, 2 / 3], [1 / 3, 1 / 3]]
    for method in (curve.at_risk_at, curve.survival_at):
        with pytest.raises(ParameterError, match="times must be numbers, but 1 of 2 are NaN"):
            method([1, np.nan])
        with pytest.raises(ParameterError, match="times must be numbers, but 'soon' was given"):
            method("soon")


# ---- against other implementations


@pytest.mark.parametrize("weight", ["", "whole", "real"])
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_against_lifelines(seed, ties, entry, weight):
    data = simulated(seed, ties=ties, entry=entry, weight=weight)
    curve, reference = kaplan_meier(data), lifelines_fit(data)
    survival = reference.survival_function_.loc[curve.times].to_numpy()[:, 0]
    # With real weights rounding keeps lifelines from reaching 0: of the last risk set it leaves about 1e-15,
    # or less than nothing and then repeats the value before. There the definition above is the judge.
    gone = (curve.survival == 0) & (weight == "real")
    # An entry at the time of another's event: lifelines, as we do, lets the event come first.
    np.testing.assert_allclose(curve.survival[~gone], survival[~gone], **EXACT)
    if weight != "real":  # there lifelines cuts the numbers at risk to whole ones before it computes the variance
        greenwood = reference._cumulative_sq_.loc[curve.times].to_numpy()
        np.testing.assert_allclose(curve.greenwood, greenwood, **EXACT)
        np.testing.assert_allclose(curve.variance, survival**2 * greenwood, **EXACT)
        np.testing.assert_allclose(curve.std**2, curve.variance, **EXACT)
        limits = reference.confidence_interval_.loc[curve.times].to_numpy().T
        np.testing.assert_allclose(curve.band(), limits, rtol=1e-11)
        limits = lifelines_fit(data, alpha=0.2).confidence_interval_.loc[curve.times].to_numpy().T
        np.testing.assert_allclose(curve.band(0.8), limits, rtol=1e-11)
    table = reference.event_table.loc[curve.times]
    np.testing.assert_allclose(curve.events, table["observed"], **EXACT)
    np.testing.assert_allclose(curve.at_risk, table["at_risk"] - table["entrance"], rtol=1e-10)


@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_against_scikit_survival(seed, ties, entry):
    data = simulated(seed, ties=ties, entry=entry)
    curve = kaplan_meier(data)
    times, survival, limits = kaplan_meier_estimator(data.event, data.time, time_enter=data.entry, conf_type="log-log")
    # The reference also has a step at every entry. It agrees that who enters at t is not at risk at t.
    kept = np.isin(times, curve.times)
    np.testing.assert_array_equal(times[kept], curve.times)
    np.testing.assert_allclose(curve.survival, survival[kept], **EXACT)
    inside = curve.survival < 1
    np.testing.assert_allclose(np.array(curve.band())[:, inside], limits[:, kept][:, inside], rtol=1e-11)


def test_entry_at_the_time_of_an_event_by_hand():
    # At 2 the subject that enters at 2 is not yet at risk: 2 are, not 3. All three implementations say so.
    data = SurvivalData.right([2, 4, 5], [1, 1, 0], entry=[0, 0, 2])
    curve = kaplan_meier(data)
    assert curve.at_risk.tolist() == [2, 2, 1]
    assert curve.survival.tolist() == [0.5, 0.25, 0.25]
    reference = lifelines_fit(data).survival_function_.loc[[2.0, 4.0]].to_numpy()[:, 0]
    np.testing.assert_allclose(reference, [0.5, 0.25], **EXACT)
    _, survival = kaplan_meier_estimator(data.event, data.time, time_enter=data.entry)
    np.testing.assert_allclose(survival[1:3], [0.5, 0.25], **EXACT)


@pytest.mark.parametrize("entry", [False, True])
def test_whole_weights_are_repeated_rows(entry):
    data = simulated(7, entry=entry, weight="whole")
    rows = np.repeat(np.arange(len(data)), data.weights.astype(int))
    repeated = SurvivalData.right(
        data.time[rows], data.event[rows], entry=None if data.entry is None else data.entry[rows]
    )
    a, b = kaplan_meier(data), kaplan_meier(repeated)
    for name, column in a.table().items():
        np.testing.assert_allclose(column, b.table()[name], **EXACT, err_msg=name)


# ---- numerics


@pytest.mark.parametrize("entry", [None, np.zeros(6), np.array([-INF, 0, 0, 1, 1, 2])])
def test_survival_reaches_zero_exactly(entry):
    weight = np.array([0.1, 0.2, 0.3, 0.7, 0.1, 1 / 3])
    data = SurvivalData.right([1, 2, 3, 4, 4, 4], [1, 0, 1, 1, 1, 1], weight=weight, entry=entry)
    curve = kaplan_meier(data)
    assert curve.survival[-1] == 0
    assert (curve.survival[:-1] > 0).all()
    assert curve.at_risk[-1] == curve.events[-1]
    assert np.isfinite(curve.greenwood).all()


def test_small_risk_sets_keep_their_digits_beside_large_ones():
    # The first two leave before 10 000 rows of weight 1e9/3 enter, and the last two when these are gone.
    n = 10_000
    time = np.concatenate([[1, 2], np.full(n, 5.0), [8, 9]])
    entry = np.concatenate([[0, 0], np.full(n, 3.0), [2.5, 2.5]])
    entry[1] = -INF
    weight = np.concatenate([[0.1, 0.2], np.full(n, 1e9 / 3), [0.7, 0.6]])
    event = np.ones(n + 4, bool)
    event[[1, n + 3]] = False
    curve = kaplan_meier(SurvivalData.right(time, event, entry=entry, weight=weight))
    np.testing.assert_allclose(curve.at_risk[[0, 1, 3, 4]], [0.3, 0.2, 1.3, 0.6], rtol=1e-14)


def test_a_risk_set_that_empties_between_others_is_empty_exactly():
    # All early rows leave before the late ones enter, whose weights are summed in two orders.
    rng = np.random.default_rng(0)
    n = 500
    time = np.concatenate([rng.uniform(1, 2, n), rng.uniform(6, 8, n)])
    entry = np.concatenate([rng.uniform(0, 1, n), rng.uniform(3, 5, n)])
    weight = 10 ** rng.uniform(-13, 3, 2 * n)
    with pytest.warns(UserWarning, match="survival falls to 0"):
        curve = kaplan_meier(SurvivalData.right(time, np.ones(2 * n), entry=entry, weight=weight))
    assert (curve.survival[: n - 1] > 0).all()
    assert (curve.survival[n - 1 :] == 0).all()
    assert curve.at_risk[n - 1] == curve.events[n - 1]


def test_rows_of_no_weight_count_as_absent():
    data = SurvivalData.right([1, 2, 3, 4], [1, 1, 1, 1], weight=[1, 0, 2, 0])
    curve = kaplan_meier(data)
    assert curve.times.tolist() == [1, 3]
    assert curve.survival.tolist() == [2 / 3, 0]


def test_times_that_differ_in_the_last_bit_stay_apart():
    close = [1.0, np.nextafter(1.0, 2), 5e-324, 0.0, 1e308]
    curve = kaplan_meier(SurvivalData.right(close, [1, 0, 1, 0, 1]))
    assert curve.times.tolist() == [0.0, 5e-324, 1.0, np.nextafter(1.0, 2), 1e308]
    assert curve.events.tolist() == [0, 1, 1, 0, 1]


# ---- bands


def test_bands_at_the_ends_of_the_curve():
    # 1/1 where survival is 1 and 0/0 where it is 0, as lifelines has it.
    data = SurvivalData.right([1, 2, 3, 4], [0, 1, 1, 1])
    curve = kaplan_meier(data)
    for method in ("log-log", "plain"):
        lower, upper = curve.band(method=method)
        assert (lower[0], upper[0]) == (1, 1)
        assert (lower[-1], upper[-1]) == (0, 0)
        assert ((lower <= curve.survival) & (curve.survival <= upper)).all()
    limits = lifelines_fit(data).confidence_interval_.loc[curve.times].to_numpy().T
    np.testing.assert_allclose(curve.band(), limits, rtol=1e-12)


@given(small_data(), st.floats(0.01, 0.99))
def test_bands_enclose_the_curve(data, level):
    curve = quiet(data)
    for method in ("log-log", "plain"):
        lower, upper = curve.band(level, method)
        assert np.isfinite([lower, upper]).all()
        assert ((lower >= 0) & (upper <= 1)).all()
        # exp(log S) may fall short of S in the last bit when the band has no width.
        assert ((lower <= curve.survival * (1 + 1e-15)) & (curve.survival <= upper * (1 + 1e-15))).all()


def test_plain_band_by_hand():
    curve = kaplan_meier(SurvivalData.right(np.arange(1, 11), np.ones(10)))
    lower, upper = curve.band(0.9, "plain")
    width = 1.6448536269514722 * np.sqrt(0.5 * 0.5 / 10)  # without censoring: the binomial one
    assert lower[4] == pytest.approx(0.5 - width, rel=1e-12)
    assert upper[4] == pytest.approx(0.5 + width, rel=1e-12)
    assert lower[8] == 0


def test_tiny_weights_do_not_overflow():
    curve = kaplan_meier(SurvivalData.right([1, 2, 3], [1, 1, 0], weight=[1e-12, 1e-12, 1e-12]))
    lower, upper = curve.band()
    assert lower[:2].tolist() == [0, 0]
    assert upper[:2].tolist() == [1, 1]


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, np.nan])
def test_level_that_is_no_level(level):
    with pytest.raises(ParameterError, match="level must be a number between 0 and 1, but is"):
        kaplan_meier(SurvivalData.right([1], [1])).band(level)


def test_unknown_band():
    with pytest.raises(ParameterError, match="method must be 'log-log' or 'plain', but is 'loglog'"):
        kaplan_meier(SurvivalData.right([1], [1])).band(method="loglog")


# ---- the rest


def test_distribution_is_the_curve():
    curve = kaplan_meier(simulated(1))
    asked = np.array([0.0, 3.0, 3.5, 10.0, 1000.0])
    np.testing.assert_array_equal(curve.distribution.survival(asked)[0], curve.survival_at(asked))
    assert len(curve.distribution) == 1


def test_table_and_repr():
    curve = kaplan_meier(SurvivalData.right([1, 2, 2], [1, 1, 0]))
    table = curve.table(0.9)
    assert list(table) == ["time", "at_risk", "events", "censored", "survival", "std", "lower", "upper"]
    assert {column.shape for column in table.values()} == {(2,)}
    np.testing.assert_array_equal(table["lower"], curve.band(0.9)[0])
    assert repr(curve) == "KaplanMeier(2 times, 2 events)"
    with pytest.raises(ValueError, match="read-only"):
        curve.survival[0] = 1


def test_early_zero_is_warned_of():
    data = SurvivalData.right([1.5, 4, 5], [1, 1, 0], entry=[0, 2, 2])
    message = (
        "survival falls to 0 at time 1.5, where all at risk leave, and stays 0 although others enter later. "
        "To begin the curve later, use data[data.time > 1.5]."
    )
    with pytest.warns(UserWarning, match=f"^{re.escape(message)}$") as caught:
        curve = kaplan_meier(data)
    assert caught[0].filename == __file__
    assert curve.survival.tolist() == [0, 0, 0]
    assert kaplan_meier(data[data.time > 1.5]).survival.tolist() == [0.5, 0.5]


def test_early_zero_at_time_zero_is_warned_of():
    with pytest.warns(UserWarning, match="survival falls to 0 at time 0.0"):
        curve = kaplan_meier(SurvivalData.right([0, 4], [1, 0], entry=[-INF, 0]))
    assert curve.at_risk.tolist() == [1, 1]


def test_other_kinds_of_censoring_are_refused():
    with pytest.raises(CensoringError, match=re.escape("first (2, 3] (row 1)")):
        kaplan_meier(SurvivalData.interval([1, 2], [1, 3]))
    with pytest.raises(CensoringError, match=re.escape("first (-inf, 1] (row 0)")):
        kaplan_meier(SurvivalData.left([1, 2], [0, 1]))


def test_no_rows_are_refused():
    data = SurvivalData.right([1, 2], [1, 1], weight=[0, 1])
    for part in (data[:0], data[:1]):
        with pytest.raises(DataError, match="needs at least one row of positive weight"):
            kaplan_meier(part)


def test_extremes():
    assert kaplan_meier(SurvivalData.right([0], [1])).survival.tolist() == [0]
    assert kaplan_meier(SurvivalData.right([0], [0])).survival.tolist() == [1]
    assert kaplan_meier(SurvivalData.right([3] * 5, [1] * 5)).survival.tolist() == [0]
    assert kaplan_meier(SurvivalData.right([1, 2, 3], [0, 0, 0])).survival.tolist() == [1, 1, 1]
    assert kaplan_meier(([1, 2], [1, 0])).survival.tolist() == [0.5, 0.5]
