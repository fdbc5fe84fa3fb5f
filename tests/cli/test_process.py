"""Readers that leave, streams that are closed, and signals that end a command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import aldsurv
from aldsurv.cli.main import main
from aldsurv.cli.process import MessageStream, SignalledError, ended_by_signals, message_streams
from aldsurv.models import WeibullAFT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs signals and descriptors of POSIX")

FIT = ["fit", "t.csv", "--time", "months", "--event", "died", "--model", "weibull_aft"]
ALDSURV = [sys.executable, "-m", "aldsurv"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    x, time_ = rng.normal(size=60), rng.exponential(5, 60)
    WeibullAFT().fit({"x": x}, (time_, np.ones(60))).save("m.aldsurv")
    rows = [f"{t:.3f},1,{v:.3f}" for t, v in zip(time_, x, strict=True)]
    Path("t.csv").write_text("\n".join(["months,died,x", *rows]) + "\n")
    return tmp_path


def names() -> list[str]:
    return sorted(path.name for path in Path().iterdir())


@pytest.mark.parametrize("both", [False, True], ids=["output", "output and errors"])
def test_a_reader_who_leaves_does_not_cost_the_model(environment: dict[str, str], both: bool) -> None:
    read, write = os.pipe()
    os.close(read)
    # Without columns that vary enough there is a note, too: both streams are written to.
    done = subprocess.run(
        [*ALDSURV, *FIT, "--held-out", "0.02"],
        stdout=write,
        stderr=write if both else subprocess.PIPE,
        env=environment,
        check=False,
    )
    os.close(write)
    assert done.returncode == 0
    assert both or b"Traceback" not in done.stderr
    assert isinstance(aldsurv.load("t.aldsurv"), aldsurv.WeibullAFT)
    assert names() == ["m.aldsurv", "t.aldsurv", "t.csv"]


def test_closed_streams_cost_nothing(environment: dict[str, str]) -> None:
    script = f"{sys.executable} -m aldsurv {' '.join(FIT)} <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], env=environment, check=False).returncode == 0
    # Nothing that was printed ended up in the file that got the number of a closed stream.
    assert isinstance(aldsurv.load("t.aldsurv"), aldsurv.WeibullAFT)


def test_rows_need_an_output_that_is_open(environment: dict[str, str]) -> None:
    for out in ("", "--out /dev/stdout --format csv"):
        script = f"{sys.executable} -m aldsurv predict m.aldsurv t.csv {out} >&-"
        done = subprocess.run(["sh", "-c", script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("aldsurv: error: ")
        assert "closed" in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_pipe_that_breaks_under_the_model_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    # A reader who opens the pipe and leaves at once.
    reader = threading.Thread(target=lambda: os.close(os.open("pipe", os.O_RDONLY)), daemon=True)

    def save(self: WeibullAFT, path: Path) -> Path:
        from aldsurv.files.writing import whole_file

        reader.start()
        with whole_file(path) as file:
            reader.join(10)
            file.write(b"model")
        return path

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WeibullAFT, "save", save)
        assert main([*FIT, "--quiet", "--out", "pipe"]) == 1
    assert capfd.readouterr().err == "aldsurv: error: pipe: Broken pipe\n"


WAITING = """
import signal, sys, time
from aldsurv.cli.predict import prediction_files
from aldsurv.cli.main import main

# Whoever runs the tests under nohup has it ignored, and their children with them.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

write = prediction_files._CsvWriter.write

def slow(self, batch):
    write(self, batch)
    print("written", flush=True)
    time.sleep(60)

prediction_files._CsvWriter.write = slow
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_rows_behind(environment: dict[str, str], name: str) -> None:
    number = getattr(signal, name)
    Path("out.csv").write_text("a,b\n1,2\n")
    words = ["predict", "m.aldsurv", "t.csv", "--keep", "x", "--out", "out.csv", "--quiet"]
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "written\n"
        assert len(names()) == 4
        # As `timeout` does: to the process, and to its group.
        process.send_signal(number)
        process.send_signal(number)
        err = process.stderr.read()
    assert process.returncode == 128 + number
    assert err == f"aldsurv: error: ended by {name} before it was done.\n"
    assert Path("out.csv").read_text() == "a,b\n1,2\n"
    assert names() == ["m.aldsurv", "out.csv", "t.csv"]


def children(process: int) -> list[int]:
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(status.parent.name))
    return found


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the tree of processes")
def test_a_signal_ends_the_workers_of_a_benchmark(environment: dict[str, str]) -> None:
    pytest.importorskip("torch")
    words = ["--datasets", "norm_linear,weibull", "--models", "ald", "--seeds", "10", "--jobs", "2", "--out", "results"]
    with subprocess.Popen(
        [*ALDSURV, "benchmark", "run", *words], stderr=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stderr is not None
        end = time.monotonic() + 60
        workers: list[int] = []
        # Two workers, and what looks after their memory.
        while len(workers) < 3 and time.monotonic() < end:
            assert process.poll() is None
            time.sleep(0.05)
            workers = children(process.pid)
        process.send_signal(signal.SIGTERM)
        err = process.stderr.read()
    assert process.returncode == 143
    assert err == "aldsurv: error: ended by SIGTERM before it was done.\n"
    end = time.monotonic() + 20
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not [worker for worker in workers if Path(f"/proc/{worker}").exists()]
    # The file from which the same command goes on.
    assert [path.name for path in Path("results").iterdir()] == ["results.sqlite"]


def test_a_signal_that_comes_twice_counts_once(environment: dict[str, str]) -> None:
    # The second one arrives when the command is over and only Python has yet to end.
    script = """
import os, signal, sys
from aldsurv.cli import main as entry

def run(arguments):
    os.kill(os.getpid(), signal.SIGTERM)

entry._run = run
code = entry.main([])
os.kill(os.getpid(), signal.SIGTERM)
sys.exit(code)
"""
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 143
    assert done.stderr == "aldsurv: error: ended by SIGTERM before it was done.\n"


def kill_oneself() -> None:
    with ended_by_signals():
        # As under nohup.
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        os.kill(os.getpid(), signal.SIGHUP)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(10)


def test_handlers_are_put_back() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with ended_by_signals():
            assert callable(signal.getsignal(signal.SIGTERM))
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_signal_is_the_last_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aldsurv.cli.process._SIGNALS", ("SIGTERM", "SIGHUP", "SIGBREAK"))
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(SignalledError, match="SIGTERM") as caught:
            kill_oneself()
        assert caught.value.number == signal.SIGTERM
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_other_threads_have_no_handlers() -> None:
    seen: list[object] = []

    def work() -> None:
        with ended_by_signals():
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]


def test_streams_are_put_back_and_errors_other_than_a_reader_who_left_are_kept(tmp_path: Path) -> None:
    class Full:
        """A stream on a disk that is full."""

        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

        def flush(self) -> None:
            raise OSError(5, "Input/output error")

        def fileno(self) -> int:
            raise ValueError("closed")

        def isatty(self) -> bool:
            return True

    stream = MessageStream(Full())
    assert stream.write("words") == 5
    stream.flush()
    assert stream.error is not None
    assert stream.error.errno == 28
    assert stream.isatty()
    before = sys.stdout, sys.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        with message_streams():
            assert not sys.stderr.isatty()
            print("words", file=sys.stderr)
        assert sys.stderr is None
    assert (sys.stdout, sys.stderr) == before
