"""One rule for every output of every command."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main
from aldsurv.cli.shared.outputs import MODEL, PAGE, PICTURE, PREDICTIONS, checked_folder, checked_output
from aldsurv.errors import ParameterError
from aldsurv.files.writing import write_text
from aldsurv.models import ALDSurvival, WeibullAFT

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
OUTCOME = ["--time", "months", "--event", "died"]


@pytest.fixture(scope="module")
def model() -> WeibullAFT:
    rng = np.random.default_rng(0)
    fitted = WeibullAFT().fit({"x": rng.normal(size=80)}, (rng.exponential(5, 80), np.ones(80)))
    fitted.trained_on_ = replace(fitted.trained_on_, outcome={"time": "months", "event": "died"})
    return fitted


@pytest.fixture(autouse=True)
def folder(model: WeibullAFT, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model and two tables in the current folder."""
    monkeypatch.chdir(tmp_path)
    model.save("m.aldsurv")
    rng = np.random.default_rng(1)
    rows = [f"{t:.3f},1,{x:.3f}" for t, x in zip(rng.exponential(5, 40), rng.normal(size=40), strict=True)]
    for name in ("t.csv", "train.csv"):
        Path(name).write_text("\n".join(["months,died,x", *rows]) + "\n")
    return tmp_path


COMMANDS = {
    "fit": ["fit", "t.csv", *OUTCOME, "--model", "weibull_aft", "--quiet"],
    "predict": ["predict", "m.aldsurv", "t.csv", "--format", "csv", "--quiet"],
    "report": ["report", "m.aldsurv", "t.csv", "--train", "train.csv"],
}
READ = {"fit": ["t.csv"], "predict": ["m.aldsurv", "t.csv"], "report": ["m.aldsurv", "t.csv", "train.csv"]}
commands = pytest.mark.parametrize("command", COMMANDS)


def refused(capsys: pytest.CaptureFixture[str], words: list[str], code: int = 2) -> str:
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("aldsurv: error: ")
    assert err.count("\n") == 1
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
    return err


@POSIX
@commands
def test_no_input_is_overwritten_by_any_of_its_names(capsys: pytest.CaptureFixture[str], command: str) -> None:
    Path("below").mkdir()
    for given in READ[command]:
        Path("link").symlink_to(given)
        os.link(given, "hard")
        for name in (given, f"below/../{given}", str(Path(given).absolute()), "link", "hard"):
            for force in ([], ["--force"]):
                told = refused(capsys, [*COMMANDS[command], "--out", name, *force])
                assert f"--out {name!r} is the file {given!r}, which is read from." in told
        assert Path("link").is_symlink()
        Path("link").unlink()
        Path("hard").unlink()


@commands
def test_no_other_kind_of_file_is_overwritten(
    capsys: pytest.CaptureFixture[str], command: str, model: WeibullAFT
) -> None:
    model.save("other.aldsurv")
    Path("other.csv").write_text("a,b\n1,2\n")
    write_text("other.html", '<!doctype html>\n<meta name="generator" content="aldsurv 1.0">\n')
    Path("foreign.html").write_text("<!doctype html>\n<title>mine</title>\n")
    Path("script.py").write_text("print(1)\n")
    allowed = {"fit": "other.aldsurv", "predict": "other.csv", "report": "other.html"}[command]
    for name in ("other.aldsurv", "other.csv", "other.html", "foreign.html", "script.py"):
        if name != allowed:
            told = refused(capsys, [*COMMANDS[command], "--out", name])
            assert f"'{name}' exists and is not a" in told
            assert "it is not overwritten. Name another file by --out, or give --force." in told


@pytest.mark.parametrize("command", ["fit", "predict"])
@pytest.mark.parametrize("name", ["same", "empty", "script.py"])
def test_the_same_kind_is_replaced_and_another_one_by_force(command: str, name: str, model: WeibullAFT) -> None:
    path = Path(name)
    path.touch()
    if name == "same":
        if command == "fit":
            model.save(path)
        else:
            path.write_text("a,b\n1,2\n")
    elif name != "empty":
        path.write_text("print(1)\n")
    before = path.read_bytes()
    force = ["--force"] if name == "script.py" else []
    assert main([*COMMANDS[command], "--out", name, *force]) == 0
    assert path.read_bytes() != before
    if command == "fit":
        assert isinstance(aldsurv.load(path), aldsurv.WeibullAFT)
    else:
        assert path.read_text().startswith("median,q10,q90,outside\n")


@commands
def test_folders_are_looked_at_before_the_work(
    capsys: pytest.CaptureFixture[str], command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("place").mkdir()
    words = [*COMMANDS[command], "--out"]
    assert "--out 'place' is a folder. Name a file in it." in refused(capsys, [*words, "place"])
    assert "the folder 'none' of --out does not exist." in refused(capsys, [*words, "none/o"])
    assert "the folder 't.csv' of --out is not a folder." in refused(capsys, [*words, "t.csv/o"])
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "place")
    assert "place: Permission denied" in refused(capsys, [*words, "place/o"], code=1)
    Path("closed.aldsurv").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "closed.aldsurv" or not mode & os.W_OK)
    assert "closed.aldsurv: Permission denied" in refused(capsys, [*words, "closed.aldsurv"], code=1)


