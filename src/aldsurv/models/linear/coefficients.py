"""The table of a linear model's coefficients."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.display.frames import data_frame
from aldsurv.display.html import html_block, html_table
from aldsurv.errors import UnknownNameError
from aldsurv.quoting import quoted, suggest_names

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Coefficient", "CoefficientTable"]

FloatArray = NDArray[np.float64]

# The normal distribution's quantile at 0.975, for intervals of 95 %.
_QUANTILE = 1.959963984540054


class Coefficient(NamedTuple):
    """One line of a table: p by Wald's test, `lower` and `upper` the 95 % interval of the ratio."""

    name: str
    coefficient: float
    standard_error: float
    z: float
    p: float
    ratio: float
    lower: float
    upper: float


@final
@dataclass(frozen=True, eq=False, repr=False)
class CoefficientTable:
    """Coefficients in the unit of the user's columns; lines by number or by name, columns as arrays.

    Parameters
    ----------
    names
        Name of each coefficient.
    coefficient, standard_error
        Estimates (k,) and their standard errors; NaN for a column that was dropped, or has none.
    ratio_name
        What the exponential of a coefficient is: ``"hazard ratio"`` or ``"time ratio"``.
    model_error
        Standard errors by the model (k,), where `standard_error` is robust; else None.

    Examples
    --------
    >>> table = CoefficientTable(("age",), np.array([0.02]), np.array([0.01]), "hazard ratio")
    >>> table["age"].p
    0.0455
    >>> print(table)
         coefficient  std. error     z       p  hazard ratio             95 %
    age         0.02        0.01  2.00  0.0455        1.0202  1.0004 – 1.0404
    """

    names: tuple[str, ...]
    coefficient: FloatArray
    standard_error: FloatArray
    ratio_name: str
    model_error: FloatArray | None = None

    @property
    def z(self) -> FloatArray:
        """Estimates in units of their standard errors."""
        return self.coefficient / self.standard_error

    @property
    def p(self) -> FloatArray:
        """Two-sided p-values of Wald's test that a coefficient is 0."""
        return np.array([math.erfc(abs(value) / math.sqrt(2)) for value in self.z], np.float64)

    @property
    def ratio(self) -> FloatArray:
        """Exponentials of the coefficients: by what one unit more multiplies the hazard, or the time."""
        return _exp(self.coefficient)

    @property
    def lower(self) -> FloatArray:
        """Lower ends of the 95 % intervals of the ratios."""
        return _exp(self.coefficient - _QUANTILE * self.standard_error)

    @property
    def upper(self) -> FloatArray:
        """Upper ends of the 95 % intervals of the ratios."""
        return _exp(self.coefficient + _QUANTILE * self.standard_error)

    def lines(self, numbers: Sequence[int]) -> CoefficientTable:
        """The table of some lines, by their numbers."""
        chosen = np.array(numbers, np.intp)
        names = tuple(self.names[k] for k in chosen)
        by_model = None if self.model_error is None else self.model_error[chosen]
        return CoefficientTable(names, self.coefficient[chosen], self.standard_error[chosen], self.ratio_name, by_model)

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Coefficient]:
        columns = (self.coefficient, self.standard_error, self.z, self.p, self.ratio, self.lower, self.upper)
        return (Coefficient(name, *map(float, row)) for name, *row in zip(self.names, *columns, strict=True))

    def __getitem__(self, line: str | int) -> Coefficient:
        if isinstance(line, str):
            if line not in self.names:
                hint = suggest_names(line, self.names, most=1)
                raise UnknownNameError(f"no coefficient is named {quoted(line)}. {hint}")
            line = self.names.index(line)
        return list(self)[line]

    def __repr__(self) -> str:
        return f"CoefficientTable({', '.join(self.names)})"

    def to_frame(self) -> pd.DataFrame:
        """A pandas frame with one row per coefficient, which needs pandas."""
        columns = {
            "coefficient": self.coefficient,
            **({} if self.model_error is None else {"model_error": self.model_error}),
            **{name: getattr(self, name) for name in ("standard_error", "z", "p")},
            self.ratio_name: self.ratio,
            **{name: getattr(self, name) for name in ("lower", "upper")},
        }
        return data_frame(columns, index=list(self.names), length=len(self))

    def _repr_html_(self) -> str:
        header, *lines = self._text_cells()
        return html_block("Coefficients", html_table(header, lines, most=100))

    def __str__(self) -> str:
        return aligned(self._text_cells())

    def _text_cells(self) -> list[list[str]]:
        """The header and the lines."""
        if np.isnan(self.standard_error).all():
            short = [[line[0], line[1], line[5]] for line in map(_cells, self)]
            return [["", "coefficient", self.ratio_name], *short]
        header = ["", "coefficient", "std. error", "z", "p", self.ratio_name, "95 %"]
        lines = [_cells(line) for line in self]
        if self.model_error is not None:
            header[2:3] = ["model error", "robust error"]
            for line, error in zip(lines, self.model_error, strict=True):
                line.insert(2, "" if math.isnan(error) else f"{error:.4g}")
        return [header, *lines]


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Cells in columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    rows = []
    for first, *others in lines:
        right = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        rows.append("  ".join([first.ljust(widths[0]), *right]))
    return "\n".join(rows)


def _cells(line: Coefficient) -> list[str]:
    if math.isnan(line.coefficient):
        return [line.name, "dropped", *[""] * 5]
    if math.isnan(line.standard_error):
        return [line.name, f"{line.coefficient:.4g}", "", "", "", _format_ratio(line.ratio), ""]
    p = "<0.0001" if line.p < 1e-4 else f"{line.p:.4f}"
    numbers = [f"{line.coefficient:.4g}", f"{line.standard_error:.4g}", f"{line.z:.2f}", p, _format_ratio(line.ratio)]
    return [line.name, *numbers, f"{_format_ratio(line.lower)} – {_format_ratio(line.upper)}"]


def _format_ratio(ratio: float) -> str:
    # One unit of a column may change little: 0.9995 is not 1.
    return f"{ratio:.4f}" if 0.01 <= ratio < 1000 else f"{ratio:.3g}"


def _exp(values: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):
        return np.asarray(np.exp(values))
