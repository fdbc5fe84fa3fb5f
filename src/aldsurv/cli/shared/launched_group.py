"""Commands that torchrun starts in several processes: one of them writes and speaks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import click

__all__ = ["EndedElsewhereError", "joined_group"]

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class EndedElsewhereError(BaseException):
    """Another process of the group shows what went wrong: this one ends in silence."""


@contextmanager
def joined_group() -> Iterator[Callable[[bool], None]]:
    """What processes that torchrun, or another launcher, has started do inside of the block.

    Yields a function to be called with whether they share the work: then they train together from there on. If they do
    not, the first goes on alone, without waiting for the others, and these end.
    """
    given = [os.environ.get(name, "") for name in _VARIABLES]
    if not all(given) or not (given[0].isdecimal() and given[1].isdecimal()) or int(given[1]) < 2:
        yield lambda shared: None
        return
    from aldsurv.training.ranks import Ranks, ReleasedError, open_ranks

    number, count = int(given[0]), int(given[1])
    ranks = Ranks()

    def begin(shared: bool) -> None:
        nonlocal ranks
        if shared:
            # When a process is lost, torch would show where in its code others noticed.
            os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
            ranks = group.enter_context(open_ranks("env://", number, count))
        elif number:
            raise ReleasedError

    with ExitStack() as group:
        try:
            yield begin
        except ReleasedError:
            return
        except click.exceptions.Exit:
            # Of --help, and of the first process when it is alone: no failure that others wait for.
            raise
        except BaseException as error:
            if ranks.fails_first():
                raise
            raise EndedElsewhereError from error
