from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from child_process import without_machine_warnings
from exact_csv import read_exact_csv

import aldsurv
from aldsurv.cli.main import main
from aldsurv.cli.predict import prediction_stream
from aldsurv.models import ALDSurvival, CoxRegression, DeepSurv, WeibullAFT
from aldsurv.models.wrappers.recalibrated_survival import RecalibratedSurvival
from aldsurv.registry import MODELS
from aldsurv.tables import text_file

ROWS = 83
NAMES = ["age", "grade", "marker", "smoker"]


def people(rows: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    marker = rng.uniform(1, 10, rows)
    marker[::7] = np.nan
    grade = np.array(["I", "II", "III"], object)[rng.integers(0, 3, rows)]
    return {"age": rng.uniform(40, 80, rows), "grade": grade, "marker": marker, "smoker": rng.integers(0, 2, rows)}


def outcome(columns: dict[str, np.ndarray], seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = len(columns["age"])
    late = np.exp(4 - (columns["age"] - 60) / 30 - 0.4 * (columns["grade"] == "III")) * rng.weibull(1.5, rows)
    censored = rng.uniform(5, 90, rows)
    return np.minimum(late, censored) + 0.01, late <= censored


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> dict[str, Path]:
    """Files of fitted models: closed forms, a mixture, and curves that do not fall to zero."""
    place, x = tmp_path_factory.mktemp("models"), people(400, 1)
    # So that no row of another table lies outside by chance.
    x["age"][1:3], x["marker"][1:3] = (39, 81), (0, 11)
    y = outcome(x, 2)
    made = {
        "weibull": WeibullAFT(unit="days"),
        "mixture": ALDSurvival(members=2, max_epochs=3, random_state=0),
        "cox": CoxRegression(),
    }
    return {name: model.fit(x, y).save(place / f"{name}.aldsurv") for name, model in made.items()}


@pytest.fixture(scope="module")
def table() -> dict[str, np.ndarray]:
    return people(ROWS, 3)


@pytest.fixture(params=[None, 7], ids=["one block", "many blocks"])
def blocks(request, monkeypatch: pytest.MonkeyPatch) -> int | None:
    if request.param:
        small_blocks(monkeypatch, request.param)
    return request.param


def small_blocks(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    monkeypatch.setattr(prediction_stream, "BLOCK_ROWS", rows)
    monkeypatch.setattr(prediction_stream, "_AT_ONCE", 3)
    monkeypatch.setattr(text_file, "_LARGEST_PIECE", 300)


def write(path: Path, columns: dict[str, np.ndarray]) -> Path:
    frame = pd.DataFrame(columns)
    if path.suffix == ".parquet":
        frame.to_parquet(path, row_group_size=29)
    else:
        frame.to_csv(path, index=False, na_rep="NA")
    return path


def read(path: Path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    if path.suffix == ".jsonl":
        return pd.DataFrame([json.loads(line, parse_constant=pytest.fail) for line in path.read_text().splitlines()])
    return read_exact_csv(path)


def predicted(model: Path, columns: dict[str, np.ndarray]) -> aldsurv.distributions.SurvivalDistribution:
    return aldsurv.load(model).predict_distribution({name: columns[name] for name in NAMES})


def close(found: object, expected: np.ndarray) -> bool:
    return bool(np.allclose(np.asarray(found, np.float64), expected, rtol=1e-12, atol=0))


def run_in(*words: object) -> None:
    """Predict with all digits, which Parquet has anyway."""
    exact = [] if str(words[-1]).endswith(".parquet") else ["--digits", 17]
    assert main(["predict", *map(str, [*words, *exact])]) == 0


def refused(capfd: pytest.CaptureFixture[str], *words: object, code: int = 2) -> str:
    assert main(["predict", *map(str, words)]) == code
    out, err = capfd.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[-1].startswith("aldsurv: error: ")
    return lines[-1]


@pytest.mark.parametrize("source", ["in.csv", "in.parquet"])
@pytest.mark.parametrize("target", ["out.csv", "out.csv.gz", "out.parquet", "out.jsonl"])
def test_every_format_holds_the_predictions(models, table, blocks, tmp_path, source: str, target: str) -> None:
    given = write(tmp_path / source, {"id": np.array([f"p{k:03}" for k in range(ROWS)], object), **table})
    out = tmp_path / target
    run_in(models["mixture"], given, "--times", "10,25.5", "--quantiles", "0.1,0.5", "--keep", "id", "--out", out)
    found, truth = read(out), predicted(models["mixture"], table)
    assert list(found) == ["id", "q10", "q50", "survival_10", "survival_25.5", "outside"]
    assert found["id"].tolist() == [f"p{k:03}" for k in range(ROWS)]
    assert close(found[["q10", "q50"]], truth.quantile([0.1, 0.5]))
    assert close(found[["survival_10", "survival_25.5"]], truth.survival([10.0, 25.5]))
    assert not found["outside"].any()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted([source, target])


def test_every_summary(models, table, tmp_path, capfd) -> None:
    given, out = write(tmp_path / "in.csv", table), tmp_path / "out.parquet"
    asked = ["--summary", "mean,median,mode,std,restricted_mean", "--interval", "0.8", "--out", out]
    run_in(models["weibull"], given, *asked)
    found, truth = read(out), predicted(models["weibull"], table)
    last = float(aldsurv.load(models["weibull"]).unique_times_[-1])
    horizon = next(name for name in found if name.startswith("restricted_mean_"))
    assert float(horizon.removeprefix("restricted_mean_")) == pytest.approx(last, rel=1e-11)
    assert list(found) == ["mean", "median", "mode", "std", horizon, "lower_80", "upper_80", "outside"]
    for name in ("mean", "median", "mode", "std"):
        assert close(found[name], getattr(truth, name)())
    assert close(found[horizon], truth.restricted_mean(last))
    assert close(found[["lower_80", "upper_80"]], truth.interval(0.8))
    run_in(models["weibull"], given, "--summary", "restricted_mean", "--times", "20,40", "--out", out)
    found = read(out)
    assert close(found[["restricted_mean_20", "restricted_mean_40"]], truth.restricted_mean([20.0, 40.0]))
    assert close(found[["survival_20", "survival_40"]], truth.survival([20.0, 40.0]))


def test_limits_between_members(models, table, blocks, tmp_path, capfd) -> None:
    given, out = write(tmp_path / "in.csv", table), tmp_path / "out.parquet"
    asked = ["--summary", "median,std,restricted_mean", "--quantiles", "0.1", "--times", "10,25", "--interval", "0.8"]
    run_in(models["mixture"], given, *asked, "--band", "0.8", "--out", out)
    found, model = read(out), aldsurv.load(models["mixture"])
    assert list(found) == [
        "median", "median_lower", "median_upper", "std",
        "restricted_mean_10", "restricted_mean_10_lower", "restricted_mean_10_upper",
        "restricted_mean_25", "restricted_mean_25_lower", "restricted_mean_25_upper",
        "q10", "q10_lower", "q10_upper", "lower_80", "upper_80",
        "survival_10", "survival_10_lower", "survival_10_upper",
        "survival_25", "survival_25_lower", "survival_25_upper", "outside",
    ]  # fmt: skip
    x = {name: table[name] for name in NAMES}
    assert close(found[["median_lower", "median_upper"]].T, model.predict_time_band(x, point="median", level=0.8))
    lower, upper = model.predict_survival_band(x, [10.0, 25.0], level=0.8)
    assert close(found[["survival_10_lower", "survival_25_lower"]], lower)
    assert close(found[["survival_10_upper", "survival_25_upper"]], upper)
    assert (found["q10_lower"] <= found["q10"]).all()
    assert (found["q10"] <= found["q10_upper"]).all()
    # No mean time within a horizon is after it.
    assert (found["restricted_mean_10_upper"] <= 10).all()
    run_in(models["mixture"], given, "--band", "0.8", "--given-survived", "12", "--out", out)
    later = read(out)
    assert (later["median_lower"] >= 12).all()
    assert ((later["median_lower"] <= later["median"]) & (later["median"] <= later["median_upper"])).all()
    capfd.readouterr()
    assert "several members" in refused(capfd, models["weibull"], given, "--band", "0.9")
    assert "--band must lie between 0 and 1, but is 90" in refused(capfd, models["mixture"], given, "--band", "90")


@pytest.mark.parametrize("name", MODELS)
def test_every_model(name, table, tmp_path, capfd) -> None:
    kind, x = MODELS.load(name), people(120, 1)
    small = {"members": 2, "max_epochs": 2, "max_rounds": 3, "random_state": 0, "folds": 2}
    model = kind(**{key: value for key, value in small.items() if key in kind.parameter_defaults()})
    inner = ALDSurvival(members=2, max_epochs=2, random_state=0)
    for key, value in {"estimator": inner, "estimators": [inner, CoxRegression()]}.items():
        if key in kind.parameter_defaults():
            model.set_params(**{key: value})
    file = model.fit(x, outcome(x, 2)).save(tmp_path / "m.aldsurv")
    given, out = write(tmp_path / "in.csv", table), tmp_path / "out.parquet"
    limits = ["--band", "0.9"] if model.n_members > 1 else []
    run_in(file, given, "--times", "10,25", *limits, "--out", out)
    found, truth = read(out), predicted(file, table).survival([10.0, 25.0])
    assert close(found[["survival_10", "survival_25"]], truth)
    if limits:
        assert (found["survival_10_lower"] <= found["survival_10"]).all()
        assert (found["survival_10"] <= found["survival_10_upper"]).all()
    else:
        capfd.readouterr()
        assert "Fit an ensemble: aldsurv fit --model ald" in refused(capfd, file, given, "--band", "0.9")


def test_standard_output_and_its_defaults(models, table, tmp_path, capfd) -> None:
    given = write(tmp_path / "in.csv", table)
    run_in(models["weibull"], given)
    out, err = capfd.readouterr()
    assert err == ""
    lines = out.splitlines()
    assert lines[0] == "median,q10,q90,outside"
    assert len(lines) == ROWS + 1
    found = np.array([line.split(",")[:3] for line in lines[1:]], float)
    assert close(found, predicted(models["weibull"], table).quantile([0.5, 0.1, 0.9]))
    run_in(models["weibull"], given, "--json")
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert close([row["median"] for row in rows], found[:, 0])


def test_the_last_word_as_json(models, table, tmp_path, capfd) -> None:
    strange = {**table, "age": table["age"].copy(), "grade": table["grade"].copy(), "smoker": table["smoker"] * 1.0}
    strange["age"][[4, 9]] = 120.0
    strange["grade"][[9, 11]] = "IV"
    strange["smoker"][20:23] = np.nan
    given, out = write(tmp_path / "in.csv", {**strange, "town": np.full(ROWS, "X", object)}), tmp_path / "out.csv"
    run_in(models["weibull"], given, "--times", "10,5000", "--out", out, "--json")
    told, err = capfd.readouterr()
    found = json.loads(told)
    assert (found["rows"], found["outside"], found["out"]) == (ROWS, 3, str(out))
    assert found["outside_by_column"] == {"age": 2, "grade": 2}
    assert found["gaps_by_column"] == {"smoker": 3}
    assert np.flatnonzero(read(out)["outside"]).tolist() == [4, 9, 11]
    assert [line.removeprefix("aldsurv: note: ") for line in err.splitlines()] == found["notes"]
    unused, late, outside, gaps = found["notes"]
    assert unused == "columns that the model does not use: town."
    assert "days: predictions at 5000 are extrapolated" in late
    assert "3 of 83 rows (3.6 %)" in outside
    assert "smoker in 3 rows (filled with" in gaps
    run_in(models["weibull"], given, "--out", out, "--quiet")
    assert capfd.readouterr() == ("", "")
    run_in(models["weibull"], given, "--out", out)
    assert capfd.readouterr().out == f"{out}: {ROWS} rows, columns median, q10, q90, outside\n"


def test_text_as_people_write_it(models, table, blocks, tmp_path) -> None:
    """Semicolons, decimal commas, gaps in several ways, true and false, another order, quotes and leading zeros."""
    names = ['a;"b"', "007", "Zoë, née X", ""] * 21
    rows = ["smoker;id;marker;age;grade"]
    gaps = ["", "NA", "?", "nan"]
    for k in range(ROWS):
        marker = table["marker"][k]
        number = gaps[k % 4] if np.isnan(marker) else repr(float(marker)).replace(".", ",")
        age = f" {float(table['age'][k])!r} ".replace(".", ",")
        quoted = '"' + names[k].replace('"', '""') + '"'
        rows.append(f"{'TRUE' if table['smoker'][k] else 'false'};{quoted};{number};{age};{table['grade'][k]}")
    (tmp_path / "in.csv").write_text("\n".join(rows), encoding="utf-8")
    for out in (tmp_path / "out.csv", tmp_path / "out.jsonl"):
        run_in(models["weibull"], tmp_path / "in.csv", "--keep", "id", "--out", out)
        frame = read(out) if out.suffix == ".jsonl" else read_exact_csv(out, dtype={"id": str}, keep_default_na=False)
        assert frame["id"].tolist() == names[:ROWS]
        assert close(frame["median"], predicted(models["weibull"], table).median())


def test_all_columns_kept(models, table, tmp_path) -> None:
    given, out = write(tmp_path / "in.parquet", {"when": np.arange(ROWS) * 86400 * 10**9, **table}), tmp_path / "o.csv"
    frame = pd.read_parquet(given).assign(when=pd.to_datetime(np.arange(ROWS), unit="D"))
    frame["grade"] = frame["grade"].astype("category")
    frame.to_parquet(given)
    run_in(models["weibull"], given, "--keep", "all", "--times", "9", "--out", out)
    found = read(out)
    assert list(found) == ["when", *NAMES, "survival_9", "outside"]
    assert np.array_equal(found["age"], table["age"])
    assert found["grade"].tolist() == table["grade"].tolist()
    assert found["when"][5].startswith("1970-01-06")
    assert close(found["survival_9"], predicted(models["weibull"], table).survival(9.0))


@pytest.mark.parametrize("name", ["weibull", "mixture"])
@pytest.mark.parametrize("by_column", [True, False])
def test_predictions_given_survival_so_far(models, table, blocks, tmp_path, name: str, by_column: bool) -> None:
    """S(t)/S(c) after c and 1 before; the quantile of level p is where S falls to (1 - p)·S(c)."""
    since = np.random.default_rng(4).uniform(0, 30, ROWS) if by_column else np.full(ROWS, 12.0)
    given, out = write(tmp_path / "in.csv", {"so_far": since, **table}), tmp_path / "out.parquet"
    run_in(
        models[name], given, "--given-survived", "so_far" if by_column else "12", "--times", "5,15,40",
        "--quantiles", "0.25,0.5", "--out", out,
    )  # fmt: skip
    found, truth = read(out), predicted(models[name], table)
    at_start = truth.survival(since[:, None])[:, 0]
    for at in (5.0, 15.0, 40.0):
        expected = np.where(at <= since, 1.0, truth.survival(at) / at_start)
        assert np.allclose(found[f"survival_{at:g}"], expected, rtol=1e-10)
    for level in (0.25, 0.5):
        quantile = found[f"q{100 * level:g}"].to_numpy()
        assert (quantile >= since).all()
        assert np.allclose(truth.survival(quantile[:, None])[:, 0], (1 - level) * at_start, rtol=1e-9)


def test_quantiles_that_curves_never_reach(models, table, tmp_path) -> None:
    given, truth = write(tmp_path / "in.csv", table), predicted(models["cox"], table).quantile(0.99)
    assert np.isinf(truth).sum() > 0
    for target in ("out.csv", "out.parquet", "out.jsonl"):
        run_in(models["cox"], given, "--quantiles", "0.99", "--out", tmp_path / target)
        found = read(tmp_path / target)["q99"]
        if target.endswith("jsonl"):
            assert found.isna().tolist() == np.isinf(truth).tolist()
        else:
            assert found.tolist() == truth.tolist()


def test_columns_by_their_order(tmp_path, capfd) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 2))
    model = WeibullAFT().fit(x, (np.exp(x[:, 0] + rng.gumbel(size=200)), np.ones(200, bool)))
    saved, given, out = model.save(tmp_path / "m.aldsurv"), tmp_path / "in.csv", tmp_path / "out.csv"
    pd.DataFrame({"first": x[:, 0], "second": x[:, 1]}).to_csv(given)
    run_in(saved, given, "--out", out)
    assert "columns of" in capfd.readouterr().err
    assert close(read(out)["median"], model.predict_distribution(x).median())
    pd.DataFrame({"id": np.arange(200), "first": x[:, 0], "second": x[:, 1]}).to_csv(given, index=False)
    run_in(saved, given, "--keep", "id", "--out", out)
    assert close(read(out)["median"], model.predict_distribution(x).median())
    capfd.readouterr()
    told = refused(capfd, saved, given, "--out", out)
    assert "has 3 columns to predict from ('id', 'first', 'second')" in told
    assert "was trained on 2" in told


@pytest.mark.parametrize("kind", [CoxRegression, DeepSurv])
def test_strata(kind, table, tmp_path) -> None:
    x = people(400, 1)
    own = {"strata": "grade"} if kind is CoxRegression else {"strata": "grade", "max_epochs": 2, "members": 1}
    model = kind(**own).fit(x, outcome(x, 2))
    given, out = write(tmp_path / "in.csv", table), tmp_path / "out.csv"
    run_in(model.save(tmp_path / "m.aldsurv"), given, "--times", "10", "--out", out)
    assert close(read(out)["survival_10"], model.predict_distribution(table).survival(10.0))


def test_codes_stay_text_and_columns_left_out_may_be_missing(tmp_path) -> None:
    rng = np.random.default_rng(0)
    code = np.array(["01", "02", "10"], object)[rng.integers(0, 3, 300)]
    x = {"age": rng.uniform(size=300), "code": code, "same": np.ones(300)}
    y = np.exp(x["age"] + (code == "02") + rng.gumbel(size=300) / 2), np.ones(300, bool)
    with pytest.warns(UserWarning, match="one value only"):
        model = WeibullAFT(categorical=["code"]).fit(x, y)
    given, out = tmp_path / "in.csv", tmp_path / "out.csv"
    pd.DataFrame({"code": code, "age": x["age"]}).to_csv(given, index=False)
    run_in(model.save(tmp_path / "m.aldsurv"), given, "--out", out)
    assert close(read(out)["median"], model.predict_distribution(x).median())
    assert not read(out)["outside"].any()


def test_a_model_within_a_model(table, tmp_path) -> None:
    x = people(400, 1)
    model = RecalibratedSurvival(WeibullAFT(), random_state=0).fit(x, outcome(x, 2))
    given, out = write(tmp_path / "in.csv", table), tmp_path / "out.csv"
    run_in(model.save(tmp_path / "m.aldsurv"), given, "--times", "10", "--quantiles", "0.5", "--out", out)
    truth = model.predict_distribution(table)
    assert close(read(out)["survival_10"], truth.survival(10.0))
    assert close(read(out)["q50"], truth.quantile(0.5))


def test_threads_change_nothing(models, table, tmp_path, monkeypatch) -> None:
    small_blocks(monkeypatch, 5)
    given = write(tmp_path / "in.parquet", table)
    for jobs in (1, 4):
        run_in(models["mixture"], given, "--jobs", jobs, "--out", tmp_path / f"{jobs}.csv")
    assert (tmp_path / "1.csv").read_bytes() == (tmp_path / "4.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--times", "10,x"], "--times must be numbers separated by commas, but holds 'x'"),
        (["--times", "-1"], "--times must be from 0 on, but holds '-1'"),
        (["--times", "inf"], "--times must be from 0 on, but holds 'inf'"),
        (["--quantiles", "50"], "--quantiles must be from 0 to below 1, but holds '50'"),
        (["--quantiles", ""], "--quantiles holds no number"),
        (["--interval", "90"], "--interval must lie between 0 and 1, but is 90"),
        (["--summary", "meen"], "--summary holds 'meen'. Did you mean 'mean'?"),
        (["--keep", "agee"], "there is no column 'agee'. Did you mean 'age'?"),
        (["--given-survived", "ag"], "there is no column 'ag'. Did you mean 'age'?"),
        (["--given-survived", "-3"], "--given-survived must be a time from 0 on, but is -3"),
        (
            ["--given-survived", "marker"],
            "--given-survived must be a time from 0 on, but this is a gap (column 'marker', line 2)",
        ),
        (["--given-survived", "grade"], "must hold numbers, but this is the text 'I' (column 'grade', line 2)"),
        (["--out", "x.xls"], "--out must end in .csv, .csv.gz, .parquet or .jsonl, but is 'x.xls'"),
        (["--out", "."], "--out must end in"),
        (["--out", ".", "--format", "csv"], "is a folder"),
        (["--format", "xml"], "'xml' is not one of"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_wrong_wishes(models, table, tmp_path, capfd, words: list[str], told: str) -> None:
    given = write(tmp_path / "in.csv", table)
    assert told in refused(capfd, models["weibull"], given, *words)


def test_a_kept_column_with_the_name_of_a_prediction(models, table, tmp_path, capfd) -> None:
    given = write(tmp_path / "in.csv", {**table, "median": table["age"]})
    assert "the column 'median' twice" in refused(capfd, models["weibull"], given, "--keep", "median")


def test_tables_that_do_not_suit(models, table, tmp_path, capfd) -> None:
    model, path = models["weibull"], tmp_path / "in.csv"
    renamed = {"Age": table["age"], **{name: table[name] for name in NAMES[1:]}}
    assert "has no column 'age', which the model needs. Is it 'Age'? Rename it." in refused(
        capfd, model, write(path, renamed)
    )
    told = refused(capfd, model, write(path, {"x": table["age"], "y": table["marker"]}))
    assert "has no column 'age', 'grade', 'marker', 'smoker', which the model needs. Columns: 'x', 'y'." in told
    path.write_text("age,grade,marker,smoker,age\n50,I,1,0,50\n")
    assert "has the column 'age' more than once (columns 1 and 5)" in refused(capfd, model, path)
    path.write_text("age,grade,marker,smoker\n")
    assert "no rows" in refused(capfd, model, path)
    path.write_text("")
    assert "is empty" in refused(capfd, model, path)
    path.write_bytes(bytes(range(256)) * 20)
    assert "is not a table" in refused(capfd, model, path)
    path.write_text("age,grade,marker,smoker\n50,I,1,0\n50,I,1\n")
    assert "has 3 fields in line 3, but 4 in its header" in refused(capfd, model, path)
    path.write_text("age,grade,marker,smoker\n50,I,1,0\ninf,I,1,0\n")
    assert "must be finite, but 1 of 2 values is not, first inf (column 'age', line 3)" in refused(capfd, model, path)
    pd.DataFrame(table).iloc[:0].to_parquet(path)
    assert "no rows" in refused(capfd, model, path)
    pd.DataFrame({**table, "age": [[1]] * ROWS}).to_parquet(path)
    assert "the column holds list<element: int64>, which is neither numbers nor text (column 'age')" in refused(
        capfd, model, path
    )
    pd.DataFrame({**table, "age": table["age"].astype(str)}).to_parquet(path)
    told = refused(capfd, model, path)
    assert "the column held numbers in training, but now holds the text" in told
    assert "(column 'age', row 1 below the header)" in told
    assert "there is no file" in refused(capfd, model, tmp_path / "im.csv")
    assert f"Did you mean {str(path)!r}" in refused(capfd, model, tmp_path / "inn.csv")
    path.write_bytes(gzip.compress(b"age,grade,marker,smoker\n" + b"50,I,1,0\n" * 300_000)[:-2000])
    assert "damaged" in (told := refused(capfd, model, path)) or "cannot be read" in told


def test_damaged_models(models, table, tmp_path, capfd) -> None:
    given, whole = write(tmp_path / "in.csv", table), models["weibull"].read_bytes()
    for content in (b"", b"no model", whole[:-10], whole[:300] + b"#" + whole[301:]):
        (tmp_path / "m.aldsurv").write_bytes(content)
        assert "m.aldsurv" in refused(capfd, tmp_path / "m.aldsurv", given)
    assert "no file" in refused(capfd, tmp_path / "none.aldsurv", given)
    assert refused(capfd, given, given)


def test_text_in_a_late_row_leaves_the_old_file(models, tmp_path, capfd) -> None:
    rows = ["age,grade,marker,smoker", *["50,I,1,0"] * 70_000, "old,I,1,0", "50,I,1,0"]
    (tmp_path / "in.csv").write_text("\n".join(rows))
    out = tmp_path / "out.csv"
    out.write_text("before")
    told = refused(capfd, models["weibull"], tmp_path / "in.csv", "--out", out)
    # The header is line 1, row 70,000 counted from 0 is line 70,002.
    assert "must hold numbers, but this is the text 'old' (column 'age', line 70002)." in told
    assert out.read_text() == "before"
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["in.csv", "out.csv"]


def test_rows_that_cannot_be_event_free_so_late(models, table, tmp_path, capfd, monkeypatch) -> None:
    small_blocks(monkeypatch, 7)
    since = np.zeros(ROWS)
    since[40] = 1e300
    given = write(tmp_path / "in.csv", {"so_far": since, **table})
    told = refused(capfd, models["weibull"], given, "--given-survived", "so_far", "--out", tmp_path / "out.csv")
    assert "a row cannot be event-free until 1e+300: its survival is 0 there (line 42)" in told


def test_the_table_is_not_overwritten(models, table, tmp_path, capfd) -> None:
    given = write(tmp_path / "in.csv", table)
    assert "which is read from" in refused(capfd, models["weibull"], given, "--out", given)
    assert read(given)["age"].tolist() == table["age"].tolist()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["csv", "parquet", "jsonl"])
def test_full_disks(models, table, tmp_path, environment, form: str) -> None:
    given = write(tmp_path / "in.csv", table)
    command = [sys.executable, "-m", "aldsurv", "predict", models["weibull"], given, "--format", form]
    done = subprocess.run(
        [*command, "--out", "/dev/full"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert without_machine_warnings(done.stderr) == "aldsurv: error: /dev/full: No space left on device\n"
    if form != "csv":
        return
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, env=environment, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, without_machine_warnings(done.stderr)) == (1, "aldsurv: error: No space left on device\n")


def test_folders_that_cannot_be_written(models, table, tmp_path, capfd) -> None:
    given = write(tmp_path / "in.csv", table)
    out = tmp_path / "none" / "out.csv"
    told = f"the folder {str(out.parent)!r} of --out does not exist. Make it, or name another."
    assert refused(capfd, models["weibull"], given, "--out", out).endswith(told)
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    out = closed / "out.csv"
    if os.access(closed, os.W_OK):
        # Such a user may write almost everywhere.
        out = Path("/sys/out.csv")
    told = refused(capfd, models["weibull"], given, "--out", out, code=1)
    assert told.endswith((f"{out}: Permission denied", f"{out}: Read-only file system"))


def test_a_pipe_that_is_closed(models, tmp_path, environment) -> None:
    big = people(20_000, 5)
    given = write(tmp_path / "in.parquet", big)
    command = [sys.executable, "-m", "aldsurv", "predict", models["weibull"], given]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"median,q10,q90,outside\n"
        process.stdout.close()
        err = without_machine_warnings(process.stderr.read().decode())
    assert (process.returncode, err) == (141, "")


def test_help_fits_a_narrow_terminal(run) -> None:
    done = run("predict", "--help", COLUMNS="40")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 40
    assert "Examples:\n    aldsurv predict m.aldsurv new.csv\n" in done.stdout


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux tells the peak")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_memory_does_not_grow_with_the_table(models, tmp_path, environment, ending: str) -> None:
    """Ten times the rows, of which 64 MB would be numbers alone: the peak may grow by what is read ahead."""
    code = (
        "import sys; from aldsurv.cli.main import main\n"
        "for given, out in (sys.argv[2:4], sys.argv[4:6]):\n"
        "    words = ['predict', sys.argv[1], given, '--times', '1,2,3,4', '--quiet', '--out', out]\n"
        "    assert main(words) == 0\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))"
    )
    files = []
    for rows in (100_000, 1_000_000):
        columns = people(rows, 6)
        given = tmp_path / f"in_{rows}.{ending}"
        frame = pa.table({**columns, "grade": pa.array(columns["grade"])})
        pq.write_table(frame, given) if ending == "parquet" else pyarrow.csv.write_csv(frame, given)
        files += [given, tmp_path / f"out_{rows}.{ending}"]
    done = subprocess.run(
        [sys.executable, "-c", code, models["weibull"], *files],
        # Arrow's own pools keep what they once had: that would be a peak of the pool, not of the table.
        env={**environment, "ARROW_DEFAULT_MEMORY_POOL": "system"},
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = (int(peak) / 1024 for peak in done.stdout.split())
    assert second < first + 40
