"""Values between markers, and what is wrong with markers."""

from __future__ import annotations

import pytest

from bench.pages.markers import MarkerError, filled, marked_names, without_marked

PAGE = """A page
<!-- a table -->

| old |

<!-- end a table -->
about <!-- = one -->1.2<!-- / --> and
then <!-- = two --><!-- / -->, <!-- not a marker --> the end.
"""


def test_both_kinds_are_filled_and_the_rest_stays():
    text = filled(PAGE, {"a table": "| x |\n| - |\n| 5 |", "one": "7", "two": "`b` of 3", "unused": "0"})
    assert text == (
        "A page\n<!-- a table -->\n\n| x |\n| - |\n| 5 |\n\n<!-- end a table -->\n"
        "about <!-- = one -->7<!-- / --> and\nthen <!-- = two -->`b` of 3<!-- / -->, <!-- not a marker --> the end.\n"
    )
    assert filled(text, {"a table": "| x |\n| - |\n| 5 |", "one": "7", "two": "`b` of 3"}) == text
    assert marked_names(PAGE) == {"a table", "one", "two"}


def test_what_a_person_has_typed_is_the_rest():
    text = without_marked(PAGE)
    assert "1.2" not in text
    assert "old" not in text
    assert "about  and" in text


def test_a_block_may_hold_what_looks_like_a_value():
    text = "<!-- a -->\n\nx <!-- = b -->1<!-- / -->\n\n<!-- end a -->\n"
    assert marked_names(text) == {"a"}
    assert filled(text, {"a": "y"}) == "<!-- a -->\n\ny\n\n<!-- end a -->\n"


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ("<!-- a -->\n\n<!-- end a -->\n", "no value has the name 'a'"),
        ("x <!-- = a -->1<!-- / -->\n", "no value has the name 'a'"),
        ("<!-- b -->\n", "<!-- b --> has no <!-- end b -->"),
        ("<!-- end b -->\n", "<!-- end b --> has no <!-- b --> before it"),
        ("<!-- b -->\n<!-- c -->\n<!-- end c -->\n<!-- end b -->\n", "<!-- b --> is not closed before <!-- c -->"),
        ("<!-- b -->\n<!-- end c -->\n", "<!-- b --> is not closed before <!-- end c -->"),
        ("x <!-- = b -->1\n", "<!-- = b --> is one half of a pair"),
        ("x 1<!-- / -->\n", "<!-- / --> is one half of a pair"),
        ("x <!-- = b --><!-- = c -->1<!-- / -->\n", "<!-- = b --> is one half"),
        ("one line\n<!-- = b -->1<!-- / --> begins the next\n", "begins a line"),
        ("x <!-- = lines -->1<!-- / -->\n", "has several lines"),
    ],
)
def test_errors_name_the_marker(page, message):
    with pytest.raises(MarkerError) as caught:
        filled(page, {"b": "1", "c": "2", "lines": "1\n2"})
    assert message in str(caught.value)
