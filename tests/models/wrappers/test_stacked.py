"""Stacks: weights by likelihood, mixtures by hand, members that fail, and files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from child_process import machine_variables
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

import aldsurv
from aldsurv import CoxRegression, RecalibratedSurvival, StackedSurvival, SurvivalData, WeibullAFT
from aldsurv.cli.main import main
from aldsurv.columns.column_labels import ColumnLabels
from aldsurv.distributions import Exponential, LogNormal
from aldsurv.distributions.joined_steps import joined_steps
from aldsurv.errors import DataError, FitWarning, MissingDependencyError, NoSkillWarning, ParameterError, TrainingError
from aldsurv.models import ConformalLowerBound, SurvivalEstimator
from aldsurv.models.wrappers import stack_members
from aldsurv.reports.model.specification.specification import specify
from aldsurv.reports.model.specification.specification_section import specification_section
from aldsurv.reports.page.page import Page, render_page
from models.rows import data as small_data


class Fixed(SurvivalEstimator):
    """Log-normal times, those that are drawn below with a wrong scale: nothing is learned but who was there."""

    fitted: ClassVar[list] = []
    stopped: ClassVar[bool] = False

    def __init__(self, factor=1.0, offset=0.0, error=None):
        self.factor, self.offset, self.error = factor, offset, error

    def fit(self, X, y, sample_weight=None):
        if self.error is not None:
            raise self.error
        Fixed.fitted.append(set(X[:, -1].astype(int)))
        self.n_features_in_, self.unique_times_ = X.shape[1], np.array([1.0, 2.0])
        return self

    def predict_distribution(self, X):
        return LogNormal(0.5 * X[:, 0] + self.offset, self.factor * 0.5)

    @property
    def error_point_(self):
        return "median"

    @property
    def interrupted_(self):
        return Fixed.stopped

    def _to_file(self):
        raise NotImplementedError

    @classmethod
    def _from_file(cls, document, arrays, encoder=None):
        raise NotImplementedError


def drawn(n, seed, lost=3.0):
    rng = np.random.default_rng(seed)
    x = np.column_stack([rng.normal(size=n), np.arange(n)])
    time, censoring = np.exp(0.5 * x[:, 0] + 0.5 * rng.normal(size=n)), rng.exponential(lost, n)
    return x, SurvivalData.right(np.minimum(time, censoring), time <= censoring)


@pytest.fixture(scope="module")
def linear():
    """Columns with names, outcomes, and a stack of a curve of steps and a density."""
    x, y = small_data(150)
    x = pd.DataFrame(x, columns=["a", "b", "c"])
    return x, y, StackedSurvival(["cox", "weibull_aft"], folds=3, unit="months", random_state=0).fit(x, y)


def test_the_prediction_is_the_weighted_mixture(linear):
    x, _, model = linear
    predicted, times = model.predict_distribution(x), np.linspace(0.1, 80, 60)
    knots = model.knots_
    cox, weibull = (model.estimators_[name].predict_distribution(x) for name in ("cox", "weibull_aft"))
    share = model.weights_["cox"]
    assert share + model.weights_["weibull_aft"] == pytest.approx(1.0, abs=1e-12)
    by_hand = share * cox.survival(knots) + (1 - share) * weibull.survival(knots)
    assert_allclose(predicted.survival(knots), by_hand, rtol=1e-12, atol=1e-15)
    # Between the knots Cox's curve is a straight line.
    lines = np.stack([np.interp(times, np.append(0.0, knots), np.append(1.0, curve)) for curve in cox.survival(knots)])
    inside = times <= knots[-1]
    by_hand = share * lines + (1 - share) * weibull.survival(times)
    assert_allclose(predicted.survival(times)[:, inside], by_hand[:, inside], rtol=1e-9, atol=1e-15)
    step = 1e-4
    between = np.array([5.0, 11.0, 60.0])
    slopes = (predicted.cdf(between + step) - predicted.cdf(between - step)) / (2 * step)
    assert_allclose(predicted.density(between), slopes, rtol=1e-4, atol=1e-9)
    assert_allclose(predicted.cdf(predicted.quantile([0.1, 0.5, 0.9])), np.tile([0.1, 0.5, 0.9], (150, 1)), rtol=1e-9)
    assert np.isfinite(predicted.mean()).all()
    assert_array_equal(predicted[3:5].survival(times), predicted.survival(times)[3:5])


def test_steps_and_a_density_of_the_same_probabilities_are_as_likely():
    """What the intervals hold is compared, not how it is spread within them."""
    from aldsurv.distributions import Step
    from aldsurv.models.wrappers.stacking_weights import event_knots, likelihoods

    rng = np.random.default_rng(0)
    y = SurvivalData.right(rng.exponential(2.0, 200), np.ones(200))
    knots, density = event_knots(y), Exponential(np.full(200, 2.0))
    assert len(knots) == 20
    assert set(knots) <= set(y.time)
    curve = Step(knots, density.survival(knots))
    inside = y.time <= knots[-1]
    assert_allclose(likelihoods([(curve, y)], knots)[inside], likelihoods([(density, y)], knots)[inside], rtol=1e-12)
    assert np.isfinite(joined_steps(curve, knots).mean()).all()
    assert joined_steps(density, knots) is density


def test_the_better_member_gets_the_weight():
    x, y = drawn(800, 0)
    model = StackedSurvival([("right", Fixed()), ("wrong", Fixed(factor=4.0))], random_state=0).fit(x, y)
    assert model.weights_["right"] > 0.8
    scores = model.member_scores_
    assert scores["right"] > scores["wrong"]
    assert scores["stack"] > scores["right"] - 0.01
    # Two that err to both sides are better together than alone: the mixture is not a choice.
    model = StackedSurvival([Fixed(offset=-0.4), Fixed(offset=0.4)], random_state=0).fit(x, y)
    assert list(model.weights_) == ["fixed", "fixed_2"]
    assert min(model.weights_.values()) > 0.2
    assert model.member_scores_["stack"] > max(model.member_scores_["fixed"], model.member_scores_["fixed_2"])


def test_few_events_stay_near_equal_weights():
    # Which of two nearly equal members is ahead, is chance: 14 events must not decide it.
    x, y = drawn(20, 1)
    assert y.n_events >= 10
    model = StackedSurvival([Fixed(factor=1.0), Fixed(factor=1.1)], random_state=0).fit(x, y)
    assert max(model.weights_.values()) < 0.75
    Fixed.fitted.clear()
    x, y = drawn(20, 3, lost=0.4)
    assert y.n_events < 10
    model = StackedSurvival([Fixed(factor=1.0), Fixed(factor=4.0)], random_state=0).fit(x, y)
    assert model.weights_ == {"fixed": 0.5, "fixed_2": 0.5}
    assert len(Fixed.fitted) == 2
    assert "weights are equal, or as given: no rows were held out" in model.summary()
    assert model.member_scores_ == {}


def test_a_member_of_nearly_no_weight_is_left_out():
    x, y = drawn(1500, 2)
    model = StackedSurvival([("right", Fixed()), ("late", Fixed(offset=3.0))], random_state=0).fit(x, y)
    assert model.weights_ == {"right": 1.0}
    assert model.left_out_ == {"late": "its weight is below 0.01"}
    assert "late is left out: its weight is below 0.01" in model.summary()
    assert isinstance(model.predict_distribution(x), LogNormal)


def test_rows_are_predicted_by_members_that_did_not_learn_from_them():
    x, y = drawn(60, 4)
    # The last rows are copies of the first; the number of the row is another's, too.
    again = np.r_[np.arange(60), np.arange(12)]
    Fixed.fitted.clear()
    StackedSurvival([Fixed(), Fixed(factor=2.0)], folds=4, random_state=0).fit(x[again], y[again])
    # Each member: all rows, and the others of four folds.
    assert len(Fixed.fitted) == 10
    for whole, *folds in (Fixed.fitted[:5], Fixed.fitted[5:]):
        assert whole == set(range(60))
        left_out = [whole - fold for fold in folds]
        # Of copies none is left behind among those that a model learns from.
        assert sum(map(len, left_out)) == 60
        assert set().union(*left_out) == whole


def test_rows_without_weight_do_not_count():
    x, y = drawn(150, 5)
    weight = np.random.default_rng(0).integers(0, 2, 150).astype(float)
    # The members ignore weights: what is left is what the weights of the stack make of them.
    heavy = StackedSurvival([Fixed(), Fixed(factor=2.0)], random_state=0).fit(x, y, 7 * weight)
    there = weight > 0
    alone = StackedSurvival([Fixed(), Fixed(factor=2.0)], random_state=0).fit(x[there], y[there])
    assert heavy.weights_["fixed"] == pytest.approx(alone.weights_["fixed"], abs=1e-9)


def test_members_that_fail_are_left_out():
    x, y = drawn(60, 6)
    broken, absent = TrainingError("the loss is not a number"), MissingDependencyError("xgboost is not installed")
    members = [("broken", Fixed(error=broken)), Fixed(), ("trees", Fixed(error=absent)), Fixed(factor=2.0)]
    with pytest.warns(FitWarning, match="is left out of the stack") as caught:
        model = StackedSurvival(members, random_state=0).fit(x, y)
    assert [str(each.message).split(" ")[0] for each in caught] == ["broken", "trees"]
    assert set(model.weights_) == {"fixed", "fixed_2"}
    assert model.left_out_ == {"broken": "the loss is not a number", "trees": "xgboost is not installed"}
    with pytest.raises(TrainingError, match="not a number"):
        StackedSurvival(members[:1]).fit(x, y)
    # A mistake in the settings is not the rows' fault.
    with pytest.raises(ParameterError, match="ridge must be"):
        StackedSurvival(["cox", WeibullAFT(ridge=-1.0)]).fit(x, y)


def test_a_member_that_was_interrupted_ends_the_fit(monkeypatch):
    monkeypatch.setattr(Fixed, "stopped", True)
    with pytest.raises(KeyboardInterrupt):
        StackedSurvival([Fixed(), Fixed()], random_state=0).fit(*drawn(60, 6))


def test_every_kind_of_censoring_that_some_member_takes():
    x, y = small_data(120)
    lower, upper = y.time.copy(), np.where(y.event, y.time, np.inf)
    lower[:40], upper[:40] = 0.8 * lower[:40], 1.2 * upper[:40]
    lower[40:50], upper[40:50] = -np.inf, y.time[40:50]
    data = SurvivalData.interval(lower, upper, entry=np.where(np.arange(120) > 80, 0.3 * y.time, -np.inf))
    with pytest.warns(FitWarning, match="cox is left out of the stack: CoxRegression takes exact"):
        model = StackedSurvival(["cox", "weibull_aft", "lognormal_aft"], folds=3, random_state=0).fit(x, data)
    assert sum(model.weights_.values()) == pytest.approx(1.0)
    assert np.isfinite(list(model.member_scores_.values())).all()
    only_bounds = data[:40][np.isfinite(upper[:40])]
    model = StackedSurvival(["weibull_aft", "lognormal_aft"], folds=2, random_state=0)
    model.fit(x[:40][np.isfinite(upper[:40])], only_bounds)
    assert set(model.member_scores_) == {"weibull_aft", "lognormal_aft", "stack"}


def test_weights_that_are_given():
    x, y = drawn(60, 7)
    Fixed.fitted.clear()
    model = StackedSurvival([Fixed(), Fixed(factor=2.0), Fixed(offset=1.0)], weights=(1, 0, 3)).fit(x, y)
    assert model.weights_ == {"fixed": 0.25, "fixed_3": 0.75}
    assert len(Fixed.fitted) == 3
    equal = StackedSurvival([Fixed(), Fixed(factor=2.0)], weights="equal").fit(x, y)
    assert equal.weights_ == {"fixed": 0.5, "fixed_2": 0.5}
    failing = [Fixed(error=DataError("no")), Fixed()]
    with pytest.warns(FitWarning), pytest.raises(ParameterError, match="weights must not all be 0 for the estimators"):
        StackedSurvival(failing, weights=[1, 0]).fit(x, y)


def test_columns_that_tell_nothing_are_warned_of_once():
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(80, 6)), SurvivalData.right(rng.exponential(size=80), np.ones(80))
    with pytest.warns(NoSkillWarning, match="StackedSurvival predicts the rows held out") as caught:
        StackedSurvival(["cox", "weibull_aft"], folds=2, random_state=0).fit(x, y)
    assert len(caught) == 1


def test_names_and_parameters_of_members():
    model = StackedSurvival([("mine", CoxRegression(ridge=2.0)), "cox", WeibullAFT()], folds=3)
    parameters = model.get_params()
    assert (parameters["mine__ridge"], parameters["cox__ridge"]) == (2.0, 0.0)
    assert parameters["mine"] is model.estimators[0][1]
    copy = clone(model).set_params(mine__ridge=5.0, weibull_aft__ridge=1.0, folds=4)
    assert (copy.get_params()["mine__ridge"], copy.folds, parameters["mine__ridge"]) == (5.0, 4, 2.0)
    copy.set_params(cox="lognormal_aft")
    assert repr(copy.get_params()["cox"]) == "LogNormalAFT()"
    changed = StackedSurvival().set_params(ald__members=2, deepsurv__hidden=(4,))
    assert [name for name, _ in changed.estimators] == ["ald", "boosted_ald", "cox", "lognormal", "deepsurv"]
    assert changed.get_params()["ald__members"] == 2
    assert StackedSurvival().estimators is None
    for wrong in ({"nothing": 1}, {"cox__nothing": 1}, {"other__ridge": 1}):
        with pytest.raises(ParameterError, match="has no"):
            StackedSurvival(["cox"]).set_params(**wrong)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"estimators": []}, "estimators must be a list of one or more"),
        ({"estimators": "cox"}, "estimators must be a list of one or more"),
        ({"estimators": ["cox", 3]}, "estimators must be those of aldsurv"),
        ({"estimators": [("a", "cox"), ("a", "cox")]}, "'a' occurs twice"),
        ({"estimators": [("a__b", "cox")]}, "without '__'"),
        ({"estimators": [("stack", "cox")]}, "which stands for all"),
        ({"estimators": ["coxx"]}, "unknown model 'coxx'. Did you mean 'cox'"),
        ({"estimators": ["cox", "weibull_aft"], "weights": [1.0]}, "one for each of 2 estimators, but there are 1"),
        ({"estimators": ["cox"], "weights": [0.0]}, "weights must be 'likelihood', 'equal' or numbers"),
        ({"estimators": ["cox"], "weights": "best"}, "weights must be 'likelihood', 'equal' or numbers"),
        ({"estimators": ["cox"], "folds": 1}, "folds must be"),
        ({"estimators": ["cox"], "progress": "yes"}, "progress must be"),
    ],
)
def test_what_is_refused(settings, message):
    with pytest.raises(aldsurv.AldsurvError, match=message):
        StackedSurvival(**settings).fit(*small_data(40))


ALONE = """
import sys, warnings

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars", "xgboost"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
warnings.simplefilter("ignore")
import numpy as np, aldsurv
predicted = aldsurv.load(sys.argv[1]).predict_distribution(np.load(sys.argv[2]))
print(predicted.median().tobytes().hex(), end="")
"""


def test_saved_in_one_file_and_read_with_numpy_alone(tmp_path):
    x, y = small_data(80)
    model = StackedSurvival(["cox", "weibull_aft"], folds=2, random_state=0).fit(x, y)
    assert len(model.weights_) == 2
    path = model.save(tmp_path / "stack.aldsurv")
    loaded = aldsurv.load(path)
    assert loaded.weights_ == model.weights_
    assert loaded.member_scores_ == model.member_scores_
    np.save(tmp_path / "x.npy", x)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), str(tmp_path / "x.npy")],
        env={"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == model.predict_distribution(x).median().tobytes().hex()


def test_models_around_stacks_and_stacks_of_models_around_others(tmp_path, linear):
    x, y, _ = linear
    inner = StackedSurvival(["cox", "weibull_aft"], folds=2)
    around = RecalibratedSurvival(inner, folds=2, random_state=0).fit(x, y)
    calibrated = RecalibratedSurvival(WeibullAFT(), folds=2)
    of_others = StackedSurvival([calibrated, inner], folds=2, random_state=0).fit(x, y)
    # The name that stands for all of them is not that of a member.
    assert set(of_others.weights_) <= {"recalibrated", "stack_2"}
    for model in (around, of_others):
        loaded = aldsurv.load(model.save(tmp_path / "model"))
        assert loaded.predict_time(x).tobytes() == model.predict_time(x).tobytes()
    assert around.stack_table_ is not None
    bound = ConformalLowerBound(StackedSurvival(["weibull_aft", "lognormal_aft"], folds=2), random_state=0).fit(x, y)
    assert (bound.predict_lower(x) >= 0).all()


def test_it_has_no_spread_between_members(linear):
    x, _, model = linear
    assert model.n_members == 1
    assert len(model.predict_members(x)) == 1
    with pytest.raises(ParameterError, match="no spread between members"):
        model.predict_spread(x)


def test_facts_of_the_model(linear):
    _, _, model = linear
    assert (model.innermost.unit, model.features_.n_features_in) == ("months", 3)
    table = model.stack_table_
    assert [each.name for each in table.models] == ["cox", "weibull_aft"]
    assert table.seconds == pytest.approx(sum(model.seconds_.values()))
    lines = model.summary().splitlines()
    assert lines[4].split() == ["member", "weight", "log-likelihood", "seconds"]
    assert lines[5].split()[:2] == ["cox", f"{model.weights_['cox']:.3f}"]
    model.set_outcome_columns({"time": "t"})
    assert model.trained_on_.outcome == {"time": "t"}
    assert model.fitted_settings()["estimators"]["cox"]["weight"] == model.weights_["cox"]


def test_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(stack_members, "DEFAULT_MEMBERS", {"cox": {"ridge": 1.0}, "weibull_aft": {}})
    x, y = small_data(90)
    table, target = (str(tmp_path / name) for name in ("people.csv", "stack.aldsurv"))
    frame = pd.DataFrame(x, columns=["a", "b", "code"]).round(3).assign(t=y.time.round(4), e=y.event.astype(int))
    frame.assign(code=(frame["code"] > 0).astype(int)).to_csv(table, index=False)
    options = ["--time", "t", "--event", "e", "--model", "stack", "--categorical", "code", "--unit", "days"]
    assert main(["fit", table, *options, "--out", target]) == 0
    text = capsys.readouterr().out
    assert "The stack of the model that is saved:" in text
    model = aldsurv.load(target)
    assert model.estimators_["cox"].categorical == ("code",)
    shown = next(line for line in text.splitlines() if line.startswith("  weibull_aft")).split()
    assert shown[1] == f"{model.weights_['weibull_aft']:.3f}"
    assert len(shown) == 4
    assert main(["predict", target, table, "--out", str(tmp_path / "predictions.csv")]) == 0
    assert main(["fit", table, *options, "--members", "3"]) == 2
    assert "the model 'stack' has no --members" in capsys.readouterr().err


def test_the_report_has_a_table_of_the_members(linear):
    _, _, model = linear
    section = specification_section(specify(model, ColumnLabels()), ("a", "b"), None)
    page = render_page(Page("Title", "Lead", (section,)))
    assert "Members of the stack" in page
    assert all(f">{model.weights_[name]:.4f}<" in page for name in model.weights_)
