"""A study that was killed goes on from its lines."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

from bench.study_runs import Lines, keep, read_kept, run


class Toy(NamedTuple):
    stage: str
    model: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.model} {self.seed}"


CELLS = [Toy("first", "a", seed) for seed in range(4)]


def squared(cell: Toy) -> dict[str, Any]:
    """In a module, so that another process can be given it."""
    return {**cell._asdict(), "log_loss": float(cell.seed**2), "seconds": 0.0}


class Counted:
    """Computes, notes what, and fails for some seeds."""

    def __init__(self, failing: tuple[int, ...] = ()) -> None:
        self.seeds: list[int] = []
        self.failing = failing

    def __call__(self, cell: Toy) -> dict[str, Any]:
        self.seeds.append(cell.seed)
        return {**cell._asdict(), "error": "no"} if cell.seed in self.failing else squared(cell)


def test_what_is_done_is_not_done_again(tmp_path):
    compute = Counted()
    assert run(CELLS[:2], compute, tmp_path) == 0
    assert run([*CELLS, *CELLS], compute, tmp_path) == 0
    assert compute.seeds == [0, 1, 2, 3]
    assert [line["log_loss"] for line in Lines(tmp_path).read("first")] == [0, 1, 4, 9]
    # A cell that differs in anything is another one.
    assert run([Toy("first", "b", 0), Toy("second", "a", 0)], compute, tmp_path) == 0
    assert compute.seeds[4:] == [0, 0]
    assert len(Lines(tmp_path).read("second")) == 1


@pytest.mark.parametrize("left", [1, 20, -2, -1])
def test_a_line_that_was_cut_off_is_done_again(tmp_path, left):
    run(CELLS[:2], Counted(), tmp_path)
    file = tmp_path / "first.jsonl"
    first, second = file.read_text().splitlines()
    file.write_text(f"{first}\n{second[:left]}")
    compute = Counted()
    assert run(CELLS, compute, tmp_path) == 0
    assert compute.seeds == [1, 2, 3]
    found = Lines(tmp_path).read("first")
    assert [line["seed"] for line in found] == [0, 1, 2, 3]
    assert found[:2] == [json.loads(first), json.loads(second)]


def test_what_failed_is_tried_again(tmp_path):
    assert run(CELLS, Counted(failing=(1, 3)), tmp_path) == 2
    compute = Counted(failing=(3,))
    assert run(CELLS, compute, tmp_path) == 1
    assert compute.seeds == [1, 3]
    assert [line["seed"] for line in Lines(tmp_path).read("first") if "error" not in line] == [0, 2, 1]


def test_what_another_run_has_done_meanwhile_is_left_out(tmp_path):
    def compute(cell):
        if cell.seed == 0:
            Lines(tmp_path).add(squared(CELLS[2]))
        return squared(cell)

    run(CELLS, compute, tmp_path)
    assert [line["seed"] for line in Lines(tmp_path).read("first")] == [2, 0, 1, 3]


def test_what_was_kept_is_read(tmp_path):
    assert read_kept(tmp_path, "speed") is None
    keep(tmp_path / "new", "speed", {"ratio": 2.5})
    assert read_kept(tmp_path / "new", "speed") == {"ratio": 2.5}


def failing_for_one(cell: Toy) -> dict[str, Any]:
    if cell.seed == 1:
        raise ValueError("no luck")
    return squared(cell)


def test_cells_on_a_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=":0") as cluster:
        assert run(CELLS, failing_for_one, tmp_path, cluster=cluster.scheduler_address) == 1
    lines = {line["seed"]: line for line in Lines(tmp_path).read("first")}
    assert [lines[seed].get("log_loss") for seed in range(4)] == [0.0, None, 4.0, 9.0]
    assert "no luck" in lines[1]["error"]
