from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

from aldsurv import SurvivalData
from aldsurv.errors import ParameterError
from aldsurv.metrics import decision_curve
from aldsurv.plots import plot_decision_curve


@pytest.fixture(scope="module")
def curve():
    rng = np.random.default_rng(0)
    mean = rng.uniform(1, 20, 200)
    data = SurvivalData.right(rng.exponential(mean), np.ones(200, bool))
    return decision_curve(0.6 * (1 - np.exp(-3 / mean)), data, 3.0)


def labelled(ax) -> dict[str, np.ndarray]:
    return {line.get_label(): line.get_ydata() for line in ax.lines}


def test_draws_model_and_both_defaults_into_the_axes_given(curve):
    ax = Figure().subplots()
    assert plot_decision_curve(curve, unit="years", ax=ax) is ax
    lines = labelled(ax)
    np.testing.assert_array_equal(lines["model"], curve.model.value)
    np.testing.assert_array_equal(lines["treat all"], curve.treat_all.value)
    assert set(lines["treat none"]) == {0.0}
    assert ax.get_xlabel() == "threshold probability of an event by 3 years"
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(np.nanmax(curve.model.upper))
    # Nobody has a risk above 0.6: thresholds beyond show nothing, and treating all is cut where it falls off.
    assert ax.get_xlim()[1] <= 0.6
    assert -0.2 * ax.get_ylim()[1] == pytest.approx(ax.get_ylim()[0])
    ax.figure.canvas.draw()


def test_several_models_by_name_and_interventions_avoided(curve):
    ax = plot_decision_curve({"cox": curve, "a $name": curve}, band=False)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["treat none", "treat all", "cox", "a \\$name"]
    assert not ax.collections
    ax = plot_decision_curve(curve, quantity="interventions_avoided")
    np.testing.assert_allclose(ax.lines[-1].get_ydata(), 100 * curve.interventions_avoided.value)
    assert ax.get_ylabel() == "interventions avoided per 100 persons"


def test_says_why_nothing_is_drawn():
    data = SurvivalData.right([1, 2, 3], [0, 0, 0])
    with pytest.warns(UserWarning, match="not defined"):
        nothing = decision_curve([0.5, 0.6, 0.7], data, 5.0, thresholds=[0.1, 0.2])
    ax = plot_decision_curve(nothing)
    assert "Nothing to draw" in ax.texts[0].get_text()


def test_refuses_what_is_no_curve(curve):
    with pytest.raises(ParameterError, match="curves must be one decision curve or more"):
        plot_decision_curve({})
    with pytest.raises(ParameterError, match="quantity must be 'net_benefit' or 'interventions_avoided'"):
        plot_decision_curve(curve, quantity="benefit")
