"""Writes shap.json beside this file: Shapley values by the package shap (0.51), which takes a minute to compile.

Run from the folder of the project: python -m tests.inspection.frozen.shap_values
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from inspection.known_rates import drawn_table, survival

TIMES = [1.0, 4.0, 12.0]


def main() -> None:
    import shap

    few, many = drawn_table(24, 4), drawn_table(16, 10)
    exact = shap.explainers.Exact(lambda x: survival(x, TIMES), shap.maskers.Independent(few[4:], max_samples=20))
    large = shap.explainers.Exact(lambda x: survival(x, TIMES), shap.maskers.Independent(many[2:], max_samples=14))
    result = {
        "times": TIMES,
        "four_columns": np.asarray(exact(few[:4]).values).tolist(),
        "ten_columns": np.asarray(large(many[:2]).values).tolist(),
    }
    Path(__file__).with_name("shap.json").write_text(json.dumps(result) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
