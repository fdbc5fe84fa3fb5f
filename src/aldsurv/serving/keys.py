"""The optional key of a service: compared in a time that does not depend on how much of it is right."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable, Sequence
from typing import final

__all__ = ["ApiKeys"]


@final
class ApiKeys:
    """Keys any of which opens the service.

    Parameters
    ----------
    keys
        The keys; without any, every request may pass. Only their SHA-256 is kept.
    """

    def __init__(self, keys: Sequence[str]) -> None:
        self._digests = [hashlib.sha256(key.encode()).digest() for key in keys]

    def allow(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether some header holds a key: ``Authorization: Bearer KEY`` or ``X-API-Key: KEY``."""
        if not self._digests:
            return True
        given = b""
        for name, value in headers:
            if name == b"x-api-key":
                given = value
            elif name == b"authorization" and value[:7].lower() == b"bearer ":
                given = value[7:].strip()
        # Digests have one length, so that not even the length of a key shows, and all are compared.
        digest = hashlib.sha256(given).digest()
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0
