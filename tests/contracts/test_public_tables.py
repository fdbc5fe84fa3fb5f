"""Public tables through every model of the registry: a fitted model or one clear line, never anything else.

The product is trimmed to be fast: few rows, an epoch, one member, and for a model that reads columns as others do only
some of the tables that are hard to read. ``python -m bench.public_tables`` runs it whole.
"""

from __future__ import annotations

import functools

import pytest

from aldsurv.registry import MODELS
from bench.public_tables import QUICK, TABLES, outcome_of, some_rows

for package in ("torch", "xgboost", "lifelines", "sksurv", "statsmodels", "sklearn"):
    pytest.importorskip(package)

ROWS = 40
GIVEN = {"random_state": 0, "progress": False, **QUICK}
INTERVALS = {"diabetes", "mice", "botulinum"}
# What is around other models meets a table's columns through them, who take all tables: of its own are folds, which few
# rows or events, copies, weights, bounds and late entries make hard.
AROUND = {name for name in MODELS if {"estimator", "estimators"} & MODELS.load(name).parameter_defaults().keys()}
HARD_FOLDS = (
    "heart_transplants", "diabetes", "mice", "botulinum", "leukemia", "mixed", "dates", "weighted", "separated",
    "steps", "one_event", "five_rows", "three_rows", "no_events",
)  # fmt: skip
# All networks and trees read columns as the first, all linear models as the second: these take all tables, each of the
# others the tables that are hard to learn from and a third of the rest, another third than its neighbours.
WHOLE = {"ald", "cox"}
EASY = [table for table in TABLES if table not in HARD_FOLDS]
EXACT_ONLY = {
    "cqrnn", "deepsurv", "deephit", "cox", "coxnet", "recalibrated", "icald_calibrated", "cause_specific_cox",
    "fine_gray",
}  # fmt: skip


def may_refuse(model: str, table: str) -> str | None:
    """What the error says where nothing can be learned, or learning has no definition; None: there is no excuse."""
    if table == "no_events":
        return "no event was observed"
    if table == "dates":
        return "this is the date"
    if table in INTERVALS and model in EXACT_ONLY:
        return "interval-censor"
    if table == "heart_transplants" and model == "cqrnn":
        return "entered late"
    if table == "heart_transplants" and model == "fine_gray":
        return "delayed entry"
    return None


def tables_of(model: str) -> list[str]:
    if model in WHOLE:
        return list(TABLES)
    some = [] if model in AROUND else EASY[list(MODELS).index(model) % 3 :: 3]
    return [*HARD_FOLDS, *some]


@functools.cache
def rows_of(table: str):
    return some_rows(TABLES[table](), ROWS)


def test_there_are_twenty_public_tables():
    made_up = {"wide", "mixed", "dates", "weighted", "separated", "steps", "one_event", "five_rows", "three_rows"}
    assert len(set(TABLES) - made_up - {"no_events"}) >= 20


@pytest.mark.parametrize("model", MODELS)
def test_every_table(model):
    wrong = []
    for table in tables_of(model):
        found, excuse = outcome_of(model, rows_of(table), GIVEN), may_refuse(model, table)
        expected = "fitted" if excuse is None else "refused"
        if found.result != expected or (excuse or "") not in found.message:
            wrong.append(f"{table}: {found.result} {found.message}")
    assert not wrong, "\n".join(wrong)
