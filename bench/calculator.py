"""Size of calculator pages of models with their default settings, and how long an answer takes in a browser.

``python -m bench.calculator`` fits models to rows of gbsg, writes their pages, opens them in Chromium and keeps
bytes and milliseconds in docs/results/calculator.json. ``--picture`` only draws docs/images/calculator.png again.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from aldsurv import datasets
from aldsurv.errors import AldsurvWarning
from aldsurv.export.calculator import build_page
from aldsurv.models.base import SurvivalEstimator
from aldsurv.registry import MODELS
from aldsurv.reports.page.pdf import find_browser
from bench.pages.results import store_section, today

FILE, SECTION = "calculator.json", "pages"
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "calculator.png"
MODEL_NAMES = ("cox", "weibull_aft", "ald", "boosted_ald", "stack")
ROWS = (300, 2000)
LABELS = {
    "hormone": {"label": "Hormone therapy", "levels": {"0": "no", "1": "yes"}},
    "size": {"label": "Tumour size", "levels": {"0": "to 20 mm", "1": "20 to 50 mm", "2": "over 50 mm"}},
    "postmenopausal": {"label": "Menopause", "levels": {"0": "before", "1": "after"}},
    "age": {"label": "Age", "unit": "years"},
    "nodes": {"label": "Positive lymph nodes"},
    "progesterone": {"label": "Progesterone receptor", "unit": "fmol/mg"},
    "oestrogen": {"label": "Oestrogen receptor", "unit": "fmol/mg"},
}
_FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars")
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
# The fastest of five times five answers, and of five times the contributions of all seven inputs.
_MEASURE = """
const { answers, contributions, typical, model } = window.aldsurv;
const question = { times: [12, 36, 60], time: 36, since: 0, level: 0.9, horizon: 60, cause: null };
const low = Object.fromEntries(model.columns.map((column) => [column.name, column.low]));
const fastest = (work, repeats) => Math.min(...[1, 2, 3, 4, 5].map(() => {
  const begun = performance.now();
  for (let k = 0; k < repeats; k += 1) { work(); }
  return (performance.now() - begun) / repeats;
}));
const told = [fastest(() => answers(low, question), 5), fastest(() => contributions(low, typical(), question), 1)];
document.body.dataset.told = JSON.stringify(told);
"""
_PERSON = """
const { page } = window.aldsurv;
document.getElementById("compare").click();
const line = (name) => page.form.lines.find((each) => each.column.name === name);
const enter = (name, ...values) => values.forEach((value, person) => line(name).fields[person].set(value));
enter("nodes", 9, 1); enter("hormone", 0, 1); enter("progesterone", null);
page.update();
"""


def fitted(name: str, rows: int) -> SurvivalEstimator:
    """A model with its default settings, on the first rows of a shuffled gbsg."""
    data = datasets.load("gbsg")
    chosen = np.random.default_rng(0).permutation(len(data.x))[:rows]
    kind = MODELS.load(name)
    x = {column: data.x[chosen, place] for place, column in enumerate(data.feature_names)}
    seed = {"random_state": 0} if "random_state" in kind.parameter_defaults() else {}
    model: SurvivalEstimator = kind(**seed).fit(x, data.y[chosen])
    return model


def with_script(page: str, script: str) -> str:
    """The page without its policy, which would keep the script out, and with it."""
    return _POLICY.sub("", page).replace("</body>", f"<script>{script}</script></body>")


def opened(page: str, script: str, *flags: str) -> str:
    """What the browser makes of a page."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "page.html"
        path.write_text(with_script(page, script), encoding="utf-8")
        options = [f"--{flag}" for flag in (*_FLAGS, f"user-data-dir={folder}/profile", *flags)]
        command = [find_browser(), *options, path.as_uri()]
        return subprocess.run(command, capture_output=True, check=True, encoding="utf-8", timeout=300).stdout


def measured(name: str, rows: int) -> dict[str, Any]:
    """Bytes of the model file and of the page, and milliseconds of an answer."""
    model = fitted(name, rows)
    page = build_page(model, labels=LABELS, unit="months")
    with TemporaryDirectory() as folder:
        size = model.save(Path(folder) / "model.aldsurv").stat().st_size
    found = re.search(r'data-told="\[([^,]*),([^\]]*)\]"', opened(page, _MEASURE, "dump-dom"))
    if found is None:
        raise RuntimeError(f"the page of {name} did not answer.")
    answer, contributions = map(float, found.groups())
    return {
        "model": name, "rows": rows, "file": size, "page": len(page.encode()), "answer": answer,
        "contributions": contributions,
    }  # fmt: skip


def draw() -> None:
    """Two persons, of whom one has a gap, by the default model."""
    words = {"event_name": "recurrence", "title": "Breast cancer: time to recurrence", "unit": "months"}
    page = build_page(fitted("ald", 2000), labels=LABELS, times=[12, 36, 60], **words)
    opened(page, _PERSON, f"screenshot={PICTURE}", "window-size=1180,1500", "virtual-time-budget=5000")


def main(given: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", action="store_true")
    options = parser.parse_args(given)
    warnings.simplefilter("ignore", AldsurvWarning)
    draw()
    if options.picture:
        return
    values = [measured(name, rows) for name in MODEL_NAMES for rows in ROWS]
    print(json.dumps(values, indent=1), flush=True)
    store_section(FILE, SECTION, values, today("python -m bench.calculator"))


if __name__ == "__main__":
    main()
