"""Bad requests: 4xx that name the row and the column, never a trace, never 5xx."""

from __future__ import annotations

import json

import pytest

from bench.serve.fuzzed_bodies import fuzzed_requests

from .client import JSON, ROWS, Client

ROW = ROWS[0]


@pytest.fixture(scope="module")
def client():
    return Client("ald_default", max_body=200_000, max_rows=50)


def changed(**values: object) -> bytes:
    """The body of a good row and one with other values."""
    return json.dumps({"rows": [ROW, {**ROW, **values}]}).encode()


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("age", "51", "must be a number, but is the text '51'"),
        ("age", True, "must be a number, but is true"),
        ("age", [51], "must be a number, but is a list"),
        ("age", {"years": 51}, "must be a number, but is an object"),
        ("age", float("nan"), "must be finite, but is nan"),
        ("age", float("-inf"), "must be finite, but is -inf"),
        ("age", 10**400, "must be a number that a float can hold"),
        ("grade", 2, "must be text, but is the number 2"),
        ("grade", ["II"], "must be text, but is a list"),
        ("grade", float("nan"), "must be text, but is the number nan"),
        ("code", "one", "must be a number"),
        ("code", 2**64, "must be a number that a float can hold"),
    ],
)
def test_a_bad_value_is_named_by_row_and_column(client, column, value, problem):
    answer = client.predict(changed(**{column: value}))
    assert answer.status_code == 422
    assert len(answer.json()["problems"]) == 1
    (found,) = answer.json()["problems"]
    assert (found["row"], found["column"]) == (1, column)
    assert found["problem"].startswith(problem)
    assert answer.json()["error"].startswith(f"row 1, column '{column}': {problem}")


def test_a_missing_column_is_named_with_the_one_that_is_meant(client):
    row = {name: value for name, value in ROW.items() if name != "grade"} | {"Grade": "II"}
    answer = client.predict({"rows": [ROW, row]})
    assert answer.json()["problems"] == [{"row": 1, "column": "grade", "problem": "is missing; is it 'Grade'?"}]
    text = client.csv("age;size\n1;2\n").json()
    assert {each["column"] for each in text["problems"]} == {"grade", "site", "smoker", "code"}


def test_a_stratum_without_a_baseline_is_named():
    answer = Client("cox_strata").predict({"rows": [ROW, {**ROW, "site": "middle"}, {**ROW, "site": None}]})
    assert [(each["row"], each["column"]) for each in answer.json()["problems"]] == [(1, "site"), (2, "site")]
    assert "a stratum that training had not shown" in answer.json()["error"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "this is not JSON"),
        (b"{", 400, "this is not JSON"),
        (b"\xff{}", 400, "must be UTF-8, but byte 0 is not"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"a":' * 30_000, 400, "nested too deeply"),
        (b'{"rows": [{"age": 1, "age": 2}]}', 400, "an object has the name 'age' twice"),
        (b'{"rows": ' + b"9" * 9000 + b"}", 400, "a number has too many digits"),
        (b"[]", 422, "the body must be an object"),
        (b"{}", 422, "rows: Field required"),
        (b'{"rows": []}', 422, "rows: List should have at least 1 item"),
        (b'{"rows": [1]}', 422, "row 0: must be an object with a value by column name, but is a number"),
        (b'{"rows": [null, "x"]}', 422, "row 0: must be an object with a value by column name, but is null"),
        (json.dumps({"rows": [{**ROW, "more": float("nan")}]}).encode(), 422, "NaN is not JSON"),
        (json.dumps({"rows": [ROW], "times": [-1]}).encode(), 422, "times.0: Input should be greater than or equal"),
        (json.dumps({"rows": [ROW], "times": [float("inf")]}).encode(), 422, "times.0: Input should be a finite"),
        (json.dumps({"rows": [ROW], "times": ["1"]}).encode(), 422, "times.0: Input should be a valid number"),
        (json.dumps({"rows": [ROW], "quantiles": [1]}).encode(), 422, "quantiles.0: Input should be less than 1"),
        (json.dumps({"rows": [ROW], "summaries": ["x"]}).encode(), 422, "summaries.0: Input should be 'mean'"),
        (json.dumps({"rows": [ROW], "tims": [1]}).encode(), 422, "tims: Extra inputs are not permitted"),
        (json.dumps({"rows": [ROW], "given_survived": "so_far"}).encode(), 422, "row 0, column 'so_far': is missing"),
        (json.dumps({"rows": [ROW], "given_survived": "grade"}).encode(), 422, "must hold times from 0 on"),
        (json.dumps({"rows": [{**ROW, "t": -1}], "given_survived": "t"}).encode(), 422, "row 0, column 't': must be a"),
        (json.dumps({"rows": [ROW] * 51}).encode(), 413, "there are 51 rows, more than 50"),
    ],
)
def test_a_body_that_cannot_be_answered(client, body, status, message):
    answer = client.predict(body)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]
    assert answer.headers["content-type"] == JSON


