"""The reference of the site has every public name once, and every command with all its options."""

from __future__ import annotations

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

import aldsurv
from aldsurv.cli.main import aldsurv as command_line
from aldsurv.registry import MODELS

pytest.importorskip("mkdocs")
HOOKS = Path(__file__).parents[1] / "docs_hooks"


@pytest.fixture(scope="module")
def hooks():
    sys.path.insert(0, str(HOOKS))
    try:
        import command_line as commands
        import reference
    finally:
        sys.path.remove(str(HOOKS))
    return reference, commands


def test_every_public_name_has_one_entry(hooks):
    reference, _ = hooks
    text = "\n".join(reference.pages().values())
    described = re.findall(r"^::: (\S+)", text, re.MULTILINE)
    assert len(described) == len(set(described))
    ends = {reference.definition(*name.rsplit(".", 1)) for name in described}
    assert set(aldsurv.__all__) == set(reference.exported("aldsurv"))
    for module in reference.public_modules():
        for name in reference.exported(module):
            location = reference.definition(module, name)
            is_module = ".".join(location) in reference.public_modules()
            assert is_module or location in ends, f"{module}.{name} has no entry in the reference"


def test_public_names_are_those_of_the_modules(hooks):
    reference, _ = hooks
    for module in reference.public_modules():
        imported = import_module(module)
        assert reference.exported(module) == list(imported.__all__)
        assert [name for name in imported.__all__ if not hasattr(imported, name)] == []


def test_every_registered_model_has_a_page(hooks):
    reference, _ = hooks
    for record in MODELS.records():
        name = record.location.rpartition(":")[2]
        assert f".{name}\n" in reference.pages()[f"reference/aldsurv.models.{name}.md"]


def test_every_command_has_a_page_with_its_options(hooks):
    _, commands = hooks
    pages = commands.pages()
    context = command_line.make_context("aldsurv", ["models"])
    for name in command_line.list_commands(context):
        text = pages[f"reference/cli/{name}.md"]
        command = command_line.get_command(context, name)
        for below in [command, *getattr(command, "commands", {}).values()]:
            options = {option for parameter in below.params for option in parameter.opts if option.startswith("--")}
            assert all(option in text for option in options)
            assert f"# aldsurv {name}" in text
