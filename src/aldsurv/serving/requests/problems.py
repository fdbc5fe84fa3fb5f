"""What is wrong with a request: a status, one sentence, and the rows and columns that it concerns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, final

from aldsurv.errors import AldsurvError
from aldsurv.quoting import quoted

__all__ = ["MOST_PROBLEMS", "ProblemError", "RowProblem", "row_problems_error"]

# Of a body in which everything is wrong the first rows say enough.
MOST_PROBLEMS = 20


class RowProblem(NamedTuple):
    """What is wrong in a row, counted from 0, and in which column; None: in the row as a whole."""

    row: int
    column: str | None
    problem: str

    def as_json(self) -> dict[str, Any]:
        """For the answer."""
        return {"row": self.row, "column": self.column, "problem": self.problem}


@final
class ProblemError(Exception):
    """A request that cannot be answered.

    Parameters
    ----------
    status
        The status of HTTP.
    message
        One sentence for people.
    details
        What is wrong row by row, or argument by argument.
    count
        How many problems there are, of which `details` has the first.
    headers
        Further headers of the answer.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        details: Sequence[Mapping[str, Any]] = (),
        count: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.details = status, message, details
        self.count = len(details) if count is None else count
        self.headers = dict(headers or {})

    def as_json(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": self.message, "problems": list(self.details), "count": self.count}

    @classmethod
    def of_library(cls, error: AldsurvError) -> ProblemError:
        """What the library refuses in the rows or the arguments of a request."""
        sentence = error.problem.removesuffix(".")
        detail = {"row": error.row, "column": None if error.column is None else str(error.column), "problem": sentence}
        return cls(422, f"{sentence}.", details=[detail])


def row_problems_error(problems: Sequence[RowProblem]) -> ProblemError:
    """The error of a request with bad rows, which names the first of them."""
    first = problems[0]
    place = f"row {first.row}" if first.column is None else f"row {first.row}, column {quoted(first.column)}"
    more = f" There are {len(problems)} such problems." if len(problems) > 1 else ""
    return ProblemError(
        422,
        f"{place}: {first.problem}.{more}",
        details=[problem.as_json() for problem in problems[:MOST_PROBLEMS]],
        count=len(problems),
    )
