"""Pages are what their results files say, and have no other numbers than those that are listed as plain."""

from __future__ import annotations

import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

from bench.pages import __main__ as command
from bench.pages import listing, results, tutorial, tutorial_run
from bench.pages.listing import PAGES, ROOT, Page, changed
from bench.pages.markers import marked_names, without_marked

PLAIN = Path(__file__).with_name("plain_numbers.txt")
_DECIMAL = re.compile(r"(?<![\w.])\d+\.\d+(?!\.?\d)")
_NOT_PROSE = (
    re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL),
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"``?[^`]+``?"),
    re.compile(r"\]\([^)]*\)"),
)


def typed_numbers(page: Page) -> set[str]:
    """Decimal numbers of a page's sentences and tables that no marker surrounds."""
    text = without_marked(page.path.read_text(encoding="utf-8"))
    for pattern in _NOT_PROSE:
        text = pattern.sub(" ", text)
    return set(_DECIMAL.findall(text))


def plain_numbers() -> dict[str, set[str]]:
    """By page: numbers that are settings or definitions, not results."""
    numbers: dict[str, set[str]] = defaultdict(set)
    for line in PLAIN.read_text(encoding="utf-8").splitlines():
        page, _, listed = line.partition("#")[0].partition(":")
        numbers[page.strip()].update(listed.split())
    return numbers


@pytest.mark.parametrize("module", dict.fromkeys(page.module for page in PAGES))
def test_pages_are_what_their_results_say(module):
    pages = [page for page in PAGES if page.module == module]
    differing = [path.name for path in changed(pages)]
    assert not differing, f"{', '.join(differing)} differ from their results: run python -m bench.pages"
    assert all(marked_names(page.path.read_text(encoding="utf-8")) for page in pages)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.file)
def test_a_number_outside_markers_is_a_plain_one(page):
    typed, plain = typed_numbers(page), plain_numbers()[page.file]
    assert typed <= plain, (
        f"{page.file} has numbers that are neither between markers nor in {PLAIN.name}: {sorted(typed - plain)}. "
        f"Write a result between markers; list a setting or definition in {PLAIN.name}."
    )
    assert plain <= typed, f"{PLAIN.name} lists numbers that {page.file} does not have: {sorted(plain - typed)}"


def test_plain_numbers_are_of_pages():
    assert set(plain_numbers()) - {""} <= {page.file for page in PAGES}


def test_a_number_typed_by_hand_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "ROOT", tmp_path)
    (tmp_path / "page.md").write_text(
        "C is 0.67 or `0.1`, [x](y0.3)\n\n```\n0.4\n```\n<!-- a -->\n0.5\n<!-- end a -->\n"
        "of <!-- = b -->0.6<!-- / --> in 3.5 s, 1.2.3 or v0.9\n"
    )
    assert typed_numbers(Page("page.md", "")) == {"0.67", "3.5"}


@pytest.fixture
def copied(tmp_path, monkeypatch):
    """A copy of the results files, which the pages are then read from."""
    folder = tmp_path / "results"
    shutil.copytree(results.RESULTS, folder)
    monkeypatch.setattr(results, "RESULTS", folder)
    return folder


