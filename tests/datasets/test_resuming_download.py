"""Downloads that are cut, killed, redirected or answered wrongly: they end with the file or with a clear line."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aldsurv
from aldsurv.datasets import part_file, resuming_download, transfer
from aldsurv.datasets.download import DownloadError, fetch_file
from datasets.downloads import CONTENT, FILE, get, info, only_the_file, refusal
from datasets.loopback import Reply, Server, cutting, honest


@pytest.mark.parametrize("cuts", [1, 3])
def test_a_cut_connection_goes_on_where_it_stopped(tmp_path: Path, cuts: int) -> None:
    with Server(cutting(honest(CONTENT), 20_000, times=cuts)) as server:
        get(server, tmp_path)
        assert server.sent == len(CONTENT)
        assert [request.start for request in server.requests] == [20_000 * k for k in range(cuts + 1)]
        assert [request.headers.get("if-range") for request in server.requests] == [None] + ['"one"'] * cuts
    assert only_the_file(tmp_path)


def test_too_many_cuts_leave_what_arrived_for_the_next_time(tmp_path: Path) -> None:
    with Server(cutting(honest(CONTENT), 10_000, times=4)) as server:
        message = refusal(server, tmp_path)
        assert "4 times" in message
        assert "40000 bytes are kept, and the next fetch goes on from there" in message
        assert (tmp_path / f"{FILE}.part").read_bytes() == CONTENT[:40_000]
        get(server, tmp_path)
        assert server.sent == len(CONTENT)
    assert only_the_file(tmp_path)


def test_a_server_that_ignores_ranges(tmp_path: Path) -> None:
    with Server(cutting(honest(CONTENT, ranges=False), 20_000, times=1)) as server:
        get(server, tmp_path)
        assert server.sent == len(CONTENT) + 20_000
    assert only_the_file(tmp_path)


@pytest.mark.parametrize("said", ["bytes 7-102399/102400", "bytes 0-5", "items 5-6/7", "bytes 99999-3/4", ""])
def test_a_range_that_was_not_asked_for_is_not_taken(tmp_path: Path, said: str) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(CONTENT[:500])

    def answer(request, number):
        if request.start:
            return Reply("206 Partial Content", CONTENT[7:], {"Content-Range": said})
        return Reply(body=CONTENT)

    with Server(answer) as server:
        get(server, tmp_path)
        assert [request.start for request in server.requests] == [500, 0]
    assert only_the_file(tmp_path)


def test_a_server_that_sends_less_of_a_range_than_it_could(tmp_path: Path) -> None:
    def answer(request, number):
        end = min(request.start + 40_000, len(CONTENT))
        said = f"bytes {request.start}-{end - 1}/{len(CONTENT)}"
        return Reply("206 Partial Content", CONTENT[request.start : end], {"Content-Range": said})

    with Server(answer) as server:
        get(server, tmp_path)
        assert server.sent == len(CONTENT)
    assert only_the_file(tmp_path)


@pytest.mark.parametrize("length", [len(CONTENT) + 1000, len(CONTENT) - 1000])
def test_wrong_lengths(tmp_path: Path, length: int) -> None:
    with Server(honest(CONTENT, length=length)) as server:
        if length > len(CONTENT):
            # What was announced is more than what is right: the digest knows.
            get(server, tmp_path)
            assert only_the_file(tmp_path)
        else:
            assert "SHA-256" in refusal(server, tmp_path)
            assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("length", ["-5", "many", "1e3", "9" * 30])
def test_lengths_that_are_none(tmp_path: Path, length: str) -> None:
    with Server(lambda request, number: Reply(body=CONTENT, headers={"Content-Length": length})) as server:
        get(server, tmp_path)
    assert only_the_file(tmp_path)


def test_a_part_of_another_version_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(b"?" * 500)
    with Server(honest(CONTENT)) as server:
        get(server, tmp_path)
        assert [request.start for request in server.requests] == [500, 0]
    assert only_the_file(tmp_path)


@pytest.mark.parametrize("size", [len(CONTENT), len(CONTENT) + 9])
def test_a_part_that_is_too_long(tmp_path: Path, size: int) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(b"?" * size)
    with Server(honest(CONTENT)) as server:
        get(server, tmp_path)
    assert only_the_file(tmp_path)


def test_a_part_that_is_whole_already(tmp_path: Path) -> None:
    (tmp_path / f"{FILE}.part").write_bytes(CONTENT)
    with Server(honest(CONTENT)) as server:
        get(server, tmp_path)
        assert server.requests == []
    assert only_the_file(tmp_path)


@pytest.mark.parametrize(("tag", "starts"), [('"old"', [0, 700]), ('W/"old"', [0, 700, 0])])
def test_a_file_that_changes_between_two_requests_begins_anew(tmp_path: Path, tag: str, starts: list[int]) -> None:
    first, second = honest(CONTENT[::-1], tag=tag, cut=700), honest(CONTENT, tag='"new"')
    with Server(lambda request, number: (second if number else first)(request, number)) as server:
        get(server, tmp_path)
        assert [request.start for request in server.requests] == starts
    assert only_the_file(tmp_path)


@pytest.mark.parametrize("code", ["500 Internal Server Error", "503 Busy", "429 Too Many", "408 Timeout"])
def test_a_busy_server_is_asked_again(tmp_path: Path, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = []
    monkeypatch.setattr(resuming_download.time, "sleep", pauses.append)
    headers = {"Retry-After": "7"} if "429" in code else {}
    whole = honest(CONTENT)
    with Server(
        lambda request, number: Reply(code, headers=headers) if number < 2 else whole(request, number)
    ) as server:
        get(server, tmp_path)
        assert len(server.requests) == 3
    assert pauses == ([7.0, 7.0] if headers else [0.001, 0.002])
    assert only_the_file(tmp_path)


def test_a_server_that_stays_busy(tmp_path: Path) -> None:
    with Server(lambda request, number: Reply("500 Internal Server Error")) as server:
        assert "answered 500 (Internal Server Error), 4 times" in refusal(server, tmp_path)
        assert "failed: the server answered 500 (Internal Server Error). " in refusal(server, tmp_path, retries=0)
        assert len(server.requests) == 5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_redirects_are_followed(tmp_path: Path, code: int) -> None:
    whole = honest(CONTENT)

    def answer(request, number):
        if request.path == "/f":
            return Reply(f"{code} Moved", b"elsewhere", {"Location": "/other place"})
        return whole(request, number)

    (tmp_path / f"{FILE}.part").write_bytes(CONTENT[:500])
    with Server(answer) as server:
        get(server, tmp_path)
        assert [request.path for request in server.requests] == ["/f", "/other%20place"]
        assert server.requests[1].start == 500
    assert only_the_file(tmp_path)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("/f", "more than 5 times"),
        ("file:///etc/passwd", "'file:///etc/passwd'"),
        ("ftp://127.0.0.1/f", "'ftp://127.0.0.1/f'"),
        ("data:,other", "'data:,other'"),
        ("http://[", "does not follow"),
        ("", "does not follow"),
    ],
)
def test_redirects_that_are_not_followed(tmp_path: Path, place: str, message: str) -> None:
    with Server(lambda request, number: Reply("302 Found", headers={"Location": place})) as server:
        assert message in refusal(server, tmp_path)
        assert len(server.requests) == (6 if place == "/f" else 1)
    assert list(tmp_path.iterdir()) == []


def test_no_way_back_from_https() -> None:
    handler = transfer._Redirects("https")
    request = transfer.urllib.request.Request("https://example.org/f")
    headers = transfer.Message()
    headers["Location"] = "http://example.org/f"
    with pytest.raises(transfer.RefusedError, match="does not follow"):
        handler.http_error_302(request, open(os.devnull, "rb"), 302, "Found", headers)  # noqa: PTH123, SIM115


def test_chunks_without_a_length(tmp_path: Path) -> None:
    def chunked(content: bytes, end: bytes) -> bytes:
        pieces = [content[k : k + 30_000] for k in range(0, len(content), 30_000)]
        body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
        return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body + end

    with Server(lambda request, number: Reply(raw=chunked(CONTENT, b"0\r\n\r\n"))) as server:
        get(server, tmp_path)
    assert only_the_file(tmp_path)
    (tmp_path / FILE).unlink()
    # The end is missing and the content too, the first time.
    replies = [chunked(CONTENT[:50_000], b""), chunked(CONTENT, b"0\r\n\r\n")]
    with Server(lambda request, number: Reply(raw=replies[number])) as server:
        get(server, tmp_path)
        assert [request.start for request in server.requests] == [0, 50_000]
    assert only_the_file(tmp_path)


def test_until_the_connection_ends(tmp_path: Path) -> None:
    with Server(lambda request, number: Reply(body=CONTENT, headers={"Content-Length": ""})) as server:
        get(server, tmp_path)
    assert only_the_file(tmp_path)


@pytest.mark.parametrize("raw", [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n"])
def test_no_answer_at_all(tmp_path: Path, raw: bytes) -> None:
    with Server(lambda request, number: Reply(raw=raw)) as server:
        assert "the connection was cut" in refusal(server, tmp_path, retries=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("sent", [0, 5000])
def test_silence_ends_the_waiting(tmp_path: Path, sent: int) -> None:
    with Server(honest(CONTENT, cut=sent, hang=True)) as server:
        begin = time.monotonic()
        assert "sent nothing in time" in refusal(server, tmp_path, timeout=0.2, retries=1)
        assert time.monotonic() - begin < 5
    assert [path.stat().st_size for path in tmp_path.iterdir()] == ([2 * sent] if sent else [])


def test_slow_but_steady(tmp_path: Path) -> None:
    with Server(honest(CONTENT[:20_000], pause=0.02)) as server:
        fetch_file(info(server.url, CONTENT[:20_000]), folder=tmp_path, timeout=0.2, retries=0)
    assert (tmp_path / FILE).read_bytes() == CONTENT[:20_000]


@pytest.mark.parametrize("announced", [True, False])
def test_huge_files_are_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, announced: bool) -> None:
    monkeypatch.setattr(transfer, "_MOST_BYTES", 70_000)
    headers = {} if announced else {"Content-Length": ""}
    with Server(lambda request, number: Reply(body=CONTENT, headers=headers)) as server:
        assert "70000" in refusal(server, tmp_path)
        assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []


def test_interruption_leaves_a_part(tmp_path: Path) -> None:
    def stop(done, total):
        if done > 30_000:
            raise KeyboardInterrupt

    with Server(honest(CONTENT)) as server:
        part_path = tmp_path / f"{FILE}.part"
        with pytest.raises(KeyboardInterrupt), part_file.open_part(part_path, tmp_path / "private") as part:
            transfer.receive(server.url, part, timeout=5, report=stop)
        kept = (tmp_path / f"{FILE}.part").stat().st_size
        assert kept > 30_000
        get(server, tmp_path)
        assert server.requests[-1].start == kept
    assert only_the_file(tmp_path)


PROGRAM = """
import sys
from aldsurv.datasets import download, resuming_download
from datasets.downloads import info
resuming_download._FIRST_PAUSE = 0.01
print("ready", flush=True)
sys.stdin.readline()
print(download.fetch_file(info(sys.argv[1]), folder=sys.argv[2], timeout=5))
"""

pytestmark = pytest.mark.usefixtures("no_pauses_and_no_proxy")


def start(url: str, folder: Path) -> subprocess.Popen[str]:
    paths = [str(Path(aldsurv.__file__).parents[1]), str(Path(__file__).parents[1])]
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, url, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "no_proxy": "*"},
    )


def test_killed_in_the_middle_the_next_goes_on(tmp_path: Path) -> None:
    with Server(honest(CONTENT, pause=0.02)) as server:
        process = start(server.url, tmp_path)
        assert process.stdout is not None
        process.stdout.readline()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        part = tmp_path / f"{FILE}.part"
        wait_until(lambda: part.exists() and part.stat().st_size > 10_000)
        process.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        process.communicate()
        kept = part.stat().st_size
        assert 10_000 < kept < len(CONTENT)
        assert not (tmp_path / FILE).exists()
        server.answer = honest(CONTENT)
        time.sleep(0.05)
        before = server.sent
        get(server, tmp_path)
        assert server.requests[-1].start == kept
        assert server.sent - before <= len(CONTENT) - kept + 1000
    assert only_the_file(tmp_path)


def test_processes_at_the_same_time(tmp_path: Path) -> None:
    with Server(honest(CONTENT, pause=0.002)) as server:
        processes = [start(server.url, tmp_path) for _ in range(3)]
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        for process in processes:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            out, err = process.communicate(timeout=30)
            assert (out.strip(), err) == (str(tmp_path / FILE), "")
    assert only_the_file(tmp_path)


def test_threads_at_the_same_time(tmp_path: Path) -> None:
    paths = []
    with Server(honest(CONTENT, cut=None)) as server:
        threads = [threading.Thread(target=lambda: paths.append(get(server, tmp_path))) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert paths == [tmp_path / FILE] * 8
    assert only_the_file(tmp_path)


def test_a_second_owner_gets_a_file_of_its_own(tmp_path: Path) -> None:
    path, target = tmp_path / f"{FILE}.part", tmp_path / FILE
    with part_file.open_part(path, tmp_path / "a") as first:
        first.append(b"first")
        with part_file.open_part(path, tmp_path / "b") as second:
            second.append(b"second")
            assert (first.path, second.path) == (path, tmp_path / "b")
            second.rename(target)
        assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {path.name: b"first", FILE: b"second"}
        first.rename(target)
        # The name is free again while the first still holds what had it.
        with part_file.open_part(path, tmp_path / "c") as third:
            assert (third.path, third.size) == (path, 0)
            third.append(b"third")
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == {FILE: b"first", path.name: b"third"}


@pytest.mark.skipif(os.name == "nt", reason="there an open file cannot be renamed")
def test_a_name_that_changes_hands_between_opening_and_locking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, target = tmp_path / f"{FILE}.part", tmp_path / FILE
    lock, calls = part_file.try_lock, itertools.count()

    def finishes_just_now(descriptor: int) -> bool | None:
        if next(calls) == 0:
            path.replace(target)
        return lock(descriptor)

    monkeypatch.setattr(part_file, "try_lock", finishes_just_now)
    with part_file.open_part(path, tmp_path / "private") as part:
        part.append(b"mine")
        assert target.read_bytes() == b""
        assert path.read_bytes() == b"mine"
    monkeypatch.setattr(part_file, "_is_at", lambda file, path: False)
    with part_file.open_part(path, tmp_path / "private") as part:
        assert part.path == tmp_path / "private"


def wait_until(true, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


@given(st.data())
def test_any_mixture_of_troubles_ends_with_the_file_or_a_clear_line(tmp_path_factory, data) -> None:
    folder = tmp_path_factory.mktemp("mixture")
    content = CONTENT[:5000]
    whole, other = honest(content), honest(content[::-1])
    troubles = {
        "right": whole,
        "cut": lambda request, number: honest(content, cut=700)(request, number),
        "short": honest(content, length=6000),
        "long": honest(content, length=4000),
        "busy": lambda request, number: Reply("503 Busy"),
        "no ranges": honest(content, ranges=False, cut=3000),
        "other": other,
        "nothing": lambda request, number: Reply(raw=b""),
        "gone": lambda request, number: Reply("404 Not Found"),
    }
    plan = data.draw(st.lists(st.sampled_from(sorted(troubles)), min_size=1, max_size=5))
    part = data.draw(st.sampled_from([None, content[:100], b"?" * 100, content, content + b"?"]))
    if part is not None:
        (folder / f"{FILE}.part").write_bytes(part)
    with Server(lambda request, number: troubles[plan[min(number, len(plan) - 1)]](request, number)) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(resuming_download, "_FIRST_PAUSE", 0.0)
            try:
                path = fetch_file(info(server.url, content), folder=folder, timeout=5, retries=2)
            except DownloadError as error:
                assert "\n" not in str(error)  # noqa: PT017
                assert not (folder / FILE).exists()
            else:
                assert path.read_bytes() == content
                assert [path.name for path in folder.iterdir()] == [FILE]
        server.answer = whole
        assert fetch_file(info(server.url, content), folder=folder).read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_planted_link_is_not_followed(tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"not yours")
    folder = tmp_path / "data"
    folder.mkdir()
    part = folder / f"{FILE}.part"
    part.symlink_to(secret) if kind == "symbolic" else part.hardlink_to(secret)
    with Server(honest(CONTENT)) as server:
        get(server, folder)
    assert secret.read_bytes() == b"not yours"
    assert only_the_file(folder)
