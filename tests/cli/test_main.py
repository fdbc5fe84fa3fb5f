from __future__ import annotations

import io
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import click
import pytest
from child_process import without_machine_warnings

import aldsurv
from aldsurv.cli import demo_command as demo_module
from aldsurv.cli.main import aldsurv as group
from aldsurv.cli.main import main
from aldsurv.errors import DataError

HEAVY = ("numpy", "scipy", "torch", "matplotlib", "pandas")


def assert_one_error_line(stderr: str) -> None:
    assert stderr.startswith("aldsurv: error: ")
    assert stderr.count("\n") == 1
    assert stderr.endswith("\n")


def test_version_and_help(run) -> None:
    version = run("--version")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"aldsurv {aldsurv.__version__}\n", "")
    texts = {(run(*words).returncode, run(*words).stdout) for words in ([], ["--help"], ["-h"])}
    assert len(texts) == 1
    code, text = texts.pop()
    assert code == 0
    assert text.startswith("Usage: aldsurv [OPTIONS]")
    assert "Examples:\n    aldsurv demo\n" in text
    assert re.search(r"demo +Fit a model to a real table and predict\.", text)
    assert re.search(r"datasets +List, describe and fetch datasets\.", text)


@pytest.mark.parametrize("command", [[], ["demo"]])
def test_help_fits_a_narrow_terminal(run, command: list[str]) -> None:
    done = run(*command, "--help", COLUMNS="40")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 40


def test_unknown_command_gets_a_suggestion(run) -> None:
    done = run("dmeo")
    assert (done.returncode, done.stdout) == (2, "")
    assert_one_error_line(done.stderr)
    assert "unknown command 'dmeo'. Did you mean 'demo'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bogus"], "Try 'aldsurv --help'."),
        (["demo", "--jsn"], "--json"),
        (["demo", "extra"], "(extra). Try 'aldsurv demo --help'."),
        (["demo", "--out"], "requires an argument"),
    ],
)
def test_wrong_usage_is_told_in_one_line(capfd: pytest.CaptureFixture[str], words: list[str], told: str) -> None:
    assert main(words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert_one_error_line(err)
    assert told in err


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (DataError("time must not\nbe negative."), 2, "time must not be negative."),
        (click.ClickException("no"), 1, "no"),
        (OSError(28, "No space left on device", "a.png"), 1, "a.png: No space left on device"),
        (OSError("odd"), 1, "odd"),
    ],
)
def test_errors_of_a_command_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], error: Exception, code: int, told: str
) -> None:
    monkeypatch.setattr(demo_module.demo, "callback", raising(error))
    assert main(["demo"]) == code
    assert capfd.readouterr().err == f"aldsurv: error: {told}\n"


def raising(error: BaseException):
    def callback(**options: object) -> None:
        raise error

    return callback


def test_interruption(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(demo_module.demo, "callback", raising(KeyboardInterrupt()))
    assert main(["demo"]) == 130
    assert capfd.readouterr().err.strip() == ""


def test_exit_code_of_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module.demo, "callback", raising(click.exceptions.Exit(3)))
    assert main(["demo"]) == 3


def test_mistakes_in_the_program_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module.demo, "callback", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["demo"])


@pytest.mark.parametrize("words", [[], ["--help"], ["demo", "--help"]])
def test_help_without_a_process_of_its_own(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Usage: aldsurv")


def test_as_a_module_and_into_any_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "argv", ["somewhere/__main__.py", "--version"])
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_module("aldsurv", run_name="__main__")
    assert stream.getvalue() == f"aldsurv {aldsurv.__version__}\n"


@pytest.mark.parametrize("closed", [False, True])
def test_output_that_cannot_be_written_is_let_go(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, closed: bool) -> None:
    class Broken(io.TextIOWrapper):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(demo_module.demo, "callback", raising(OSError(28, "No space left on device")))
    with (tmp_path / "output").open("wb", buffering=0) as file:
        broken = Broken(file)
        monkeypatch.setattr(sys, "__stdout__", None if closed else broken)
        assert main(["demo"]) == 1
        os.write(file.fileno(), b"more")
        assert (tmp_path / "output").stat().st_size == (4 if closed else 0)
        # Its end would flush it once more.
        monkeypatch.setattr(Broken, "flush", lambda self: None)
        broken.detach()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [["--help"], ["datasets", "list"]])
def test_full_disk_behind_standard_output(tmp_path: Path, environment: dict[str, str], words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "aldsurv", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment,
            check=False,
        )
    assert done.returncode == 1
    assert without_machine_warnings(done.stderr) == "aldsurv: error: No space left on device\n"


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    "line",
    [
        "{aldsurv} datasets list | head -1",
        "{aldsurv} --help | true",
        "{aldsurv} datasets list >&-",
        "{aldsurv} demo --out /dev/null >&-",
    ],
)
def test_output_that_nobody_reads(tmp_path: Path, environment: dict[str, str], line: str) -> None:
    command = line.format(aldsurv=f"{sys.executable} -m aldsurv")
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, encoding="utf-8", cwd=tmp_path, env=environment, check=False
    )
    done.stderr = without_machine_warnings(done.stderr)
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    if "head" in line:
        assert done.stdout.startswith("name "), done.stderr
        assert done.stdout.count("\n") == 1
    if "/dev/null" in line:
        assert_one_error_line(done.stderr)
    else:
        assert done.stderr == ""


def test_terminal_without_the_characters(run) -> None:
    done = run("datasets", "describe", "metabric", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0
    assert "346?352" in done.stdout


def test_completion_by_the_shell(run) -> None:
    def complete(words: str, index: int) -> str:
        done = run(_ALDSURV_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(index))
        assert done.stderr == ""
        return done.stdout

    assert sorted(complete("aldsurv d", 1).splitlines()) == ["plain,datasets", "plain,demo"]
    assert complete("aldsurv demo --j", 2) == "plain,--json\n"
    assert "Error" not in complete("aldsurv dmeo --j", 2)


def test_completion_knows_which_words_are_commands() -> None:
    context = click.Context(group, resilient_parsing=True)
    assert group.get_command(context, "dmeo") is None
    assert group.get_command(context, "demo") is demo_module.demo


def test_every_command_is_there_and_tells_what_it_does() -> None:
    context = click.Context(group)
    names = group.list_commands(context)
    assert {"benchmark", "datasets", "demo"} <= set(names)
    for name in names:
        command = group.get_command(context, name)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert "Examples:" in (command.help or "")


@pytest.mark.parametrize(
    "action",
    [
        "import aldsurv",
        "from aldsurv.cli.main import main; main(['--help'])",
        "from aldsurv.cli.main import main; main(['--version'])",
        "from aldsurv.cli.main import main; main(['dmeo'])",
    ],
)
def test_starting_up_imports_nothing_heavy(tmp_path: Path, environment: dict[str, str], action: str) -> None:
    program = f"import sys; {action}; print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_help_of_a_command_needs_no_matplotlib(tmp_path: Path, environment: dict[str, str]) -> None:
    program = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from aldsurv.cli.main import main\n"
        "print(main(['demo', '--help']), main(['demo']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        encoding="utf-8",
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    assert done.stdout.startswith("Usage: aldsurv demo")
    assert done.stdout.endswith("0 2\n")
    assert_one_error_line(without_machine_warnings(done.stderr))
    assert 'pip install "aldsurv[plots]"' in done.stderr
