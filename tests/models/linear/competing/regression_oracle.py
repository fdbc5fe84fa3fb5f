"""What R's survival and cmprsk have for the same rows, and the rows."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from aldsurv import SurvivalData

FROZEN = json.loads((Path(__file__).parent / "frozen" / "competing_regression.json").read_text(encoding="utf-8"))
NEW = pd.DataFrame(FROZEN["new"])
KINDS = ("smooth", "tied")
NAMES = ("one", "two")


def frame(kind: str) -> pd.DataFrame:
    return pd.DataFrame(FROZEN[kind]["data"])


def outcome(kind: str, *, entry: bool = False) -> SurvivalData:
    table = frame(kind)
    return SurvivalData.competing(
        table["time"], table["cause"], entry=table["entry"] if entry else None, names=list(NAMES)
    )
