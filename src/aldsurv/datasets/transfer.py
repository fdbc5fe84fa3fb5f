"""One request for a file over HTTP, which goes on where an earlier one was cut."""

from __future__ import annotations

import errno
import http.client
import re
import socket
import ssl
import string
import urllib.error
import urllib.request
from collections.abc import Callable
from email.message import Message
from typing import IO, Any, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from aldsurv import __version__
from aldsurv.datasets.part_file import PartFile
from aldsurv.quoting import printable, shortened

__all__ = ["CutError", "FolderError", "OfflineError", "RefusedError", "Report", "receive"]

# Called with the bytes that are there and, if the server says so, how many there will be.
Report = Callable[[int, "int | None"], None]

_MOST_BYTES = 100_000_000
_MOST_REDIRECTS = 5
_CHUNK = 1 << 16
# Too early, too often, busy: what another try may find otherwise.
_TEMPORARY = {408, 425, 429}
_UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN}


class CutError(Exception):
    """The transfer ended early; another try may go on."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


class RefusedError(Exception):
    """What the server answered cannot be used, now or later."""


class OfflineError(Exception):
    """No server can be reached from here."""


class FolderError(Exception):
    """What arrived cannot be written."""


class _Answer(NamedTuple):
    """How many bytes come first that are there already, and the whole length if the server says it."""

    start: int
    total: int | None


def receive(url: str, part: PartFile, *, timeout: float, report: Report) -> None:
    """Append what is missing of the file to `part`.

    Parameters
    ----------
    url
        Where the file is.
    part
        What has arrived before. It is emptied if the server does not go on from there.
    timeout
        Seconds without a byte after which the transfer counts as cut.
    report
        Called as bytes arrive.
    """
    have = part.size
    headers = {"User-Agent": f"aldsurv/{__version__}", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if part.version is not None:
            # The server goes on only if its file is still that one.
            headers["If-Range"] = part.version
    # The scheme was checked by who knows the address, and is checked again at each redirect.
    request = urllib.request.Request(url, headers=headers)  # noqa: S310
    try:
        with _opener(url).open(request, timeout=timeout) as response:
            answer = _answer(response.status, response.headers)
            if answer.total is not None and answer.total > _MOST_BYTES:
                raise RefusedError(f"it would have {answer.total} bytes, more than the {_MOST_BYTES} that are allowed")
            if answer.start != have:
                part.clear()
            if answer.start not in (0, have):
                raise CutError("the server resumed at another position than requested")
            part.version = _version(response.headers)
            _read_into(part, response, answer.total, report)
    except urllib.error.HTTPError as error:
        with error:
            _refuse_status(error, part)
    except urllib.error.URLError as error:
        _refuse_connection(error.reason, url)
    except (OSError, http.client.HTTPException) as error:
        _refuse_connection(error, url)


def _read_into(part: PartFile, response: Any, total: int | None, report: Report) -> None:
    size = part.size
    report(size, total)
    # read1 hands over what is there: read would wait for a whole chunk, and lose what it has when time runs out.
    while chunk := response.read1(_CHUNK):
        size += len(chunk)
        if size > _MOST_BYTES:
            part.clear()
            raise RefusedError(f"it has more than the {_MOST_BYTES} bytes that are allowed")
        try:
            part.append(chunk)
        except OSError as error:
            raise FolderError(error.strerror or str(error)) from None
        report(size, total)
    if total is not None and size != total:
        raise CutError(f"{size} of {total} bytes arrived")


def _answer(status: int, headers: Message) -> _Answer:
    if status == 206:
        match = re.fullmatch(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)", (headers.get("Content-Range") or "").strip())
        if match is None:
            # Could be any place: -1 is none, and the part begins again.
            return _Answer(-1, None)
        return _Answer(int(match[1]), int(match[2]) + 1 if match[3] == "*" else int(match[3]))
    # The server takes no ranges, or its file is another by now.
    length = headers.get("Content-Length") or ""
    return _Answer(0, int(length) if re.fullmatch(r"\d{1,18}", length) else None)


def _version(headers: Message) -> str | None:
    """A strong entity tag: only with one do two parts belong to the same bytes."""
    tag = headers.get("ETag")
    return tag if tag and tag.startswith('"') else None


def _refuse_status(error: urllib.error.HTTPError, part: PartFile) -> None:
    answer = f"the server answered {error.code} ({_words(error.reason)})"
    if error.code == 416 and part.size:
        # It has no more bytes, and those that are there are not the file.
        part.clear()
        raise CutError(answer)
    if error.code >= 500 or error.code in _TEMPORARY:
        after = error.headers.get("Retry-After") or ""
        raise CutError(answer, float(after) if re.fullmatch(r"\d{1,4}", after) else 0.0)
    raise RefusedError(answer)


def _words(reason: object) -> str:
    """What a server or the system says, in one line: a server may say anything."""
    return shortened(printable(" ".join(str(reason).split())), 200)


def _refuse_connection(reason: object, url: str) -> None:
    host = urlsplit(url).hostname
    if isinstance(reason, TimeoutError):
        raise CutError("the server sent nothing in time")
    if isinstance(reason, ssl.SSLCertVerificationError):
        raise RefusedError(f"the certificate of {host} is not trusted ({_words(reason.verify_message)})")
    if isinstance(reason, socket.gaierror) or (isinstance(reason, OSError) and reason.errno in _UNREACHABLE):
        raise OfflineError(f"{host} cannot be reached ({reason.strerror})")
    text = _words(reason) or type(reason).__name__
    raise CutError(f"the connection was cut ({text})")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Redirects a few times, and never to a scheme that protects less or reads from somewhere else.

    The base class would read the whole answer first, however long it is, and follow to ftp.
    """

    def __init__(self, scheme: str) -> None:
        self._allowed = {"https", scheme}
        self._left = _MOST_REDIRECTS

    def http_error_302(self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Message) -> Any:
        fp.close()
        place = headers.get("Location") or ""
        try:
            # Headers come as Latin-1, whatever they are; an address has neither spaces nor such letters.
            target = urljoin(req.full_url, quote(place, safe=string.punctuation, encoding="latin-1"))
            scheme = urlsplit(target).scheme.lower()
        except ValueError:
            scheme = ""
        if not place or scheme not in self._allowed:
            raise RefusedError(f"the server redirects to {place[:200]!r}, where aldsurv does not follow")
        if self._left == 0:
            raise RefusedError(f"the server redirects more than {_MOST_REDIRECTS} times")
        self._left -= 1
        request = urllib.request.Request(target, headers=dict(req.headers))  # noqa: S310
        return self.parent.open(request, timeout=req.timeout)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _opener(url: str) -> urllib.request.OpenerDirector:
    """HTTP and the proxies of the environment, and nothing that reads files or other schemes."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        _Redirects(urlsplit(url).scheme.lower()),
    ):
        opener.add_handler(handler)
    return opener