@POSIX
@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_pipe_is_written_to_and_stays(command: str) -> None:
    words = COMMANDS[command]
    assert main([*words, "--out", "file"]) == 0
    os.mkfifo("pipe")
    content: list[bytes] = []
    reader = threading.Thread(target=lambda: content.append(Path("pipe").read_bytes()), daemon=True)
    reader.start()
    assert main([*words, "--out", "pipe"]) == 0
    reader.join(10)
    assert content == [Path("file").read_bytes()]
    assert stat.S_ISFIFO(Path("pipe").lstat().st_mode)


@POSIX
def test_a_device_is_written_to_and_stays(capsys: pytest.CaptureFixture[str]) -> None:
    # A second node of what is behind /dev/null: the one of the machine is not put at risk.
    try:
        os.mknod("device", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
        Path("device").write_bytes(b"")
    except (OSError, AttributeError) as error:
        pytest.skip(f"no devices can be made here: {error}")
    for command in ("fit", "predict"):
        assert main([*COMMANDS[command], "--out", "device"]) == 0
    assert stat.S_ISCHR(Path("device").lstat().st_mode)
    os.mknod("disk", 0o600 | stat.S_IFBLK, os.makedev(7, 250))
    assert "--out 'disk' is a disk, which is not written to." in refused(capsys, [*COMMANDS["fit"], "--out", "disk"])


@POSIX
def test_a_link_stays_and_its_file_keeps_its_mode(model: WeibullAFT) -> None:
    model.save("v1.aldsurv")
    Path("v1.aldsurv").chmod(0o640)
    Path("latest.aldsurv").symlink_to("v1.aldsurv")
    before = Path("v1.aldsurv").read_bytes()
    assert main([*COMMANDS["fit"], "--out", "latest.aldsurv"]) == 0
    assert Path("latest.aldsurv").is_symlink()
    assert Path("v1.aldsurv").read_bytes() != before
    assert stat.S_IMODE(Path("v1.aldsurv").stat().st_mode) == 0o640
    Path("dangling").symlink_to("none/file")
    with pytest.raises(ParameterError, match=r"the folder '.*none' of --out does not exist"):
        checked_output(Path("dangling"), MODEL)


def test_what_counts_as_the_same_kind(model: WeibullAFT) -> None:
    import gzip

    import pyarrow as arrow
    import pyarrow.parquet as parquet

    from aldsurv.files.model_file import write_model_file

    model.save("a.aldsurv")
    Path("a.csv").write_text("a,b\n")
    Path("a.jsonl").write_text('{"a": 1}\n')
    Path("a.csv.gz").write_bytes(gzip.compress(b"a\n"))
    Path("a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    parquet.write_table(arrow.table({"a": [1]}), "a.parquet")
    write_text("a.html", '<!doctype html>\n<meta name="generator" content="aldsurv 1.0">\n')
    # What a long fit goes on from is no model that a fit may replace.
    write_model_file("fit.part", {"kind": "training checkpoint"}, {})
    kinds = {"a.aldsurv": MODEL, "a.html": PAGE, "a.png": PICTURE}
    kinds |= {f"a.{form}": PREDICTIONS[form] for form in ("csv", "jsonl", "parquet")} | {"a.csv.gz": PREDICTIONS["gz"]}
    for name in (*kinds, "fit.part"):
        for title, kind in kinds.items():
            if name == title:
                assert checked_output(Path(name), kind) == Path(name)
            else:
                with pytest.raises(ParameterError, match="exists and is not a"):
                    checked_output(Path(name), kind)
                assert checked_output(Path(name), kind, force=True) == Path(name)


def test_a_page_may_be_written_again(model: WeibullAFT, capsys: pytest.CaptureFixture[str]) -> None:
    from aldsurv.reports.page.page import Page, Section, Text, render_page

    write_text("r.html", render_page(Page("Title", "Lead", (Section("a", "A", (Text("text"),)),), "")))
    assert checked_output(Path("r.html"), PAGE) == Path("r.html")


def test_folders_that_are_made() -> None:
    assert checked_folder(Path("new/below")) == Path("new/below")
    assert not Path("new").exists()
    for wrong in ("t.csv", "t.csv/below/it"):
        with pytest.raises(ParameterError, match=r"the folder '.*t\.csv' of --out is not a folder"):
            checked_folder(Path(wrong))


def test_demo_looks_before_it_learns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ALDSurvival, "fit", lambda *given: pytest.fail("learned before it had looked"))
    for name in ("survival.png", "gbsg.aldsurv"):
        Path(name).write_text("mine")
        assert f"'{name}' exists and is not a" in refused(capsys, ["demo", "--out", "."])
        Path(name).unlink()


def test_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    quick = ["benchmark", "run", "--datasets", "norm_linear", "--models", "cox", "--seeds", "1", "--jobs", "1"]
    assert "the folder 't.csv' of --out is not a folder" in refused(capsys, [*quick, "--out", "t.csv"])
    Path("other").mkdir()
    with sqlite3.connect("other/results.sqlite") as file:
        file.execute("create table mine (x text)")
    file.close()
    before = Path("other/results.sqlite").read_bytes()
    assert "is a database of another program" in refused(capsys, [*quick, "--out", "other"])
    assert Path("other/results.sqlite").read_bytes() == before
    assert main([*quick, "--out", "results", "--quiet"]) == 0
    Path("index.html").write_text("<title>mine</title>")
    words = ["benchmark", "report", "results", "--out"]
    assert "'index.html' exists and is not a page of aldsurv" in refused(capsys, [*words, "."])
    assert "the folder '" in refused(capsys, [*words, "t.csv"])
