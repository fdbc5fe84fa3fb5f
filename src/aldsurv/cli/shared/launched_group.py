"""Commands that torchrun starts in several processes: one of them writes and speaks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["EndedElsewhereError", "joined_group"]

_VARIABLES = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


class EndedElsewhereError(BaseException):
    """Another process of the group shows what went wrong: this one ends in silence."""


@contextmanager
def joined_group() -> Iterator[Callable[[], None]]:
    """Inside, processes that torchrun, or another launcher, has started train together.

    Yields a function after which the first of them goes on alone.
    """
    given = [os.environ.get(name, "") for name in _VARIABLES]
    if not all(given) or not given[1].isdecimal() or int(given[1]) < 2:
        yield lambda: None
        return
    # When a process is lost, torch would show where in its code others noticed.
    os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "ERROR")
    # Here: torch takes a second.
    from aldsurv.training.ranks import ReleasedError, open_ranks

    with open_ranks("env://", int(given[0]), int(given[1])) as ranks:
        try:
            yield ranks.leave
        except ReleasedError:
            raise
        except BaseException as error:
            if ranks.fails_first():
                raise
            raise EndedElsewhereError from error
