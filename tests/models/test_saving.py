"""Saved models: the same bits back, on numpy alone; nothing but data in the file, and every damage refused."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from child_process import WARNING_OPTIONS, machine_variables

import aldsurv
from aldsurv import SurvivalData
from aldsurv.errors import AldsurvError
from aldsurv.files.model_file import ModelFileError, read_model_file, write_model_file
from aldsurv.registry import MODELS
from models.rows import draw, quick

SOURCE = Path(aldsurv.__file__).parent
X, TIME, EVENT = draw(150)
Y = SurvivalData.right(TIME, EVENT)


def frame():
    """Numbers, gaps, text, categories, bools, a constant."""
    rng = np.random.default_rng(0)
    grade = rng.choice(["I", "II", "III"], 150).astype(object)
    grade[::17] = None
    return pd.DataFrame(
        {
            "age": np.where(np.arange(150) % 11 == 0, np.nan, X[:, 0]),
            "größe": X[:, 1],
            "grade": grade,
            "site": pd.Categorical(rng.choice(["left", "right"], 150)),
            "smoker": rng.uniform(size=150) < 0.4,
            "code": rng.integers(1, 4, 150),
        }
    )


@pytest.fixture(scope="module")
def model():
    return quick(members=2, categorical=["code"], hidden=[8], head_hidden=[4]).fit(frame(), Y)


@pytest.fixture(scope="module")
def path(model, tmp_path_factory):
    return model.save(tmp_path_factory.mktemp("saved") / "model.aldsurv")


def bits(model, x):
    """Every parameter of the distribution, of each member."""
    predicted = model.predict_distribution(x)
    parts = getattr(predicted, "components", [predicted])
    return b"".join(np.ascontiguousarray(d._values[name]).tobytes() for d in parts for name in type(d).parameters())


def test_equal_runs_give_equal_files(tmp_path):
    first, second = (quick(members=2, max_epochs=3).fit(frame(), Y) for _ in range(2))
    # What differs is how long they took.
    assert (first.history_.seconds > 0).all()
    written = first.save(tmp_path / "first").read_bytes()
    assert second.save(tmp_path / "second").read_bytes() == written
    loaded = aldsurv.load(tmp_path / "first")
    assert loaded.save(tmp_path / "again").read_bytes() == written
    assert loaded.history_.seconds.shape == first.history_.seconds.shape


def test_a_file_of_an_older_version_with_seconds_is_read(tmp_path, model, path):
    document, arrays = read_model_file(path)
    document["history"]["seconds"] = [0.5] * model.history_.epochs
    loaded = aldsurv.load(write_model_file(tmp_path / "older", document, arrays))
    assert loaded.history_.seconds.tolist() == [0.5] * model.history_.epochs
    assert loaded.predict(frame()).tobytes() == model.predict(frame()).tobytes()
    document["history"]["seconds"] = [0.5]
    with pytest.raises(ModelFileError, match="history"):
        aldsurv.load(write_model_file(tmp_path / "wrong", document, arrays))


@pytest.mark.parametrize("support", ["log", "real", "positive"])
@pytest.mark.parametrize("members", [1, 3])
def test_the_same_bits(tmp_path, support, members):
    model = quick(support=support, members=members, batch_norm=members == 3, max_epochs=4).fit(frame(), Y)
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    first, second = model.predict_distribution(frame()), loaded.predict_distribution(frame())
    for name in ("median", "mean", "mode", "std"):
        assert getattr(first, name)().tobytes() == getattr(second, name)().tobytes()
    times = np.linspace(0, 40, 17)
    assert first.survival(times).tobytes() == second.survival(times).tobytes()
    assert first.quantile([1e-6, 0.5, 1 - 1e-6]).tobytes() == second.quantile([1e-6, 0.5, 1 - 1e-6]).tobytes()
    if members == 1:
        for name in ("theta", "sigma", "kappa"):
            assert getattr(first, name).tobytes() == getattr(second, name).tobytes()
    assert loaded.score(frame(), Y) == model.score(frame(), Y)


def test_all_that_is_known_comes_back(model, path):
    loaded = aldsurv.load(path)
    assert repr(loaded) == repr(model).replace("['code']", "('code',)").replace("[8]", "(8,)").replace("[4]", "(4,)")
    assert loaded.settings_ == model.settings_
    assert loaded.trained_on_ == model.trained_on_
    assert loaded.history_.to_plain() == model.history_.to_plain()
    assert loaded.time_scale_ == model.fitted_.time_scale
    assert list(loaded.feature_names_in_) == list(model.feature_names_in_)
    assert loaded.n_features_in_ == 6
    np.testing.assert_array_equal(loaded.unique_times_, model.unique_times_)
    with pytest.raises(AldsurvError, match="feature names"):
        loaded.predict(frame()[["age"]])
    np.testing.assert_array_equal(loaded.fit(frame(), Y).predict(frame()), model.predict(frame()))


def test_saving_what_was_loaded_gives_the_same_bytes(path, tmp_path):
    assert aldsurv.load(path).save(tmp_path / "again").read_bytes() == path.read_bytes()


def test_what_has_no_place_in_a_file(tmp_path):
    given = {"random_state": np.random.default_rng(0), "callbacks": [lambda report: None], "progress": False}
    model = quick(**given).fit(X, Y)
    loaded = aldsurv.load(model.save(tmp_path / "model"))
    assert (loaded.random_state, loaded.callbacks, loaded.progress) == (None, None, "auto")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


ALONE = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "sklearn", "scipy", "pandas", "polars", "matplotlib", "click", "sksurv"}:
            raise ImportError(f"{name} is not here")

sys.meta_path.insert(0, Refused())
import json, hashlib
import numpy as np
import aldsurv

model = aldsurv.load(sys.argv[1])
rows = json.loads(sys.stdin.read())
predicted = model.predict_distribution(rows)
answers = [predicted.survival([1.0, 5.0, 20.0]), predicted.median(), predicted.quantile([0.1, 0.9]), predicted.mean()]
answers += [model.predict(rows), model.predict_survival_function(rows, return_array=True)]
try:
    aldsurv.ALDSurvival().predict(rows)
except aldsurv.AldsurvError as error:
    assert "not fitted" in str(error)
try:
    model.fit(rows, (np.ones(len(predicted)), np.ones(len(predicted))))
except ImportError as error:
    assert "pip install" in str(error), error
print(hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in answers)).hexdigest())
"""


