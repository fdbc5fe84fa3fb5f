"""Writing files: whole or not at all, through links, with the permissions they had, never in the place of a device."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from aldsurv.errors import ParameterError
from aldsurv.files import writing as files
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.files.writing import descriptor_of, is_stream, whole_file, write_text

POSIX = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
SOURCE = str(Path(files.__file__).parents[2])
DAY = 86_400


def save_plot(path: Path) -> None:
    from matplotlib.figure import Figure

    from aldsurv.plots import save_figure

    save_figure(Figure(), path)


WRITERS = {
    "text.html": lambda path: write_text(path, "new"),
    "model.aldsurv": lambda path: write_model_file(path, {"new": 1}, {"x": np.zeros(3)}),
    "picture.png": save_plot,
}
writers = pytest.mark.parametrize("name", WRITERS)


def make_node(path: Path, kind: int, device: int) -> Path:
    try:
        os.mknod(path, 0o600 | kind, device)
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK)) if stat.S_ISCHR(kind) else None
    except (OSError, AttributeError) as error:
        pytest.skip(f"no devices can be made here: {error}")
    return path


def read_from(pipe: Path) -> tuple[threading.Thread, list[bytes]]:
    """Read a pipe to its end in a thread."""
    content: list[bytes] = []
    thread = threading.Thread(target=lambda: content.append(pipe.read_bytes()), daemon=True)
    thread.start()
    return thread, content


@POSIX
@writers
def test_links_stay_links_and_permissions_stay(tmp_path: Path, name: str) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    target = place / "target"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link, second = tmp_path / name, tmp_path / f"second-{name}"
    link.symlink_to(Path("elsewhere") / "target")
    second.symlink_to(link.name)
    WRITERS[name](second)
    assert link.is_symlink()
    assert second.is_symlink()
    assert not target.is_symlink()
    assert target.read_bytes() != b"old"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert [entry.name for entry in place.iterdir()] == ["target"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["elsewhere", name, f"second-{name}"])


@POSIX
def test_a_link_to_nothing_makes_the_file_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("new")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "new").read_text() == "text"


@POSIX
def test_a_link_to_itself_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="loop"):
        write_text(tmp_path / "loop", "text")
    assert [entry.name for entry in tmp_path.iterdir()] == ["loop"]


@POSIX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_of_a_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.write_text("old")
    os.chown(path, 1234, 5678)
    path.chmod(0o604)
    write_text(path, "new")
    status = path.stat()
    assert (status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)) == (1234, 5678, 0o604)


@POSIX
def test_owner_and_group_that_cannot_be_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "theirs"
    path.write_text("old")
    path.chmod(0o6755)
    asked: list[tuple[int, int]] = []

    def refused(descriptor: int, user: int, group: int) -> None:
        asked.append((user, group))
        raise PermissionError(1, "Operation not permitted")

    class Other:
        """The status of a file of another user."""

        def __init__(self, status: os.stat_result) -> None:
            self.st_mode, self.st_uid, self.st_gid = status.st_mode, status.st_uid + 1, status.st_gid + 1

    monkeypatch.setattr(os, "fchown", refused)
    monkeypatch.setattr(files, "_status", lambda place: Other(os.stat(place)))  # noqa: PTH116
    write_text(path, "new")
    # As another user it must not run as that of the file before.
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    assert [user for user, _ in asked] == [path.stat().st_uid + 1, -1]


@POSIX
@pytest.mark.parametrize("old", [True, False], ids=["over an old file", "to a new file"])
def test_no_other_user_may_read_what_is_not_whole(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "rows.csv"
    if old:
        path.touch(mode=0o600)
    with whole_file(path) as file:
        file.write(b"private")
        file.flush()
        (part,) = (entry for entry in tmp_path.iterdir() if entry != path)
        assert stat.S_IMODE(part.stat().st_mode) == 0o600
        assert part.name.startswith(".rows.csv.")
    (tmp_path / "plain").touch()
    expected = 0o600 if old else stat.S_IMODE((tmp_path / "plain").stat().st_mode)
    assert stat.S_IMODE(path.stat().st_mode) == expected


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), ValueError("no")])
def test_what_fails_leaves_the_old_file_and_names_it(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("old")

    def fail() -> None:
        with whole_file(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    if isinstance(error, OSError):
        assert isinstance(caught.value, OSError)
        assert caught.value.filename == str(path)


@pytest.mark.parametrize("name", ["text.html", "model.aldsurv"])
def test_folders(tmp_path: Path, name: str) -> None:
    write = WRITERS[name]
    with pytest.raises(IsADirectoryError):
        write(tmp_path)
    with pytest.raises(FileNotFoundError) as missing:
        write(tmp_path / "none" / "file")
    assert missing.value.filename == str(tmp_path / "none" / "file")
    write(tmp_path / "file")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "file" / "below")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@POSIX
@pytest.mark.parametrize("name", ["text.html", "model.aldsurv"])
def test_a_pipe_is_written_to(tmp_path: Path, name: str) -> None:
    pipe = tmp_path / name
    os.mkfifo(pipe)
    assert is_stream(pipe)
    thread, content = read_from(pipe)
    WRITERS[name](pipe)
    thread.join(10)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)
    plain = tmp_path / f"plain-{name}"
    WRITERS[name](plain)
    assert content == [plain.read_bytes()]


@POSIX
def test_devices_stay_devices(tmp_path: Path) -> None:
    # A second node of what is behind /dev/null: the one of the machine is not put at risk.
    device = make_node(tmp_path / "null", stat.S_IFCHR, os.makedev(1, 3))
    (tmp_path / "link").symlink_to("null")
    write_text(device, "text")
    write_model_file(tmp_path / "link", {}, {})
    assert stat.S_ISCHR(device.lstat().st_mode)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link", "null"]


@POSIX
def test_disks_and_sockets_are_refused(tmp_path: Path) -> None:
    import socket

    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        # The address of a socket must be short.
        os.chdir(tmp_path)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        with pytest.raises(ParameterError, match="is a socket, which is not written to"):
            write_text(tmp_path / "socket", "text")
    disk = make_node(tmp_path / "disk", stat.S_IFBLK, os.makedev(7, 250))
    with pytest.raises(ParameterError, match="is a disk, which is not written to"):
        write_text(disk, "text")
    assert stat.S_ISBLK(disk.lstat().st_mode)


@POSIX
def test_names_of_open_streams(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/dev/stdout")
    (tmp_path / "again").symlink_to("out")
    assert [descriptor_of(tmp_path / name) for name in ("out", "again", "none")] == [1, 1, None]
    assert [descriptor_of(name) for name in ("/dev/stdout", "/dev/../dev/stderr", "/dev/fd/7")] == [1, 2, 7]
    assert [descriptor_of(f"/proc/{who}/fd/3") for who in ("self", os.getpid(), os.getppid())] == [3, 3, None]
    assert descriptor_of(os.devnull) is None


@POSIX
@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_is_appended_to_as_the_shell_said(tmp_path: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {SOURCE!r})\n"
        "from aldsurv.files.writing import write_text\n"
        "print('first')\nwrite_text('/dev/stdout', 'second\\n')\nprint('third')\n"
    )
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("ab") as file:
        subprocess.run([sys.executable, "-c", program], stdout=file, check=True)
    assert log.read_text() == "before\nfirst\nsecond\nthird\n"
    assert list(tmp_path.iterdir()) == [log]


KILLED = f"""
import sys, time
sys.path.insert(0, {SOURCE!r})
from aldsurv.files.writing import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(b"private rows")
    file.flush()
    print("waiting", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there a killed process ends otherwise")
@pytest.mark.parametrize("name", ["rows.csv", "m" * 255])
def test_what_a_killed_writer_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "waiting\n"
        (part,) = tmp_path.iterdir()
        write_text(path, "by another")
        assert sorted(tmp_path.iterdir()) == sorted([part, path])
        writer.send_signal(signal.SIGKILL)
    assert part.read_bytes() == b"private rows"
    write_text(tmp_path / "other", "another name")
    assert part.exists()
    write_text(path, "again")
    assert sorted(tmp_path.iterdir()) == sorted([path, tmp_path / "other"])


def test_files_that_older_versions_left_are_removed_after_a_day(tmp_path: Path) -> None:
    names = [".a.csv.0123456789abcdef.part", ".a.csv.77.part", ".aldsurv-0123456789abcdef.part"]
    others = [".b.csv.0123456789abcdef.part", "a.csv.part", ".a.csv.notes.part", "a.csv.0123456789abcdef.part"]
    for name in (*names, *others):
        (tmp_path / name).touch()
    write_text(tmp_path / "a.csv", "text")
    assert all((tmp_path / name).exists() for name in (*names, *others))
    before = time.time() - DAY - 60
    for name in (*names, *others):
        os.utime(tmp_path / name, (before, before))
    write_text(tmp_path / "a.csv", "text")
    assert sorted(entry.name for entry in tmp_path.iterdir()) == sorted(["a.csv", *others])


@POSIX
def test_without_locks_the_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    def unsupported(descriptor: int, how: int) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    young, old = (tmp_path / f".a.{pid}-0123abcd.part" for pid in (1, 2))
    young.touch()
    old.touch()
    os.utime(old, (time.time() - DAY - 60,) * 2)
    write_text(tmp_path / "a", "text")
    assert sorted(tmp_path.iterdir()) == sorted([young, tmp_path / "a"])


@POSIX
@pytest.mark.parametrize("answer", [False, True])
def test_a_new_file_that_another_took_for_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    turns: list[int] = []
    lock = files.try_lock

    def swept(descriptor: int) -> bool | None:
        turns.append(descriptor)
        if len(turns) > 1:
            return lock(descriptor)
        (part,) = tmp_path.iterdir()
        part.unlink()
        return answer

    monkeypatch.setattr(files, "try_lock", swept)
    write_text(tmp_path / "a", "text")
    assert len(turns) == 2
    assert [entry.name for entry in tmp_path.iterdir()] == ["a"]


@POSIX
def test_a_model_reaches_the_file_behind_a_link(tmp_path: Path) -> None:
    (tmp_path / "latest.aldsurv").symlink_to("v1.aldsurv")
    assert write_model_file(tmp_path / "latest.aldsurv", {"a": 1}, {}) == tmp_path / "latest.aldsurv"
    assert read_model_file(tmp_path / "v1.aldsurv")[0] == {"a": 1}
