"""Commands of the README and of pages work as they are printed, on a few rows."""

from __future__ import annotations

import re
import shlex
import textwrap
from pathlib import Path

import click
import pytest
from reports.undrawn import leave_pictures_undrawn

from aldsurv import ALDSurvival, DeepHit, datasets
from aldsurv.cli.evaluate.evaluate_command import evaluate
from aldsurv.cli.main import aldsurv, main
from aldsurv.errors import ParameterError

ROOT = Path(__file__).parents[1]
PAGES = ["README.md", "docs/tutorial.md", "docs/competing.md"]
# The page whose report is drawn.
DRAWN = "docs/tutorial.md"
EVERY = ["README.md", *sorted(page.relative_to(ROOT).as_posix() for page in (ROOT / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_SHELL = ("", "sh", "bash", "shell", "console")


def blocks(page: str, languages: tuple[str, ...]) -> list[str]:
    """Contents of the fenced blocks of a page in one of some languages."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [textwrap.dedent(content) for _, language, content in _BLOCK.findall(text) if language in languages]


def commands(page: str) -> list[list[str]]:
    """Words after ``aldsurv`` of every line that begins so in a shell block, in the order of the page."""
    lines = [line.removeprefix("$ ") for line in "".join(blocks(page, _SHELL)).replace("\\\n", " ").splitlines()]
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("aldsurv ")]


def parse(words: list[str]) -> None:
    """Raise `click.UsageError` if a command, an option or a value of it is not one that there is."""
    command: click.Command | None = aldsurv
    context = click.Context(aldsurv)
    while isinstance(command, click.Group):
        name, *words = words
        command = command.get_command(context, name)
        if command is None:
            raise click.UsageError(f"no such command: {name}")
    # What follows is of the shell.
    ends = [words.index(sign) for sign in ("|", "||", "<", ">", "&&", "&") if sign in words]
    try:
        command.make_context(command.name, words[: min(ends, default=len(words))])
    except click.exceptions.Exit:
        # Of --help.
        return


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the tables that the pages speak of, made as the pages make them and then cut short."""
    monkeypatch.chdir(tmp_path)
    for page in ("docs/tutorial.md", "docs/competing.md"):
        (script,) = (block for block in blocks(page, ("python",)) if ">>>" not in block)
        exec(compile(script, page, "exec"), {})  # noqa: S102
    for name, rows in (("people.csv", 200), ("others.csv", 60), ("women.csv", 200), ("unseen.csv", 80)):
        path = Path(name)
        head, *lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        assert len(lines) > rows
        # From all of the table, whose rows may be in order.
        path.write_text("".join([head, *lines[:: len(lines) // rows][:rows]]), encoding="utf-8")
    return tmp_path


@pytest.fixture
def small_defaults(monkeypatch):
    """What no command of a page sets is small: how well the default recipes learn is not seen in these tests."""
    for kind in (ALDSurvival, DeepHit):
        for name, value in {"members": 2, "max_epochs": 3}.items():
            assert name in kind.__init__.__kwdefaults__
            monkeypatch.setitem(kind.__init__.__kwdefaults__, name, value)
    (resamples,) = (option for option in evaluate.params if option.name == "bootstrap")
    assert resamples.default > 20
    monkeypatch.setattr(resamples, "default", 20)


def test_the_tutorial_shows_the_table_that_it_makes():
    train, _ = datasets.load("gbsg").split(seed=0)
    text = train.frame(outcome=True)[:2].to_csv(index=False, lineterminator="\n")
    assert text in (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("small_defaults")
def test_commands_run_one_after_the_other(page, folder, capfd, monkeypatch):
    if page != DRAWN:
        leave_pictures_undrawn(monkeypatch)
    for words in commands(page):
        code = main(words)
        told = capfd.readouterr()
        assert code == 0, f"aldsurv {shlex.join(words)}: {told.err}"
        if "--out" in words:
            assert (folder / words[words.index("--out") + 1]).stat().st_size > 0
    for predicted in filter(Path.exists, (folder / "predicted.csv", folder / "incidence.csv")):
        # Its header is printed on the page.
        header = predicted.read_text(encoding="utf-8").splitlines()[0].replace('"', "")
        assert header in (ROOT / page).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("page", [page for page in EVERY if commands(page)])
def test_commands_of_every_page_are_understood(page):
    for words in commands(page):
        parse(words)


@pytest.mark.parametrize("words", ["fit a.csv --tme t", "fitt a.csv", "plan develop --rate x", "plan grow"])
def test_commands_that_are_not_understood_are_found(words):
    with pytest.raises((click.UsageError, KeyError, ParameterError)):
        parse(words.split())


def test_pages_name_the_commands_they_promise():
    assert [words[0] for words in commands("docs/tutorial.md")][:4] == ["fit", "evaluate", "predict", "report"]
    assert [words[0] for words in commands("docs/competing.md")] == ["fit", "evaluate", "evaluate", "predict", "report"]
    assert {"fit", "predict"} <= {words[0] for words in commands("README.md")}
