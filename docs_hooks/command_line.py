"""A hook of mkdocs: a page of the reference for each command, written from the command itself."""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import click
from mkdocs.structure.files import File

from aldsurv.cli.main import aldsurv

_FOLDER = "reference/cli"
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*[a-z]")


def on_config(config: Any, **_: Any) -> Any:
    """List the pages in the navigation, after the modules."""
    (section,) = (item["Reference"] for item in config.nav if "Reference" in item)
    section.insert(2, {"Command line": list(pages())})
    return config


def on_files(files: Any, config: Any, **_: Any) -> Any:
    """Add the pages."""
    for path, text in pages().items():
        files.append(File.generated(config, path, content=text))
    return files


@cache
def pages() -> dict[str, str]:
    """The text of each page, by its path below the folder of the pages."""
    context = click.Context(aldsurv, info_name="aldsurv")
    texts = {f"{_FOLDER}/index.md": ""}
    rows = []
    for name in aldsurv.list_commands(context):
        command = aldsurv.get_command(context, name)
        assert command is not None
        texts[f"{_FOLDER}/{name}.md"] = "\n\n".join(_described(command, context, name, "#")) + "\n"
        rows.append(
            f"| [`aldsurv {name}`]({name}.md) | {_text(inspect.cleandoc(command.help or '').splitlines()[0])} |"
        )
    table = "\n".join(["| command | |", "| --- | --- |", *rows])
    texts[f"{_FOLDER}/index.md"] = f"# Command line\n\nThe text of `aldsurv COMMAND --help`, as pages.\n\n{table}\n"
    return texts


def _described(command: click.Command, parent: click.Context, name: str, level: str) -> Iterator[str]:
    """Heading, usage, help, options, and the commands below."""
    context = click.Context(command, info_name=name, parent=parent)
    yield f"{level} {context.command_path}"
    yield f"```\n{context.command_path} {' '.join(command.collect_usage_pieces(context))}\n```"
    yield from _paragraphs(command.help)
    rows = [record for parameter in command.get_params(context) if (record := parameter.get_help_record(context))]
    if rows:
        yield "\n".join(
            ["| option | |", "| --- | --- |", *(f"| {_names(names)} | {_text(text)} |" for names, text in rows)]
        )
    yield from _paragraphs(command.epilog)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            child = command.get_command(context, below)
            assert child is not None
            yield from _described(child, context, below, f"{level}#")


def _paragraphs(text: str | None) -> Iterator[str]:
    r"""Paragraphs of a help text; those marked by ``\b`` keep their lines."""
    for paragraph in filter(None, inspect.cleandoc(text or "").split("\n\n")):
        lines = paragraph.splitlines()
        if lines[0] != "\b":
            yield _text(" ".join(lines))
            continue
        title = [lines[1]] if lines[1].endswith(":") else []
        yield from map(_text, title)
        yield "\n".join(["```", *inspect.cleandoc("\n".join(lines[1 + len(title) :])).splitlines(), "```"])


def _names(names: str) -> str:
    # In an attribute-free code element, so that a pipe does not end the cell.
    return f"<code>{html.escape(names).replace('|', '&#124;')}</code>"


def _text(text: str) -> str:
    """A sentence as Markdown that shows it as it is, with options as code."""
    escaped = html.escape(" ".join(text.split()), quote=False)
    for letter in "\\`*_[]|$":
        escaped = escaped.replace(letter, f"&#{ord(letter)};")
    return _OPTION.sub(r'<code class="option">\g<0></code>', escaped)
