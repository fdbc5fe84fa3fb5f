"""The OpenAPI document of a service, from the columns of its models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aldsurv import __version__
from aldsurv.columns.column_plans import Levels, Number
from aldsurv.models.prediction.prediction_request import SUMMARIES
from aldsurv.serving.batch import LINES
from aldsurv.serving.predicting import CSV, JSON
from aldsurv.serving.requests.options import LATEST_TIME, PredictBody
from aldsurv.serving.served_model import FLAGS

if TYPE_CHECKING:
    from aldsurv.serving.requests.input_columns import InputColumn
    from aldsurv.serving.served_model import ServedModel
    from aldsurv.serving.service import Service

__all__ = ["openapi_document"]

_LARGEST = 1e300
_TEXT = {"type": "string"}
_ERRORS = {
    400: "The body cannot be read.",
    401: "A key is needed.",
    408: "The body did not arrive in time.",
    413: "The body has too many bytes or rows.",
    415: "The content type or encoding is not one of those that are read.",
    422: "Rows or options are wrong; the answer names the row and the column.",
    503: "Too many requests are under way, or the service stops; try again.",
    504: "The prediction took too long.",
}


def openapi_document(service: Service) -> dict[str, Any]:
    """The document, with a path and a type of row per model."""
    schemas: dict[str, Any] = {"Problem": _problem(), "Answer": _answer(), "Options": _options()}
    paths: dict[str, Any] = {
        "/": {"get": _get("Where things are.")},
        "/models": {"get": _get("The models that are served.")},
        "/healthz": {"get": _get("200 while the service runs; needs no key.", key=False)},
        "/readyz": {"get": _get("200 while the service takes requests; needs no key.", key=False, stopping=True)},
        "/metrics": {"get": _get("Metrics for Prometheus.", content="text/plain")},
    }
    for name, served in service.models.items():
        schemas[f"Row.{name}"] = _row(served)
        schemas[f"Request.{name}"] = _request(name, service.settings.max_rows)
        paths[f"/models/{name}"] = {"get": _get("Columns with ranges and levels, unit, digest, training rows.")}
        paths[f"/models/{name}/predict"] = {"post": _predict(name)}
        paths[f"/models/{name}/batch"] = {"post": _batch(name)}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "aldsurv", "version": __version__, "description": "Distributions of the time to an event."},
        "paths": paths,
        "components": {"schemas": schemas},
    }
    if service.settings.api_keys:
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
    return document


def _row(served: ServedModel) -> dict[str, Any]:
    columns = [column for column in served.columns if column.used]
    return {
        "type": "object",
        "description": f"A row for the model {served.name}; other columns are not used, and listed in the answer.",
        "properties": {column.name: _column(column) for column in columns},
        "required": [column.name for column in columns],
        "additionalProperties": True,
    }


def _column(column: InputColumn) -> dict[str, Any]:
    plan = column.plan
    if column.strata:
        return {"enum": list(column.levels), "description": "A stratum: other values have no baseline."}
    types = ["number"] * column.takes_numbers + ["string"] * column.takes_text + ["boolean"] * column.takes_truth
    schema: dict[str, Any] = {"type": [*types, "null"]}
    if column.takes_numbers:
        bound = float(2**63) if column.levels else _LARGEST
        schema |= {"minimum": -bound, "maximum": bound}
    if isinstance(plan, Number):
        schema["x-training-range"] = [plan.low, plan.high]
    if column.levels:
        schema |= {"x-levels": list(column.levels), "examples": list(column.levels)[:5]}
    if isinstance(plan, (Number, Levels)):
        schema["description"] = f"null is a gap: {plan.gap_rule}."
    return schema


def _request(name: str, most: int) -> dict[str, Any]:
    rows = {"type": "array", "minItems": 1, "maxItems": most, "items": {"$ref": f"#/components/schemas/Row.{name}"}}
    options = _options()["properties"]
    return {
        "type": "object",
        "properties": {"rows": rows, **options},
        "required": ["rows"],
        "additionalProperties": False,
    }


def _options() -> dict[str, Any]:
    schema = PredictBody.model_json_schema()
    properties = {name: value for name, value in schema["properties"].items() if name != "rows"}
    return {"type": "object", "properties": properties}


def _predict(name: str) -> dict[str, Any]:
    body = {
        JSON: {"schema": {"$ref": f"#/components/schemas/Request.{name}"}},
        CSV: {"schema": {**_TEXT, "description": "A header with names of columns in any order, and a line per row."}},
    }
    return {
        "summary": f"Predict with {name} for some rows.",
        "operationId": f"predict_{name}",
        "parameters": _parameters(),
        "requestBody": {"required": True, "content": body},
        "responses": {
            "200": {
                "description": "A prediction and flags per row, in order.",
                "content": {JSON: {"schema": {"$ref": "#/components/schemas/Answer"}}},
            },
            **_errors(),
        },
    }


def _batch(name: str) -> dict[str, Any]:
    lines = {"schema": {**_TEXT, "description": "A JSON object per line."}}
    header = {"schema": {**_TEXT, "description": "A header and a line per row."}}
    return {
        "summary": f"Predict with {name} for any number of rows, line by line.",
        "operationId": f"batch_{name}",
        "parameters": _parameters(),
        "requestBody": {"required": True, "content": {LINES: lines, CSV: header}},
        "responses": {
            "200": {
                "description": "A line per row, and a last line with end: true, without which the answer was cut.",
                "content": {LINES: {"schema": _TEXT}},
            },
            **_errors(),
        },
    }


def _parameters() -> list[dict[str, Any]]:
    numbers = {"type": "array", "minItems": 1, "maxItems": 100}
    time = {"type": "number", "minimum": 0, "maximum": LATEST_TIME}
    level = {"type": "number", "minimum": 0, "exclusiveMaximum": 1}
    share = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}
    schemas = {
        "times": {**numbers, "items": time},
        "quantiles": {**numbers, "items": level},
        "summaries": {"type": "array", "minItems": 1, "maxItems": 10, "items": {"enum": list(SUMMARIES)}},
        "interval": share,
        "band": share,
        "given_survived": {"anyOf": [time, {**_TEXT, "minLength": 1}]},
    }
    return [
        {"name": name, "in": "query", "required": False, "schema": schema, "style": "form", "explode": False}
        for name, schema in schemas.items()
    ]


def _answer() -> dict[str, Any]:
    number = {"type": ["number", "null"]}
    names = {"type": "array", "items": _TEXT}
    row = {
        "type": "object",
        "properties": {
            "predicted": {
                "type": "object",
                "additionalProperties": number,
                "description": "By the names of aldsurv predict; null: the curve never reaches that quantile.",
            },
            **{flag: {**names, "description": "Columns of which that holds in this row."} for flag in FLAGS},
        },
        "required": ["predicted", *FLAGS],
    }
    model = {
        "type": "object",
        "properties": {"name": _TEXT, "digest": _TEXT, "version": {"type": ["string", "null"]}},
        "required": ["name", "digest", "version"],
    }
    properties = {
        "model": model,
        "unit": {"type": ["string", "null"]},
        "rows": {"type": "array", "items": row},
        "ignored_columns": names,
        "extrapolated_times": {"type": "array", "items": {"type": "number"}},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _problem() -> dict[str, Any]:
    properties = {
        "error": _TEXT,
        "problems": {"type": "array", "items": {"type": "object"}},
        "count": {"type": "integer"},
    }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _errors() -> dict[str, Any]:
    content = {JSON: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {str(status): {"description": text, "content": content} for status, text in _ERRORS.items()}


def _get(summary: str, *, content: str = JSON, key: bool = True, stopping: bool = False) -> dict[str, Any]:
    schema = {"type": "object"} if content == JSON else _TEXT
    responses = {"200": {"description": summary, "content": {content: {"schema": schema}}}}
    statuses = [*([401, 503] if key else []), *([503] if stopping else [])]
    responses |= {status: text for status, text in _errors().items() if int(status) in statuses}
    return {"summary": summary, "responses": responses, **({} if key else {"security": []})}
