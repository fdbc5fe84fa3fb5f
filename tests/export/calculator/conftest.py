from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from reports.parsed import ParsedPage

from aldsurv import SurvivalData
from aldsurv.errors import ColumnWarning
from aldsurv.models import CauseSpecificCox, CoxRegression

EVIL = "</script><img src=x onerror=document.title='evil'>\"'&{{model}}"
ROWS = 160


def made_up_columns(seed: int = 0) -> dict[str, np.ndarray]:
    """Numbers, text with HTML in name and level, a flag, a column with gaps, and one that is the same everywhere."""
    rng = np.random.default_rng(seed)
    dose = rng.normal(5, 2, ROWS).round(1)
    dose[::9] = np.nan
    return {
        "age": rng.integers(30, 90, ROWS).astype(float),
        "dose": dose,
        EVIL: rng.choice(np.array(["no", EVIL, "maybe"], object), ROWS),
        "treated": rng.integers(0, 2, ROWS).astype(float),
        "same": np.ones(ROWS),
    }


def made_up_times(x: dict[str, np.ndarray], seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    effect = 0.03 * (x["age"] - 60) - 0.7 * x["treated"] + 0.5 * (x[EVIL] == "maybe")
    event = 40 * np.exp(-effect) * rng.weibull(1.4, ROWS)
    censored = rng.exponential(60, ROWS)
    return np.minimum(event, censored), event <= censored


def settings_of(page: str) -> dict:
    """What a page was made with."""
    return json.loads(ParsedPage(page).scripts[0])


@pytest.fixture(scope="session")
def cox_model() -> CoxRegression:
    x = made_up_columns()
    with pytest.warns(ColumnWarning, match="one value only"):
        return CoxRegression(unit="months").fit(x, SurvivalData.right(*made_up_times(x)))


@pytest.fixture(scope="session")
def cause_model() -> CauseSpecificCox:
    x = made_up_columns()
    time, event = made_up_times(x)
    which = np.where(np.random.default_rng(2).random(ROWS) < 0.6, "relapse", EVIL)
    data = SurvivalData.competing(time, np.where(event, which, "censored"))
    with pytest.warns(ColumnWarning, match="one value only"):
        return CauseSpecificCox(unit="months").fit(x, data)


@pytest.fixture(scope="session")
def cox_file(cox_model: CoxRegression, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return cox_model.save(tmp_path_factory.mktemp("model") / "cox.aldsurv")
