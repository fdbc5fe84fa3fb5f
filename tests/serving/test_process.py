"""The service as a process: start, stop by signals, a kill in the middle of a batch, and what it imports."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from child_process import WARNING_OPTIONS, machine_variables, without_machine_warnings

import aldsurv

from .client import LINES, ROWS, Client, column, frozen

WITHOUT_TORCH = """
import sys

class Refused:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "pandas", "pyarrow", "sklearn", "matplotlib"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Refused())
from aldsurv.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class Running:
    """A service in a process of its own."""

    def __init__(self, *options: str, **variables: str) -> None:
        source = str(Path(aldsurv.__file__).parents[1])
        self.process = subprocess.Popen(
            [sys.executable, *WARNING_OPTIONS, "-c", WITHOUT_TORCH, "serve", "--port", "0", *options],
            env={**os.environ, **machine_variables(), "PYTHONPATH": source, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = self.process.stdout.readline().strip()

    def ended(self) -> tuple[int, list[dict[str, Any]]]:
        """The exit code, and the log."""
        _, errors = self.process.communicate(timeout=30)
        lines = without_machine_warnings(errors).splitlines()
        return self.process.returncode, [json.loads(line) for line in lines]


@contextmanager
def running(*options: str, **variables: str) -> Iterator[Running]:
    service = Running(*options, **variables)
    try:
        yield service
    finally:
        if service.process.poll() is None:
            service.process.kill()
            service.process.communicate()


def in_lines(rows: list[dict[str, Any]]) -> bytes:
    return "".join(f"{json.dumps(row)}\n" for row in rows).encode()


def whole_lines(pieces: bytes) -> list[dict[str, Any]]:
    """Lines that have an end; what comes after the last one was not acknowledged."""
    return [json.loads(line) for line in pieces.rpartition(b"\n")[0].splitlines()]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
def test_requests_without_torch_then_a_stop_with_nothing_left(tmp_path):
    key = tmp_path / "keys"
    key.write_text("one-key-of-two\nanother-key-of-two\n", encoding="utf-8")
    with running(str(frozen("ald_default")), f"cox={frozen('cox_efron')}", "--api-key-file", str(key)) as service:
        assert service.address.startswith("http://127.0.0.1:")
        headers = {"authorization": "Bearer another-key-of-two"}
        with httpx.Client(base_url=service.address, headers=headers) as client:
            assert client.get("/healthz").json() == {"status": "ok"}
            answer = client.post("/models/ald_default/predict", json={"rows": ROWS})
            expected = Client("ald_default").predict({"rows": ROWS})
            np.testing.assert_allclose(column(answer, "median"), column(expected, "median"), rtol=1e-9)
            assert answer.json()["model"] == expected.json()["model"]
            assert client.post("/models/cox/predict", json={"rows": ROWS}).status_code == 200
            assert client.get("/models", headers={"authorization": "Bearer x"}).status_code == 401
        assert urllib.request.urlopen(f"{service.address}/readyz", timeout=5).status == 200  # noqa: S310
        service.process.send_signal(signal.SIGTERM)
        code, log = service.ended()
    assert code == 0
    assert [line["status"] for line in log] == [200, 200, 200, 401, 200]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process without asking it")
def test_a_stop_waits_for_running_requests():
    with running(str(frozen("ald_default"))) as service:
        host, port = service.address.removeprefix("http://").split(":")
        body = json.dumps({"rows": ROWS}).encode()
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            head = "POST /models/ald_default/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
            while httpx.get(f"{service.address}/metrics").text.find("aldsurv_requests_in_flight 2.0") < 0:
                time.sleep(0.02)
            service.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)
            # New connections are refused while the old request may go on.
            with pytest.raises(OSError):
                socket.create_connection((host, int(port)), timeout=2)
            connection.sendall(body[10:])
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 200")
        assert json.loads(answer.partition(b"\r\n\r\n")[2])["rows"]
        assert service.ended()[0] == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_a_kill_in_the_middle_of_a_batch_loses_nothing_that_was_acknowledged():
    rows = [{**row, "age": 30.0 + k % 50} for k, row in enumerate(ROWS * 500)]
    body, received = in_lines(rows), b""
    with running(str(frozen("ald_default"))) as service:
        host, port = service.address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            head = f"POST /models/ald_default/batch HTTP/1.1\r\nHost: x\r\nContent-Type: {LINES}\r\n"
            # The rest of the rows never comes: the kill finds a batch that is under way.
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[: len(body) // 3])
            while received.count(b'"row"') < 200:
                received += connection.recv(65536)
            service.process.kill()
            try:
                while piece := connection.recv(65536):
                    received += piece
            except ConnectionResetError:
                pass
        service.process.communicate()
    text = received.partition(b"\r\n\r\n")[2]
    # Chunks of HTTP: a length, then lines; a cut chunk has no whole last line.
    content = b"\n".join(part for part in text.replace(b"\r\n", b"\n").split(b"\n") if part.startswith(b"{")) + b"\n"
    whole = [line for line in content.splitlines() if line.endswith(b"}")]
    lines = [json.loads(line) for line in whole]
    assert len(lines) >= 200
    assert not any("end" in line for line in lines)
    # No gap, nothing twice, and each line is the prediction of its row.
    assert [line["row"] for line in lines] == list(range(len(lines)))
    expected = Client("ald_default").predict({"rows": rows[: len(lines)]})
    np.testing.assert_allclose([line["predicted"]["median"] for line in lines], column(expected, "median"), rtol=1e-9)
    # The client goes on behind the last row that it has, and then has all.
    rest = Client("ald_default").batch(in_lines(rows[len(lines) :]))
    more = whole_lines(rest.content)
    assert len(lines) + len(more) - 1 == len(rows)
    assert more[-1]["complete"]


def test_a_client_that_sends_all_before_it_reads_is_answered():
    with running(str(frozen("cox_efron"))) as service:
        rows = ROWS * 1500
        answer = httpx.post(
            f"{service.address}/models/cox_efron/batch", content=in_lines(rows), headers={"content-type": LINES},
            timeout=60,
        )  # fmt: skip
        lines = whole_lines(answer.content)
        assert (len(lines) - 1, lines[-1]["complete"]) == (len(rows), True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["no.aldsurv"], "there is no file 'no.aldsurv'"),
        ([str(frozen("ald_encoder"))], "was trained with an encoder"),
        ([str(frozen("cox_efron")), str(frozen("cox_efron"))], "two models have the name 'cox_efron'"),
        ([f"a b={frozen('cox_efron')}"], "'a b' cannot stand in an address"),
        ([str(frozen("cox_efron")), "--times", "x"], "--times must be numbers"),
        ([str(frozen("cox_efron")), "--host", "192.0.2.1"], "port 0 of 192.0.2.1 cannot be used"),
    ],
)
def test_what_cannot_be_served_is_one_line(options, message, capfd):
    from aldsurv.cli.main import main

    assert main(["serve", "--port", "0", *options]) == 2
    errors = without_machine_warnings(capfd.readouterr().err)
    assert errors.startswith("aldsurv: error: ")
    assert message in errors
    assert errors.count("\n") == 1


def test_a_port_in_use_is_one_line(capfd):
    from aldsurv.cli.main import main

    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", str(frozen("cox_efron")), "--port", str(port)]) == 2
    errors = capfd.readouterr().err
    assert f"port {port} of 127.0.0.1 cannot be used: " in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("text", ["", "short\n"])
def test_a_bad_file_of_keys_is_one_line(text, tmp_path, capfd):
    from aldsurv.cli.main import main

    path = tmp_path / "keys"
    path.write_text(text, encoding="utf-8")
    assert main(["serve", str(frozen("cox_efron")), "--api-key-file", str(path)]) == 2
    errors = capfd.readouterr().err
    assert "key" in errors
    assert "short" not in errors.replace("shorter", "")


def test_without_the_extra_the_command_says_what_to_install():
    program = WITHOUT_TORCH.replace('"torch"', '"fastapi", "torch"')
    source = str(Path(aldsurv.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", program, "serve", str(frozen("cox_efron"))],
        env={**os.environ, **machine_variables(), "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    expected = 'the service needs fastapi, which is not installed. Install it: pip install "aldsurv[serve]".'
    assert without_machine_warnings(done.stderr) == f"aldsurv: error: {expected}\n"
