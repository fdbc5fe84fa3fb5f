"""A downloader for pooch that goes on where an earlier download was cut, which those of pooch do not."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import final

from aldsurv.datasets.part_file import PartFile, open_part
from aldsurv.datasets.transfer import CutError, RefusedError, Report, receive

__all__ = ["ResumingDownload"]

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


@final
@dataclass(frozen=True)
class ResumingDownload:
    """Called by pooch to write the file behind an address to a path.

    What arrives is kept beside the target, with ``.part`` after its name, until all of it is there.

    Parameters
    ----------
    target
        The name that pooch will give the file.
    sha256
        Its digest.
    progress
        True, False, or ``"auto"``: a bar when the standard error stream is a terminal.
    timeout
        Seconds without a byte after which a connection counts as cut.
    retries
        How often to try again after a connection that was cut or a server that is busy, with growing pauses.
    """

    target: Path
    sha256: str
    progress: bool | str
    timeout: float
    retries: int

    def __call__(self, url: str, output_file: str, pooch: object = None) -> None:
        """Write the file behind ``url`` to ``output_file``."""
        output = Path(output_file)
        # Made empty by pooch; a killed process would leave it behind.
        output.unlink()
        with (
            open_part(self.target.with_name(f"{self.target.name}.part"), output) as part,
            _progress_bar(self.progress, self.target.name) as report,
        ):
            self._complete(part, url, report)
            part.rename(output)

    def _complete(self, part: PartFile, url: str, report: Report) -> None:
        """Bring the part to the digest that is wanted."""
        tries = 0
        while not self._is_whole(part):
            begun = part.size > 0
            try:
                receive(url, part, timeout=self.timeout, report=report)
            except CutError as error:
                if self._is_whole(part):
                    # The length that was announced is wrong, and the file right.
                    return
                if tries == self.retries:
                    times = f", {tries + 1} times" if tries else ""
                    kept = f"; {part.size} bytes are kept, and the next fetch goes on from there" if part.size else ""
                    raise CutError(f"{error}{times}{kept}") from None
                time.sleep(min(max(_FIRST_PAUSE * 2**tries, error.wait), _LONGEST_PAUSE))
                tries += 1
            else:
                if not self._is_whole(part):
                    # The part that was there before may be of another version: then, once, all of it again.
                    part.clear()
                    if not begun:
                        raise RefusedError(
                            "its bytes are not those expected (the SHA-256 differs): the publisher may have changed it"
                        )

    def _is_whole(self, part: PartFile) -> bool:
        import pooch

        return part.size > 0 and bool(pooch.file_hash(str(part.path)) == self.sha256)


@contextmanager
def _progress_bar(show: bool | str, label: str) -> Iterator[Report]:
    """A function to call with the bytes that are there and those there will be."""
    if not show or (show == "auto" and not (sys.stderr and sys.stderr.isatty())):
        yield lambda done, total: None
        return
    import click

    with click.progressbar(length=1, label=label, file=sys.stderr) as bar:

        def report(done: int, total: int | None) -> None:
            # Without a length the end is known only when it is reached.
            bar.length = max(total or 0, done + 1 if total is None else 1)
            bar.update(done - bar.pos)

        yield report
