"""A notebook, run by a kernel as people run theirs: pictures and tables appear, once each."""

from __future__ import annotations

import pytest

nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
nbformat = pytest.importorskip("nbformat")

CELLS = {
    "fit": """
import warnings
import numpy as np
from aldsurv import CoxRegression, SurvivalData, WeibullAFT, metrics, plots
from aldsurv.nonparametric import kaplan_meier

rng = np.random.default_rng(0)
X = {"age <script>": rng.normal(60, 9, 120), "nodes": rng.integers(0, 9, 120)}
y = SurvivalData.right(rng.exponential(np.exp(-X["nodes"] / 4)), rng.random(120) < 0.8)
model = WeibullAFT().fit(X, y)
predicted = model.predict_distribution(X)
""",
    "model": "model",
    "distribution": "predicted",
    "frame": "predicted.to_frame([1, 2]).head()",
    "evaluation": "metrics.evaluate(predicted, y, train=y)",
    "coefficients": "model.coefficients_",
    "last expression": "plots.plot_survival(predicted[:3])",
    "end of cell": "ax = plots.plot_kaplan_meier(kaplan_meier(y), at_risk=False)\nax.set_title('observed')\nNone",
    "two plots": "plots.plot_survival(predicted[:1]); plots.plot_density(predicted[:1]);",
    "figure": "plots.distribution_figure(predicted[:2])",
    "own axes": """
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2)
plots.plot_survival(predicted[:2], ax=axes[0])
plots.plot_density(predicted[:2], ax=axes[1]);
""",
    "kept": "figure = plots.distribution_figure(predicted[:2])",
    "report": """
from pathlib import Path
from tempfile import TemporaryDirectory
from aldsurv.reports import write_model_report
with TemporaryDirectory() as folder, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    size = write_model_report(model, X, y, Path(folder) / "page.html", people=1).stat().st_size
assert size > 100_000
""",
    "note": "_ = model.predict({**X, 'id': X['nodes']})",
    "left open": "print(plt.get_fignums())",
}


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS.values()])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return {name: cell.outputs for name, cell in zip(CELLS, notebook.cells, strict=True)}


def shown(outputs, kind):
    return [output.data[kind] for output in outputs if kind in output.get("data", {})]


@pytest.mark.parametrize(
    ("cell", "count"),
    [("last expression", 1), ("end of cell", 1), ("two plots", 2), ("figure", 1), ("own axes", 1), ("kept", 0),
     ("report", 0)],
)  # fmt: skip
def test_pictures(outputs, cell, count):
    pictures = shown(outputs[cell], "image/png")
    assert len(pictures) == count
    assert all(len(picture) > 5_000 for picture in pictures)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("model", "age &lt;script&gt;"),
        ("distribution", "<polyline"),
        ("frame", "dataframe"),
        ("evaluation", "integrated Brier score"),
        ("coefficients", "time ratio"),
    ],
)
def test_tables(outputs, cell, text):
    (table,) = shown(outputs[cell], "text/html")
    assert text in table
    assert "<script" not in table


def test_no_figure_is_left_open_and_notes_are_seen(outputs):
    assert outputs["left open"][0].text == "[]\n"
    assert "IgnoredColumnsWarning: X has columns that WeibullAFT was not fitted to" in outputs["note"][0].text
    assert outputs["fit"] == []
