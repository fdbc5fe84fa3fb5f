"""Updated models: what they predict, files, chains of updates, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from child_process import machine_variables
from numpy.testing import assert_allclose
from sklearn.base import clone

import aldsurv
from aldsurv import CauseSpecificCox, CoxRegression, RecalibratedSurvival, SurvivalData, UpdatedSurvival, WeibullAFT
from aldsurv.errors import CensoringError, CompetingCausesWarning, DataError, ModelFileError, ParameterError
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models.persistence import model_digest
from aldsurv.nonparametric.observed_levels import level_map
from models.rows import quick
from models.updating.places import place

TIMES = np.array([0.2, 0.8, 2.0])


@pytest.fixture(scope="module")
def home():
    return WeibullAFT().fit(pd.DataFrame(place(300, 0)[0], columns=["a", "b", "c"]), place(300, 0)[1])


@pytest.fixture(scope="module")
def there():
    x, y = place(250, 1, log_factor=0.7, shape=2.5)
    return pd.DataFrame(x, columns=["a", "b", "c"]), y


def test_levels_are_mapped_after_the_slope(home, there):
    x, y = there
    slope, levels = (UpdatedSurvival(home, rung=rung).fit(x, y) for rung in ("slope", "levels"))
    expected = level_map([(slope.predict_distribution(x), y)])
    at = np.linspace(0.1, 0.9, 9)
    assert_allclose(levels.adjustment_.level_map(at), expected(at), rtol=1e-12)
    before, after = (each.predict_distribution(x).cdf(TIMES) for each in (slope, levels))
    assert_allclose(after, expected(before), rtol=1e-9)


def test_refit_is_the_same_model_on_the_new_rows(there):
    x, y = there
    home = WeibullAFT(ridge=2.0).fit(x, place(250, 0)[1])
    found = UpdatedSurvival(home, rung="refit").fit(x, y)
    expected = WeibullAFT(ridge=2.0).fit(x, y)
    assert_allclose(found.predict_distribution(x).survival(TIMES), expected.predict_distribution(x).survival(TIMES))
    # Of a model that was updated before: that of the model within, with its settings.
    again = UpdatedSurvival(found, rung="refit").fit(x, place(250, 0)[1])
    assert isinstance(again.estimator_, WeibullAFT)
    assert_allclose(again.predict_distribution(x).median(), home.predict_distribution(x).median())
    assert [step.rung for step in again.ancestry_] == ["refit", "refit"]


def test_facts_and_ancestry(home, there):
    x, y = there
    first = UpdatedSurvival(home, rung="intercept", source="home.aldsurv").fit(x, y)
    assert list(first.feature_names_in_) == ["a", "b", "c"]
    assert (first.trained_on_, first.innermost, first.n_members) == (home.trained_on_, home, 1)
    assert first.ranking_point_ == home.ranking_point_
    (step,) = first.ancestry_
    assert (step.model, step.rung, step.rows, step.events) == ("weibull_aft", "intercept", 250, y.n_events)
    assert (step.digest, step.source) == (model_digest(home), "home.aldsurv")
    second = UpdatedSurvival(first, rung="slope").fit(x[:100], y[:100])
    assert second.ancestry_[0] == step
    assert (second.ancestry_[1].model, second.ancestry_[1].digest) == ("updated", model_digest(first))
    told = second.summary()
    assert told.startswith("Updated WeibullAFT\n  rung            slope\n")
    assert f"weibull_aft of home.aldsurv ({step.digest[:12]}), updated by intercept on 250 rows" in told
    assert home.ancestry_ == ()
    assert RecalibratedSurvival(WeibullAFT(), random_state=0).fit(x, y).ancestry_ == ()


def test_the_digest_is_that_of_the_file(home, tmp_path):
    import json

    raw = home.save(tmp_path / "m.aldsurv").read_bytes()
    header = json.loads(raw[8 : 8 + int.from_bytes(raw[:8], "little")])
    assert header["__metadata__"]["sha256"] == model_digest(home)


ALONE = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
import numpy as np, aldsurv
predicted = aldsurv.load(sys.argv[1]).predict_distribution(dict(zip("abc", np.load(sys.argv[2]).T)))
print(predicted.median().tobytes().hex(), end="")
"""


