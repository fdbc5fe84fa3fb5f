"""What a plan asks for, and that it is known by its hash."""

from __future__ import annotations

import json

import pytest

from aldsurv import datasets
from aldsurv.benchmark import Plan
from aldsurv.errors import ParameterError, UnknownNameError


def test_the_default_plan_has_the_models_of_the_paper():
    plan = Plan(tuple(datasets.names(paper=True)))
    rows = {(cell.series.dataset, cell.series.model) for cell in plan.cells() if cell.series.variant == "row"}
    models = {"ald", "cqrnn", "lognormal", "deepsurv", "deephit"}
    assert rows == {(dataset, model) for dataset in datasets.names(paper=True) for model in models}
    assert {cell.seeds for cell in plan.cells()} == {tuple(range(10))}
    # 105 of the paper, WHAS in two more ways and BreastMSK in one.
    assert len(plan.cells()) == 105 + 15
    assert len({cell.name for cell in plan.cells()}) == len(plan.cells())


def test_definitions_are_for_synthetic_and_recipes_for_models_that_have_them():
    plan = Plan(("weibull", "gbsg"), ("ald", "cox"), ("paper", "best"), ("released", "printed"), seeds=1)
    assert {cell.name for cell in plan.cells()} == {
        "weibull/released/row/ald/paper",
        "weibull/released/row/ald/best",
        "weibull/released/row/cox/-",
        "weibull/printed/row/ald/paper",
        "weibull/printed/row/ald/best",
        "weibull/printed/row/cox/-",
        "gbsg/real/row/ald/paper",
        "gbsg/real/row/ald/best",
        "gbsg/real/row/cox/-",
    }


def test_the_hash_tells_plans_apart_and_nothing_else():
    plan = Plan(("weibull", "gbsg"), ("ald",), seeds=2)
    assert Plan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert Plan(["weibull", "gbsg", "weibull"], ["ald"], seeds=2).hash == plan.hash
    others = [
        Plan(("gbsg",), ("ald",), seeds=2),
        Plan(("weibull", "gbsg"), ("ald", "cox"), seeds=2),
        Plan(("weibull", "gbsg"), ("ald",), seeds=3),
        Plan(("weibull", "gbsg"), ("ald",), ("best",), seeds=2),
        Plan(("weibull", "gbsg"), ("ald",), definitions=("printed",), seeds=2),
        Plan(("weibull", "gbsg"), ("ald",), seeds=2, grouped=False),
    ]
    assert len({plan.hash, *(other.hash for other in others)}) == 7


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"datasets": ("gbsgg",)}, UnknownNameError, "Did you mean 'gbsg'"),
        ({"models": ("deepsurf",)}, UnknownNameError, "Did you mean 'deepsurv'"),
        ({"recipes": ("worst",)}, ParameterError, "recipes must be among 'paper', 'best', but 'worst' is not"),
        ({"definitions": ("both",)}, ParameterError, "definitions must be among 'released', 'printed'"),
        ({"seeds": 0}, ParameterError, "seeds must be a whole number from 1"),
        ({"datasets": ()}, ParameterError, "datasets must be a list of at least one name"),
        ({"grouped": 1}, ParameterError, "grouped must be True or False"),
    ],
)
def test_what_is_refused(wrong, error, message):
    with pytest.raises(error, match=message):
        Plan(**{"datasets": ("gbsg",), **wrong})
    with pytest.raises(ParameterError, match="exactly"):
        Plan.from_dict({"datasets": ["gbsg"]})
