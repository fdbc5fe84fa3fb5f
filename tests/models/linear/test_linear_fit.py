"""Cox and accelerated failure times on tables with dependent columns, separation, and more columns than events."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import aldsurv
from aldsurv import SurvivalData
from aldsurv.distributions.censored_likelihood import row_log_likelihood
from aldsurv.errors import DataError, FitWarning, ModelFileError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.metrics import concordance_harrell
from aldsurv.models import CoxRegression, LogNormalAFT, WeibullAFT
from aldsurv.models.linear.partial_likelihood import PartialLikelihood

MODELS = [CoxRegression, WeibullAFT, LogNormalAFT]
every_model = pytest.mark.parametrize("model", MODELS)


def drawn(n: int = 150, d: int = 3, seed: int = 0, effect: float = 1.0) -> tuple[np.ndarray, SurvivalData]:
    """Rows whose first column speeds the event up."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    event, censored = rng.weibull(1.5, n) * np.exp(-effect * x[:, 0]), rng.exponential(3.0, n)
    return x, SurvivalData.right(np.minimum(event, censored) + 1e-3, event <= censored)


# ---- combinations of columns


@every_model
def test_the_later_of_dependent_columns_is_dropped(model):
    x, y = drawn()
    table = pd.DataFrame(x, columns=["a", "b", "c"])
    alone = model().fit(table, y)
    more = table.assign(copy=x[:, 1], sum=1e6 * (x[:, 0] - 2 * x[:, 1]) + 5)[["a", "copy", "b", "c", "sum"]]
    with pytest.warns(FitWarning, match="have no coefficient") as told:
        found = model().fit(more, y)
    assert len(told) == 1
    assert found.dropped_ == {"b": "it is a combination of 'copy'", "sum": "it is a combination of 'a', 'copy'"}
    assert_allclose(found.predict(more), alone.predict(table), rtol=1e-9, atol=1e-9)
    one, other = found.coefficients_, alone.coefficients_
    for name, same in (("a", "a"), ("copy", "b"), ("c", "c")):
        assert_allclose(one[name][1:3], other[same][1:3], rtol=1e-10)
    for name in ("b", "sum"):
        assert np.isnan(one[name].coefficient)
        assert np.isnan(one[name].standard_error)
        assert "dropped" in next(line for line in str(one).splitlines() if line.startswith(name))
        assert f"'{name}': it is a combination of" in found.summary()
    assert found.penalty_ is None


@every_model
def test_a_level_that_repeats_a_column(model):
    x, y = drawn()
    old = x[:, 1] > 0
    table = pd.DataFrame({"dose": x[:, 0], "old": old.astype(float), "group": np.where(old, "old", "young")})
    with pytest.warns(FitWarning, match="'group=young': it is a combination of 'old'"):
        found = model().fit(table, y)
    assert list(found.dropped_) == ["group=young"]
    alone = model().fit(table[["dose", "old"]], y)
    assert_allclose(found.coefficients_["old"][1:], alone.coefficients_["old"][1:], rtol=1e-10)
    assert_allclose(found.log_likelihood_, alone.log_likelihood_, rtol=1e-13)
    if model is not CoxRegression:
        assert found.aic_ == pytest.approx(alone.aic_, rel=1e-12)


def test_what_risk_sets_cannot_see_is_dropped():
    x, y = drawn()
    site = np.arange(150) % 3
    table = pd.DataFrame({"a": x[:, 0], "site": site, "site twice": 2.0 * site})
    with pytest.warns(FitWarning, match="'site twice': it does not vary among those at risk"):
        found = CoxRegression(strata="site").fit(table, y)
    alone = CoxRegression(strata="site").fit(table[["a", "site"]], y)
    assert_allclose(found.predict(table), alone.predict(table[["a", "site"]]), rtol=1e-9, atol=1e-12)
    with pytest.warns(FitWarning, match="No column is left"):
        empty = CoxRegression(strata="site").fit(table[["site", "site twice"]], y)
    assert_array_equal(empty.predict(table[["site", "site twice"]]), 0)


@every_model
def test_a_ridge_keeps_every_column(model):
    x, y = drawn()
    found = model(ridge=1.0).fit(np.column_stack([x, x[:, 0]]), y)
    assert found.dropped_ == {}
    table = found.coefficients_
    assert table["x0"].coefficient == pytest.approx(table["x3"].coefficient, rel=1e-6)


@every_model
def test_weights_that_leave_a_column_constant(model):
    x, y = drawn()
    x[:, 1] = x[:, 1] > 0
    with pytest.warns(FitWarning, match="'x1'"):
        found = model().fit(x, y, sample_weight=x[:, 1])
    kept = x[:, 1] > 0
    alone = model().fit(x[kept][:, [0, 2]], y[kept])
    assert_allclose(found.coefficients_["x0"][1:3], alone.coefficients_["x0"][1:3], rtol=1e-7)


# ---- separation


