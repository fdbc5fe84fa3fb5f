"""Modules of JavaScript become one script, in the order in which they need each other."""

from __future__ import annotations

import re

import pytest

from aldsurv.errors import ParameterError
from aldsurv.export.calculator.page_builder import page_script
from aldsurv.export.calculator.script_joining import join_modules

MODULES = {
    "a/start.js": 'import { twice } from "./twice.js";\nimport {\n  one,\n} from "../b/one.js";\n\nshow(twice(one));\n',
    "a/twice.js": 'import { one } from "../b/one.js";\n\nexport function twice(x) {\n  return (one + one) * x;\n}\n',
    "b/one.js": "export const one = 1;\nexport class Kept {}\n",
    "b/unused.js": "export const one = 2;\n",
}


def test_what_is_needed_comes_first_and_once():
    script = join_modules(MODULES, "a/start.js")
    places = [script.index(part) for part in ("const one = 1", "function twice", "show(twice(one))")]
    assert places == sorted(places)
    assert script.count("const one") == 1
    assert "unused" not in script
    assert re.search(r"\b(import|export)\b", script) is None


def test_modules_that_need_each_other_are_joined():
    modules = {
        "a.js": 'import { odd } from "./b.js";\nexport function even(n) { return n === 0 || odd(n - 1); }\n',
        "b.js": 'import { even } from "./a.js";\nexport function odd(n) { return n !== 0 && even(n - 1); }\n',
    }
    script = join_modules(modules, "a.js")
    assert script.index("function odd") < script.index("function even")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('import { twice } from "./nowhere.js";\n', "needs 'a/nowhere.js'"),
        ('import * as all from "./twice.js";\n', "cannot be joined"),
        ("const x = 1;\nexport { x };\n", "cannot be joined"),
        ("export default 3;\n", "cannot be joined"),
        ('import { one } from "../b/one.js";\nfunction one() {}\n', "'one' is declared in"),
    ],
)
def test_what_cannot_be_joined_is_refused(text, problem):
    with pytest.raises(ParameterError, match=re.escape(problem)):
        join_modules({**MODULES, "a/start.js": text}, "a/start.js")


def test_the_script_of_a_page_has_no_statement_of_modules():
    script = page_script()
    assert re.search(r"^\s*(import|export)\b", script, re.MULTILINE) is None
    # It stands in an element that this would end, and needs no network.
    assert "</script" not in script.lower()
    assert "<!--" not in script
    network = ("fetch(", "XMLHttpRequest", "WebSocket", "sendBeacon", "localStorage", "cookie")
    for word in (*network, "innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval("):
        assert word not in script, word
