"""Options in messages, and the commands that have them."""

from __future__ import annotations

import re

import click

from aldsurv.cli.main import aldsurv as group

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
OF_ANOTHER = re.compile(r"\baldsurv ([a-z]+)([^.;:']*)")
COMMANDS = group.list_commands(click.Context(group))


def options_of(command: click.Command) -> set[str]:
    """Of a command and those below it, with those of click's own."""
    names = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    below = command.commands.values() if isinstance(command, click.Group) else ()
    return {"--help", *names}.union(*map(options_of, below))


OPTIONS = {name: options_of(group.get_command(click.Context(group), name)) for name in COMMANDS}


def unknown_options(text: str, known: set[str]) -> set[str]:
    """Options in a text that are neither known nor of the command named before them, as in "aldsurv fit --seed 1"."""
    wrong = set()
    for name, rest in OF_ANOTHER.findall(text):
        wrong |= set(OPTION.findall(rest)) - OPTIONS.get(name, set())
    return wrong | (set(OPTION.findall(OF_ANOTHER.sub("", text))) - known)
