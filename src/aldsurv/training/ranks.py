"""Processes that train one model together: the only module that speaks to torch.distributed.

Every process runs the same fit over the same rows. Of each large batch it computes some of the parts, whose gradients
are added in one order wherever they were computed: the result is that of a single process, bit for bit. A process that
is lost therefore changes nothing but the time: the others end, and the same fit goes on from its checkpoint with any
number of processes. The first process decides whatever has to be the same everywhere, and alone writes files.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from aldsurv.errors import ClusterError, DataError, FitWarning, MissingDependencyError, ParameterError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["LostRankError", "Ranks", "ReleasedError", "current_ranks", "open_ranks"]

# One process may take so much longer than another to read all rows. One that ends is noticed at once.
_MOST_WAITING = timedelta(minutes=30)
_MOST_CONNECTING = timedelta(minutes=5)
_SECONDS_FOR_OTHERS = 5.0
# Why training is to end.
_INTERRUPTED, _UNWANTED = 1.0, 2.0


class LostRankError(ClusterError):
    """A process of the group has ended, or does not answer."""


class ReleasedError(BaseException):
    """The first process does the rest alone, or the result is not needed: ends the work here, without an error."""


@final
class Ranks:
    """A group of processes, as one of them sees it; alone unless `open_ranks` made it.

    Attributes
    ----------
    number, count
        Which process this is, from 0 on, and how many there are.
    """

    def __init__(self, number: int = 0, count: int = 1, store: Any = None) -> None:
        self.number, self.count, self._store = number, count, store
        self._stopped = 0.0
        self._group: Any = None
        self._held: dict[tuple[int, Any], tuple[Tensor, Tensor]] = {}
        if count > 1:
            import torch
            from torch.distributed import ProcessGroupGloo

            try:
                self._group = ProcessGroupGloo(store, number, count, _MOST_WAITING)
            except RuntimeError:
                raise self._lost() from None
            # None goes on, or leaves, before all are there.
            self.exchange(0, [], torch.zeros(1))

    @property
    def first(self) -> bool:
        """Whether this is the process that decides and writes."""
        return self.number == 0

    def share(self, items: int) -> range:
        """Numbers of the items that this process has: a stretch of them."""
        return self._share_of(self.number, items)

    def exchange(self, items: int, mine: Sequence[Tensor], like: Tensor) -> Sequence[Tensor]:
        """The tensors of all items, in their order; they are overwritten by the next call.

        Parameters
        ----------
        items
            How many there are in all.
        mine
            Those of this process's share.
        like
            A tensor of one axis, as long and as precise as each of them.
        """
        if self.count == 1:
            self.end_if_stopped()
            return mine
        most = -(-items // self.count)
        own, received = self._buffers(most * len(like) + 1, like)
        for number, tensor in enumerate(mine):
            own[number * len(like) : (number + 1) * len(like)] = tensor
        # If one was asked to stop, all stop after the same batch.
        own[-1] = self._stopped
        self._wait(self._group.allgather([list(received)], [own]))
        self._end_if(float(received[:, -1].max()))
        rows = received[:, :-1].view(self.count, most, len(like))
        return [rows[k, number] for k in range(self.count) for number in range(len(self._share_of(k, items)))]

    def take_from_first(self, tensor: Tensor) -> None:
        """Put into a tensor what the first process has in its own."""
        if self.count > 1:
            self._broadcast(tensor.detach(), 0)

    def require_same(self, digest: bytes) -> None:
        """Raise `DataError` in a process whose run is another one than that of the first."""
        if self._bytes_of_first(digest) != digest:
            raise DataError(
                f"process {self.number + 1} of {self.count} has other rows or settings than the first, or another kind "
                "of processor",
                advice="Give all processes the same files, the same random_state and machines of one kind.",
            )

    @contextmanager
    def file_of_first(self, path: Path | None) -> Iterator[Path | None]:
        """The file that the first process has at `path`, or a copy of it; None if it has none."""
        if self.count == 1:
            yield path
        elif self.first:
            # What is wrong with it is noticed here, before others have it.
            yield path
            self._bytes_of_first(b"" if path is None else path.read_bytes())
        else:
            content = self._bytes_of_first(b"")
            with tempfile.TemporaryDirectory(prefix="aldsurv-") as folder:
                copy = Path(folder) / "copy"
                copy.write_bytes(content)
                yield copy if content else None

    def leave(self, reason: str = "") -> None:
        """Let the first process do the rest alone; the others end by `ReleasedError`.

        Parameters
        ----------
        reason
            Why nothing is shared, for a warning; empty: nothing is left to share.
        """
        if self.count == 1:
            return
        if not self.first:
            raise ReleasedError
        count = self.count
        self.close()
        if reason:
            warnings.warn(f"{reason}: one of {count} does the work, and the others end.", FitWarning, stacklevel=4)

    def stop(self, *, unwanted: bool = False) -> None:
        """Let all processes end their training after the batch or epoch at hand, as Ctrl-C does.

        `unwanted`: the result is not needed, and their work ends by `ReleasedError`.
        """
        self._stopped = _UNWANTED if unwanted else _INTERRUPTED

    def end_if_stopped(self) -> None:
        """End the training if `stop` was called in a process that is alone; a group notices it in `exchange`."""
        if self.count == 1:
            self._end_if(self._stopped)

    def _end_if(self, stopped: float) -> None:
        if stopped:
            self._stopped = 0.0
            raise ReleasedError if stopped == _UNWANTED else KeyboardInterrupt

    @contextmanager
    def interrupted_together(self) -> Iterator[None]:
        """Inside, Ctrl-C raises KeyboardInterrupt after a batch, in all processes after the same one."""
        if self.count == 1 or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, lambda *_: self.stop())
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def fails_first(self) -> bool:
        """Leave the group; whether no other process has called this.

        All notice a failure, and one of them says what is wrong.
        """
        store, count, first = self._store, self.count, self.first
        if store is None or count == 1:
            self.close()
            return True
        try:
            # Before others notice that this one is gone: they could only say that.
            place = int(store.add("failed", 1))
            self.close()
            # The store may end with the first process: others get the time to ask.
            until = time.monotonic() + _SECONDS_FOR_OTHERS
            while first and store.add("failed", 0) < count and time.monotonic() < until:
                time.sleep(0.05)
        except RuntimeError:
            return True
        finally:
            self.close()
        return place == 1

    def close(self) -> None:
        """Leave the group: those that wait for this process fail at once."""
        self._group = None
        self.number, self.count = 0, 1

    def _share_of(self, number: int, items: int) -> range:
        start, stop = (-(-items * k // self.count) for k in (number, number + 1))
        return range(start, stop)

    def _buffers(self, length: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """What this process sends, and what it receives from each."""
        key = length, like.dtype
        if key not in self._held:
            self._held[key] = like.new_zeros(length), like.new_zeros(self.count, length)
        return self._held[key]

    def _broadcast(self, tensor: Tensor, root: int) -> None:
        from torch.distributed import BroadcastOptions

        options = BroadcastOptions()
        options.rootRank, options.rootTensor = root, 0
        self._wait(self._group.broadcast([tensor], options))

    def _bytes_of_first(self, content: bytes) -> bytes:
        import torch

        if self.count == 1:
            return content
        length = torch.tensor([len(content)])
        self.take_from_first(length)
        message = torch.zeros(int(length), dtype=torch.uint8)
        if self.first and content:
            message = torch.frombuffer(bytearray(content), dtype=torch.uint8)
        if len(message):
            self.take_from_first(message)
        return bytes(message.numpy())

    def _wait(self, work: Any) -> None:
        try:
            work.wait()
        except RuntimeError:
            pass
        else:
            return
        # Connections live as long as the work, which would be in the frames of the error.
        del work
        raise self._lost()

    def _lost(self) -> LostRankError:
        return LostRankError(
            f"a process that trained together with this one (process {self.number + 1} of {self.count}) ended or does "
            "not answer",
            advice="Start the same command again: with a checkpoint it goes on from there.",
        )


_CURRENT: ContextVar[Ranks | None] = ContextVar("aldsurv_ranks", default=None)


def current_ranks() -> Ranks:
    """The group of the innermost `open_ranks`; this process alone if there is none."""
    return _CURRENT.get() or Ranks()


@contextmanager
def open_ranks(url: str, number: int, count: int) -> Iterator[Ranks]:
    """Train together with other processes inside of the block; one that is released ends it without an error.

    Parameters
    ----------
    url
        Where the processes meet: ``"env://"`` as torchrun says, or ``"tcp://HOST:PORT"`` of the first one's machine.
    number, count
        Which process this is, from 0 on, and how many there are.
    """
    if not 0 <= number < count:
        raise ParameterError(f"process {number} of {count} was given, but their numbers are from 0 to {count - 1}.")
    ranks = Ranks(number, count, _met(url, number, count) if count > 1 else None)
    token = _CURRENT.set(ranks)
    try:
        yield ranks
    except ReleasedError:
        pass
    finally:
        _CURRENT.reset(token)
        ranks.close()


def _met(url: str, number: int, count: int) -> Any:
    """What the processes agree on addresses by."""
    try:
        from torch import distributed
    except ImportError:
        raise MissingDependencyError(
            "training by several processes needs torch, which is not installed",
            advice="Install it with: pip install 'aldsurv[torch]'.",
        ) from None
    if not (distributed.is_available() and distributed.is_gloo_available()):
        raise ParameterError(f"this build of torch has no gloo for {sys.platform}: train in one process.")
    # A build without it does not have these either.
    from torch.distributed.distributed_c10d import PrefixStore
    from torch.distributed.rendezvous import rendezvous

    try:
        store, _, _ = next(rendezvous(url, number, count, timeout=_MOST_CONNECTING))
    except (RuntimeError, ValueError, OSError) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise LostRankError(f"process {number + 1} of {count} cannot reach the others at {url!r}: {reason}") from None
    # torchrun keeps what it stores when it starts processes that failed again.
    return PrefixStore(f"aldsurv {os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}", store)