def test_saved_as_data_and_read_with_numpy_alone(home, there, tmp_path):
    x, y = there
    once = UpdatedSurvival(home, rung="last_layer").fit(x, y)
    model = UpdatedSurvival(once, rung="levels", source="a").fit(x, y)
    path = model.save(tmp_path / "m.aldsurv")
    loaded = aldsurv.load(path)
    assert loaded.predict(x).tobytes() == model.predict(x).tobytes()
    assert (loaded.ancestry_, loaded.rung, loaded.source) == (model.ancestry_, "levels", "a")
    assert loaded.summary() == model.summary()
    np.save(tmp_path / "x.npy", x.to_numpy())
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), str(tmp_path / "x.npy")],
        env={"PYTHONPATH": str(Path(aldsurv.__file__).parent.parent), "PATH": "", **machine_variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == model.predict_distribution(x).median().tobytes().hex()


@pytest.mark.parametrize("rung", ["none", "intercept", "slope", "levels"])
def test_networks_and_their_members(rung, tmp_path):
    x, y = place(120, 2)
    model = UpdatedSurvival(quick(members=2).fit(x, y), rung=rung).fit(*place(120, 3, log_factor=1.0))
    members = [one.survival(TIMES) for one in model.predict_members(x)]
    joint = model.predict_distribution(x).survival(TIMES)
    assert len(members) == model.n_members == 2
    assert (np.minimum(*members) <= joint + 1e-9).all()
    assert (joint <= np.maximum(*members) + 1e-9).all()
    loaded = aldsurv.load(model.save(tmp_path / "m.aldsurv"))
    assert loaded.predict(x).tobytes() == model.predict(x).tobytes()
    assert (model.predict_survival_band(x, TIMES).lower <= joint + 1e-9).all()


@pytest.mark.parametrize("damage", ["intercept", "slope", "rung", "rows", "entries", "map", "ancestry", "more"])
def test_a_damaged_file_is_refused(home, there, tmp_path, damage):
    model = UpdatedSurvival(home, rung="levels").fit(*there)
    document, arrays = read_model_file(model.save(tmp_path / "m.aldsurv"))
    arrays = dict(arrays)
    if damage in ("intercept", "slope"):
        document["adjustment"][damage] = 1e300 if damage == "intercept" else "many"
    elif damage in ("rung", "rows"):
        document["ancestry"][0][damage] = -1
    elif damage == "entries":
        del document["adjustment"]
    elif damage == "map":
        arrays["adjustment.knots"] = arrays["adjustment.knots"][::-1].copy()
    elif damage == "ancestry":
        document["ancestry"] = "long"
    else:
        arrays["further"] = np.zeros(2)
    with pytest.raises(ModelFileError):
        aldsurv.load(write_model_file(tmp_path / "damaged", document, arrays))


def test_what_is_refused(home, there):
    x, y = there
    for model, message in (
        (WeibullAFT(), "but this one is not fitted"),
        ("cox", "is of type str"),
        (None, "is of type NoneType"),
        (clone(UpdatedSurvival(home)).estimator, "not fitted"),
    ):
        with pytest.raises(ParameterError, match=message):
            UpdatedSurvival(model).fit(x, y)
    with pytest.raises(ParameterError, match="rung must be one of"):
        UpdatedSurvival(home, rung="auto").fit(x, y)
    with pytest.raises(DataError, match="no event was observed"):
        UpdatedSurvival(home).fit(x, SurvivalData.right(y.time, np.zeros(len(y), bool)))
    with pytest.raises(DataError, match="X has 250 rows, but y has 20"):
        UpdatedSurvival(home).fit(x, y[:20])
    with pytest.raises(CensoringError):
        UpdatedSurvival(home, rung="levels").fit(x, SurvivalData.interval(y.lower, y.lower + 1))


def test_causes_are_refused_in_models_and_warned_of_in_rows(home, there):
    x, y = there
    competing = SurvivalData.competing(y.time, np.where(y.event, np.where(np.arange(len(y)) % 2, "x", "y"), "censored"))
    with pytest.raises(ParameterError, match="tells the causes x, y apart: only models of one event"):
        UpdatedSurvival(CauseSpecificCox().fit(x, competing)).fit(x, y)
    with pytest.warns(CompetingCausesWarning, match="first event of any"):
        found = UpdatedSurvival(home).fit(x, competing)
    assert_allclose(found.adjustment_.slope, UpdatedSurvival(home).fit(x, y).adjustment_.slope)


def test_episodes_are_rows_with_delayed_entry():
    x, y = place(150, 6)
    home = CoxRegression().fit(*place(200, 7))
    half = y.time / 2
    rows = np.repeat(np.arange(150), 2)
    # A person whose covariates change in the middle: two pieces of the same likelihood.
    pieces = x[rows].copy()
    pieces[1::2, 0] += 0.5
    start, stop = np.column_stack([0 * half, half]).ravel(), np.column_stack([half, y.time]).ravel()
    event = np.column_stack([np.zeros(150, bool), y.event]).ravel()
    whole = SurvivalData.episodes(rows, start, stop, event)
    as_rows = SurvivalData.right(stop, event, entry=start)
    found, expected = (UpdatedSurvival(home, rung="slope").fit(pieces, each).adjustment_ for each in (whole, as_rows))
    assert_allclose((found.intercept, found.slope), (expected.intercept, expected.slope), atol=1e-8)
