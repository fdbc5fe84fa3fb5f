"""The log of a service: a line of JSON per record, without covariates unless they are asked for."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timezone
from typing import Any, TextIO, final

__all__ = ["LOGGER", "log_event", "log_to"]

LOGGER = logging.getLogger("aldsurv.serving")
_SERVER = "uvicorn.error"


@final
class _JsonLines(logging.Formatter):
    """One line per record; of an error its type and place, since its text may hold values."""

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds")
        fields: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        fields |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            fields["exception"] = record.exc_info[0].__name__
        return json.dumps(fields, default=str)


def log_event(event: str, level: int = logging.INFO, **fields: Any) -> None:
    """Write a record, if the log takes that level."""
    if LOGGER.isEnabledFor(level):
        LOGGER.log(level, event, extra={"fields": fields})


def log_to(stream: TextIO, *, requests: bool = True) -> None:
    """Write the records of the service, and what its server warns of, to a stream.

    Parameters
    ----------
    stream
        Gets a line per record.
    requests
        Whether each request gets one, too.
    """
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_JsonLines())
    for name, level in ((LOGGER.name, logging.INFO if requests else logging.WARNING), (_SERVER, logging.WARNING)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)
