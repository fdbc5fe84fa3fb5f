"""The ledger and the table of verdicts, recomputed from raw predictions by plain loops, scipy and peers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from aldsurv.benchmark import Cell, Results, Series, cells
from aldsurv.benchmark.cells import run_cell, split_of
from aldsurv.benchmark.paper.ledger import count_agreeing, ledger, switch_effects
from aldsurv.benchmark.paper.published import published_results
from aldsurv.benchmark.paper.published_evaluation import SWITCHES, switches_of
from aldsurv.benchmark.paper.published_values import as_published, by_seed_as_published, checked_switches
from aldsurv.benchmark.paper.reasons import NO_REASON, reason_for
from aldsurv.benchmark.plan import PAPER_MODELS
from aldsurv.benchmark.results import PAPER_METRICS
from aldsurv.benchmark.tables import agreement_table, deviations_table, switches_table, verdict_table
from aldsurv.errors import ParameterError
from benchmark.published_loops import nine

# Heavily censored, so that medians are not reached.
DATASET, SEEDS = "norm_uniform", (0, 1)


def series(model: str) -> Series:
    return Series(DATASET, "released", "row", model, "paper")


@pytest.fixture(scope="module")
def fitted() -> Iterator[dict[tuple[str, bool], list]]:
    """The estimators of each model that cells fit, and of LogNorm those of mixed rows as well."""
    models: dict[tuple[str, bool], list] = {}
    fit_seeds = cells.fit_seeds

    def recorded(cell, trains, **changes):
        mixed = "batch_size" in changes
        assert [len(train) for train in trains] == [1000 if mixed else 500] * len(SEEDS)
        assert not mixed or changes["batch_size"] == 256
        models[cell.series.model, mixed] = fit_seeds(cell, trains, **changes)
        return models[cell.series.model, mixed]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "fit_seeds", recorded)
        yield models


@pytest.fixture(scope="module")
def results(fitted) -> Results:
    rows = [row for model in PAPER_MODELS for row in run_cell(Cell(series(model), SEEDS)).results]
    # What the ledger leaves alone: another recipe.
    other = [row._replace(series=row.series._replace(recipe="best"), value=row.value + 1) for row in rows]
    return Results([*rows, *other])


@pytest.fixture(scope="module")
def by_loops(results, fitted) -> dict[tuple[str, str, bool], list[float]]:
    """Values of each seed by model, metric and whether the published way."""
    assert len(fitted) == 6
    values: dict[tuple[str, str, bool], list[float]] = {}
    for model in PAPER_MODELS:
        for seed in SEEDS:
            train, test = split_of(series(model), seed)
            for published in (False, True):
                estimator = fitted[model, published and model == "lognormal"][seed]
                scores = nine(
                    model, estimator.predict_distribution(test.x), train.y, test.y,
                    published=published, truth=test.truth.mean(),
                )  # fmt: skip
                for metric, value in scores.items():
                    values.setdefault((model, metric, published), []).append(value)
    return values


def test_the_ledger_by_loops(results, by_loops):
    rows = ledger(results)
    assert [(row.model, row.metric) for row in rows] == [(m, k) for m in PAPER_MODELS for k in PAPER_METRICS]
    for row in rows:
        mean, sd = published_results()[DATASET, row.model, row.metric]
        assert row.published == (mean, sd)
        for published, ours, distance in (
            (False, row.definition, row.definition_distance),
            (True, row.published_way, row.published_way_distance),
        ):
            expected = by_loops[row.model, row.metric, published]
            where = f"{row.model} {row.metric} {published}"
            assert ours.mean == pytest.approx(np.mean(expected), rel=1e-6, abs=1e-9), where
            assert ours.sd == pytest.approx(np.std(expected, ddof=1), rel=1e-4, abs=1e-9), where
            assert ours.runs == 2
            assert distance == pytest.approx(abs(np.mean(expected) - mean) / sd, rel=1e-4, abs=1e-6), where


def test_the_status_of_a_row_is_what_its_distances_say(results):
    rows = ledger(results)
    for row in rows:
        agrees = row.definition_distance <= 2, row.published_way_distance <= 2
        assert row.status == ("definition" if agrees[0] else "published way" if agrees[1] else "unexplained")
        assert bool(row.because) == (row.status == "published way")
        assert bool(row.reason) != row.agrees
        if row.because:
            # With fewer of them it does not agree, with these it does.
            for count in range(len(row.because) + 1):
                for on in combinations(switches_of(row.model, row.metric), count):
                    mean = by_seed_as_published(results, series(row.model), row.metric, on).mean()
                    near = abs(mean - row.published.mean) <= 2 * row.published.sd
                    assert near == (on == row.because) or count == len(row.because)
    counts = count_agreeing(rows)
    assert counts["definition"] + counts["published way"] + counts["unexplained"] == 45
    assert counts["agrees"] == sum(row.published_way_distance <= 2 for row in rows)


@pytest.mark.parametrize("published", [False, True])
def test_the_table_of_verdicts_by_loops(results, by_loops, published):
    others = [model for model in PAPER_MODELS if model != "ald"]
    ideal = {"cal_s_slope": 1.0, "cal_s_intercept": 0.0, "cal_f_slope": 1.0, "cal_f_intercept": 0.0}
    losses = {}
    for (model, metric, way), values in by_loops.items():
        if way == published:
            runs = np.array(values)
            if metric in ideal:
                runs = np.abs(runs - ideal[metric])
            losses[model, metric] = -runs if metric in ("harrell_c", "uno_c") else runs
    keys = [(metric, other) for metric in PAPER_METRICS for other in others]
    tests = [stats.ttest_ind(losses["ald", metric], losses[other, metric]) for metric, other in keys]
    adjusted = stats.false_discovery_control([test.pvalue for test in tests])
    table = verdict_table(as_published(results) if published else results)
    shown = {row[:2]: [cell.value for cell in row[2:5]] for row in table.rows}
    titles = {"lognormal": "LogNorm", "cqrnn": "CQRNN", "deepsurv": "DeepSurv", "deephit": "DeepHit"}
    names = {"mae": "MAE", "ibs": "IBS", "harrell_c": "Harrell's C", "uno_c": "Uno's C", "cens_dcal": "CensDcal",
             "cal_s_slope": "Cal[S] slope", "cal_s_intercept": "Cal[S] intercept",
             "cal_f_slope": "Cal[f] slope", "cal_f_intercept": "Cal[f] intercept"}  # fmt: skip
    for (metric, other), test, q in zip(keys, tests, adjusted, strict=True):
        expected = [0, 0, 1] if q >= 0.05 else [1, 0, 0] if test.statistic < 0 else [0, 1, 0]
        assert shown[names[metric], titles[other]] == expected, (metric, other)


def test_results_as_published_replace_the_nine_metrics_of_the_paper_only(results):
    changed = as_published(results)
    before = {row[:4]: row.value for row in results}
    assert [row[:4] for row in changed] == list(before)
    for row in changed:
        if row.series.recipe == "best" or row.metric not in PAPER_METRICS:
            assert row.value == before[row[:4]]
    ald = changed.by_seed(series("ald"), "cal_s_slope")
    np.testing.assert_array_equal(ald, results.by_seed(series("ald"), "cal_f_slope"))
    # Without any deviation they are as they were.
    assert list(as_published(results, ())) == list(results)


def test_effects_of_all_combinations(results):
    effects = switch_effects(results)
    assert len(effects) == 2 ** len(SWITCHES)
    rng = np.random.default_rng(0)
    for place in [0, len(effects) - 1, *rng.integers(0, len(effects), 6)]:
        on = list(effects)[place]
        changed = as_published(results, on)
        for metric in PAPER_METRICS:
            agreeing = 0
            for model in PAPER_MODELS:
                mean, sd = published_results()[DATASET, model, metric]
                agreeing += abs(changed.by_seed(series(model), metric).mean() - mean) <= 2 * sd
            assert effects[on][metric] == agreeing


def test_tables_of_the_published_evaluation(results):
    rows, effects = ledger(results), switch_effects(results)
    table = deviations_table(results)
    assert [row[0] for row in table.rows] == list(SWITCHES)
    total = {on: sum(counts.values()) for on, counts in effects.items()}
    for name, *_, alone, last in table.rows:
        assert alone.value == total[name,] - total[()]
        assert last.value == total[SWITCHES] - total[tuple(one for one in SWITCHES if one != name)]
    combinations_table = switches_table(results)
    assert len(combinations_table.rows) == 2 ** len(SWITCHES)
    last = combinations_table.rows[-1]
    assert last[: len(SWITCHES)] == ("on",) * len(SWITCHES)
    assert last[-1].value == total[SWITCHES] == count_agreeing(rows)["agrees"]
    agreement = agreement_table(rows)
    assert len(agreement.rows) == 45
    assert sum(row[-2].value for row in agreement.rows) == total[SWITCHES]
    assert sum(row[-3].value for row in agreement.rows) == total[()]


def test_results_of_earlier_versions_have_a_shorter_ledger(results):
    plain = Results(row for row in results if "@" not in row.metric)
    # What no switch changes, or only the exchange of columns.
    shown = {(row.model, row.metric) for row in ledger(plain)}
    assert ("ald", "cal_s_slope") in shown
    assert ("ald", "ibs") not in shown
    assert not any(model == "lognormal" for model, _ in shown)
    assert list(as_published(plain, ["mixed_rows"])) == list(plain)


def test_every_number_has_a_reason_to_differ():
    for dataset, model, metric in published_results():
        for distance in (2.1, 50.0):
            for near in (False, True):
                assert reason_for(dataset, model, metric, distance, agrees_by_definition=near).endswith(".")
    assert reason_for("gbsg", "ald", "mae", 50.0, agrees_by_definition=False) == NO_REASON
    assert "SUPPORT" in reason_for("support", "ald", "mae", 2.5, agrees_by_definition=False)


def test_switches_are_checked():
    assert checked_switches(["mixed_rows", "nearest_level"]) == ("nearest_level", "mixed_rows")
    with pytest.raises(ParameterError, match="without must be one of"):
        checked_switches(["median"])
