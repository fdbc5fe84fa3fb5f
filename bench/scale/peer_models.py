"""Fits of one drawn table by each library, from Parquet files to a distribution of held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aldsurv import SurvivalData, datasets
from aldsurv.distributions import LogNormal, ProportionalHazards, SurvivalDistribution, Weibull
from bench.scale.drawn_rows import Columns
from bench.scale.parquet import EVENT, TIME

__all__ = ["OURS", "PEERS", "THREADS", "Predict", "Prepared"]

FloatArray = NDArray[np.float64]
# From the columns of new rows to their distribution.
Predict = Callable[[Columns], SurvivalDistribution]
# What is running before a fit is timed: a cluster, a Java machine, nothing.
Prepared = Callable[[], Any]
THREADS = 2
_ROUNDS = 100
# Of the normal distribution, as XGBoost has it.
_AFT_SCALE = 1.0


def _frame(folder: Path) -> Any:
    import pandas as pd

    return pd.read_parquet(folder)


def _numbers(x: Columns) -> NDArray[np.float32]:
    return np.column_stack([np.asarray(column, np.float32) for column in x.values()])


def _ours(name: str) -> Callable[[Path, Any], Predict]:
    def fit(folder: Path, _: Any) -> Predict:
        from aldsurv.registry import MODELS

        frame = _frame(folder)
        y = SurvivalData.right(frame.pop(TIME).to_numpy(), frame.pop(EVENT).to_numpy())
        kind: Any = MODELS.load(name)
        given = {"random_state": 0} if "random_state" in kind.parameter_defaults() else {}
        return kind(**given).fit(frame, y).predict_distribution  # type: ignore[no-any-return]

    return fit


def _ours_from_files(name: str) -> Callable[[Path, Any], Predict]:
    def fit(folder: Path, _: Any) -> Predict:
        from aldsurv.registry import MODELS

        table = datasets.open_table(folder, time=TIME, event=EVENT)
        kind: Any = MODELS.load(name)
        given = {"random_state": 0} if "random_state" in kind.parameter_defaults() else {}
        return kind(**given).fit(table.x, table.y).predict_distribution  # type: ignore[no-any-return]

    return fit


def _lifelines_cox(folder: Path, _: Any) -> Predict:
    from lifelines import CoxPHFitter

    model = CoxPHFitter().fit(_frame(folder), TIME, EVENT)
    hazard = model.baseline_cumulative_hazard_
    names = list(model.params_.index)

    def predict(x: Columns) -> SurvivalDistribution:
        risk = model.predict_log_partial_hazard(_columns_of(x, names)).to_numpy()
        return _hazards(hazard.index.to_numpy(), hazard.iloc[:, 0].to_numpy(), risk)

    return predict


def _columns_of(x: Columns, names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame({name: x[name] for name in names})


def _scikit_survival_cox(folder: Path, _: Any) -> Predict:
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    frame = _frame(folder)
    time, event = frame.pop(TIME).to_numpy(), frame.pop(EVENT).to_numpy()
    model = CoxPHSurvivalAnalysis().fit(frame.to_numpy(), SurvivalData.right(time, event).to_structured())
    hazard = model.cum_baseline_hazard_
    return lambda x: _hazards(hazard.x, hazard.y, model.predict(_numbers(x)))


def _hazards(times: FloatArray, heights: FloatArray, risk: FloatArray) -> ProportionalHazards:
    """A peer's baseline as the distribution by which ours is judged, too."""
    rises = np.diff(heights, prepend=0.0) > 0
    return ProportionalHazards(times[rises], np.log(heights[rises]), risk)


def _xgboost_settings() -> dict[str, Any]:
    return {
        "objective": "survival:aft",
        "aft_loss_distribution_scale": _AFT_SCALE,
        "tree_method": "hist",
        "nthread": THREADS,
        "verbosity": 0,
    }