@pytest.mark.parametrize(
    ("file", "digits", "page"),
    [
        ("own_choices.json", r'"survival": 0\.\d', "docs/ald.md"),
        ("paper.csv", r"norm_heavy,released,row,ald,paper,cens_dcal,,0\.\d", "docs/ald.md"),
        (
            "paper.csv",
            r"norm_heavy,released,row,deepsurv,paper,harrell_c@training_median,,0\.\d",
            "docs/reproduction.md",
        ),
        ("accuracy.csv", r"support,default,3,\d", "docs/accuracy.md"),
        ("accuracy.csv", r"support,default,3,\d", "README.md"),
        ("accuracy_study.json", r'"paper, 5 components", "0\.\d', "docs/accuracy.md"),
        ("models.json", r'"y\* 1.5": \{\s+"norm_linear": \{\s+"C": 0\.\d', "docs/cqrnn.md"),
        ("models.json", r'"metabric": \{\s+"pycox": \{\s+"harrell_c": \[0\.\d', "docs/deephit.md"),
        ("models.json", r'"seconds": \{\s+"pycox": 0\.\d', "docs/deepsurv.md"),
        ("models.json", r'"default, 1 member": \{\s+"log_loss": 0\.\d', "docs/log_normal.md"),
        ("neutral.json", r'"ald": \{\s+"isbs": \{\s+"ald": \d\.\d', "docs/neutral.md"),
        ("neutral.json", r'"ald": \{\s+"isbs": \{\s+"ald": \d\.\d', "README.md"),
        ("performance.json", r'"aldsurv --help": 0\.\d', "docs/performance.md"),
        ("performance.json", r'"jobs": 2,\s+"clock": \d+,\s+"processor": \d', "README.md"),
        ("tutorial.json", r"Harrell's C +0\.\d", "docs/tutorial.md"),
    ],
)
def test_another_digit_in_a_results_file_is_seen(copied, file, digits, page):
    change_digit(copied / file, digits)
    (one,) = (one for one in PAGES if one.file == page)
    assert list(changed([one])) == [ROOT / page]


def change_digit(file: Path, digits: str) -> None:
    """The last digit of the first place that a pattern fits."""
    text = file.read_text(encoding="utf-8")
    place = re.search(digits, text)
    assert place is not None
    digit = text[place.end() - 1]
    file.write_text(f"{text[: place.end() - 1]}{(int(digit) + 1) % 10}{text[place.end() :]}", encoding="utf-8")


def test_the_check_names_pages_that_differ_and_writes_nothing(copied, capsys, monkeypatch):
    page = Page("docs/tutorial.md", "bench.pages.tutorial")
    monkeypatch.setattr(listing, "PAGES", [page])
    before = page.path.read_text(encoding="utf-8")
    assert command.main(["--check"]) == 0
    assert capsys.readouterr().out == ""
    change_digit(copied / "tutorial.json", r"Harrell's C +0\.\d")
    assert command.main(["--check"]) == 1
    assert capsys.readouterr().out == "docs/tutorial.md differs from its results: run python -m bench.pages\n"
    assert page.path.read_text(encoding="utf-8") == before


def test_the_tutorial_shows_what_its_commands_print():
    assert set(tutorial_run.commands()) == set(results.read_section(tutorial.FILE, tutorial.SECTION))
    assert "people.csv" in tutorial_run.script()


def test_origins_are_listed(capsys):
    assert command.main(["--origins"]) == 0
    printed = capsys.readouterr().out
    assert "tutorial.json output: python -m bench.pages.tutorial_run" in printed
    assert all(path.name in printed for path in results.RESULTS.iterdir())


def test_pages_are_written_and_named(tmp_path, monkeypatch, capsys):
    for module in (listing, command):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setitem(sys.modules, "made_up", SimpleNamespace(values=lambda: {"datasets": "21"}))
    (tmp_path / "docs").mkdir()
    page = tmp_path / "docs" / "ald.md"
    page.write_text("of <!-- = datasets -->20<!-- / --> sets\n", encoding="utf-8")
    monkeypatch.setattr(listing, "PAGES", [Page("docs/ald.md", "made_up")])
    assert command.main([]) == 0
    assert capsys.readouterr().out == "docs/ald.md written\n"
    assert page.read_text(encoding="utf-8") == "of <!-- = datasets -->21<!-- / --> sets\n"
    assert command.main([]) == 0
    assert capsys.readouterr().out == ""
    page.write_text("<!-- no such table -->\n<!-- end no such table -->\n", encoding="utf-8")
    assert command.main(["--check"]) == 1
    assert "docs/ald.md: no value has the name 'no such table'" in capsys.readouterr().err
