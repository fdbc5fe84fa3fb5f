"""The page of the file format says what is in files: those that are frozen, and those of a small fit of every model."""

from __future__ import annotations

import json
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import aldsurv
from aldsurv import SurvivalData
from aldsurv.files.model_file import read_model_file
from aldsurv.models.rows.training_rows import TrainedOn
from aldsurv.models.updating.updated_survival import UpdatedSurvival
from aldsurv.networks import Architecture
from aldsurv.registry import MODELS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "model_file.md").read_text(encoding="utf-8")
FROZEN = sorted((ROOT / "tests" / "models" / "frozen").glob("*.aldsurv"))
_SECTION = re.compile(r"^### (.+?)\n(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"^\| (entry|array) \| `([^`]+)` \|([^|]*)\|([^|]*)\|", re.MULTILINE)
_ARRAY = re.compile(r"(float64|float32|int64|int32|bool) \(([^)]*)\)")


class Row(NamedTuple):
    """A row of a table of the page."""

    what: str
    name: str
    type: str
    condition: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """What names it stands for."""
        return re.compile(re.escape(self.name).replace(r"\{i\}", r"\d+").replace(r"\*", ".+"))


class File(NamedTuple):
    """The content of a file."""

    document: dict
    arrays: dict


SECTIONS = dict(_SECTION.findall(PAGE))


def table(section: str) -> list[Row]:
    return [Row(*found) for found in _ROW.findall(SECTIONS[section])]


def model_table(model: str) -> list[Row]:
    """The rows of a model's tables, those that it shares with others among them."""
    shared = re.search(r"^Tables: ([^.]+)\.", SECTIONS[f"`{model}`"], re.MULTILINE)[1].split(", ")
    return [row for name in shared for row in table(name[0].upper() + name[1:])] + table(f"`{model}`")


def fits() -> Iterator[tuple[str, object]]:
    """Small fitted models whose files have, with the frozen ones, everything that a file may have."""
    rng = np.random.default_rng(3)
    n = 80
    x = {
        "age": np.where(np.arange(n) % 7, rng.normal(60, 9, n), np.nan),
        "size": rng.lognormal(1, 0.5, n),
        "site": rng.choice(["left", "right"], n),
        "same": np.ones(n),
    }
    time = 10 * np.exp(0.4 * (x["site"] == "left") + 0.5 * rng.normal(size=n))
    end = np.quantile(time, 0.7)
    event = time < end
    right = SurvivalData.right(np.minimum(time, end), event)
    cause = np.where(event, rng.integers(1, 3, n), 0)
    causes = SurvivalData.competing(np.minimum(time, end), cause, names=["relapse", "death"])
    groups = np.arange(n) // 2
    small = {"members": 2, "max_epochs": 2, "hidden": (4,), "random_state": 0}
    trees = {"members": 2, "max_rounds": 3, "random_state": 0}
    models = aldsurv.models
    stacked = [("a", aldsurv.CoxRegression()), ("b", aldsurv.WeibullAFT())]

    yield "ald", aldsurv.ALDSurvival(**small, causes="hazards").fit(x, causes)
    yield "ald", aldsurv.ALDSurvival(**small, cure=True, batch_norm=True).fit(x, right)
    yield "lognormal", aldsurv.LogNormalSurvival(**small, batch_norm=True).fit(x, causes)
    yield "cqrnn", aldsurv.CQRNN(**small, batch_norm=True, head_hidden=(3,), residual=False).fit(x, right)
    yield "deepsurv", aldsurv.DeepSurv(**small, strata="site").fit(x, right)
    yield "deephit", aldsurv.DeepHit(**small, durations=5).fit(x, causes)
    yield "icald", aldsurv.ICALDSurvival(**small, nodes=4, batch_norm=True).fit(x, right)
    yield "boosted_ald", aldsurv.BoostedALD(**trees, causes="hazards").fit(x, causes)
    yield "cox", aldsurv.CoxRegression(robust=True).fit(x, right, groups=groups)
    yield "weibull_aft", aldsurv.WeibullAFT(cure=True, robust=True).fit(x, right, groups=groups)
    yield "lognormal_aft", aldsurv.LogNormalAFT(robust=True).fit(x, right, groups=groups)
    cox = models.ElasticNetCox(alpha=0.1).fit(x, right)
    yield "coxnet", cox
    yield "aftnet", models.ElasticNetAFT(alpha=0.1).fit(x, right)
    yield "cause_specific_cox", models.CauseSpecificCox(strata="site").fit(x, causes)
    yield "fine_gray", models.FineGray().fit(x, causes)
    yield "stack", models.StackedSurvival(stacked, weights="equal").fit(x, right)
    yield "updated", UpdatedSurvival(cox, rung="slope").fit(x, right)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, list[File]]:
    """All files by the name of their model."""
    found, folder = defaultdict(list), tmp_path_factory.mktemp("models")
    for path in FROZEN:
        content = read_model_file(path)
        found[content.document["model"]].append(File(*content))
    with warnings.catch_warnings():
        # Few rows and epochs, and no end of follow-up beyond the events.
        warnings.simplefilter("ignore")
        for name, model in fits():
            content = read_model_file(model.save(folder / "model.aldsurv"))
            assert content.document["model"] == name
            found[name].append(File(*content))
    return found


def test_every_model_has_a_section(files):
    documented = {name.strip("`") for name in SECTIONS if name.startswith("`")}
    assert documented == {*MODELS, "updated"}
    assert set(files) == documented


@pytest.mark.parametrize("model", [*MODELS, "updated"])
def test_tables_are_of_the_files(files, model):
    rows, used = model_table(model), set()
    for file in files[model]:
        for what, names in (("entry", file.document), ("array", file.arrays)):
            for name in names:
                fitting = [row for row in rows if row.what == what and row.pattern.fullmatch(name)]
                assert fitting, f"{what} {name} of {model} is not on the page"
                used.update(fitting)
                shape = _ARRAY.fullmatch(fitting[0].type.strip()) if what == "array" else None
                if shape is not None:
                    assert file.arrays[name].dtype.name == shape[1], name
                    axes = shape[2].split(", ")
                    assert "…" in axes or file.arrays[name].ndim == len(axes), name
        always = {row.name for row in rows if not row.condition.strip() and not set("{*") & set(row.name)}
        assert always <= {*file.document, *file.arrays}, f"{model} lacks what the page says is always there"
    # Networks of some models have no such layers, and a shared table has rows for all.
    own = set(table(f"`{model}`"))
    assert own <= used, f"no file of {model} has {sorted(row.name for row in own - used)}"


def test_shared_tables_have_nothing_that_no_file_has(files):
    rows = {row for section in SECTIONS if section.startswith("Every ") for row in table(section)}
    names = {name for each in files.values() for file in each for name in (*file.document, *file.arrays)}
    assert not [row.name for row in rows if not any(map(row.pattern.fullmatch, names))]


def within(value: object, key: str) -> Iterator[dict]:
    """Objects under a key, however deep."""
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in parts:
        if name == key and isinstance(part, dict):
            yield part
        yield from within(part, key)


@pytest.mark.parametrize("section", ["trained_on", "history", "features", "network", "design"])
def test_objects_within(files, section):
    rows = table(section)
    listed = {row.name for row in rows}
    always = {row.name for row in rows if not row.condition.strip()}
    objects = [part for each in files.values() for file in each for part in within(file.document, section)]
    assert objects
    for part in objects:
        assert always <= set(part) <= listed, section


def test_plans_of_columns(files):
    plans = [
        plan
        for each in files.values()
        for file in each
        for features in within(file.document, "features")
        for plan in features["columns"]
    ]
    assert {plan["kind"] for plan in plans} == {"number", "levels", "left out"}
    for plan in plans:
        rows = table(plan["kind"])
        always = {row.name for row in rows if not row.condition.strip()}
        assert always <= set(plan) <= {row.name for row in rows}


def test_lists_are_those_of_the_code():
    assert {row.name for row in table("trained_on")} == {field.name for field in fields(TrainedOn)}
    assert {row.name for row in table("network")} == {field.name for field in fields(Architecture)}
    activations = set(re.findall(r"^\| `(\w+)` \| `", SECTIONS["network"], re.MULTILINE))
    assert activations == set(aldsurv.networks.ACTIVATIONS)


@pytest.mark.parametrize("model", MODELS)
def test_settings_that_came_later_are_listed(model):
    later = PAGE.split("## Versions")[1]
    kind = MODELS.load(model)
    names = set(kind.LATER_PARAMETERS)
    if "RECIPES" in dir(kind):
        names |= {name for group in type(kind.RECIPES["default"]).ADDED_LATER for name in group}
    for name in names:
        assert f"`{name}`" in later
    if names:
        assert f"`{model}`" in later


def test_the_document_is_plain_json(files):
    for each in files.values():
        for file in each:
            assert json.loads(json.dumps(file.document, allow_nan=False)) == file.document
