"""Messages of the library in the words of the command line: it advises its own options, or a change of the table."""

from __future__ import annotations

import re

__all__ = ["in_options"]

_WORDS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        # Reading a table.
        (r"\bevent_value=('[^']*'|[^\s;,.]+(?:\.\d+)?)", r"--event-value \1"),
        (r"\bby event_value\b", "by --event-value"),
        (r"\b(by|out of|in) drop\b", r"\1 --drop"),
        (r"\b(by|out of|in) categorical\b", r"\1 --categorical"),
        (r"^categorical lists\b", "--categorical lists"),
        (r"\bName its encoding\.", "Save it as UTF-8."),
        (r"\bname its encoding\.", "save it as UTF-8."),
        (r"\bsay encoding='[^']*'", "save it as UTF-8"),
        (r"\bSay decimal=',' or decimal='\.', or correct the file\.", "Write all of them with a point."),
        (
            r"\bSay decimal=',' if for decimals; remove it from the file if for thousands\.",
            "Write decimals with a point, and thousands without a mark.",
        ),
        (r"\bthat decimal='[.,]' does not explain\b", "that cannot be read"),
        (
            r"\bRemove marks of thousands, say by decimal which mark is for decimals, or\b",
            "Remove marks of thousands and write decimals with a point, or",
        ),
        (r"\ba positive sample_weight\b", "a positive weight"),
        # Training.
        (
            r"\bThe steps are probably too long: try learning_rate=\S+?( and clip_norm=\S+?)?\.(?=\s|$)",
            "The steps were probably too long: leave columns out by --drop, or take another --model.",
        ),
        (r"\blimit them with clip_features\b", "leave them out by --drop"),
        (r"\bSet ridge > 0 or leave columns out\b", "Leave columns out by --drop"),
        (r"\bSet ridge > 0, join levels or leave columns out\b", "Join levels, or leave columns out by --drop"),
        (r"\bleave columns out or set ridge > 0", "or leave columns out by --drop"),
        (r",? or set ridge > 0", ""),
        (r"\bsearch with fewer folds\b", "fit without --tune"),
        # Predicting.
        (r"\bTake an ensemble, such as ALDSurvival\(members=5\)", "Fit an ensemble, as by --members 5"),
        (r"\bGive it again: aldsurv\.load", "It can be used from Python: aldsurv.load"),
        (r"\bGive them as train=, or train=data if there are no others\b", "Name their table by --train"),
    )
)


def in_options(message: str) -> str:
    """The message with options in place of Python's arguments; for an argument that has none, other advice."""
    for pattern, words in _WORDS:
        message = pattern.sub(words, message)
    return message