@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("", 422, "no rows below a header"),
        ("age,size\n", 422, "no rows below a header"),
        ("age,age\n1,2\n", 400, "has the column 'age' twice"),
        ("age,size\n1\n", 422, "row 0: has 1 fields, but the header has 2 columns"),
        ("grade,age,size,site,smoker,code\nII,5x,20,left,true,2\n", 422, "column 'age': must be a number, but is"),
        ("grade,age,size,site,smoker,code\nII,1_0,20,left,true,2\n", 422, "column 'age': must be a number, but is"),
        ("grade,age,size,site,smoker,code\nII,inf,20,left,true,2\n", 422, "column 'age': must be finite"),
    ],
)
def test_a_table_that_cannot_be_answered(client, text, status, message):
    answer = client.csv(text)
    assert (answer.status_code, message in answer.json()["error"]) == (status, True), answer.text


def test_a_band_needs_members():
    answer = Client("cox_efron").predict({"rows": [ROW], "band": 0.9})
    assert (answer.status_code, answer.json()["error"][:5]) == (422, "band:")


@pytest.mark.parametrize("query", ["times=x", "times=", "quantiles=2", "more=1", "times=1&times=2", "interval=nan"])
def test_a_bad_query_is_refused(client, query):
    assert client.csv("age\n1\n", params=query).status_code == 422


def test_types_and_encodings_that_are_not_read(client):
    for headers in ({"content-type": "text/plain"}, {"content-type": ""}, {"content-encoding": "gzip"}):
        assert client.predict({"rows": [ROW]}, headers=headers).status_code == 415
    assert client.predict({"rows": [ROW]}, headers={"content-type": f"{JSON}; charset=utf-8"}).status_code == 200


def test_other_paths_and_methods(client):
    assert client.get("/nothing").status_code == 404
    assert client.predict({"rows": [ROW]}, model="other").json()["error"].startswith("there is no such model")
    refused = client.request("DELETE", "/models")
    assert (refused.status_code, set(refused.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})


def test_fuzzed_bodies_give_2xx_or_4xx_only(client):
    statuses = []
    for request in fuzzed_requests(250, "ald_default", ROW):
        headers = {"content-type": request.content_type}
        answer = client.request("POST", request.path, content=request.body, headers=headers)
        statuses.append(answer.status_code)
        assert answer.status_code // 100 in (2, 4), (request, answer.text)
        assert "Traceback" not in answer.text
    # Otherwise nothing would have been tried.
    assert {200, 400, 415, 422} <= set(statuses)
    assert 20 < statuses.count(200) < 240


def test_a_failure_inside_shows_no_trace(client, monkeypatch, caplog):
    served = client.app.state.service.models["ald_default"]

    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError("secret 51")

    monkeypatch.setattr(type(served), "predict", fail)
    with caplog.at_level("INFO", "aldsurv.serving"):
        answer = client.predict({"rows": [ROW]})
    assert answer.status_code == 500
    assert answer.json()["error"] == "the service failed; the log has the request's id."
    (failure,) = (record for record in caplog.records if record.getMessage() == "failure")
    assert failure.fields["request_id"] == answer.headers["x-request-id"]
    assert failure.fields["exception"] == "RuntimeError"
    assert "secret" not in caplog.text + str([vars(record) for record in caplog.records])


def test_a_library_error_about_rows_is_the_clients(client, monkeypatch):
    from aldsurv.errors import DataError

    served = client.app.state.service.models["ald_default"]

    def fail(*arguments: object, **options: object) -> None:
        raise DataError("too far", column="age", row=3)

    monkeypatch.setattr(type(served.model), "predict_distribution", fail)
    answer = client.predict({"rows": [ROW]})
    assert answer.status_code == 422
    assert answer.json()["problems"] == [{"row": 3, "column": "age", "problem": "too far"}]
    lines = client.batch(json.dumps(ROW).encode() + b"\n" + json.dumps(ROW).encode()).text.splitlines()
    assert [json.loads(line).get("error") for line in lines] == ["too far", "too far", None]
