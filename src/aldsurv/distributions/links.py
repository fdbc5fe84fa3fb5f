"""Links: from a number on the real line, such as a network's output, to the domain of a parameter."""

from __future__ import annotations

from collections.abc import Sequence

from aldsurv.distributions.numerics.backend import Array, namespace
from aldsurv.errors import ParameterError

__all__ = ["LINKS", "linked_columns"]


def _identity(raw: Array) -> Array:
    return raw


def _exp(raw: Array) -> Array:
    return namespace(raw).exp(raw)


def _softplus(raw: Array) -> Array:
    xp = namespace(raw)
    return xp.logaddexp(raw, xp.zeros_like(raw))


LINKS = {"identity": _identity, "exp": _exp, "softplus": _softplus}


def linked_columns(raw: Array, names: Sequence[str], links: Sequence[str]) -> dict[str, Array]:
    """Columns (n, 1) of the named parameters from numbers (n, k), each through its link.

    Parameters
    ----------
    raw
        Numbers (n, k) on the real line.
    names, links
        For each of the k numbers its parameter and the name of its link: identity, exp or softplus.
    """
    for link in links:
        if link not in LINKS:
            raise ParameterError(f"a link must be one of {', '.join(LINKS)}, but is {link!r}.")
    return {name: LINKS[link](raw[:, k : k + 1]) for k, (name, link) in enumerate(zip(names, links, strict=True))}
