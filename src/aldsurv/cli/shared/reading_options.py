"""How tables are written down: named by options, and the marks of gaps also known to a fitted model."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, final

import click

from aldsurv.checks import listed
from aldsurv.cli.shared.command_options import split_names
from aldsurv.errors import MissingValueWarning

if TYPE_CHECKING:
    from aldsurv.models.base import SurvivalEstimator

__all__ = ["ReadingOptions", "reading_of", "reading_options"]

_OPTIONS = {
    "delimiter": ("CHAR", "Between fields of text: a character, tab, comma, semicolon, space or pipe."),
    "decimal": ("CHAR", "Decimal mark: a comma or a point."),
    "encoding": ("NAME", "Encoding of text, such as latin-1."),
    "missing": ("V,V", "Values that stand for gaps, as in -9,unknown"),
    "sheet": ("NAME", "Sheet of an Excel file, by name or number."),
}


@final
@dataclass(frozen=True)
class ReadingOptions:
    """How a table is written down; None where that is inferred from the file.

    Attributes
    ----------
    delimiter, decimal, encoding, sheet
        As in `aldsurv.datasets.read_table`.
    missing
        Values that stand for gaps; None if the option was not given.
    as_in_training
        Whether these values are those that the model was trained with.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] | None = None
    sheet: str | None = None
    as_in_training: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `aldsurv.datasets.read_table` and `read_blocks`."""
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "encoding": self.encoding,
            "missing": self.missing or (),
            "sheet": self.sheet,
        }

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Within the block no value of training that a table happens not to hold is warned of."""
        with warnings.catch_warnings():
            if self.as_in_training:
                warnings.simplefilter("ignore", MissingValueWarning)
            yield


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for how tables are written down; the command gets them as ``reading``, a `ReadingOptions`."""

    @functools.wraps(command)
    def with_reading(*arguments: Any, **options: Any) -> Any:
        # Imported here, so that help is shown at once.
        from aldsurv.tables.table_format import check_format

        given = {name: options.pop(name) for name in _OPTIONS}
        check_format(given["delimiter"], given["decimal"], given["encoding"])
        missing = None if given["missing"] is None else split_names(given["missing"])
        return command(*arguments, reading=ReadingOptions(**{**given, "missing": missing}), **options)

    for name, (metavar, help_text) in reversed(_OPTIONS.items()):
        with_reading = click.option(f"--{name}", default=None, metavar=metavar, help=help_text)(with_reading)
    return with_reading


def reading_of(model: SurvivalEstimator, given: ReadingOptions) -> ReadingOptions:
    """The options given; without ``--missing``, the values that stood for gaps in training, and a note that says so."""
    facts = model.trained_on_
    if given.missing is not None or facts is None or not facts.missing:
        return given
    plural = len(facts.missing) != 1
    warnings.warn(
        f"{listed(facts.missing, 8)} stand{'' if plural else 's'} for {'gaps' if plural else 'a gap'}, as in training. "
        'Give --missing "" to read such values as they are.',
        stacklevel=2,
    )
    return replace(given, missing=tuple(facts.missing), as_in_training=True)