def _xgboost_aft(folder: Path, _: Any) -> Predict:
    import xgboost

    frame = _frame(folder)
    time, event = frame.pop(TIME).to_numpy(), frame.pop(EVENT).to_numpy()
    rows = xgboost.QuantileDMatrix(
        frame.to_numpy(), label_lower_bound=time, label_upper_bound=np.where(event, time, np.inf)
    )
    return _of_booster(xgboost.train(_xgboost_settings(), rows, num_boost_round=_ROUNDS))


def _of_booster(booster: Any) -> Predict:
    import xgboost

    booster.feature_names = booster.feature_types = None
    return lambda x: LogNormal(np.log(booster.predict(xgboost.DMatrix(_numbers(x)))), _AFT_SCALE)


@contextmanager
def _dask() -> Iterator[Any]:
    """Two worker processes with a thread each."""
    import dask
    from distributed import Client, LocalCluster

    dask.config.set({"distributed.worker.memory.terminate": False, "distributed.worker.memory.pause": False})
    with (
        LocalCluster(n_workers=THREADS, threads_per_worker=1, memory_limit=0, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        # Workers start in the background.
        client.submit(_import_xgboost).result()
        yield client


def _import_xgboost() -> None:
    pass


def _xgboost_on_dask(folder: Path, client: Any) -> Predict:
    import dask.dataframe
    from xgboost import dask as xgboost_dask

    # Dask reads files together by the columns asked for: read first, features and labels have the same partitions.
    frame = client.persist(dask.dataframe.read_parquet(folder))
    x = frame[[name for name in frame.columns if name not in (TIME, EVENT)]]
    upper = frame[TIME].where(frame[EVENT], np.inf)
    rows = xgboost_dask.DaskQuantileDMatrix(client, x, label_lower_bound=frame[TIME], label_upper_bound=upper)
    settings = {**_xgboost_settings(), "nthread": 1}
    return _of_booster(xgboost_dask.train(client, settings, rows, num_boost_round=_ROUNDS)["booster"])


@contextmanager
def _spark() -> Iterator[Any]:
    """Spark in one Java machine with two threads."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{THREADS}]")
        .config("spark.driver.memory", "8g")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .getOrCreate()
    )
    session.range(10).count()
    try:
        yield session
    finally:
        session.stop()


def _spark_aft(folder: Path, session: Any) -> Predict:
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.regression import AFTSurvivalRegression

    frame = session.read.parquet(str(folder))
    names = [name for name in frame.columns if name not in (TIME, EVENT)]
    frame = frame.withColumn("seen", frame[EVENT].cast("double"))
    rows = VectorAssembler(inputCols=names, outputCol="x").transform(frame).select("x", TIME, "seen")
    model = AFTSurvivalRegression(featuresCol="x", labelCol=TIME, censorCol="seen").fit(rows)
    slopes, start, scale = model.coefficients.toArray(), float(model.intercept), float(model.scale)
    return lambda x: Weibull(np.exp(_numbers(x) @ slopes + start), 1 / scale)


@contextmanager
def _nothing() -> Iterator[None]:
    yield None


# By title: what runs before, and the fit.
OURS: dict[str, tuple[Prepared, Callable[[Path, Any], Predict]]] = {
    "ALDSurvival": (_nothing, _ours("ald")),
    "BoostedALD": (_nothing, _ours("boosted_ald")),
    "CoxRegression": (_nothing, _ours("cox")),
    "WeibullAFT": (_nothing, _ours("weibull_aft")),
    "ALDSurvival, from files": (_nothing, _ours_from_files("ald")),
    "BoostedALD, from files": (_nothing, _ours_from_files("boosted_ald")),
    "CoxRegression, from files": (_nothing, _ours_from_files("cox")),
    "WeibullAFT, from files": (_nothing, _ours_from_files("weibull_aft")),
}
PEERS: dict[str, tuple[Prepared, Callable[[Path, Any], Predict]]] = {
    "lifelines Cox": (_nothing, _lifelines_cox),
    "scikit-survival Cox": (_nothing, _scikit_survival_cox),
    "XGBoost aft": (_nothing, _xgboost_aft),
    "XGBoost aft on Dask": (_dask, _xgboost_on_dask),
    "Spark AFT": (_spark, _spark_aft),
}
