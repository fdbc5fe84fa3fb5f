"""The OpenAPI document says what the service does: checked by schemathesis, and against the model files."""

from __future__ import annotations

import json
import warnings

import pytest

import aldsurv

schemathesis = pytest.importorskip("schemathesis")
from hypothesis import HealthCheck, Phase, settings  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .client import ROWS, Client, frozen  # noqa: E402

CLIENT = Client("cox_strata", max_rows=20, times=(1.0,))


@schemathesis.serializer("text/csv")
def as_csv(ctx, value):
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


@schemathesis.serializer("application/x-ndjson")
def as_lines(ctx, value):
    return value.encode() if isinstance(value, str) else json.dumps(value).encode()


schema = schemathesis.openapi.from_dict(json.loads(CLIENT.get("/openapi.json").text))


@schema.parametrize()
@settings(
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
def test_answers_conform_to_the_schema(case):
    parts = case.as_transport_kwargs(base_url="http://service")
    parts = {name: parts[name] for name in ("method", "url", "params", "json", "data", "headers") if name in parts}
    data = parts.pop("data", None)
    if data is not None:
        parts["content"] = data
    method, url = parts.pop("method"), parts.pop("url")
    answer = CLIENT.request(method, url, **parts)
    assert answer.status_code < 500
    response = schemathesis.Response.from_any(answer)
    case.validate_response(
        response, checks=[content_type_conformance, response_schema_conformance, status_code_conformance]
    )
    if method == "POST" and case.media_type == "application/json" and case.meta.generation.mode.is_positive:
        # What the document allows is answered, except what a schema cannot say: whether the model has members, a row
        # can be event-free until then, and a column that is named is there and holds times.
        named = isinstance(case.body.get("given_survived"), str) or "given_survived" in (case.query or {})
        refusals = ("band: it needs", "cannot be event-free until")
        assert answer.status_code == 200 or named or any(each in answer.text for each in refusals), answer.text


def test_rows_of_the_document_have_ranges_levels_and_strata_of_the_file():
    document = CLIENT.get("/openapi.json").json()
    row = document["components"]["schemas"]["Row.cox_strata"]
    model = aldsurv.load(frozen("cox_strata"))
    assert row["required"] == list(ROWS[0])
    age, grade, site = (row["properties"][name] for name in ("age", "grade", "site"))
    assert age["x-training-range"] == [model.columns_["age"].low, model.columns_["age"].high]
    assert age["type"] == ["number", "null"]
    assert grade["x-levels"] == list(model.columns_["grade"].levels)
    assert site["enum"] == ["left", "right"]


def test_the_document_is_valid():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        schema.validate()
