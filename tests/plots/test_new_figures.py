"""Where figures belong: to pyplot in a notebook, which `tests/test_notebook.py` runs, and to the caller elsewhere."""

from __future__ import annotations

import gc
import subprocess
import sys
import types
import weakref
from concurrent.futures import ThreadPoolExecutor

import matplotlib as mpl
import pytest
from child_process import WARNING_OPTIONS, machine_variables
from matplotlib import pyplot

from aldsurv.distributions import Exponential
from aldsurv.plots import distribution_figure, plot_architecture, plot_survival
from aldsurv.plots.drawing.new_figures import figures_for_pages

ROWS = Exponential([2.0, 5.0])


@pytest.fixture
def interactive(monkeypatch):
    """IPython with a backend that shows figures; Agg, under another name, stands for the latter."""
    # Its backend is loaded before, which looks for IPython itself.
    pyplot.close(pyplot.figure())
    shell = types.ModuleType("IPython")
    shell.get_ipython, shell.version_info = object, (9, 0)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setattr(mpl, "get_backend", lambda: "module://matplotlib_inline.backend_inline")
    yield shell
    pyplot.close("all")


def test_figures_of_a_script_are_freed():
    figures = []
    for _ in range(5):
        figures.append(weakref.ref(plot_survival(ROWS).figure))
        figures.append(weakref.ref(distribution_figure(ROWS)))
    gc.collect()
    assert [figure for figure in figures if figure() is not None] == []
    assert pyplot.get_fignums() == []


def test_a_script_does_not_import_pyplot():
    code = """
import sys
from aldsurv.distributions import Exponential
from aldsurv.plots import plot_survival
plot_survival(Exponential([1.0]))
print("matplotlib.pyplot" in sys.modules)
"""
    run = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", code], capture_output=True, text=True, env=machine_variables()
    )
    assert run.stdout == "False\n", run.stderr


def test_ipython_shows_them(interactive):
    ax = plot_survival(ROWS)
    assert pyplot.figure(pyplot.get_fignums()[-1]) is ax.figure
    # Drawn into axes of the user's there is no other figure.
    plot_survival(ROWS, ax=ax)
    assert len(pyplot.get_fignums()) == 1
    # What a function returns a notebook shows as the value of the cell.
    distribution_figure(ROWS)
    assert len(pyplot.get_fignums()) == 1


def test_but_not_those_of_pages_and_threads(interactive):
    with figures_for_pages():
        plot_survival(ROWS)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(plot_survival, ROWS).result()
    assert pyplot.get_fignums() == []


def test_nor_where_nothing_is_shown(interactive, monkeypatch):
    monkeypatch.setattr(mpl, "get_backend", lambda: "agg")
    plot_survival(ROWS)
    monkeypatch.setattr(mpl, "get_backend", lambda: "inline")
    # Imported by some library, but nobody works in it.
    interactive.get_ipython = lambda: None
    plot_survival(ROWS)
    assert pyplot.get_fignums() == []


def test_the_diagram_of_a_network(interactive):
    from aldsurv.networks import Architecture

    plot_architecture(Architecture(inputs=3, outputs=2, hidden=(4,)))
    assert len(pyplot.get_fignums()) == 1
