"""What people write by hand: a FastAPI function around scikit-survival's Cox regression.

``python -m bench.serve.peer_app PORT`` fits it to the breast cancer table and serves it on the loopback.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from pydantic import BaseModel

from aldsurv import datasets

__all__ = ["NAMES", "TIMES", "create_peer"]

TIMES = (12.0, 36.0, 60.0)
QUANTILES = (0.1, 0.5, 0.9)
NAMES = tuple(datasets.load("gbsg").feature_names)


class Rows(BaseModel):
    """The body."""

    rows: list[dict[str, float]]


def create_peer() -> Any:
    """The application: survival at three times and three quantiles per row."""
    from fastapi import FastAPI
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    data = datasets.load("gbsg")
    model = CoxPHSurvivalAnalysis().fit(np.asarray(data.x, float), data.y.to_structured())
    grid = model.unique_times_
    where = np.searchsorted(grid, TIMES, side="right") - 1
    app = FastAPI()

    @app.post("/predict")
    async def predict(body: Rows) -> dict[str, Any]:
        x = np.array([[row[name] for name in NAMES] for row in body.rows])
        curves = model.predict_survival_function(x, return_array=True)
        answers = []
        for curve in curves:
            reached = [np.argmax(curve <= 1 - level) if (curve <= 1 - level).any() else None for level in QUANTILES]
            answer = {f"survival_{time:g}": float(curve[k]) for time, k in zip(TIMES, where, strict=True)}
            for level, k in zip(QUANTILES, reached, strict=True):
                answer[f"q{100 * level:g}"] = None if k is None else float(grid[k])
            answers.append(answer)
        return {"rows": answers}

    @app.get("/healthz")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    return app


if __name__ == "__main__":
    import uvicorn

    uvicorn.run(create_peer(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
