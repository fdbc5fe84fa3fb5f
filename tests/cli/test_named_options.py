"""Every option that a message names is one of the command that shows it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import aldsurv
from aldsurv.cli.shared.error_text import error_line, worded_arguments
from aldsurv.errors import DataError, ParameterError

from .named_options import COMMANDS, OPTIONS, unknown_options

SOURCE = Path(aldsurv.__file__).parent


def texts(path: Path) -> Iterator[str]:
    """Texts in the code of a file, without docstrings; parts of an f-string as one text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    pieces = {id(piece) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for piece in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            pieces.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            yield "".join(piece.value if isinstance(piece, ast.Constant) else "…" for piece in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces:
            yield node.value


def test_every_option_in_a_text_of_the_package_exists() -> None:
    known = {"--version"}.union(*OPTIONS.values())
    wrong = {
        (str(path.relative_to(SOURCE)), option)
        for path in SOURCE.rglob("*.py")
        for text in texts(path)
        for option in unknown_options(text, known)
    }
    assert not wrong


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_names_its_own_options(name: str) -> None:
    files = [SOURCE / "cli" / f"{name}_command.py", *(SOURCE / "cli" / name).glob("*.py")]
    files = [path for path in files if path.exists()]
    assert files
    assert not {wrong for path in files for text in texts(path) for wrong in unknown_options(text, OPTIONS[name])}


@pytest.mark.parametrize("name", COMMANDS)
def test_errors_of_the_library_name_options_of_the_command(name: str) -> None:
    for kind, argument, suggestion in product((DataError, ParameterError), worded_arguments(), (None, 0.5)):
        error = kind(f"{argument} is wrong", argument=argument, suggestion=suggestion, advice="Do something.")
        line = error_line(error, OPTIONS[name])
        assert not unknown_options(line, OPTIONS[name])
        assert line.count(".") >= 2


def test_a_command_without_the_option_gets_other_advice() -> None:
    error = DataError("column 'x' holds 'a'", argument="categorical", advice="Say categorical=['x'].")
    assert "--categorical" in error_line(error, OPTIONS["fit"])
    assert error_line(error, OPTIONS["predict"]) == "column 'x' holds 'a'. Leave such fields empty."
    steps = DataError("the loss is not finite", argument="learning_rate", suggestion=3e-4, advice="Try another.")
    assert error_line(steps, OPTIONS["fit"]).endswith("Take shorter steps, such as --learning-rate 0.0003.")
    assert error_line(steps, OPTIONS["benchmark"]) == "the loss is not finite. Try another."
