from __future__ import annotations

import inspect

import pytest

from aldsurv import datasets
from aldsurv.errors import UnknownNameError
from aldsurv.models.paper_settings import paper_settings
from aldsurv.registry import MODELS

# Appendix B.3 of the paper: epochs of CQRNN and of LogNorm, and whether dropout (0.333) is enabled.
PRINTED = """
norm_linear 100 100 disabled
norm_nonlinear 100 100 disabled
exponential 100 100 disabled
weibull 100 100 disabled
lognorm 100 100 disabled
norm_uniform 100 100 disabled
norm_heavy 20 20 disabled
norm_med 20 20 disabled
norm_light 20 20 disabled
norm_same 20 20 disabled
lognorm_heavy 10 10 disabled
lognorm_med 10 10 disabled
lognorm_light 10 10 disabled
lognorm_same 10 10 disabled
metabric 20 10 disabled
whas 100 50 disabled
support 10 20 disabled
gbsg 20 10 enabled
tmbimmuno 50 50 disabled
breastmsk 100 50 disabled
lgggbm 50 20 enabled
"""
LINES = [line.split() for line in PRINTED.split("\n") if line]


def test_every_dataset_is_printed():
    assert [line[0] for line in LINES] == datasets.names(paper=True)


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_epochs_and_dropout_are_the_printed_ones(line):
    name, cqrnn, lognormal, dropout = line
    for model, epochs in (("cqrnn", cqrnn), ("lognormal", lognormal)):
        found = paper_settings(model, name)
        assert found["max_epochs"] == int(epochs)
        assert found["dropout"] == (0.333 if dropout == "enabled" else 0.0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", datasets.names(paper=True))
def test_columns_of_lgggbm_are_clipped_at_3(model, name):
    found = paper_settings(model, name)
    assert found.get("clip_features") == (3.0 if name == "lgggbm" else None)
    if model not in ("cqrnn", "lognormal"):
        assert set(found) <= {"clip_features"}


@pytest.mark.parametrize("model", ["ald", "cqrnn", "lognormal"])
def test_they_are_arguments_of_the_model(model):
    arguments = inspect.signature(MODELS.load(model)).parameters
    for name in datasets.names(paper=True):
        made = MODELS.load(model)("paper", **paper_settings(model, name))
        assert set(paper_settings(model, name)) <= set(arguments)
        assert made.recipe == "paper"


def test_a_change_of_the_answer_stays_with_the_caller():
    paper_settings("cqrnn", "gbsg")["max_epochs"] = 1
    assert paper_settings("cqrnn", "gbsg")["max_epochs"] == 20


def test_unknown_names_get_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"unknown model 'cqrn'\. Did you mean 'cqrnn'"):
        paper_settings("cqrn", "gbsg")
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'metabrik'\. Did you mean 'metabric'"):
        paper_settings("cqrnn", "metabrik")
    with pytest.raises(UnknownNameError, match="unknown dataset None"):
        paper_settings("cqrnn", None)
