"""What keeps a release from being built is found; the site's links are checked by the same rules in the tests."""

from __future__ import annotations

import pytest

from bench.release import changelog_faults, missing_files
from bench.site_check import link_faults

CHANGES = "# Changes\n\n## Unreleased\n\n## 1.2.0 (2026-01-01)\n\n- One.\n\n## 1.1.0\n\n- Two.\n"
CITATION = "title: x\nversion: 1.2.0\n"


def test_a_version_that_is_described_may_be_built():
    assert changelog_faults(CHANGES, CITATION, "1.2.0") == []


@pytest.mark.parametrize(
    ("changes", "citation", "fault"),
    [
        (CHANGES.replace("- One.", ""), CITATION, "no entries under '## 1.2.0'"),
        (CHANGES.replace("Unreleased\n", "Unreleased\n\n- Three.\n"), CITATION, "entries under Unreleased"),
        (CHANGES, CITATION.replace("1.2.0", "1.2.01"), "CITATION.cff has another version"),
    ],
)
def test_what_is_missing_is_named(changes, citation, fault):
    (found,) = changelog_faults(changes, citation, "1.2.0")
    assert fault in found


def test_a_file_that_an_sdist_lacks_is_named():
    assert missing_files(["a.py", "tests/b.csv", ".gitignore"], {"a.py"}) == ["tests/b.csv"]


def test_dead_links_and_anchors_are_found(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="#top"></a><a href="#end"></a><a href="folder/b.html#c"></a><img src="none.png">'
    )
    (tmp_path / "folder" / "b.html").write_text(
        '<p id="c"><a href="../index.html#top"></a><a href="https://a.b/c"></a>'
    )
    assert link_faults(tmp_path) == ["index.html: dead anchor #end", "index.html: dead link none.png"]