def test_predicting_needs_numpy_alone(model, path):
    import hashlib

    table = frame().iloc[:40]
    rows = json.loads(table.to_json(orient="split"))
    columns = {name: [row[j] for row in rows["data"]] for j, name in enumerate(rows["columns"])}
    for name in ("age", "größe"):
        # JSON from pandas has fewer digits.
        columns[name] = [None if np.isnan(value) else value for value in table[name].tolist()]
    predicted = model.predict_distribution(columns)
    answers = [predicted.survival([1.0, 5.0, 20.0]), predicted.median(), predicted.quantile([0.1, 0.9])]
    answers += [predicted.mean(), model.predict(columns), model.predict_survival_function(columns, return_array=True)]
    wanted = hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in answers)).hexdigest()
    done = subprocess.run(
        [sys.executable, *WARNING_OPTIONS, "-c", ALONE, str(path)],
        input=json.dumps(columns),
        env={"PYTHONPATH": str(SOURCE.parent), "PATH": "", **machine_variables()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == wanted


def test_files_that_are_refused(path, tmp_path):
    raw, target = path.read_bytes(), tmp_path / "damaged"
    cases = [raw[:n] for n in (0, 4, 9, 100, len(raw) // 2, len(raw) - 1)]
    cases += [raw + b"x", b"PK\x03\x04" + raw, b"\x80\x04" + raw, b"{}" * 50]
    for place in np.linspace(0, len(raw) - 1, 60).astype(int):
        cases.append(raw[:place] + bytes([raw[place] ^ 0x20]) + raw[place + 1 :])
    for case in cases:
        target.write_bytes(case)
        with pytest.raises(ModelFileError):
            aldsurv.load(target)
    with pytest.raises(ModelFileError):
        aldsurv.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        aldsurv.load(tmp_path / "nowhere")


def test_files_of_a_newer_version_or_another_kind(path, tmp_path):
    raw = path.read_bytes()
    target = tmp_path / "newer"
    target.write_bytes(raw.replace(b'"schema":"1"', b'"schema":"9"'))
    with pytest.raises(ModelFileError, match=r"(?i)newer|version"):
        aldsurv.load(target)
    document, arrays = read_model_file(path)
    write_model_file(target, {**document, "kind": "training checkpoint"}, arrays)
    with pytest.raises(ModelFileError, match="training checkpoint"):
        aldsurv.load(target)
    write_model_file(target, {**document, "model": "alds"}, arrays)
    with pytest.raises(ModelFileError, match=r"unknown model 'alds'. Did you mean 'ald' or 'icald'\?"):
        aldsurv.load(target)


def places(value, here=()):
    """The place of everything in a document."""
    yield here
    children = value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*here, key))


def changed(document, place, change):
    """A copy in which one entry is changed, or None where that is not possible."""
    document = copy.deepcopy(document)
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    if change == "remove":
        del holder[place[-1]]
    elif change == "add":
        if not isinstance(holder[place[-1]], (dict, list)):
            return None
        held = holder[place[-1]]
        held.update(surplus=1) if isinstance(held, dict) else held.append(1)
    elif change == "negate":
        if not isinstance(holder[place[-1]], (int, float)):
            return None
        holder[place[-1]] = -holder[place[-1]] - 1
    else:
        holder[place[-1]] = change
    return document


CHANGES = ["remove", "add", "negate", None, True, 0, 10**12, 1e308, "nonsense", [1, "a"], {"a": []}]


def only_a_model_file_error(target, document, arrays, rows):
    """Loading raises ModelFileError, or gives a model that answers or refuses rows as a model may."""
    write_model_file(target, document, arrays)
    told = ""
    try:
        loaded = aldsurv.load(target)
    except ModelFileError as error:
        told = str(error)
    if told:
        assert "\n" not in told
        assert len(told) < 600
        return False
    try:
        with np.errstate(all="ignore"):
            loaded.predict_distribution(rows).median()
    except AldsurvError:
        return False
    assert repr(loaded)
    assert "\n" in loaded.summary()
    assert repr(loaded.history_)
    assert len(loaded.history_.table()) == loaded.history_.epochs
    assert loaded.history_.best_loss.shape == (loaded.settings_.members,)
    return True


def without_sync(monkeypatch):
    # Thousands of files that need not outlive a power failure.
    monkeypatch.setattr("aldsurv.files.model_file.os.fsync", lambda number: None)


@pytest.mark.filterwarnings("ignore")
def test_documents_with_one_entry_changed(path, tmp_path, monkeypatch):
    without_sync(monkeypatch)
    document, arrays = read_model_file(path)
    rows, accepted, target = frame().iloc[:3], [], tmp_path / "changed"
    # At each place it is removed, and a half of the other changes are made, in turn the one half and the other.
    for number, place in enumerate(places(document)):
        for change in [CHANGES[0], *CHANGES[1 + number % 2 :: 2]] if place else []:
            other = changed(document, place, change)
            if other is None or other == document:
                continue
            if only_a_model_file_error(target, other, arrays, rows):
                accepted.append((place, change))
    # What decides the prediction is not open to doubt: of its parts none can be missing or of another kind.
    firm = {"kind", "model", "network", "features", "members", "n_features_in"}
    # A file without it is of an earlier version.
    of_earlier = [((part, "varied"), "remove") for part in ("parameters", "settings")]
    assert all(one in accepted for one in of_earlier)
    accepted = [one for one in accepted if one not in of_earlier]
    for place, change in accepted:
        assert change != "remove" or len(place) > 2 or place[0] == "trained_on", place
        assert change not in ("remove", "add") or place[0] not in firm, place
        # No limit on columns is what a model may have.
        assert change is not None or place[0] not in firm or place == ("features", "clip"), place
    assert len(accepted) > 25


@pytest.mark.filterwarnings("ignore")
def test_arrays_that_are_changed(path, tmp_path, monkeypatch):
    without_sync(monkeypatch)
    document, arrays = read_model_file(path)
    target, rows = tmp_path / "changed", frame().iloc[:3]
    for name, array in arrays.items():
        # Some times fewer are times all the same.
        shorter = [array[None]] if name == "times" else [array[:-1], array[..., :-1], array[None]]
        for wrong in (
            *shorter,
            array.reshape(-1)[:1].reshape(()),
            array.astype(np.float64 if array.dtype == np.float32 else np.float32),
            array.astype(np.int64),
            np.full_like(array, np.nan),
            np.full_like(array, np.inf),
            np.concatenate([array, array]),
            array[:0],
        ):
            assert not only_a_model_file_error(target, document, {**arrays, name: wrong}, rows), (name, wrong.shape)
        assert not only_a_model_file_error(target, document, {n: a for n, a in arrays.items() if n != name}, rows)
        if name != "times":
            for value in (3e38, -3e38, 0.0, 1e-45):
                only_a_model_file_error(target, document, {**arrays, name: np.full_like(array, value)}, rows)
    assert not only_a_model_file_error(target, document, {**arrays, "network.surplus": np.zeros(3)}, rows)


def test_a_file_names_neither_paths_nor_devices(path, tmp_path):
    document, arrays = read_model_file(path)
    for name, value in (("checkpoint", "anywhere"), ("device", "meta"), ("encoder", "x"), ("callbacks", ["x"])):
        other = {**document, "parameters": {**document["parameters"], name: value}}
        write_model_file(tmp_path / "other", other, arrays)
        with pytest.raises(ModelFileError, match="parameters"):
            aldsurv.load(tmp_path / "other")


def test_huge_sizes_take_no_memory(path, tmp_path):
    import tracemalloc

    document, arrays = read_model_file(path)
    for name, value in (("inputs", 9_000_000), ("hidden", [65_536] * 60), ("outputs", 65_000)):
        other = {**document, "network": {**document["network"], name: value}}
        write_model_file(tmp_path / "other", other, arrays)
        tracemalloc.start()
        with pytest.raises(ModelFileError):
            aldsurv.load(tmp_path / "other")
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
        tracemalloc.stop()


def test_no_code_comes_out_of_files():
    # Calls only: methods such as model.eval() of torch are none of these.
    forbidden = re.compile(
        r"\b(pickle|cPickle|dill|marshal|shelve)\b(?!\w)|(?<![\w.])(eval|exec|compile)\(|allow_pickle"
        r"|(torch|joblib)\.(load|dump)"
    )
    found = [
        f"{file.relative_to(SOURCE)}: {line.strip()}"
        for file in SOURCE.rglob("*.py")
        for line in file.read_text().splitlines()
        if forbidden.search(line)
        and not re.search(
            r'never pickle|allow_pickle=False|"pickle"|from pickle|begins like a pickle|be pickled|would need pickle',
            line,
        )
    ]
    assert found == []


def test_models_know_their_names():
    for name in MODELS:
        assert name == MODELS.name_of(MODELS.load(name))
