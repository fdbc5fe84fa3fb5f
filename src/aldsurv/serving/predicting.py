"""Requests turned into answers: the body is read, checked, predicted for, and written."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from aldsurv.errors import AldsurvError
from aldsurv.serving.batch import LINES, BatchAnswer
from aldsurv.serving.logs import log_event
from aldsurv.serving.requests.bodies import CsvRecords, JsonRecords, Records, decode, parse_json, read_csv
from aldsurv.serving.requests.options import PredictBody, PredictOptions, query_options, validated
from aldsurv.serving.requests.problems import ProblemError, RowProblem, row_problems_error
from aldsurv.serving.served_model import FLAGS, ServedModel

if TYPE_CHECKING:
    from starlette.requests import Request

    from aldsurv.models.prediction.prediction_request import PredictionRequest
    from aldsurv.serving.service import Service

__all__ = ["CSV", "JSON", "answer_batch", "answer_predict"]

JSON, CSV = "application/json", "text/csv"
# Up to here the work takes less time than handing it to a thread and back; beyond it, others would wait.
_SMALL_BODY, _SMALL_WORK = 32 << 10, 1000


class _ReadRequest(NamedTuple):
    """A request that was read."""

    rows: list[Any]
    options: PredictOptions
    constants: list[str]


async def answer_predict(service: Service, served: ServedModel, request: Request) -> bytes:
    """The body of the answer to a request with all its rows; raises `ProblemError`."""
    kind = _content_type(request, (JSON, CSV))
    query = query_options(_query(request))
    body = await _body(service, request)

    def read() -> _ReadRequest:
        return _read_csv(served, body, query) if kind == CSV else _read_json(body, query)

    given = read() if len(body) <= _SMALL_BODY else await service.in_thread(read)
    limit = service.settings.max_rows
    if len(given.rows) > limit:
        raise ProblemError(413, f"there are {len(given.rows)} rows, more than {limit}, the limit. Send a batch.")
    wanted = served.request(given.options, service.settings)
    request.scope["aldsurv"] = {"model": served.name, "rows": len(given.rows)}
    if service.settings.log_covariates:
        log_event("rows", model=served.name, rows=given.rows)

    def work() -> bytes:
        return _answer(service, served, given, wanted)

    small = len(given.rows) * (1 + len(wanted.times) + len(wanted.quantiles)) <= _SMALL_WORK
    return work() if small else await service.in_thread(work)


def answer_batch(service: Service, served: ServedModel, request: Request) -> BatchAnswer:
    """The answer to a batch, which is made while its rows arrive; raises `ProblemError`."""
    kind = _content_type(request, (LINES, CSV))
    options = query_options(_query(request))
    wanted, since = served.request(options, service.settings), options.given_survived
    columns = served.columns_with(since)
    records: Records = CsvRecords(columns, served.markers) if kind == CSV else JsonRecords()

    def predict(rows: list[Any], first: int) -> list[dict[str, Any]]:
        if service.settings.log_covariates:
            log_event("rows", model=served.name, rows=[None if isinstance(row, ValueError) else row for row in rows])
        return _batch_lines(service, served, rows, first, wanted, since)

    return BatchAnswer(service, records, predict, served.identity)


def _answer(service: Service, served: ServedModel, given: _ReadRequest, wanted: PredictionRequest) -> bytes:
    since = given.options.given_survived
    bad = [RowProblem(place, None, str(row)) for place, row in enumerate(given.rows) if isinstance(row, ValueError)]
    table = None if bad else served.read(given.rows, since)
    problems = bad if table is None else table.problems
    if problems or table is None:
        service.metrics.refused_rows.labels(served.name).inc(len({problem.row for problem in problems}))
        raise row_problems_error(problems)
    if given.constants:
        raise ProblemError(422, f"{given.constants[0]} is not JSON; give null where a value is not known.")
    try:
        answers = served.predict(table.columns, len(given.rows), wanted, since)
    except AldsurvError as error:
        raise ProblemError.of_library(error) from None
    service.metrics.add_rows(served.name, answers, FLAGS)
    return json.dumps(
        {
            "model": served.identity,
            "unit": served.unit,
            "rows": answers,
            "ignored_columns": table.ignored,
            "extrapolated_times": served.extrapolated(wanted),
        }
    ).encode()


def _batch_lines(
    service: Service,
    served: ServedModel,
    rows: list[Any],
    first: int,
    wanted: PredictionRequest,
    since: float | str | None,
) -> list[dict[str, Any]]:
    """A line per row, in order: what is predicted, or why it is refused."""
    lines: dict[int, dict[str, Any]] = {
        place: _refusal(first + place, None, str(row)) for place, row in enumerate(rows) if isinstance(row, ValueError)
    }
    places = [place for place in range(len(rows)) if place not in lines]
    table = served.read([rows[place] for place in places], since) if places else None
    # Rows that are no objects hide what is wrong in others.
    while table is not None and table.problems:
        for problem in reversed(table.problems):
            lines[places[problem.row]] = _refusal(first + places[problem.row], problem.column, problem.problem)
        places = [place for place in places if place not in lines]
        table = served.read([rows[place] for place in places], since) if places else None
    if table is not None:
        try:
            answers = served.predict(table.columns, len(places), wanted, since)
        except (AldsurvError, ProblemError) as error:
            if len(places) == 1:
                text = error.message if isinstance(error, ProblemError) else error.problem
                lines[places[0]] = _refusal(first + places[0], None, text.removesuffix("."))
            else:
                # One row must not spoil the others of its block.
                for place in places:
                    lines[place] = _batch_lines(service, served, [rows[place]], first + place, wanted, since)[0]
        else:
            service.metrics.add_rows(served.name, answers, FLAGS)
            lines |= {place: {"row": first + place, **answer} for place, answer in zip(places, answers, strict=True)}
    refused = sum(1 for line in lines.values() if "error" in line)
    if refused and len(rows) > 1:
        service.metrics.refused_rows.labels(served.name).inc(refused)
    return [lines[place] for place in range(len(rows))]


def _refusal(row: int, column: str | None, problem: str) -> dict[str, Any]:
    return {"row": row, "error": problem, "column": column}


def _read_json(body: bytes, query: PredictOptions) -> _ReadRequest:
    constants: list[str] = []
    try:
        document = parse_json(decode(body), constants)
    except ValueError as error:
        raise ProblemError(400, f"{error}.") from None
    if not isinstance(document, dict):
        raise ProblemError(422, 'the body must be an object such as {"rows": [{"age": 51}]}.')
    given: PredictBody = validated(PredictBody, document)
    named = {name: getattr(query, name) for name in query.model_fields_set if name not in given.model_fields_set}
    return _ReadRequest(given.rows, given.model_copy(update=named) if named else given, constants)


def _read_csv(served: ServedModel, body: bytes, query: PredictOptions) -> _ReadRequest:
    rows = read_csv(body, served.columns_with(query.given_survived), served.markers)
    if not rows:
        raise ProblemError(422, "the body has no rows below a header.")
    return _ReadRequest(rows, query, [])


def _content_type(request: Request, allowed: tuple[str, ...]) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in allowed:
        raise ProblemError(415, f"the content type must be {' or '.join(allowed)}.")
    return kind


def _query(request: Request) -> Mapping[str, str]:
    pairs = request.query_params.multi_items()
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ProblemError(422, "the query names an option twice; separate several values by commas.")
    return dict(pairs)


async def _body(service: Service, request: Request) -> bytes:
    try:
        return await asyncio.wait_for(request.body(), service.settings.timeout)
    except (asyncio.TimeoutError, TimeoutError):
        raise ProblemError(408, f"the body did not arrive within {service.settings.timeout:g} s.") from None
