"""Fetching: which file, where to, and what is said if it cannot be had."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import sys
import urllib.error
from pathlib import Path

import pytest

import aldsurv
from aldsurv.datasets import download, loading, part_file, transfer
from aldsurv.datasets.catalogue import DATASETS
from aldsurv.datasets.data_folder import raw_file
from aldsurv.datasets.download import DownloadError, fetch, fetch_file, names_with_files
from aldsurv.errors import MissingDependencyError, ParameterError, UnknownNameError
from aldsurv.registry import Registry
from datasets.downloads import CONTENT, FILE, get, info, only_the_file, refusal
from datasets.loopback import Reply, Server, honest

pytestmark = pytest.mark.usefixtures("no_pauses_and_no_proxy")


def test_a_file_is_downloaded_once(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    with Server(honest(CONTENT)) as server:
        assert get(server, folder) == folder / FILE
        assert get(server, folder) == folder / FILE
        assert len(server.requests) == 1
        assert server.requests[0].headers["user-agent"] == f"aldsurv/{aldsurv.__version__}"
    assert only_the_file(folder)


def test_a_damaged_file_stays_until_a_good_one_is_there(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"damaged")
    with Server(lambda request, number: Reply("404 Not Found")) as server, pytest.raises(DownloadError):
        get(server, tmp_path)
    assert (tmp_path / FILE).read_bytes() == b"damaged"
    with Server(honest(CONTENT)) as server:
        get(server, tmp_path)
    assert only_the_file(tmp_path)


def test_other_bytes_are_refused(tmp_path: Path) -> None:
    with Server(honest(CONTENT[::-1])) as server:
        message = refusal(server, tmp_path)
        assert "SHA-256" in message
        assert "https://example.org/about" in message
        assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", ["404 Not Found", "410 Gone", "403 Forbidden", "401 Unauthorized", "304 Not Modified"])
def test_what_is_not_there_is_named_with_the_page(tmp_path: Path, code: str) -> None:
    with Server(lambda request, number: Reply(code)) as server:
        message = refusal(server, tmp_path)
        assert code.split()[0] in message
        assert "https://example.org/about" in message
        assert str(tmp_path) in message
        assert len(server.requests) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        (socket.gaierror(-3, "Temporary failure in name resolution"), "cannot be reached"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "cannot be reached"),
        (ssl.SSLCertVerificationError(1, "certificate verify failed"), "certificate of example.org is not trusted"),
    ],
)
def test_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: OSError, message: str) -> None:
    calls = []

    def fail(self, request, timeout):
        calls.append(request)
        if isinstance(reason, ssl.SSLError):
            reason.verify_message = "self-signed"
        raise urllib.error.URLError(reason)

    monkeypatch.setattr(transfer.urllib.request.OpenerDirector, "open", fail)
    with pytest.raises(DownloadError, match=message) as caught:
        fetch_file(info("https://example.org/f"), folder=tmp_path)
    assert len(calls) == 1
    for word in (FILE, str(tmp_path), "ALDSURV_DATA"):
        assert word in str(caught.value)
    if message == "cannot be reached":
        assert "aldsurv datasets fetch table" in str(caught.value)


def test_no_server_listens(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(DownloadError, match="the connection was cut"):
        fetch_file(info(f"http://127.0.0.1:{port}/f"), folder=tmp_path, retries=1)


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with Server(honest(CONTENT)) as server:
        with pytest.raises(DownloadError, match=r"cannot be written \(.*\)\. Set ALDSURV_DATA"):
            get(server, tmp_path / "file")

        def full(self, data):
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(part_file.PartFile, "append", full)
            assert "(No space left on device)" in refusal(server, tmp_path / "full")
        (tmp_path / "other" / FILE).mkdir(parents=True)
        with pytest.raises(DownloadError, match="cannot be written"):
            get(server, tmp_path / "other")

        def read_only(*arguments, **options):
            raise OSError(errno.EROFS, "Read-only file system")

        with monkeypatch.context() as patch:
            patch.setattr(os, "open", read_only)
            assert "Read-only file system" in refusal(server, tmp_path / "read_only")


def test_several_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = honest(CONTENT)
    with Server(
        lambda request, number: whole(request, number) if request.path == "/good" else Reply("404 Gone")
    ) as server:
        entries = {
            "good": info(f"{server.url}/good", name="good"),
            "bad": info(f"{server.url}/bad", name="bad", file="bad.h5"),
            "worse": info(f"{server.url}/worse", name="worse", file="worse.h5"),
            "drawn": info(None, name="drawn", file=None, sha256=None),
            "with_us": info(f"{server.url}/bad", name="with_us", file="with_us.h5", packaged=True),
            "manual": info(None, name="manual", file="manual.tsv", how="Open a page and download."),
        }
        for module in (download, loading):
            monkeypatch.setattr(module, "DATASETS", Registry("dataset", *entries.values()))
        monkeypatch.setenv("ALDSURV_DATA", str(tmp_path))
        assert names_with_files() == ["good", "bad", "worse", "manual"]
        assert fetch("good") == fetch(["good", "drawn"], progress=False) == [tmp_path / FILE]
        assert fetch([]) == []
        with pytest.raises(DownloadError, match=r"^bad: "):
            fetch(["bad", "good"])
        with pytest.raises(DownloadError, match=r"^2 of 3 datasets: bad: .* worse: ") as caught:
            fetch(["bad", "good", "worse"])
        assert "\n" not in str(caught.value)
        with pytest.raises(DownloadError, match="Open a page and download") as caught:
            fetch("manual")
        assert "cannot be downloaded by a program" in str(caught.value)
        (tmp_path / "manual.tsv").write_bytes(b"other")
        with pytest.raises(DownloadError, match="is not what its publisher had"):
            fetch("manual")
        (tmp_path / "manual.tsv").write_bytes(CONTENT)
        assert fetch("manual") == [tmp_path / "manual.tsv"]
        with pytest.raises(UnknownNameError, match=r"unknown dataset 'godo'\. Did you mean 'good'"):
            fetch("godo")
        with pytest.raises(UnknownNameError, match=r"unknown dataset 'zzz'\. Known: good, bad"):
            fetch("zzz")
        with pytest.raises(ParameterError, match="needs no file"):
            fetch_file(entries["drawn"])


@pytest.mark.parametrize(
    "wrong",
    [
        *({"timeout": value} for value in (0, "5", float("nan"), True)),
        *({"retries": value} for value in (-1, 1.5)),
        {"progress": "loud"},
    ],
)
def test_wrong_settings(wrong) -> None:
    with pytest.raises(ParameterError, match=f"^{next(iter(wrong))} must be"):
        fetch([], **wrong)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/f", "nonsense"])
def test_wrong_addresses(tmp_path: Path, url: str) -> None:
    with pytest.raises(ParameterError, match="must begin with https://"):
        fetch_file(info(url), folder=tmp_path)


def test_the_catalogue_is_fetched_over_https_only() -> None:
    addresses = [record.url for record in DATASETS.records() if record.url is not None]
    assert len(addresses) >= 4
    assert all(url.startswith("https://") for url in addresses)


@pytest.mark.parametrize("length", ["", str(len(CONTENT))])
def test_a_bar_for_people_who_watch(tmp_path: Path, capsys: pytest.CaptureFixture[str], length: str) -> None:
    with Server(lambda request, number: Reply(body=CONTENT, headers={"Content-Length": length})) as server:
        get(server, tmp_path, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert FILE in shown.err
    with Server(honest(CONTENT)) as server:
        get(server, tmp_path / "silent")
    assert capsys.readouterr() == ("", "")


def test_a_server_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    with Server(lambda request, number: Reply("404 \x1b[2J\x1b]0;gone\x07 away")) as server:
        message = refusal(server, tmp_path)
    assert message.isprintable()
    assert r"the server answered 404 (\x1b[2J\x1b]0;gone\x07 away)" in message


def test_pooch_is_needed_to_download_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(honest(CONTENT)) as server, monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pooch", None)
        with pytest.raises(MissingDependencyError, match=r'needs pooch.*pip install "aldsurv\[datasets\]"'):
            get(server, tmp_path)
        assert server.requests == []
        # A file that is there is read without it.
        (tmp_path / FILE).write_bytes(CONTENT)
        patch.setenv("ALDSURV_DATA", str(tmp_path))
        assert raw_file(info(server.url)) == tmp_path / FILE