def test_a_level_without_an_event():
    """Its coefficient is where the slope of the likelihood equals that of the penalty; the others have slope 0."""
    x, y = drawn()
    treated = (np.arange(150) % 7 == 0).astype(float)
    y = SurvivalData.right(y.time, y.event & (treated == 0))
    columns = np.column_stack([x[:, 0], treated])
    with pytest.warns(FitWarning, match="coefficient of 'x1' would be infinite"):
        found = CoxRegression().fit(columns, y)
    assert found.penalty_ == ("separation", pytest.approx(0.16), ("x1",))
    beta = found.coefficients_.coefficient
    assert -20 < beta[1] < -1
    slopes = PartialLikelihood(columns, y, ties="efron")(beta).gradient
    assert_allclose(slopes, [0, 0.16 * treated.var() * beta[1]], atol=1e-7)
    assert "ridge           0.16 of 'x1': separation" in found.summary()
    # The other coefficient is next to what it is in the limit.
    limit = CoxRegression().fit(columns[treated == 0][:, :1], y[treated == 0]).coefficients_
    assert_allclose(beta[0], limit.coefficient, atol=0.2 * limit.standard_error[0])


@every_model
@pytest.mark.parametrize("shape", ["order", "level"])
def test_separation_gives_finite_and_ordered_predictions(model, shape):
    x, y = drawn()
    if shape == "order":
        leak = -np.argsort(np.argsort(y.time)) / 40.0
        y = SurvivalData.right(y.time, np.ones(150, bool))
    else:
        leak = (np.arange(150) % 5 == 0).astype(float)
        y = SurvivalData.right(y.time, y.event & (leak == 0))
    columns = np.column_stack([x[:, 1], leak])
    if model is CoxRegression or shape == "level":
        with pytest.warns(FitWarning, match="'x1'"):
            found = model().fit(columns, y)
    else:
        found = model().fit(columns, y)
    table = found.coefficients_
    for column in (table.coefficient, table.standard_error, table.p):
        assert np.isfinite(column).all()
    survival = found.predict_distribution(columns).survival([0.1, 1.0, 3.0])
    assert np.isfinite(survival).all()
    if shape == "order":
        assert concordance_harrell(-found.predict(columns), y) > 0.95
    else:
        same = np.array([[0.0, 0.0], [0.0, 1.0]])
        assert np.diff(found.predict_distribution(same).survival([1.0]), axis=0) > 0.1


@pytest.mark.parametrize("model", [WeibullAFT, LogNormalAFT])
def test_times_that_columns_explain(model):
    x, y = drawn()
    every = SurvivalData.right(y.time, np.ones(150, bool))
    with pytest.warns(FitWarning, match="spread of log time would be 0"):
        found = model().fit(np.column_stack([x[:, 0], np.log(y.time)]), every)
    columns = np.column_stack([x[:, 0], np.log(y.time)])
    assert_allclose(found.predict_distribution(columns).median(), y.time, rtol=0.05)
    with pytest.warns(FitWarning, match="all times are the same"):
        found = model().fit(x, (np.full(150, 3.0), np.ones(150)))
    assert_allclose(found.predict_distribution(x).median(), 3.0, rtol=1e-3)


def test_separation_with_strata_entry_and_weights():
    x, y = drawn(300)
    late = np.arange(300) % 6 == 0
    data = SurvivalData.right(y.time, y.event & ~late, entry=np.zeros(300), weight=1 + np.arange(300) % 2)
    table = pd.DataFrame({"a": x[:, 0], "late": late * 1.0, "twice": 2 * x[:, 0], "site": np.arange(300) % 2})
    with pytest.warns(FitWarning) as told:
        found = CoxRegression(strata="site").fit(table, data)
    assert [str(one.message)[:12] for one in told] == ["a column has", "the coeffici"]
    assert list(found.dropped_) == ["twice"]
    assert found.penalty_.columns == ("late",)
    assert np.isfinite(found.predict_distribution(table).survival([1.0])).all()


# ---- more columns than events


def slope_of_likelihood(model, found, x, y):
    """Derivatives by the slopes, by differences of the likelihood of predicted distributions."""
    if model is CoxRegression:
        return PartialLikelihood(x, y, ties="efron")(found.coefficients_.coefficient).gradient
    intercept, *slopes, last = found.coefficients_.coefficient
    sigma = np.exp(-last if model is WeibullAFT else last)
    kind = {WeibullAFT: aldsurv.distributions.Weibull, LogNormalAFT: aldsurv.distributions.LogNormal}[model]

    def value(beta):
        mu = intercept + x @ beta
        spread = np.full_like(mu, sigma)
        predicted = kind(np.exp(mu), 1 / spread) if model is WeibullAFT else kind(mu, spread)
        return float(row_log_likelihood(predicted, y).sum())

    step, slopes = 1e-5, np.array(slopes)
    steps = step * np.eye(slopes.size)
    return np.array([(value(slopes + one) - value(slopes - one)) / (2 * step) for one in steps]) * sigma**2


