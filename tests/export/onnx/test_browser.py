"""A graph answers in a browser as it does in Python."""

import functools
import http.server
import json
import subprocess
import threading
import warnings
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from reports.browser import CHROMIUM

import aldsurv
from aldsurv.export.onnx import build_onnx
from export.onnx.graph_runs import rows_for

FROZEN = Path(__file__).parents[2] / "models" / "frozen"
RUNTIME = Path(__file__).parents[1] / "node_modules" / "onnxruntime-web" / "dist"
FILES = ("ort.wasm.min.mjs", "ort-wasm-simd-threaded.mjs", "ort-wasm-simd-threaded.wasm")
PAGE = """<!doctype html><meta charset="utf-8"><title>graph</title><pre id="answer">waiting</pre>
<script type="module">
import * as ort from "./ort.wasm.min.mjs";
const answer = document.getElementById("answer");
try {
  ort.env.wasm.numThreads = 1;
  const given = await (await fetch("rows.json")).json(), feeds = {};
  for (const [name, kind, values] of given) {
    const numbers = () => Float64Array.from(values, value => value === null ? NaN : value);
    feeds[name] = new ort.Tensor(kind, kind === "string" ? values : numbers(), [values.length]);
  }
  const session = await ort.InferenceSession.create("model.onnx"), found = await session.run(feeds), shown = {};
  for (const name of ["survival", "quantiles", "median"]) shown[name] = Array.from(found[name].data);
  answer.textContent = JSON.stringify(shown);
} catch (error) { answer.textContent = "failed: " + error; }
</script>"""


class _Quiet(http.server.SimpleHTTPRequestHandler):
    extensions_map: ClassVar = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

    def log_message(self, *words):
        """Say nothing."""


@pytest.fixture
def served(tmp_path):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Quiet, directory=tmp_path))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/page.html"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium")
@pytest.mark.skipif(not RUNTIME.is_dir(), reason="onnxruntime-web is not installed: make browser")
def test_a_browser_answers_as_python_does(served, tmp_path):
    for name in FILES:
        (tmp_path / name).write_bytes((RUNTIME / name).read_bytes())
    model = aldsurv.load(FROZEN / "ald_default.aldsurv")
    graph, columns, given = build_onnx(model, times=[10.0, 20.0], quantiles=[0.1]), rows_for(model, 5), []
    for column in graph.inputs:
        values = list(columns[column["column"]])
        if column["kind"] == "text":
            given.append((column["input"], "string", ["" if value is None else value for value in values]))
        else:
            given.append((column["input"], "float64", [None if np.isnan(value) else float(value) for value in values]))
    (tmp_path / "rows.json").write_text(json.dumps(given), encoding="utf-8")
    (tmp_path / "model.onnx").write_bytes(graph.to_bytes())
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    page = subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            "--virtual-time-budget=30000", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", served,
        ],
        capture_output=True, text=True, timeout=120, check=True, encoding="utf-8",
    ).stdout  # fmt: skip
    text = page.split('<pre id="answer">')[1].split("</pre>")[0]
    assert text.startswith("{"), text
    found = {name: np.array(values, float) for name, values in json.loads(text).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        predicted = model.predict_distribution(columns)
    np.testing.assert_allclose(found["survival"].reshape(5, 2), predicted.survival([10.0, 20.0]), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["quantiles"], predicted.quantile(0.1), rtol=1e-9)
    np.testing.assert_allclose(found["median"], predicted.median(), rtol=1e-9)
