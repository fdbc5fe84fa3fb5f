"""Pictures of an elastic net's path show its numbers."""

from __future__ import annotations

import numpy as np
import pytest

from aldsurv import ElasticNetCox
from aldsurv.errors import ParameterError
from aldsurv.plots import plot_held_out_scores, plot_regularisation_path, regularisation_figure


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 30))
    return ElasticNetCox(0.9, folds=3, random_state=0).fit(
        x, (rng.exponential(np.exp(-x[:, 0] + x[:, 1])), np.ones(100))
    )


def test_the_path_shows_the_effects(model):
    ax = plot_regularisation_path(model, names=2)
    lines = {line.get_label(): line for line in ax.lines}
    for name in ("x0", "x1"):
        drawn = dict(zip(lines[name].get_xdata(), lines[name].get_ydata(), strict=True))
        # One standard deviation of these columns; the table has the effect of one unit.
        effect = model.coefficients_[name].coefficient * model.design_.scales[int(name[1:])]
        assert drawn[model.alpha_] == pytest.approx(effect, rel=0.02)
    assert [text.get_text() for text in ax.get_legend().get_texts()] in (["x0", "x1"], ["x1", "x0"])


def test_scores_and_the_figure_of_both(model):
    line = plot_held_out_scores(model).lines[0]
    np.testing.assert_array_equal(line.get_ydata(), model.path_.scores)
    above, below = regularisation_figure(model).axes
    assert above.get_xlim() == below.get_xlim()
    assert above.get_xlim()[0] > above.get_xlim()[1]


def test_a_given_alpha_has_no_scores(model):
    given = ElasticNetCox(alpha=model.alpha_).fit(np.eye(4), (np.arange(1.0, 5.0), np.ones(4)))
    with pytest.raises(ParameterError, match=r"without folds.*alpha=None"):
        plot_held_out_scores(given)
