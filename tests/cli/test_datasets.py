from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from datasets.downloads import CONTENT
from datasets.loopback import Reply, Server, honest

from aldsurv.cli.main import main
from aldsurv.datasets import download, loading, resuming_download
from aldsurv.datasets.catalogue import DATASETS
from aldsurv.registry import Registry

SUBCOMMANDS = ("list", "describe", "path", "fetch")


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(resuming_download, "_FIRST_PAUSE", 0.001)
    return tmp_path


def assert_error_lines(text: str, count: int = 1) -> None:
    lines = text.splitlines()
    assert len(lines) == count
    assert all(line.startswith("aldsurv: error: ") for line in lines)


@pytest.mark.parametrize("words", [[], *([name] for name in SUBCOMMANDS)])
def test_help(run, words: list[str]) -> None:
    wide, narrow = run("datasets", *words, "--help"), run("datasets", *words, "--help", COLUMNS="40")
    assert (wide.returncode, narrow.returncode) == (0, 0)
    assert "Examples:\n    aldsurv datasets " in wide.stdout
    assert max(map(len, narrow.stdout.splitlines())) <= 40


def test_help_without_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("Usage: aldsurv datasets")
    assert all(f"  {name} " in text for name in SUBCOMMANDS)


@pytest.mark.parametrize("words", [["datasets", "--help"], ["datasets", "fetch", "--help"], ["datasets", "nothing"]])
def test_help_imports_nothing_heavy(tmp_path: Path, environment: dict[str, str], words: list[str]) -> None:
    heavy = ("numpy", "scipy", "torch", "matplotlib", "pandas", "pyarrow", "urllib.request")
    program = (
        f"import sys; from aldsurv.cli.main import main; main({words})\n"
        f"print([name for name in {heavy} if name in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", cwd=tmp_path, env=environment, check=True)
    assert done.stderr.splitlines()[-1] == "[]"


def test_list(run, folder: Path) -> None:
    done = run("datasets", "list")
    assert (done.returncode, done.stderr) == (0, "")
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["name", "kind", "rows", "features", "censored", "time", "data"]
    assert [line.split()[0] for line in lines] == list(DATASETS)
    assert max(map(len, lines)) <= 80
    states = {line.split()[0]: line for line in lines}
    assert states["weibull"].endswith("drawn when loaded")
    assert states["gbsg"].endswith("comes with aldsurv")
    assert states["whas"].endswith("to be fetched")
    assert states["lgggbm"].endswith("to be got by hand")
    (folder / "whas_train_test.h5").write_bytes(b"")
    found = json.loads(run("datasets", "list", "--json").stdout)
    assert [entry["name"] for entry in found] == list(DATASETS)
    whas = found[list(DATASETS).index("whas")]
    assert (whas["data"], whas["rows"], whas["n_features"]) == ("here", 1638, 6)


def test_describe(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "describe", "whas"]) == 0
    text = capsys.readouterr().out
    assert text == f"{DATASETS['whas']}\ndata      to be fetched\n"
    assert main(["datasets", "describe", "whas", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "days"
    assert found["feature_names"] == list(DATASETS["whas"].feature_names)
    assert main(["datasets", "describe", "wha"]) == 2
    assert_error_lines(capsys.readouterr().err)


def test_path(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert main(["datasets", "path"]) == 0
    assert capsys.readouterr().out == f"{folder}\n"
    for name, message in (
        ("whas", "aldsurv datasets fetch whas"),
        ("lgggbm", "https://www.cbioportal.org"),
        ("weibull", "needs no file"),
        ("gbsg", "needs no file"),
        ("wha", "Did you mean 'whas'"),
    ):
        assert main(["datasets", "path", name]) == 2
        err = capsys.readouterr().err
        assert_error_lines(err)
        assert message in err
    for name in ("whas", "gbsg"):
        path = folder / str(DATASETS[name].file)
        path.write_bytes(b"")
        assert main(["datasets", "path", name]) == 0
        assert capsys.readouterr().out == f"{path}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "one of the two"),
        (["whas", "--all"], "one of the two"),
        (["whsa", "whas"], "Did you mean 'whas'"),
        (["--alll"], "--all"),
    ],
)
def test_wrong_usage_of_fetch(capsys: pytest.CaptureFixture[str], folder: Path, words: list[str], message: str) -> None:
    assert main(["datasets", "fetch", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert_error_lines(err)
    assert message in err
    assert list(folder.iterdir()) == []


def test_fetch(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    from dataclasses import replace

    whole, digest = honest(CONTENT), hashlib.sha256(CONTENT).hexdigest()
    with Server(
        lambda request, number: Reply("404 Gone") if "whas" in request.path else whole(request, number)
    ) as server:
        records = [
            replace(info, url=info.url and f"{server.url}/{info.name}", sha256=info.sha256 and digest)
            for info in DATASETS.records()
        ]
        for module in (download, loading):
            monkeypatch.setattr(module, "DATASETS", Registry("dataset", *records))
        assert main(["datasets", "fetch", "metabric", "weibull", "metabric"]) == 0
        path = folder / str(DATASETS["metabric"].file)
        assert capsys.readouterr() == (f"metabric: {path}\nweibull: needs no file\n", "")
        assert path.read_bytes() == CONTENT
        assert main(["datasets", "fetch", "whas", "support"]) == 1
        out, err = capsys.readouterr()
        assert out == f"support: {folder / str(DATASETS['support'].file)}\n"
        assert_error_lines(err)
        assert "whas: " in err
        assert "404" in err
        assert main(["datasets", "fetch", "--all", "--json"]) == 1
        out, err = capsys.readouterr()
        found = json.loads(out)
        assert found["folder"] == str(folder)
        assert list(found["files"]) == ["metabric", "support"]
        assert list(found["failed"]) == ["whas", "tmbimmuno", "breastmsk", "lgggbm"]
        assert_error_lines(err, 4)
        assert [request.path for request in server.requests] == ["/metabric", "/whas", "/support", "/whas"]
