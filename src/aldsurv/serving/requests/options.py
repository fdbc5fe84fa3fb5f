"""What a request asks for beside its rows, in the JSON of its body or in its query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aldsurv.serving.requests.problems import MOST_PROBLEMS, ProblemError

__all__ = ["LATEST_TIME", "PredictBody", "PredictOptions", "query_options", "validated"]

LATEST_TIME = 1e300
_MOST_TIMES = 1000
_LISTS = ("times", "quantiles", "summaries")
Summary = Literal["mean", "median", "mode", "std", "restricted_mean"]
Time = Annotated[float, Field(ge=0, le=LATEST_TIME)]
Level = Annotated[float, Field(ge=0, lt=1)]
Share = Annotated[float, Field(gt=0, lt=1)]


class PredictOptions(BaseModel):
    """What to predict; what is not named is as the service is set."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    times: Annotated[list[Time], Field(max_length=_MOST_TIMES)] | None = Field(
        default=None, description="Times at which survival, and the incidence of each cause, is predicted."
    )
    quantiles: Annotated[list[Level], Field(max_length=_MOST_TIMES)] | None = Field(
        default=None, description="Probabilities whose quantiles of the time to the event are predicted."
    )
    summaries: Annotated[list[Summary], Field(max_length=10)] | None = Field(
        default=None,
        description="Summaries of the distribution; restricted_mean within each of times, or within follow-up.",
    )
    interval: Share | None = Field(default=None, description="Probability of a central interval.")
    band: Share | None = Field(default=None, description="Level of limits between the members of an ensemble.")
    given_survived: Time | Annotated[str, Field(min_length=1)] | None = Field(
        default=None,
        description="Until when rows are known to be event-free: a time, or the name of a column of times.",
    )


class PredictBody(PredictOptions):
    """The body of a request: rows and what to predict."""

    rows: Annotated[list[Any], Field(min_length=1)]


_NO_OPTIONS = PredictOptions()


def validated(model: type[PredictOptions], values: Any) -> Any:
    """The values as a model of pydantic; raises `ProblemError`."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        details = [
            {"argument": ".".join(str(part)[:72] for part in problem["loc"][:3]), "problem": problem["msg"]}
            for problem in problems[:MOST_PROBLEMS]
        ]
        first = details[0]
        place = f"{first['argument']}: " if first["argument"] else ""
        raise ProblemError(422, f"{place}{first['problem']}.", details=details, count=len(problems)) from None


def query_options(query: Mapping[str, str]) -> PredictOptions:
    """The options in a query, lists with commas between their entries; raises `ProblemError`."""
    values: dict[str, Any] = {}
    for name, text in query.items():
        if name == "summaries":
            values[name] = text.split(",")
        elif name in _LISTS:
            values[name] = [_number(word) for word in text.split(",")]
        else:
            values[name] = _number(text)
    return validated(PredictOptions, values) if values else _NO_OPTIONS


def _number(text: str) -> Any:
    """A number if it is one, else the text, which is refused where a number is needed."""
    if "_" in text:
        return text
    try:
        return float(text)
    except ValueError:
        return text
