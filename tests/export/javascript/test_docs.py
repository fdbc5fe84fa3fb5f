"""The program in docs/javascript.md runs, and prints what Python predicts."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np

from aldsurv import WeibullAFT
from export.javascript.node import NODE, RUNTIME, needs_node

PAGE = Path(__file__).parents[3] / "docs" / "javascript.md"


@needs_node
def test_the_program_of_the_page_predicts(tmp_path):
    rng = np.random.default_rng(0)
    x = {"age": rng.integers(30, 80, 200).astype(float), "nodes": rng.integers(0, 20, 200).astype(float)}
    time = 40 * np.exp(-0.05 * x["nodes"] + 0.5 * rng.normal(size=200))
    model = WeibullAFT(unit="months").fit(x, (time, np.ones(200)))
    model.save(tmp_path / "model.aldsurv")
    shutil.copytree(RUNTIME, tmp_path / "javascript")
    [program] = re.findall(r"```js\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    # A linear model has no members whose predictions differ.
    program = program.replace("model.survivalBand(row, [12, 36], 0.9), ", "")
    (tmp_path / "program.mjs").write_text(program, encoding="utf-8")
    done = subprocess.run(
        [NODE, "program.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Weibull AFT [ 'age', 'nodes' ]" in done.stdout
    predicted = model.predict_distribution({"age": [64.0], "nodes": [9.0]})
    numbers = [float(number) for number in re.findall(r"\d+\.\d+", done.stdout)]
    np.testing.assert_allclose(numbers[:2], [predicted.survival(36)[0], predicted.median()[0]], rtol=1e-9)
