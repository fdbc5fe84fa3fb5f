"""The code on the pages of MLflow, Spark, Dask and clusters runs, and predicts what the model itself does."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.models import WeibullAFT

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

ROOT = Path(__file__).parents[2]
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Starting a JVM, or making the tables of a tracking store, takes longer than all other pages together.
WHOLE = bool(os.environ.get("ALDSURV_BATCH_PAGES"))
needs_whole = pytest.mark.skipif(not WHOLE, reason="takes many seconds: make batch runs it")


def code(page: str) -> list[str]:
    return _BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


def run(blocks: list[str], **given: object) -> dict[str, object]:
    # As in a script or a notebook: functions travel to workers by value.
    names: dict[str, object] = {"__name__": "__main__", **given}
    for block in blocks:
        exec(compile(block, "page", "exec"), names)  # noqa: S102
    return names


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A folder with the files that the pages name; the rows of the table."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.arange(60), "age": rng.normal(60, 10, 60), "sex": rng.choice(["f", "m"], 60)})
    time = 0.3 * frame["age"].to_numpy() * rng.weibull(2.0, 60)
    WeibullAFT(unit="months").fit(frame[["age", "sex"]], (time, np.ones(60))).save("model.aldsurv")
    frame.to_parquet("rows.parquet")
    return frame


def expected(rows, times) -> np.ndarray:
    model = aldsurv.load("model.aldsurv")
    return model.predict_distribution(rows[["age", "sex"]]).survival(times)


def check_scored(scored, rows, times=(12, 36)):
    scored = scored.sort_values("id")
    assert scored.columns.tolist() == ["id", *(f"survival_{time}" for time in times), "outside"]
    assert scored["id"].tolist() == rows["id"].tolist()
    np.testing.assert_allclose(scored.iloc[:, 1:-1], expected(rows, times), rtol=1e-12)
    assert not scored["outside"].any()


def test_dask(rows):
    dd = pytest.importorskip("dask.dataframe")
    names = run(code("dask.md"))
    scored = dd.read_parquet("scored").compute()
    check_scored(scored, rows)
    # Parts without rows, and several of them.
    several = dd.from_pandas(rows, npartitions=4)
    filtered = several[several["age"] > rows["age"][:15].max()]
    meta = names["scored"]._meta
    left = filtered.map_partitions(names["score"], "model.aldsurv", meta=meta).compute(scheduler="synchronous")
    assert left["id"].tolist() == rows["id"][rows["age"] > rows["age"][:15].max()].tolist()


def test_cluster(rows, monkeypatch):
    distributed = pytest.importorskip("distributed")
    rng = np.random.default_rng(1)
    for folder in ("claims", "new"):
        Path(folder).mkdir()
        for part in range(2):
            times = {"months": rng.exponential(30, len(rows)), "died": rng.random(len(rows)) < 0.6}
            rows.assign(**times).to_parquet(f"{folder}/{part}.parquet")
    block, of_one_process = code("cluster.md")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        names = run([block.replace("tcp://ADDRESS:8786", cluster.scheduler_address)])
    assert 0.5 <= names["scores"]["harrell_c"] <= 1
    scored = pd.concat([pd.read_parquet(path) for path in sorted(Path("scored").glob("*.parquet"))])
    predicted = names["model"].predict_distribution(rows[["id", "age", "sex"]]).survival([12, 36])
    np.testing.assert_allclose(scored[["survival_12", "survival_36"]][: len(rows)], predicted, rtol=1e-12)
    for name, value in {"RANK": "0", "WORLD_SIZE": "1"}.items():
        monkeypatch.setenv(name, value)
    x = rows[["age"]]
    alone = run([of_one_process], x=x, y=(times["months"], times["died"]))
    np.testing.assert_array_equal(aldsurv.load("model.aldsurv").predict(x), alone["model"].predict(x))


def test_what_a_task_of_spark_does(rows, monkeypatch):
    pyspark = pytest.importorskip("pyspark")
    monkeypatch.setattr(pyspark.SparkFiles, "get", staticmethod(str))
    names = run([block for block in code("spark.md") if not block.startswith("# on a cluster")])
    scored = pd.concat(names["score"](iter([rows[:20], rows[20:20], rows[20:]])))
    check_scored(scored, rows)
    assert names["schema"] == "id long, `survival_12` double, `survival_36` double, `outside` boolean"


@needs_whole
def test_spark(rows, monkeypatch):
    pytest.importorskip("pyspark")
    if shutil.which("java") is None:
        pytest.skip("java is not installed")
    from pyspark.sql import SparkSession

    # Its workers would take the first python3 of the path, which need not have the packages of this one.
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    local = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = local.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1").getOrCreate()
    try:
        names = run(code("spark.md"))
        check_scored(pd.read_parquet("scored"), rows)
        probabilities = names["probabilities"].toPandas().sort_values("id")
        np.testing.assert_allclose(probabilities[["survival_12"]], expected(rows, [12]), rtol=1e-12)
    finally:
        spark.stop()


@pytest.fixture
def mlflow_blocks(rows):
    """The blocks of the page; the script is written to its file."""
    pytest.importorskip("mlflow")
    blocks = code("mlflow.md")
    (script,) = (block for block in blocks if block.startswith("# scoring.py"))
    Path("scoring.py").write_text(script, encoding="utf-8")
    blocks.remove(script)
    return blocks


def no_pickles(folder: str) -> bool:
    return not [path for path in Path(folder).rglob("*") if path.suffix in (".pkl", ".pickle")]


# What MLflow says of itself: on importing, of types in its own base class, and of an example that is not given.
@pytest.mark.filterwarnings("ignore:(?s).*(type hint|input example)", "ignore::DeprecationWarning:mlflow.*")
def test_mlflow(rows, mlflow_blocks):
    names = run([block for block in mlflow_blocks if not block.startswith("# with a tracking")])
    scored = names["scored"].reset_index()
    check_scored(scored, rows, (6, 12, 24))
    assert no_pickles("survival")
    (copy,) = Path("survival").rglob("*.aldsurv")
    assert copy.read_bytes() == Path("model.aldsurv").read_bytes()


@needs_whole
@pytest.mark.filterwarnings(
    "ignore:(?s).*(type hint|input example)",
    "ignore:.*noload.*",
    "ignore:unclosed database:ResourceWarning",
    "ignore::DeprecationWarning:mlflow.*",
)
def test_mlflow_with_a_tracking_store(rows, mlflow_blocks):
    names = run(mlflow_blocks)
    np.testing.assert_allclose(names["again"].iloc[:, :-1], expected(rows, [12, 36]), rtol=1e-12)
    assert no_pickles(".")