@every_model
@pytest.mark.parametrize("rows", [40, 120])
def test_more_columns_than_events(model, rows):
    """The slopes are where the ridge, whichever was chosen, meets the likelihood, in all directions."""
    x, y = drawn(400, 60, effect=2.0)
    late = np.sort(y.time[:rows])[rows // 3]
    few = SurvivalData.right(np.minimum(y.time, late), y.event & (y.time <= late))[:rows]
    with pytest.warns(FitWarning, match=rf"60 columns outnumber the {few.n_events} events: .* chosen by the data"):
        found = model().fit(x[:rows], few)
    reason, ridge, columns = found.penalty_
    assert (reason, len(columns)) == ("columns outnumber events", 60)
    beta = found.coefficients_.coefficient
    beta = beta if model is CoxRegression else beta[1:-1]
    wanted = ridge * x[:rows].var(axis=0) * beta
    assert_allclose(slope_of_likelihood(model, found, x[:rows], few), wanted, atol=1e-4 * np.abs(wanted).max())
    # There are more columns than rows: no covariance. Otherwise there is one.
    assert (found.covariance_ is None) == (rows < 60)
    assert np.isnan(found.coefficients_.standard_error).all() == (rows < 60)
    assert np.isfinite(found.predict_distribution(x).survival([0.1, 1.0])).all()
    assert concordance_harrell(-found.predict(x[120:]), y[120:]) > 0.6


@every_model
def test_the_ridge_is_that_of_the_data(model):
    """Columns without an effect are shrunk to nothing; rotated or repeated columns give the same model."""
    strength = {}
    for effect in (0.0, 3.0):
        x, y = drawn(60, 90, seed=1, effect=effect)
        with pytest.warns(FitWarning):
            found = model().fit(x, y)
        strength[effect] = found.penalty_.ridge
    assert strength[0.0] > 5 * strength[3.0]
    order = np.random.default_rng(0).permutation(90)
    with pytest.warns(FitWarning):
        other = model().fit(x[:, order], y)
    assert_allclose(other.predict(x[:, order]), found.predict(x), rtol=1e-5)
    with pytest.warns(FitWarning):
        twice = model().fit(np.column_stack([x, x]), y)
    assert_allclose(twice.predict(np.column_stack([x, x])), found.predict(x), rtol=1e-5)


def test_a_ridge_that_was_given_for_more_columns_than_rows():
    x, y = drawn(40, 60)
    found = CoxRegression(ridge=3.0).fit(x, y)
    beta = found.coefficients_.coefficient
    slopes = PartialLikelihood(x, y, ties="efron")(beta).gradient
    assert_allclose(slopes, 3.0 * x.var(axis=0) * beta, atol=1e-9)
    assert found.penalty_ is None


def test_repeated_columns_do_not_outnumber_events():
    """Sixty columns, but three different ones: they are dropped, and nothing is shrunk."""
    x, y = drawn()
    y = SurvivalData.right(y.time, y.event & (np.arange(150) < 60))
    with pytest.warns(FitWarning, match="57 columns have no coefficient"):
        found = CoxRegression().fit(np.tile(x, 20), y)
    assert found.penalty_ is None
    assert_allclose(found.predict(np.tile(x, 20)), CoxRegression().fit(x, y).predict(x), rtol=1e-8)


@every_model
def test_without_events_there_is_nothing_to_learn(model):
    x, y = drawn()
    with pytest.raises(DataError, match="no event was observed"):
        model().fit(x, SurvivalData.right(y.time, np.zeros(150, bool)))


# ---- files


@every_model
def test_saved_and_loaded(model, tmp_path):
    x, y = drawn(40, 60)
    treated = (np.arange(40) % 5 == 0).astype(float)
    separated = SurvivalData.right(y.time, y.event & (treated == 0))
    cases = [(x, y), (np.column_stack([x[:, 0], treated, 2 * x[:, 0]]), separated)]
    for columns, rows in cases:
        with pytest.warns(FitWarning):
            found = model().fit(columns, rows)
        path = found.save(tmp_path / "model")
        loaded = aldsurv.load(path)
        assert loaded.summary() == found.summary()
        assert (loaded.dropped_, loaded.penalty_) == (found.dropped_, found.penalty_)
        assert_array_equal(loaded.predict(columns), found.predict(columns))
        assert loaded.save(tmp_path / "again").read_bytes() == path.read_bytes()
    document, arrays = read_model_file(path)
    state = document
    assert {"dropped", "penalty"} <= set(state)
    for name, value in (("dropped", {"x9": "why"}), ("dropped", []), ("penalty", {"ridge": 1.0}), ("penalty", 3)):
        was = state[name]
        state[name] = value
        write_model_file(path, document, arrays)
        with pytest.raises(ModelFileError):
            aldsurv.load(path)
        state[name] = was


def test_files_of_earlier_versions(tmp_path):
    x, y = drawn()
    found = CoxRegression().fit(x, y)
    path = found.save(tmp_path / "model")
    document, arrays = read_model_file(path)
    state = document
    del state["dropped"], state["penalty"]
    write_model_file(path, document, arrays)
    loaded = aldsurv.load(path)
    assert (loaded.dropped_, loaded.penalty_) == ({}, None)
    assert_array_equal(loaded.predict(x), found.predict(x))
