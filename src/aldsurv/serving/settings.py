"""What a service is set to: what is predicted unless a request says otherwise, limits, keys, logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, final

from aldsurv.checks import Constraint, Flag, Number, WholeNumber, check_all
from aldsurv.errors import ParameterError

__all__ = ["ServiceSettings"]

_MEGABYTE = 1 << 20
_SHORTEST_KEY = 8


@final
@dataclass(frozen=True)
class ServiceSettings:
    """Settings of a service.

    Attributes
    ----------
    times, quantiles
        Times of survival and levels of quantiles of a request that names none.
    api_keys
        Any of these must come with a request; none: everyone may ask.
    max_body, max_rows
        Most bytes of a body and most rows of one request.
    max_batch_body
        Most bytes of the body of a batch.
    timeout
        Seconds within which a body must arrive and a prediction be made, and for which a batch may stand still.
    max_concurrent
        Requests under way at once; more are answered by 503.
    grace
        Seconds that running requests have to finish when the service is stopped.
    log_covariates
        Whether rows are written to the log; they may be personal data.
    """

    times: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = (0.1, 0.9)
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    max_body: int = 16 * _MEGABYTE
    max_rows: int = 10_000
    max_batch_body: int = 1024 * _MEGABYTE
    timeout: float = 30.0
    max_concurrent: int = 2048
    grace: float = 30.0
    log_covariates: bool = False

    CONSTRAINTS: ClassVar[Mapping[str, Constraint]] = {
        "max_body": WholeNumber(1),
        "max_rows": WholeNumber(1),
        "max_batch_body": WholeNumber(1),
        "timeout": Number(0, above=True),
        "max_concurrent": WholeNumber(1),
        "grace": Number(0),
        "log_covariates": Flag(),
    }

    def __post_init__(self) -> None:
        check_all({each.name: getattr(self, each.name) for each in fields(self)}, self.CONSTRAINTS)
        if any(not Number(0).allows(time) for time in self.times):
            raise ParameterError("times must be numbers from 0 on.", argument="times")
        if any(not (Number(0, 1).allows(level) and level < 1) for level in self.quantiles):
            raise ParameterError("quantiles must be from 0 to below 1.", argument="quantiles")
        for key in self.api_keys:
            if len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
                raise ParameterError(
                    f"an API key must have at least {_SHORTEST_KEY} printable ASCII characters without spaces.",
                    argument="api_keys",
                    advice="Draw one: python -c 'import secrets; print(secrets.token_urlsafe(32))'.",
                )
