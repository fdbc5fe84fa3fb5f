"""Models that no frozen file has: updated ones, trees and networks of columns as people have them."""

import warnings

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

import aldsurv
from aldsurv import ALDSurvival, BoostedALD, CoxRegression, UpdatedSurvival, WeibullAFT
from aldsurv.errors import CureWarning
from aldsurv.models.updating.adjustment import RUNGS
from export.onnx.new_people import NEW, compared, training_causes, training_table, training_times

CHANGES = ("intercept", "slope", "levels")


@pytest.fixture(scope="module")
def table():
    return training_table()


@pytest.fixture(scope="module")
def linear(table):
    return {"weibull": WeibullAFT().fit(table, training_times()), "cox": CoxRegression().fit(table, training_times())}


@pytest.mark.parametrize(("name", "rung"), [*(("weibull", rung) for rung in RUNGS), *(("cox", rung) for rung in RUNGS)])
def test_updated_regressions(name, rung, linear, table):
    model = UpdatedSurvival(linear[name], rung=rung, random_state=0).fit(table, training_times(7, 0.6))
    compared(model)
    # The update is in the graph: without it the answers are others.
    if rung != "none":
        usual = {column: values[3:] for column, values in NEW.items()}
        before, after = (each.predict_distribution(usual).survival(1.0) for each in (linear[name], model))
        assert np.abs(before - after).max() > 1e-4


def test_an_update_of_an_update(linear, table):
    once = UpdatedSurvival(linear["weibull"], rung="slope").fit(table, training_times(7, 0.6))
    compared(UpdatedSurvival(once, rung="levels").fit(table, training_times(8, 1.4)))


@pytest.mark.parametrize("rung", CHANGES)
def test_updated_networks(rung, network, table):
    compared(UpdatedSurvival(network, rung=rung).fit(table, training_times(7, 0.6)))


def test_an_updated_network_with_another_last_layer(network, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = UpdatedSurvival(network, rung="last_layer", random_state=0).fit(table, training_times(7, 0.6))
    compared(model)


@pytest.fixture(scope="module")
def network(table):
    pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ALDSurvival(members=2, max_epochs=4, random_state=0).fit(table, training_times())


def test_a_network_of_columns_as_people_have_them(network):
    found = compared(network)
    assert found["outside"].tolist() == [False, True, True, False]


@pytest.mark.parametrize("name", ["lognormal", "deepsurv", "deephit", "cqrnn", "icald"])
def test_other_networks_of_columns_as_people_have_them(name, table):
    pytest.importorskip("torch")
    kind = aldsurv.registry.MODELS.load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(members=2, max_epochs=2, random_state=0).fit(table, training_times())
    compared(model)


@pytest.mark.parametrize("components", [1, 2])
def test_trees_with_gaps(components, table):
    pytest.importorskip("xgboost")
    model = BoostedALD(components=components, members=2, max_rounds=6, random_state=0).fit(table, training_times())
    assert len(model.trees_)
    found = compared(model)
    assert found["outside"].tolist() == [False, True, True, False]


@pytest.mark.parametrize(("kind", "cure"), [("mixture", False), ("mixture", True), ("hazards", False)])
def test_trees_with_causes(kind, cure, table):
    pytest.importorskip("xgboost")
    model = BoostedALD(components=2, members=2, max_rounds=5, causes=kind, cure=cure, random_state=0)
    with warnings.catch_warnings():
        # Follow-up is short for a cure.
        warnings.simplefilter("ignore", CureWarning)
        model.fit(table, training_causes())
    compared(model)
