"""Results files: their origin, and whether they are of the recipes of the code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aldsurv.models import ALDSurvival
from aldsurv.registry import MODELS
from bench.pages import fingerprints as fingerprints_module
from bench.pages import results
from bench.pages.fingerprints import recipe_fingerprint
from bench.pages.results import (
    RESULTS,
    Origin,
    ResultsError,
    comment_lines,
    origins,
    outdated,
    read_rows,
    read_section,
    store_section,
    today,
)

FILES = sorted(path.name for path in RESULTS.iterdir())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    return tmp_path


@pytest.fixture
def another_recipe(monkeypatch):
    """ALD's paper recipe with another dropout."""
    other = {**ALDSurvival.RECIPES, "paper": replace(ALDSurvival.RECIPES["paper"], dropout=0.15)}
    monkeypatch.setattr(ALDSurvival, "RECIPES", other)


@pytest.mark.parametrize("file", FILES)
def test_results_are_of_the_recipes_of_the_code(file):
    assert outdated(file) == []
    for origin in origins(file).values():
        assert origin.command
        assert origin.date[:3] == "202"


def test_results_of_another_recipe_are_named(another_recipe):
    (message,) = [line for line in outdated("own_choices.json") if "ald/paper" in line]
    assert "docs/results/own_choices.json, section time_scales is of another recipe ald/paper" in message
    assert message.endswith("run python -m bench.own_choices time_scales")


def test_a_fingerprint_is_of_all_settings(monkeypatch, another_recipe):
    names = [(model, recipe) for model in MODELS for recipe in ("default", "paper")]
    now = {name: recipe_fingerprint(*name) for name in names}
    assert all(len(digest) == 12 and int(digest, 16) >= 0 for digest in now.values())
    monkeypatch.undo()
    before = {name: recipe_fingerprint(*name) for name in names}
    assert [name for name in names if now[name] != before[name]] == [("ald", "paper")]
    # Of the paper's recipes also what the paper has for single datasets.
    monkeypatch.setattr(
        fingerprints_module, "paper_settings", lambda model, dataset: {"epochs": 3} if model == "cqrnn" else {}
    )
    changed = {name for name in names if recipe_fingerprint(*name) != before[name]}
    assert ("cqrnn", "paper") in changed
    assert not {recipe for _, recipe in changed} - {"paper"}


def test_a_setting_that_is_added_and_off_changes_nothing(monkeypatch):
    before = recipe_fingerprint("ald", "paper")
    kind = type(ALDSurvival.RECIPES["paper"])
    plain, added = kind.to_dict, kind.ADDED_LATER
    for value, same in ((0, True), (1, False)):
        monkeypatch.setattr(kind, "to_dict", lambda self, value=value: {**plain(self), "added": value})
        monkeypatch.setattr(kind, "ADDED_LATER", (*added, {"added": 0}))
        assert (recipe_fingerprint("ald", "paper") == before) is same


def test_sections_are_stored_one_by_one(folder):
    store_section("a.json", "first", {"x": 1}, today("make first", ["ald/paper"]))
    store_section("a.json", "second", [0.25, "é"], Origin("make second", "2026-01-02", {}, {}))
    store_section("a.json", "first", {"x": 2}, today("make first", ["ald/paper"]))
    assert read_section("a.json", "first") == {"x": 2}
    assert read_section("a.json", "second") == [0.25, "é"]
    assert origins("a.json")["second"] == Origin("make second", "2026-01-02", {}, {})
    assert origins("a.json")["first"].fingerprints == {"ald/paper": recipe_fingerprint("ald", "paper")}
    assert "numpy" in origins("a.json")["first"].versions
    assert [path.name for path in folder.iterdir()] == ["a.json"]
    with pytest.raises(ResultsError, match=r"a\.json has no section 'third'; there are first, second"):
        read_section("a.json", "third")
    with pytest.raises(ResultsError, match=r"no results file docs/results/b\.json"):
        read_section("b.json", "first")


def test_a_csv_says_its_origin_first(folder):
    origin = Origin("run: this", "2026-01-02", {"numpy": "2.0"}, {"ald/paper": "0" * 12, "cox/default": "1" * 12})
    (folder / "a.csv").write_text(f"# plan: 12\n{comment_lines(origin)}name,value\na,0.5\n", encoding="utf-8")
    assert origins("a.csv") == {"": origin}
    assert read_rows("a.csv") == [{"name": "a", "value": "0.5"}]
    assert [message.partition(" is of ")[0] for message in outdated("a.csv")] == ["docs/results/a.csv"] * 2
    (folder / "a.csv").write_text("# date: 2026\nname,value\n", encoding="utf-8")
    with pytest.raises(ResultsError, match="does not say its command and versions and fingerprints"):
        origins("a.csv")
