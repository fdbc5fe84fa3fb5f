"""The application: FastAPI with the routes of a service, behind a gate."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from aldsurv import __version__
from aldsurv.errors import ParameterError
from aldsurv.quoting import quoted
from aldsurv.serving.gate import ROUTE, Gate, problem_body
from aldsurv.serving.openapi import openapi_document
from aldsurv.serving.predicting import JSON, answer_batch, answer_predict
from aldsurv.serving.requests.problems import ProblemError
from aldsurv.serving.served_model import ServedModel
from aldsurv.serving.service import Service
from aldsurv.serving.settings import ServiceSettings

__all__ = ["create_app"]


def create_app(
    models: Mapping[str, str | Path] | Sequence[str | Path | ServedModel], settings: ServiceSettings | None = None
) -> FastAPI:
    """The service of some models, to be run by any server of ASGI.

    Parameters
    ----------
    models
        Files of models, by the name that each has in addresses; in a list each has the name of its file.
    settings
        Limits, defaults, keys.

    Returns
    -------
    FastAPI
        The application; ``app.state.service`` is what its parts share.
    """
    if isinstance(models, Mapping):
        loaded = [ServedModel.load(path, name) for name, path in models.items()]
    else:
        loaded = [each if isinstance(each, ServedModel) else ServedModel.load(each) for each in models]
    by_name = {each.name: each for each in loaded}
    if not loaded or len(by_name) < len(loaded):
        twice = next((each.name for each in loaded if by_name[each.name] is not each), None)
        problem = "there is no model to serve" if twice is None else f"two models have the name {quoted(twice)}"
        raise ParameterError(problem, argument="models", advice="Give each a name, as in NAME=FILE.")
    service = Service(by_name, settings or ServiceSettings())
    # Pages of documentation would load scripts from elsewhere.
    app = FastAPI(title="aldsurv", version=__version__, docs_url=None, redoc_url=None)
    app.state.service = service
    document = openapi_document(service)
    app.openapi = lambda: document  # type: ignore[method-assign]
    app.add_exception_handler(ProblemError, _refuse)
    app.add_exception_handler(HTTPException, _refuse_http)
    _add_routes(app, service)
    app.add_middleware(Gate, service=service)
    return app


def _add_routes(app: FastAPI, service: Service) -> None:
    facts = {name: _json(served.describe()) for name, served in service.models.items()}
    paths = {"models": "/models", "openapi": "/openapi.json", "health": "/healthz", "metrics": "/metrics"}
    index = _json({"name": "aldsurv", "version": __version__, **paths})
    models = _json({"models": [served.identity for served in service.models.values()]})

    async def show_index(request: Request) -> Response:
        return _answered(index)

    async def list_models(request: Request) -> Response:
        return _answered(models)

    async def describe(request: Request) -> Response:
        return _answered(facts[service.model(request.path_params["name"]).name])

    async def predict(request: Request) -> Response:
        served = service.model(request.path_params["name"])
        return _answered(await answer_predict(service, served, request))

    async def batch(request: Request) -> Any:
        return answer_batch(service, service.model(request.path_params["name"]), request)

    async def health(request: Request) -> Response:
        return _answered(_json({"status": "ok"}))

    async def ready(request: Request) -> Response:
        if service.stopping:
            raise ProblemError(503, "the service is stopping.")
        return _answered(_json({"status": "ready", "models": list(service.models)}))

    async def metrics(request: Request) -> Response:
        text, kind = service.metrics.text()
        return Response(text, headers={"content-type": kind})

    for path, endpoint, method in (
        ("/", show_index, "GET"),
        ("/models", list_models, "GET"),
        ("/models/{name}", describe, "GET"),
        ("/models/{name}/predict", predict, "POST"),
        ("/models/{name}/batch", batch, "POST"),
        ("/healthz", health, "GET"),
        ("/readyz", ready, "GET"),
        ("/metrics", metrics, "GET"),
    ):
        # Plain routes: rows are read by the columns of the model, of which no function has a signature.
        app.router.add_route(path, _labelled(path, endpoint), methods=[method], include_in_schema=False)


def _labelled(path: str, endpoint: Callable[[Request], Awaitable[Any]]) -> Callable[[Request], Awaitable[Any]]:
    """The endpoint, whose requests are counted under the path of the route."""

    async def labelled(request: Request) -> Any:
        request.scope[ROUTE] = path
        return await endpoint(request)

    return labelled


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()


def _answered(body: bytes) -> Response:
    return Response(body, media_type=JSON)


async def _refuse(request: Request, problem: Exception) -> Response:
    if not isinstance(problem, ProblemError):
        raise problem
    return Response(problem_body(problem), problem.status, problem.headers, JSON)


async def _refuse_http(request: Request, error: Exception) -> Response:
    """Unknown paths and methods, in the form of all other problems."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    texts = {404: "there is nothing at this path.", 405: "this path does not take this method."}
    headers = error.headers if isinstance(error, HTTPException) else None
    return await _refuse(request, ProblemError(status, texts.get(status, "the request is wrong."), headers=headers))
