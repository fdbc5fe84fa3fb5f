"""`aldsurv fit --set NAME=VALUE`, --ridge, --learning-rate, and `aldsurv models`, which lists what can be set."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.fit.model_parameters import chosen_parameters, settable_parameters
from aldsurv.cli.main import main
from aldsurv.datasets import read_table
from aldsurv.registry import MODELS

OUTCOME = ("--time", "t", "--event", "e")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    x = generator.normal(size=(80, 2))
    time = np.exp(0.5 * x[:, 0] + generator.normal(size=80))
    rows = [f"{a:.3f},{b:.3f},{s},{t:.3f},{e}" for (a, b), s, t, e in zip(
        x, np.where(generator.random(80) < 0.5, "f", "m"), time, (generator.random(80) < 0.7).astype(int), strict=True
    )]  # fmt: skip
    Path("people.csv").write_text("\n".join(["a,b,sex,t,e", *rows, ""]), encoding="utf-8")
    return "people.csv"


def error(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(("fit", "people.csv", *OUTCOME, *arguments)) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    return lines[0].removeprefix("aldsurv: error: ")


@pytest.mark.parametrize(
    ("model", "text", "value"),
    [
        ("cox", "ridge=2", 2),
        ("cox", "ridge=0.5", 0.5),
        ("cox", "robust=yes", True),
        ("cox", "robust=auto", "auto"),
        ("cox", "robust=False", False),
        ("cox", "strata=sex,site", ("sex", "site")),
        ("cox", "strata=sex", "sex"),
        ("cox", "unit=7", "7"),
        ("cox", "unit=None", None),
        ("coxnet", "alpha=none", None),
        ("coxnet", "l1-ratio=0.5,1", (0.5, 1)),
        ("ald", "hidden=64,64", (64, 64)),
        ("ald", "hidden=(64, 64)", (64, 64)),
        ("ald", "hidden=[8]", (8,)),
        ("ald", "hidden=()", ()),
        ("ald", "hidden=64", 64),
        ("ald", "batch_norm=true", True),
        ("ald", "time_scale=none", "none"),
        ("ald", "time_scale=2.5", 2.5),
        ("ald", "batch_size=auto", "auto"),
        ("ald", "batch_size=32", 32),
        ("ald", "learning-rate=1e-3", 0.001),
        ("cqrnn", "quantiles=0.1,0.5,0.9", (0.1, 0.5, 0.9)),
        ("stack", "estimators=cox,weibull_aft", ("cox", "weibull_aft")),
        ("stack", "estimators=cox", ("cox",)),
        ("boosted_ald", "cure=no", False),
    ],
)
def test_values_have_the_type_that_the_parameter_needs(model: str, text: str, value: object) -> None:
    (given,) = chosen_parameters(model, {}, [text]).values()
    assert (type(given), given) == (type(value), value)
    MODELS.load(model)(**chosen_parameters(model, {}, [text])).check_parameters()


@pytest.mark.parametrize("model", MODELS)
def test_every_default_can_be_given_as_it_is_listed(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("models", model, "--json")) == 0
    listed = json.loads(capsys.readouterr().out)["parameters"]
    assert list(listed) == settable_parameters(model)
    defaults = MODELS.load(model).default_settings()
    given = chosen_parameters(model, {}, [f"{name}={facts['default']}" for name, facts in listed.items()])
    for name, value in given.items():
        # One layer is its size, or a list of one.
        expected = defaults[name] if not isinstance(value, int) else defaults[name] or value
        assert value == expected or (value,) == expected
    assert set(MODELS.load(model).parameter_defaults()) >= set(listed)


def test_what_is_set_is_what_the_model_is_fitted_with(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("fit", table, *OUTCOME, "--model", "cox", "--set", "ties=breslow", "--ridge", "3", "--quiet")) == 0
    model = aldsurv.load("people.aldsurv")
    assert model.get_params()["ties"] == "breslow"
    assert model.get_params()["ridge"] == 3
    rows = read_table(table, time="t", event="e")
    expected = aldsurv.CoxRegression(ties="breslow", ridge=3.0).fit(rows.x, rows.y)
    np.testing.assert_array_equal(model.predict(rows.x), expected.predict(rows.x))
    network = ("--set", "hidden=4", "--set", "max_epochs=2", "--members", "1", "--learning-rate", "0.02", "--quiet")
    assert main(("fit", table, *OUTCOME, *network, "--held-out", "0")) == 0
    settings = aldsurv.load("people.aldsurv").settings_
    assert settings.hidden in (4, (4,))
    assert (settings.max_epochs, settings.members, settings.learning_rate) == (2, 1, 0.02)
    assert not capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ("--model", "cox", "--set", "rigde=1"),
            "the model 'cox' has no parameter 'rigde'. Did you mean 'ridge'? "
            "Known: ties, point, unit, ridge, robust, strata.",
        ),
        (
            ("--model", "cox", "--set", "nonsense=1"),
            "the model 'cox' has no parameter 'nonsense'. Known: ties, point, unit, ridge, robust, strata.",
        ),
        (("--model", "cox", "--set", "ties=Breslow"), "--set ties must be 'efron' or 'breslow', but is 'Breslow'."),
        (("--model", "cox", "--set", "ridge=-1"), "--ridge must be a number from 0 on (0: no penalty), but is -1."),
        (("--model", "cox", "--ridge", "-1"), "--ridge must be a number from 0 on (0: no penalty), but is -1.0."),
        (("--learning-rate", "0"), "--learning-rate must be a number above 0, but is 0.0."),
        # Not the option --start, which is a column.
        (("--set", "start=x"), "--set start must be 'random' or 'marginal', but is 'x'."),
        (
            ("--set", "hidden=a,b"),
            "--set hidden must be sizes of layers, such as (32, 32) or (), but is ('a', 'b').",
        ),
        (("--set", "max_epochs=2.5"), "--set max_epochs must be a whole number from 1 on or 'auto', but is 2.5."),
        (("--set", "max_epochs"), "--set must be NAME=VALUE, such as --set max_epochs=50, but is 'max_epochs'."),
        (("--set", "max_epochs="), "--set must be NAME=VALUE, such as --set max_epochs=50, but is 'max_epochs='."),
        (("--set", "random_state=1"), "--set cannot give the parameter 'random_state'. Give --seed in its place."),
        (("--set", "encoder=x"),
         "--set cannot give the parameter 'encoder'. Fit the model from Python to give it one."),
        (("--set", "members=2", "--members", "3"),
         "--set members cannot be combined with --members. Give one of them."),
        (("--set", "nodes=2", "--set", "nodes=3", "--model", "icald"),
         "--set nodes cannot be combined with another value. Give one of them."),
        (("--model", "cox", "--tune", "2", "--ridge", "1"),
         "CoxRegression leaves nothing to search: ridge is set. Set less by --set, or fit without --tune."),
    ],
)  # fmt: skip
def test_refusals(table: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], expected: str) -> None:
    if "--tune" in arguments:
        pytest.importorskip("optuna")
        arguments = (*arguments, "--quiet")
    assert error(capsys, *arguments) == expected
    assert [path.name for path in Path().iterdir()] == [table]


def test_a_model_without_the_option(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    line = error(capsys, "--model", "cox", "--learning-rate", "0.1")
    assert line.startswith("the model 'cox' has no --learning-rate. Of --recipe, --members,")
    assert "it has --ridge and --unit; models with --learning-rate: ald, boosted_ald," in line


def test_what_is_set_is_not_searched(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optuna")
    space = MODELS.load("lognormal").SEARCH_SPACE
    assert space is not None
    assert "dropout" in space.entries
    network = ("--model", "lognormal", "--set", "max_epochs=1", "--members", "1", "--set", "dropout=0.25")
    assert main(("fit", table, *OUTCOME, *network, "--tune", "2", "--json", "--held-out", "0")) == 0
    facts = json.loads(capsys.readouterr().out)
    searched = set().union(*(trial["settings"] for trial in facts["tuning"]["trials"]))
    assert searched == set(space.entries) - {"dropout"}
    assert facts["settings"]["dropout"] == 0.25


def test_models_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("models",)) == 0
    lines = capsys.readouterr().out
    assert all(f"  {name} " in lines for name in MODELS)
    assert main(("models", "ald")) == 0
    text = capsys.readouterr().out
    assert "Parameters, for aldsurv fit --set" in text
    assert "learning_rate  0.01 by default (0.003 for small tables); a number above 0" in text
    assert main(("models", "aald")) == 2
    assert "Did you mean 'ald'" in capsys.readouterr().err
