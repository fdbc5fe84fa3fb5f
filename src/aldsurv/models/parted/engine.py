"""Where the parts of a table are worked on: in this process, or on the workers of a cluster.

Whatever works on parts asks `current_engine` for the engine and maps a
function over the parts; results come in the order of the parts, so that their sums do not depend on the workers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, final

from aldsurv.models.parted.scratch_blocks import Arrays, Blocks, ScratchBlocks

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Arrays",
    "Blocks",
    "Engine",
    "Failure",
    "Held",
    "LocalEngine",
    "ShowText",
    "current_engine",
    "open_engine",
]

# Shows a text, and whether it is the last one of its line.
ShowText = Callable[[str, bool], object]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Failure:
    """Why there is no result for an item."""

    error: Exception


@dataclass(frozen=True)
class Held(Generic[Result]):
    """What stays where it was computed: an item of later maps, whose functions get the content itself."""

    label: str
    content: Any

    def __str__(self) -> str:
        return self.label


class Engine(ABC):
    """Calls functions for items; inside a ``with`` block it is the engine of all that works on parts."""

    @property
    @abstractmethod
    def address(self) -> str | None:
        """Of the cluster's scheduler; None in this process."""

    @abstractmethod
    def completed(
        self, function: Callable[..., Result], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, Result | Failure]]:
        """The position of each item and its result or why it has none, as soon as it is ready.

        The function is called with an item and, after it, with what is `shared`: large values, such as a model, that
        go to each worker once.
        """

    @abstractmethod
    def hold(
        self, function: Callable[..., Iterator[Arrays]], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> list[Held[Blocks]]:
        """The blocks of arrays that a function gives for each item and what is `shared`, as items of later maps.

        A cluster holds them in the memory of its workers, where Dask writes to disk what is too much; this process in
        its memory as far as they are few, and the others in a file without a name.
        """

    @abstractmethod
    def together(
        self, function: Callable[..., Result], shared: tuple[Any, ...], *, most: int, show: ShowText | None
    ) -> Result:
        """The result of a function that several processes call at the same time to train one model.

        Each calls it with what is `shared` and what shows texts, inside of `aldsurv.training.ranks.open_ranks`; the
        result is that of the first. One that is lost ends the others, and all start again.

        Parameters
        ----------
        function, shared
            As in `completed`.
        most
            How many processes have something to do, at most.
        show
            What shows texts of the first process, such as `models.neural.parted.row_progress.status_line`; or None.
        """

    def map(
        self, function: Callable[..., Result], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> Iterator[Result]:
        """The result of each item, in the order of the items; the error of the first that failed is raised in its turn.

        Parameters
        ----------
        function
            Travels to the workers, as the items do: of a module, or a `functools.partial` of one.
        items
            Their ``str`` names them in messages.
        shared
            As in `completed`.
        """
        ready: dict[int, Result | Failure] = {}
        turn = 0
        for position, found in self.completed(function, items, shared):
            ready[position] = found
            while turn in ready:
                result = ready.pop(turn)
                if isinstance(result, Failure):
                    raise result.error
                yield result
                turn += 1

    def __enter__(self) -> Self:
        self._token: Token[Engine | None] = _CURRENT.set(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _CURRENT.reset(self._token)


_CURRENT: ContextVar[Engine | None] = ContextVar("aldsurv_engine", default=None)


def current_engine() -> Engine:
    """The engine of the innermost ``with`` block; this process if there is none."""
    return _CURRENT.get() or LocalEngine()


def open_engine(cluster: str | None) -> Engine:
    """The engine for what a user gave as ``cluster``, to be used in a ``with`` block.

    Parameters
    ----------
    cluster
        None for this process; the address of a Dask scheduler; ``"local"`` for as many processes of this machine as it
        has cores, ``"local:4"`` for four, which end with the block.
    """
    if cluster is None:
        return LocalEngine()
    from aldsurv.models.parted.dask_engine import DaskEngine

    return DaskEngine(cluster)


@final
class LocalEngine(Engine):
    """One item after the other in this process, which holds one of them at a time."""

    @property
    def address(self) -> str | None:
        """None: there is no cluster."""
        return None

    def completed(
        self, function: Callable[..., Result], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> Iterator[tuple[int, Result | Failure]]:
        """As in the base."""
        for position, item in enumerate(items):
            try:
                result: Result | Failure = function(item.content if isinstance(item, Held) else item, *shared)
            except Exception as error:
                result = Failure(error)
            yield position, result

    def hold(
        self, function: Callable[..., Iterator[Arrays]], items: Sequence[Any], shared: tuple[Any, ...] = ()
    ) -> list[Held[Blocks]]:
        """As in the base."""
        scratch = ScratchBlocks()
        return [Held(str(item), scratch.store(function(item, *shared))) for item in items]

    def together(
        self, function: Callable[..., Result], shared: tuple[Any, ...], *, most: int, show: ShowText | None
    ) -> Result:
        """As in the base: this process, or the group that it belongs to already."""
        return function(*shared, show)
