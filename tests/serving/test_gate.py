"""Keys, limits, timeouts, metrics and logs."""

from __future__ import annotations

import asyncio
import hmac
import io
import json
import logging
import threading

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from aldsurv.errors import ParameterError
from aldsurv.serving import ServiceSettings
from aldsurv.serving.keys import ApiKeys
from aldsurv.serving.logs import log_to

from .client import JSON, ROWS, Client

KEY = "a-key-of-some-length"


@pytest.fixture
def log():
    """What is written to the log, line by line."""
    stream = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("aldsurv.serving", "uvicorn.error")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    log_to(stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_without_the_key_only_health_is_answered():
    client = Client("cox_efron", api_keys=("another-key", KEY))
    for path in ("/", "/models", "/models/cox_efron", "/metrics", "/openapi.json", "/nothing"):
        refused = client.get(path)
        assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
    assert client.predict({"rows": ROWS}).status_code == 401
    assert [client.get(path).status_code for path in ("/healthz", "/readyz")] == [200, 200]
    for bad in ("", KEY[:-1], f"{KEY}x", KEY.upper(), "é", "x" * 10_000):
        assert client.get("/models", headers={"x-api-key": bad.encode()}).status_code == 401
        assert client.get("/models", headers={"authorization": b"Bearer " + bad.encode()}).status_code == 401
    assert client.get("/models", headers={"authorization": f"Basic {KEY}"}).status_code == 401
    for headers in ({"authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}, {"x-api-key": "another-key"}):
        assert client.get("/models", headers=headers).status_code == 200
    assert client.get("/openapi.json", headers={"x-api-key": KEY}).json()["security"] == [{"key": []}]


def test_every_key_is_compared_in_constant_time(monkeypatch):
    compared = []

    def compare(given: bytes, known: bytes) -> bool:
        compared.append((len(given), len(known)))
        return given == known

    monkeypatch.setattr(hmac, "compare_digest", compare)
    keys = ApiKeys(("first-key-xyz", "second-key"))
    assert keys.allow([(b"x-api-key", b"first-key-xyz")])
    assert not keys.allow([(b"x-api-key", b"f")])
    # Always all of them, and always of one length.
    assert compared == [(32, 32)] * 4


@pytest.mark.parametrize("key", ["short", "with a space in it", "ümlaut-key-123", "tab\tkey-123456"])
def test_keys_that_no_header_could_hold_are_refused(key):
    with pytest.raises(ParameterError, match="at least 8 printable ASCII"):
        ServiceSettings(api_keys=(key,))
    assert "key" not in repr(ServiceSettings(api_keys=(KEY,))).replace("api_keys", "")


@pytest.mark.parametrize("settings", [{"max_rows": 0}, {"timeout": 0}, {"times": (-1,)}, {"quantiles": (1.0,)}])
def test_settings_are_checked(settings):
    with pytest.raises(ParameterError):
        ServiceSettings(**settings)


def test_a_large_body_is_refused_by_its_length_and_without_one():
    client = Client("cox_efron", max_body=1000)
    read = 0

    async def pieces():
        nonlocal read
        for _ in range(100):
            read += 1
            yield b" " * 100

    headers = {"content-type": JSON}
    by_length = client.request("POST", "/models/cox_efron/predict", content=b" " * 1001, headers=headers)
    by_count = client.request("POST", "/models/cox_efron/predict", content=pieces(), headers=headers)
    for refused in (by_length, by_count):
        assert refused.status_code == 413
        assert refused.json()["error"] == "the body has more than 1000 bytes, the limit."
    # The rest was not taken.
    assert read < 20
    assert client.request("POST", "/models/cox_efron/predict", content=b" " * 1000, headers=headers).status_code == 400


def ask_together(client: Client, requests: list[tuple[str, dict]]) -> list[httpx.Response]:
    async def run() -> list[httpx.Response]:
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as each:
            return await asyncio.gather(*(each.post(path, json=body) for path, body in requests))

    return asyncio.run(run())


def test_more_requests_than_the_limit_are_told_to_come_back(monkeypatch):
    client = Client("cox_efron", max_concurrent=2)
    served, held = client.app.state.service.models["cox_efron"], threading.Event()
    predict = type(served).predict

    def wait(*arguments, **options):
        held.wait(5)
        return predict(*arguments, **options)

    monkeypatch.setattr(type(served), "predict", wait)
    many = {"rows": ROWS * 200}

    async def run() -> list[httpx.Response]:
        transport = httpx.ASGITransport(client.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as each:
            running = [asyncio.create_task(each.post("/models/cox_efron/predict", json=many)) for _ in range(2)]
            while client.app.state.service.in_flight < 2:
                await asyncio.sleep(0.005)
            refused = await each.get("/models")
            health = await each.get("/healthz")
            held.set()
            return [refused, health, *await asyncio.gather(*running)]

    refused, health, *answered = asyncio.run(run())
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert [health.status_code, *(each.status_code for each in answered)] == [200] * 3
    assert client.app.state.service.in_flight == 0


def test_a_prediction_that_takes_too_long_is_504(monkeypatch):
    client = Client("cox_efron", timeout=0.05)
    served, held = client.app.state.service.models["cox_efron"], threading.Event()
    monkeypatch.setattr(type(served), "predict", lambda *arguments, **options: held.wait(5))
    (answer,) = ask_together(client, [("/models/cox_efron/predict", {"rows": ROWS * 200})])
    held.set()
    assert (answer.status_code, answer.json()["error"][:33]) == (504, "the prediction took longer than 0")


def test_a_body_that_does_not_arrive_is_408():
    client = Client("cox_efron", timeout=0.05)

    async def slow():
        yield b"{"
        await asyncio.sleep(0.5)
        yield b"}"

    answer = client.request("POST", "/models/cox_efron/predict", content=slow(), headers={"content-type": JSON})
    assert answer.status_code == 408


def test_metrics_count_requests_rows_and_flags():
    client = Client("cox_efron")
    client.predict({"rows": [ROWS[0], {**ROWS[0], "age": 1e6, "size": None}]})
    client.predict({"rows": [{**ROWS[0], "age": "x"}]})
    client.get("/any/thing")
    text = client.get("/metrics")
    assert text.headers["content-type"].startswith("text/plain")
    values = {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.text)
        for sample in family.samples
    }
    path = "/models/{name}/predict"
    assert values["aldsurv_requests_total", path, "200"] == values["aldsurv_requests_total", path, "422"] == 1
    assert values["aldsurv_requests_total", "other", "404"] == 1
    assert values["aldsurv_rows_total", "cox_efron"] == 2
    assert values["aldsurv_refused_rows_total", "cox_efron"] == 1
    assert values["aldsurv_flagged_rows_total", "outside_training", "cox_efron"] == 1
    assert values["aldsurv_flagged_rows_total", "gap_filled", "cox_efron"] == 1
    assert values["aldsurv_request_seconds_count", path] == 2
    digest = client.get("/models").json()["models"][0]["digest"]
    assert values["aldsurv_model_info", digest, "cox_efron", "0.1.0"] == 1


def test_the_log_has_no_covariates_unless_asked_for(log):
    row = {**ROWS[0], "age": 97.125, "grade": "secret-level", "name": "Jo Doe"}
    quiet, open_ = Client("cox_efron"), Client("cox_efron", log_covariates=True)
    answer = quiet.predict({"rows": [row]}, headers={"x-request-id": "abc-1"})
    quiet.predict({"rows": [{**row, "age": "secret-age"}]})
    quiet.get("/models/secret-path", params={"secret": "1"})
    lines = log()
    assert [line["status"] for line in lines] == [200, 422, 404]
    assert lines[0]["request_id"] == answer.headers["x-request-id"] == "abc-1"
    assert (lines[0]["path"], lines[0]["rows"], lines[0]["model"]) == ("/models/{name}/predict", 1, "cox_efron")
    for secret in ("97.125", "secret", "Jo Doe"):
        assert secret not in json.dumps(lines)
    open_.predict({"rows": [row]})
    assert log()[3]["rows"] == [row]


def test_an_id_that_would_break_the_log_is_replaced(log):
    answer = Client("cox_efron").get("/healthz", headers={"x-request-id": 'a" b\t"'})
    assert answer.headers["x-request-id"] == log()[0]["request_id"]
    assert len(log()[0]["request_id"]) == 16


def test_a_service_that_stops_is_not_ready_but_healthy():
    client = Client("cox_efron")
    assert client.get("/readyz").json() == {"status": "ready", "models": ["cox_efron"]}
    client.app.state.service.stop()
    assert (client.get("/readyz").status_code, client.get("/healthz").status_code) == (503, 200)


def test_answers_are_not_to_be_stored():
    assert Client("cox_efron").predict({"rows": ROWS}).headers["cache-control"] == "no-store"
