"""Model files with a right checksum and a wrong content: refused on loading, or predictions that keep the laws."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest

import aldsurv
from aldsurv import ALDSurvival, CoxRegression, ElasticNetAFT, ElasticNetCox, SurvivalData, WeibullAFT
from aldsurv.distributions.wrappers.level_map import LevelMap
from aldsurv.errors import ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models import RecalibratedSurvival, StackedSurvival
from aldsurv.registry import MODELS
from models.mutated_files import flaw, mutations

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

RNG = np.random.default_rng(0)
COLUMNS = {"age": RNG.normal(size=80), "site": RNG.choice(["left", "right"], 80)}
EVENT_TIME, LOST = 10 * np.exp(0.9 * COLUMNS["age"] + 0.3 * RNG.normal(size=80)), RNG.exponential(30, 80)
Y = SurvivalData.right(np.minimum(EVENT_TIME, LOST), EVENT_TIME <= LOST)
NEW = {"age": np.array([-3.0, 0.0, 50.0]), "site": np.array(["left", "right", "nowhere"], object)}

MADE = {
    "weibull_aft": lambda: WeibullAFT(),
    "cox": lambda: CoxRegression(),
    "coxnet": lambda: ElasticNetCox(0.9, n_alphas=4, folds=2, random_state=0),
    "aftnet": lambda: ElasticNetAFT(0.9, n_alphas=4, folds=2, random_state=0),
    "recalibrated": lambda: RecalibratedSurvival(WeibullAFT(), folds=2, bins=3, random_state=0),
    "stack": lambda: StackedSurvival([WeibullAFT(), CoxRegression()], folds=2, random_state=0),
    "ald": lambda: ALDSurvival(max_epochs=1, members=1, hidden=[3], head_hidden=[], progress=False, random_state=0),
}
# One in so many mutations; by hand all of them, of every model, were tried.
STRIDE = {"weibull_aft": 9, "cox": 13, "coxnet": 13, "aftnet": 13, "recalibrated": 11, "stack": 23, "ald": 31}


@pytest.fixture(scope="module")
def fitted():
    return {name: made().fit(COLUMNS, Y) for name, made in MADE.items()}


def content(model):
    document, arrays = model._to_file()
    name = MODELS.name_of(type(model))
    return {
        "kind": "fitted model",
        "model": name,
        "version": aldsurv.__version__,
        **document,
    }, dict(arrays)


@pytest.mark.parametrize("name", MADE)
def test_any_change_is_refused_or_harmless(fitted, name, tmp_path):
    tried = list(islice(mutations(fitted[name]), 0, None, STRIDE[name]))
    flaws = {label: flaw(tmp_path / "m.aldsurv", *changed, NEW) for label, *changed in tried}
    assert len(flaws) > 40
    assert {label: told for label, told in flaws.items() if told} == {}


def refusal(path, document, arrays) -> str:
    write_model_file(path, document, arrays)
    with pytest.raises(ModelFileError) as caught:
        aldsurv.load(path)
    return str(caught.value)


def test_coefficients_that_no_rows_could_have_led_to(fitted, tmp_path):
    document, arrays = content(fitted["weibull_aft"])
    path = tmp_path / "m.aldsurv"
    assert "coefficients are too large" in refusal(
        path, document, {**arrays, "standardised": np.full_like(arrays["standardised"], 1e30)}
    )
    wide = arrays["standardised"].copy()
    wide[-1] = 800.0
    assert "spread of log time" in refusal(path, document, {**arrays, "standardised": wide})


def test_levels_that_are_none(fitted, tmp_path):
    document, arrays = content(fitted["recalibrated"])
    knots = arrays["level_map.knots"].copy()
    assert knots.size > 1
    knots[-1] = 1e308
    assert "level_map.knots must be" in refusal(tmp_path / "m.aldsurv", document, {**arrays, "level_map.knots": knots})
    knots[-1] = 1e20
    told = refusal(tmp_path / "m.aldsurv", document, {**arrays, "level_map.knots": knots})
    assert "knots must lie between -1e+15 and 1e+15" in told
    with pytest.raises(ParameterError, match="at least 1e-50 apart"):
        LevelMap([0.0, 5e-324], [0.0, 1.0])


@pytest.mark.parametrize("scale", [5e-324, 1e308])
def test_units_of_time_that_leave_no_digits(fitted, tmp_path, scale):
    document, arrays = content(fitted["ald"])
    assert "time_scale must be positive and at most 1e+150" in refusal(
        tmp_path / "m.aldsurv", {**document, "time_scale": scale}, arrays
    )


def test_networks_that_give_no_numbers(fitted, tmp_path):
    document, arrays = content(fitted["ald"])
    huge = {name: np.full_like(array, 3e38) if name.endswith(".weight") else array for name, array in arrays.items()}
    with np.errstate(all="ignore"):
        found = flaw(tmp_path / "m.aldsurv", document, huge, NEW)
    assert found is None


def test_models_within_models_are_read_as_deep_as_they_are_written(fitted, tmp_path):
    document, arrays = content(fitted["recalibrated"])
    own = {name: array for name, array in arrays.items() if not name.startswith("inner.")}

    def nested(times: int):
        entries, values = {key: document[key] for key in ("parameters", "inner")}, arrays
        for _ in range(times):
            entries = {"parameters": document["parameters"], "inner": {"model": "recalibrated", "entries": entries}}
            values = {**own, **{f"inner.{name}": array for name, array in values.items()}}
        return {**document, **entries}, values

    path = tmp_path / "m.aldsurv"
    write_model_file(path, *nested(40))
    assert np.isfinite(aldsurv.load(path).predict_distribution(NEW).survival([1.0])).all()
    with pytest.raises(ParameterError, match="nested more than 100 levels deep"):
        write_model_file(path, *nested(60))


def test_a_document_that_is_deeper_than_any_that_is_written(tmp_path, monkeypatch):
    document: dict = {}
    for _ in range(150):
        document = {"inner": document}
    path = tmp_path / "deep.aldsurv"
    with monkeypatch.context() as patch:
        patch.setattr("aldsurv.files.model_file._MOST_LEVELS", 1000)
        write_model_file(path, document, {})
        assert json.dumps(read_model_file(path)[0]) == json.dumps(document)
    with pytest.raises(ModelFileError, match="nested more than 100 levels deep"):
        read_model_file(path)
    deepest: dict = {}
    for _ in range(100):
        deepest = {"inner": deepest}
    assert read_model_file(write_model_file(path, deepest, {}))[0] == deepest
