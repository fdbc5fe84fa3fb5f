"""``aldsurv serve``: predictions over HTTP."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aldsurv.cli.shared.command_options import parse_numbers, quiet_option
from aldsurv.errors import DataError, ParameterError
from aldsurv.quoting import quoted

if TYPE_CHECKING:
    from aldsurv.serving.served_model import ServedModel

__all__ = ["serve"]

_KEY_VARIABLE = "ALDSURV_API_KEY"
_MEGABYTE = 1 << 20


@click.command()
@click.argument("models", nargs=-1, required=True, metavar="[NAME=]MODEL...")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8000, show_default=True, metavar="N", help="0: any free port."
)
@click.option("--times", metavar="T,T", help="Survival at these times, unless a request names others.")
@click.option("--quantiles", metavar="P,P", help="Quantiles, unless a request names others.  [default: 0.1,0.9]")
@click.option(
    "--api-key-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"File with one key per line; requests must send one of them. Or a key in {_KEY_VARIABLE}.",
)
@click.option(
    "--max-body", type=click.FloatRange(0, min_open=True), default=16, show_default=True, metavar="MB",
    help="Largest body of a request.",
)  # fmt: skip
@click.option(
    "--max-batch-body", type=click.FloatRange(0, min_open=True), default=1024, show_default=True, metavar="MB",
    help="Largest body of a batch.",
)  # fmt: skip
@click.option(
    "--max-rows", type=click.IntRange(1), default=10_000, show_default=True, metavar="N", help="Largest number of rows."
)
@click.option(
    "--max-concurrent", type=click.IntRange(1), default=2048, show_default=True, metavar="N",
    help="Largest number of concurrent requests; others get 503.",
)  # fmt: skip
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=30, show_default=True, metavar="SECONDS",
    help="Time limit for receiving a body, and for a prediction.",
)  # fmt: skip
@click.option(
    "--grace", type=click.FloatRange(0), default=30, show_default=True, metavar="SECONDS",
    help="Time limit for running requests when the service is stopped.",
)  # fmt: skip
@click.option("--log-covariates", is_flag=True, help="Write rows to the log; they may be personal data.")
@quiet_option("Print no address, and log no line per request.")
def serve(
    models: tuple[str, ...],
    host: str,
    port: int,
    times: str | None,
    quantiles: str | None,
    api_key_file: Path | None,
    max_body: float,
    max_batch_body: float,
    max_rows: int,
    max_concurrent: int,
    timeout: float,
    grace: float,
    log_covariates: bool,
    quiet: bool,
) -> None:
    """Serve predictions of one or more models over HTTP.

    POST rows to /models/NAME/predict, as JSON or CSV, or any number of
    them to /models/NAME/batch; GET /openapi.json describes the rows,
    /metrics is for Prometheus and /healthz for the process that
    supervises the service. A model has the name of its file unless NAME
    is given.

    The address is written to standard output, and the log to standard
    error: a line of JSON per request, without covariates. Ctrl-C or
    SIGTERM stop the service after running requests are finished. Needs
    pip install "aldsurv[serve]", and no torch.

    \b
    Examples:
      aldsurv serve model.aldsurv
      aldsurv serve risk=a.aldsurv relapse=b.aldsurv --port 8080
      aldsurv serve model.aldsurv --times 12,36,60
      aldsurv serve model.aldsurv --api-key-file keys.txt
    """  # noqa: D301
    from aldsurv.serving import ServiceSettings, create_app
    from aldsurv.serving.logs import log_to
    from aldsurv.serving.server import bound_socket
    from aldsurv.serving.server import serve as run

    settings = ServiceSettings(
        times=parse_numbers(times, "--times", example="12,36"),
        quantiles=(0.1, 0.9)
        if quantiles is None
        else parse_numbers(quantiles, "--quantiles", high=1.0, example="0.1,0.5,0.9"),
        api_keys=_keys(api_key_file),
        max_body=round(max_body * _MEGABYTE) or 1,
        max_rows=max_rows,
        max_batch_body=round(max_batch_body * _MEGABYTE) or 1,
        timeout=timeout,
        max_concurrent=max_concurrent,
        grace=grace,
        log_covariates=log_covariates,
    )
    app = create_app([_loaded(text) for text in models], settings)
    bound = bound_socket(host, port)
    shown = f"[{host}]" if ":" in host else host
    log_to(sys.stderr, requests=not quiet)

    def started() -> None:
        if not quiet:
            click.echo(f"http://{shown}:{bound.getsockname()[1]}")
            sys.stdout.flush()

    run(app, bound, started)


def _loaded(text: str) -> ServedModel:
    """The model of ``MODEL`` or ``NAME=MODEL``."""
    from aldsurv.cli.shared.input_files import require_file
    from aldsurv.serving import ServedModel

    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        name, path = "", text
    require_file(path)
    return ServedModel.load(path, name or None)


def _keys(file: Path | None) -> tuple[str, ...]:
    """Keys of the file and of the environment; never of the command line, which others on the machine can see."""
    keys = [os.environ[_KEY_VARIABLE]] if os.environ.get(_KEY_VARIABLE) else []
    if file is not None:
        from aldsurv.cli.shared.input_files import require_file

        require_file(file)
        try:
            lines = file.read_text(encoding="utf-8").split()
        except UnicodeDecodeError:
            raise DataError(f"{quoted(str(file))} is not a text file with a key per line.") from None
        if not lines:
            raise ParameterError(f"{quoted(str(file))} has no key. Write one per line.")
        keys += lines
    return tuple(keys)
