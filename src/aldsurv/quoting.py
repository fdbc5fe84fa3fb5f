"""Names and values of others in messages: short, and without what would move a terminal's cursor."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["printable", "quoted", "shortened", "suggest_names"]

# A message may quote several of them and must still be one line that people read.
_LONGEST_QUOTE = 72


def quoted(value: object, most: int = _LONGEST_QUOTE) -> str:
    r"""A name or value as Python writes it, cut short if it is long.

    Parameters
    ----------
    value
        Anything; control characters and bytes of file names that are not UTF-8 come out as backslash escapes.
    most
        Characters, quotation marks included and escapes counted as one.

    Examples
    --------
    >>> print(quoted("age"), quoted("\x1b[31mred"), quoted("x" * 70_000, most=13))
    'age' '\x1b[31mred' 'xxxxxxxxxx…'
    """
    if isinstance(value, str):
        return repr(value if len(value) <= most - 2 else f"{value[: most - 3]}…")
    return shortened(repr(value), most)


def shortened(text: str, most: int) -> str:
    """A text of at most that many characters: of a longer one both ends, with an ellipsis between them."""
    if len(text) <= most:
        return text
    end = (most - 1) // 2
    return f"{text[: most - 1 - end]}…{text[len(text) - end :]}"


def printable(text: object) -> str:
    r"""A text with backslash escapes for what cannot be printed: control characters, parts of no encoding.

    Examples
    --------
    >>> print(printable("red: \x1b[31m"), printable(b"caf\xe9.csv".decode("utf-8", "surrogateescape")))
    red: \x1b[31m caf\udce9.csv
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in str(text)
    )


def suggest_names(name: object, names: Iterable[str], *, most: int = 3) -> str:
    """The question "Did you mean …?" with the names nearest to an unknown one, or all names if none is near."""
    names = list(names)
    near = get_close_matches(str(name), names, n=most)
    return f"Did you mean {' or '.join(map(quoted, near))}?" if near else f"Known: {', '.join(names)}."
