"""What the pages for users of other libraries compare is alike: their code is run, and the numbers are looked at."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from docs_hooks.executed import run_blocks

FOLDER = Path(__file__).parents[2] / "docs" / "coming_from"
FROZEN = Path(__file__).with_name("frozen")


def names_of(page: str, *changes: tuple[str, str]) -> dict:
    """What the code of a page has defined when it ends, after some changes that make it quick."""
    markdown = (FOLDER / page).read_text(encoding="utf-8")
    for before, after in changes:
        assert before in markdown
        markdown = markdown.replace(before, after)
    names: dict = {"__name__": page}
    assert all(isinstance(output, str) for output in run_blocks(markdown, page, names))
    return names


def test_lifelines():
    pytest.importorskip("lifelines")
    names = names_of("lifelines.md")
    assert names["cox_difference"] < 1e-6
    # Of another definition with ties, and no other.
    assert 0 < names["curve_difference"] < 2e-3
    np.testing.assert_allclose(*names["aft_likelihoods"], atol=1e-3)
    np.testing.assert_allclose(names["km_ours"], names["km_theirs"], atol=1e-9)
    assert names["c_ours"] == pytest.approx(names["c_theirs"], abs=1e-9)


def test_scikit_survival():
    pytest.importorskip("sksurv")
    names = names_of("scikit_survival.md")
    assert names["cox_difference"] < 1e-6
    for theirs, ours in names["same"].values():
        assert ours == pytest.approx(theirs, abs=1e-9)
    theirs = [float(function(365)) for function in names["functions"]]
    np.testing.assert_allclose(names["predicted"].survival(365), theirs, atol=2e-3)


def test_pycox():
    pytest.importorskip("pycox")
    names = names_of("pycox.md", ("128, 60, [", "128, 2, ["), ("max_epochs=60", "max_epochs=2"))
    assert names["c_ours"] == pytest.approx(names["c_theirs"], abs=1e-6)


def test_r():
    pytest.importorskip("lifelines")
    names, r = names_of("r_survival.md"), json.loads((FROZEN / "lung.json").read_text(encoding="utf-8"))
    cox, aft = names["cox"], names["aft"]
    np.testing.assert_allclose([line.coefficient for line in cox.coefficients_], r["cox_coefficients"], rtol=1e-6)
    np.testing.assert_allclose([line.standard_error for line in cox.coefficients_], r["cox_errors"], rtol=1e-6)
    survival = names["predicted"].survival([180, 365])
    np.testing.assert_allclose(survival.T.ravel(), r["cox_survival"], rtol=1e-6)
    strata = [line.coefficient for line in names["by_sex"].coefficients_]
    np.testing.assert_allclose(strata, r["strata_coefficients"], rtol=1e-6)
    *coefficients, shape = (line.coefficient for line in aft.coefficients_)
    np.testing.assert_allclose(coefficients, r["aft_coefficients"], rtol=1e-4)
    assert shape == pytest.approx(-np.log(r["aft_scale"]), rel=1e-4)
    assert aft.log_likelihood_ == pytest.approx(r["aft_log_likelihood"], abs=1e-5)
    np.testing.assert_allclose(names["km"], r["km"], rtol=1e-9)
    assert names["log_rank"].statistic == pytest.approx(r["log_rank"], rel=1e-9)
    assert names["concordance"] == pytest.approx(r["concordance"], abs=1e-9)
    # What the page shows of R is what R gave.
    page = (FOLDER / "r_survival.md").read_text(encoding="utf-8")
    assert all(f"{value:.7f}"[:9] in page for value in (*r["cox_survival"], *r["cox_errors"][:1]))
