"""Tables that others have made, and messy ones drawn here: how to write each down, and what is known about it."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

__all__ = ["DRAWN", "REAL", "TableCase"]

# The first rows of a long table are enough here.
_MOST_ROWS = 300


@dataclass(frozen=True)
class TableCase:
    """A table and how a person would fit a model to it.

    Attributes
    ----------
    name
        Of the file.
    content
        Gives its bytes.
    options
        Of `check`, `fit` and `evaluate`: the outcome, and how the file is written down.
    events
        Gives the number of events as pandas counts them; None where rows are not exact or right-censored.
    read
        How pandas reads the file.
    fit_options, model
        Of `fit` beside these, and the model.
    refused
        What is said of a table that is no table of a first event.
    """

    name: str
    content: Callable[[], bytes]
    options: tuple[str, ...]
    events: Callable[[pd.DataFrame], int] | None
    read: Mapping[str, object] = field(default_factory=dict)
    fit_options: tuple[str, ...] = ()
    model: str = "cox"
    refused: str = ""

    @property
    def reading(self) -> tuple[str, ...]:
        """Those of the options that say how the file is written down."""
        named = ("--delimiter", "--decimal", "--encoding", "--missing")
        pairs = zip(self.options[::2], self.options[1::2], strict=True)
        return tuple(word for pair in pairs if pair[0] in named for word in pair)

    def frame(self, path: Path) -> pd.DataFrame:
        """The file as pandas reads it."""
        if path.suffix == ".xlsx":
            return pd.read_excel(path)
        return pd.read_csv(path, **self.read)


def _packaged(package: str, *names: str) -> Callable[[], bytes]:
    def content() -> bytes:
        module = pytest.importorskip(package)
        lines = Path(module.__file__).parent.joinpath(*names).read_bytes().splitlines(keepends=True)
        return b"".join(lines[: 1 + _MOST_ROWS])

    return content


def _arff(name: str) -> Callable[[], bytes]:
    def content() -> bytes:
        sksurv_datasets = pytest.importorskip("sksurv.datasets")
        io_module = pytest.importorskip("sksurv.io")
        path = Path(sksurv_datasets.__file__).parent / "data" / name
        frame = io_module.loadarff(str(path)).head(_MOST_ROWS)
        return frame.to_csv(index=False).encode()

    return content


def _column(name: str, value: object) -> Callable[[pd.DataFrame], int]:
    return lambda frame: int((frame[name] == value).sum())


def _lifelines(name: str, time: str, event: str, value: object = 1, **more: object) -> TableCase:
    named = () if value in (1, True) else ("--event-value", str(value))
    options = ("--time", time, "--event", event, *named)
    return TableCase(name, _packaged("lifelines.datasets", name), options, _column(event, value), **more)


def _scikit_survival(name: str, time: str, event: str, value: object = 1, **more: object) -> TableCase:
    named = () if value in (1, True) else ("--event-value", str(value))
    options = ("--time", time, "--event", event, *named)
    return TableCase(name.replace("arff", "csv"), _arff(name), options, _column(event, value), **more)


REAL = (
    _lifelines("ACTG175.csv", "days", "cens", fit_options=("--drop", "pidnum")),
    _lifelines("CuZn-LeftCensoredDataset.csv", "T", "E"),
    TableCase(
        "anderson.csv",
        _packaged("lifelines.datasets", "anderson.csv"),
        ("--time", "t", "--event", "status", "--delimiter", "space"),
        _column("status", 1),
        {"sep": " "},
    ),
    TableCase(
        "c_botulinum_lag_phase.csv",
        _packaged("lifelines.datasets", "c_botulinum_lag_phase.csv"),
        ("--lower", "lower_bound_days", "--upper", "upper_bound_days"),
        None,
        model="weibull_aft",
    ),
    _lifelines(
        "canadian_senators.csv",
        "diff_days",
        "observed",
        True,
        fit_options=("--drop", "Name,Term (yyyy.mm.dd),start_date,end_date,reason"),
    ),
    _lifelines("dd.csv", "duration", "observed", fit_options=("--drop", "ehead,leaderspellreg")),
    _lifelines("g3.csv", "time", "event", True),
    _lifelines("gbsg2.csv", "time", "cens"),
    TableCase(
        "interval_diabetes.csv",
        _packaged("lifelines.datasets", "interval_diabetes.csv"),
        ("--lower", "left", "--upper", "right"),
        None,
        model="weibull_aft",
    ),
    _lifelines("kidney_transplant.csv", "time", "death"),
    _lifelines("larynx.csv", "time", "death"),
    _lifelines("lung.csv", "time", "status"),
    _lifelines(
        "lymph_node.csv",
        "rectime",
        "censrec",
        fit_options=("--drop", "id,diagdateb,recdate,deathdate,survtime,censdead"),
    ),
    _lifelines("lymphoma.csv", "Time", "Censor"),
    _lifelines(
        "merrell1955.csv",
        "time_between_diagnosis_and_last_observation_(years)",
        "dead",
        True,
        fit_options=("--drop", "id,year_month_of_diagnosis,year_month_of_last_observation"),
    ),
    TableCase(
        "mice.csv",
        _packaged("lifelines.datasets", "mice.csv"),
        ("--lower", "l", "--upper", "u"),
        None,
        model="weibull_aft",
    ),
    _lifelines("psychiatric_patients.csv", "T", "C"),
    TableCase(
        "recur.csv",
        _packaged("lifelines.datasets", "recur.csv"),
        ("--id", "ID", "--start", "TIME0", "--stop", "TIME1", "--event", "CENSOR"),
        _column("CENSOR", 1),
        refused="event must come in the last episode of a person",
    ),
    _lifelines("regression.csv", "T", "E"),
    _lifelines("rossi.csv", "week", "arrest"),
    TableCase(
        "stanford_heart.csv",
        _packaged("lifelines.datasets", "stanford_heart.csv"),
        ("--id", "id", "--start", "start", "--stop", "stop", "--event", "event"),
        _column("event", 1),
    ),
    _lifelines("static_test.csv", "t", "E"),
    _lifelines("waltons_dataset.csv", "T", "E"),
    _scikit_survival("GBSG2.arff", "time", "cens"),
    _scikit_survival("actg320.arff", "time", "censor"),
    TableCase(
        "bmt.csv",
        _arff("bmt.arff"),
        ("--time", "ftime", "--event", "status", "--event-values", "1=relapse,2=death"),
        lambda frame: int((frame["status"] > 0).sum()),
        model="cause_specific_cox",
    ),
    _scikit_survival("breast_cancer_GSE7390-metastasis.arff", "t.tdm", "e.tdm"),
    _scikit_survival("cgvhd.arff", "survtime", "stat", fit_options=("--drop", "stnum,reltime,rcens")),
    _scikit_survival("flchain.arff", "futime", "death", "dead"),
    _scikit_survival("veteran.arff", "Survival_in_days", "Status", "dead"),
    _scikit_survival("whas500.arff", "lenfol", "fstat"),
    TableCase(
        "heart.csv",
        _packaged("statsmodels.datasets.heart", "heart.csv"),
        ("--time", "survival", "--event", "censors"),
        _column("censors", 1),
    ),
)


def _people(n: int = 120) -> pd.DataFrame:
    """Rows with an effect of age, three sites, and about a third censored."""
    generator = np.random.default_rng(11)
    age = generator.normal(60, 9, n).round(1)
    event_time = 30 * np.exp(-0.04 * (age - 60)) * generator.weibull(1.3, n)
    censoring = generator.uniform(5, 60, n)
    return pd.DataFrame(
        {
            "age": age,
            "site": generator.choice(["north", "south", "east"], n),
            "marker": generator.lognormal(1, 0.5, n).round(2),
            "months": np.minimum(event_time, censoring).round(2) + 0.01,
            "died": (event_time <= censoring).astype(int),
        }
    )


def _drawn(
    name: str,
    change: Callable[[pd.DataFrame], pd.DataFrame],
    options: tuple[str, ...] = (),
    *,
    events: Callable[[pd.DataFrame], int] | None = None,
    write: Callable[[pd.DataFrame], bytes] | None = None,
    read: Mapping[str, object] | None = None,
    **more: object,
) -> TableCase:
    outcome = (
        options if "--time" in options or "--start" in options else ("--time", "months", "--event", "died", *options)
    )
    return TableCase(
        name,
        lambda: (write or _as_csv())(change(_people())),
        outcome,
        events or _column("died", 1),
        read or {},
        **more,
    )


def _as_csv(encoding: str = "utf-8", **more: object) -> Callable[[pd.DataFrame], bytes]:
    return lambda frame: frame.to_csv(index=False, **more).encode(encoding)


def _as_excel(frame: pd.DataFrame) -> bytes:
    pytest.importorskip("openpyxl")
    target = io.BytesIO()
    frame.to_excel(target, index=False)
    return target.getvalue()


def _with(**columns: object) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame.assign(**columns)


def _first_only(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(died=[1] + [0] * (len(frame) - 1))


def _dated(frame: pd.DataFrame) -> pd.DataFrame:
    start = pd.Timestamp("2015-01-10") + pd.to_timedelta(np.arange(len(frame)) * 9, unit="D")
    end = start + pd.to_timedelta((frame["months"] * 30.44).round(), unit="D")
    dates = {"diagnosis": start.strftime("%Y-%m-%d"), "last_seen": end.dt.strftime("%Y-%m-%d")}
    return frame.drop(columns="months").assign(**dates)


DRAWN = (
    _drawn(
        "semicolon.csv",
        _with(),
        ("--decimal", ",", "--delimiter", "semicolon"),
        write=_as_csv(sep=";", decimal=","),
        read={"sep": ";", "decimal": ","},
    ),
    _drawn("semicolon_unnamed.csv", _with(), write=_as_csv(sep=";", decimal=","), read={"sep": ";", "decimal": ","}),
    _drawn(
        "latin.csv",
        _with(town=lambda frame: frame["site"].map({"north": "Köln", "south": "Zürich", "east": "Łódź"[1:]})),
        ("--encoding", "latin-1"),
        write=lambda frame: frame.to_csv(index=False).encode("latin-1", "replace"),
        read={"encoding": "latin-1"},
    ),
    _drawn("gaps.csv", _with(marker=lambda frame: frame["marker"].where(frame.index % 5 > 0, -9)), ("--missing", "-9")),
    _drawn(
        "text_event.csv",
        _with(died=lambda frame: frame["died"].map({1: "Dead", 0: "alive"})),
        ("--event-value", "Dead"),
        events=_column("died", "Dead"),
    ),
    _drawn("copies.csv", lambda frame: pd.concat([frame, frame.head(20)])),
    _drawn("time_zero.csv", _with(months=lambda frame: frame["months"].where(frame.index > 2, 0.0))),
    _drawn("one_event.csv", _first_only),
    _drawn("constant.csv", _with(ward="a", dose=7)),
    _drawn("collinear.csv", _with(age_in_days=lambda frame: frame["age"] * 365)),
    _drawn("names.csv", _with(name=lambda frame: [f"Person {k} of {m}" for k, m in enumerate(frame["marker"])])),
    _drawn("leak.csv", _with(death_month=lambda frame: frame["months"].where(frame["died"] == 1))),
    _drawn("copy_of_event.csv", _with(outcome=lambda frame: frame["died"])),
    _drawn("marked.csv", _with(), write=_as_csv("utf-8-sig")),
    _drawn(
        "wide.csv",
        lambda frame: frame.join(
            pd.DataFrame(np.random.default_rng(0).normal(size=(len(frame), 40)).round(3)).add_prefix("gene")
        ),
    ),
    _drawn("sheet.xlsx", _with(), write=_as_excel),
    _drawn("tabs.tsv", _with(), write=_as_csv(sep="\t"), read={"sep": "\t"}),
    _drawn(
        "dates.csv",
        _dated,
        ("--start", "diagnosis", "--end", "last_seen", "--event", "died"),
        fit_options=("--unit", "months"),
    ),
)
