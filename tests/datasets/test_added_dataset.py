"""One file and one record: a dataset that is added is seen everywhere."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from aldsurv import datasets
from aldsurv.benchmark import Plan, run
from aldsurv.benchmark.display_names import dataset_title
from aldsurv.benchmark.paper.calibration_bounds import calibration_bounds
from aldsurv.benchmark.paper.published import recomputed_verdicts
from aldsurv.benchmark.tables.result_tables import full_table
from aldsurv.cli.main import main
from aldsurv.datasets import DATASETS
from aldsurv.errors import ParameterError, UnknownNameError
from datasets.added_dataset import LINE


@pytest.fixture
def line() -> Iterator[str]:
    DATASETS.add(LINE)
    yield LINE.name
    DATASETS.remove(LINE.name)


def test_it_is_loaded_and_described(line):
    data = datasets.load(line)
    assert str(data) == "line: n=100, 66 events (66 %), time 1–2 (days), 1 features"
    assert [len(part) for part in datasets.load_split(line, seed=3)] == [80, 20]
    assert datasets.names() == [*datasets.names(paper=True), "rotterdam", line]
    assert str(datasets.describe(line)).startswith("line: times on a straight line (clinical)\n")
    with pytest.raises(ParameterError, match="there is already a dataset 'line'"):
        DATASETS.add(LINE)


def test_the_command_line_lists_it(line, capsys):
    assert main(["datasets", "list", "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)[-1]
    assert (listed["name"], listed["title"], listed["purpose"]) == (line, "The Line", "times on a straight line")
    assert "location" not in listed
    assert main(["datasets", "list"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split()[:3] == [line, "clinical", "100"]


def test_the_benchmark_runs_on_it_and_shows_its_title(line, tmp_path):
    results = run(Plan((line,), ("weibull_aft",), seeds=1), tmp_path / "results").results()
    assert dataset_title(line) == "The Line"
    assert "The Line" in str(full_table(results))


def test_the_numbers_of_the_paper_are_those_of_its_own_datasets(line):
    assert len(recomputed_verdicts()) == 756
    assert {bound.dataset for bound in calibration_bounds()} == set(datasets.names(paper=True))


def test_it_is_gone_when_it_is_removed():
    assert dataset_title(LINE.name) == LINE.name
    with pytest.raises(UnknownNameError, match="unknown dataset 'line'"):
        datasets.load(LINE.name)
