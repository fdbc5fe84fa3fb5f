"""What the slopes of a loss in closed form buy over torch's automatic differentiation in the same training loop.

``python -m bench.closed_forms`` fits each model that has such slopes as it is and with the loss left to torch, by turns
in one process and on one thread. It prints seconds of the processor and ratios to them; ``--write`` puts the table
into docs/performance.md. What pays less than 1.5 should go.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from aldsurv import SurvivalData, models
from aldsurv.losses import cox_loss, deephit_loss
from aldsurv.losses.likelihood import ald_slopes, family_likelihood, mixture_likelihood, mixture_slopes

ROWS, COLUMNS, ROUNDS = 1000, 10, 5
PAGE = Path(__file__).resolve().parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- closed forms -->", "<!-- end closed forms -->"


def _ald(raw: Tensor, time: Tensor, event: Tensor, since: Tensor | None = None, *, exp_theta: bool) -> Tensor:
    entry = () if since is None else (since,)
    rows: Tensor = ald_slopes.value_and_slopes(torch, raw, time, event, *entry, exp_theta, False)[0]
    return rows


class _Mixture:
    @staticmethod
    def apply(raw: Tensor, *arguments: Any) -> Tensor:
        rows: Tensor = mixture_slopes.value_and_slopes(torch, raw, *arguments, False)[0]
        return rows


def _cox(self: Any, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
    entry = fields[2] if len(fields) > 2 else None
    return cox_loss.cox_losses(raw[..., 0], fields[0], fields[1], weight, entry=entry, ties=self._ties)


def _deephit(
    raw: Tensor,
    place: Tensor,
    cause: Tensor,
    weight: Tensor | None = None,
    entered: Tensor | None = None,
    *,
    causes: int,
    alpha: float,
    sigma: float,
) -> Tensor:
    rows = deephit_loss.deephit_log_likelihood(raw, place, cause, entered, causes=causes)
    mean = rows.mean(1) if weight is None else (rows * weight).sum(1) / weight.sum(1).clamp_min(1e-30)
    ranking = deephit_loss.deephit_ranking(raw, place, cause, weight, entered, causes=causes, sigma=sigma)
    return (1 - alpha) * ranking - alpha * mean


def _slopes_by_torch(self: Any, raw: Any, fields: Sequence[Any], weight: Any) -> tuple[Any, Any]:
    """In place of `losses_and_slopes`: the loss on torch, differentiated by the outputs."""
    leaf = torch.from_numpy(np.array(raw)).requires_grad_()
    tensors = tuple(torch.from_numpy(np.asarray(field)) for field in fields)
    losses = self.losses(leaf, tensors, None if weight is None else torch.from_numpy(weight))
    (slopes,) = torch.autograd.grad(losses.sum(), leaf)
    return losses.detach().numpy(), slopes.numpy()


class Case(NamedTuple):
    """A model, and how its loss is left to torch."""

    slopes: str
    model: type[Any]
    objective: type[Any]
    loss: tuple[Any, str, Any]


CASES = {
    ("ALDSurvival", "default"): Case(
        "mixture_slopes",
        models.ALDSurvival,
        mixture_likelihood._MixtureLikelihood,
        (mixture_likelihood, "_RowLogLikelihood", _Mixture),
    ),
    ("ALDSurvival", "paper"): Case(
        "ald_slopes",
        models.ALDSurvival,
        family_likelihood._AldLikelihood,
        (family_likelihood, "ald_log_likelihood", _ald),
    ),
}
for _recipe in ("default", "paper"):
    CASES["DeepSurv, delayed entry", _recipe] = CASES["DeepSurv", _recipe] = Case(
        "cox_slopes", models.DeepSurv, cox_loss._Cox, (cox_loss._Cox, "losses", _cox)
    )
    CASES["DeepHit", _recipe] = Case(
        "deephit_slopes", models.DeepHit, deephit_loss._DeepHit, (deephit_loss, "deephit_loss", _deephit)
    )


@contextmanager
def loss_by_torch(case: Case) -> Iterator[None]:
    """The loss without what was differentiated by hand."""
    with (
        patch.object(case.objective, "losses_and_slopes", _slopes_by_torch),
        patch.object(*case.loss),
    ):
        yield


def rows() -> tuple[Any, SurvivalData, SurvivalData]:
    """Covariates, times with their events, and the same with delayed entry."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    time = np.exp(x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=ROWS)).round(3) + 0.001
    censored = rng.exponential(np.quantile(time, 0.8), ROWS).round(3) + 0.001
    seen, event = np.minimum(time, censored), time <= censored
    return x, SurvivalData.right(seen, event), SurvivalData.right(seen, event, entry=seen * rng.uniform(0, 1, ROWS))


def seconds(case: Case, recipe: str, x: Any, y: Any, rounds: int) -> tuple[list[float], list[float], float]:
    """Seconds of the processor of both ways, round by round, and how far their predictions are apart at most."""
    spent: tuple[list[float], list[float]] = ([], [])
    predicted = []
    for turn in range(rounds + 1):
        for used, way in zip(spent, (nullcontext(), loss_by_torch(case)), strict=True):
            model = case.model(recipe, progress=False, random_state=0)
            with way:
                start = time.process_time()
                model.fit(x, y)
                elapsed = time.process_time() - start
            if turn:  # The first round warms up.
                used.append(elapsed)
            else:
                predicted.append(model.predict_distribution(x[:200]).survival([0.5, 1.0, 2.0]))
    return *spent, float(np.abs(predicted[0] - predicted[1]).max())


def table(rounds: int) -> str:
    """Medians of the seconds, and of their ratios to the way it is, round by round."""
    x, y, delayed = rows()
    lines = ["| model | slopes | seconds | by torch | largest difference |", "| --- | --- | --: | --: | --: |"]
    for (name, recipe), case in CASES.items():
        target = delayed if "entry" in name else y
        by_hand, by_torch, apart = seconds(case, recipe, x, target, rounds)
        ratio = float(np.median(np.array(by_torch) / np.array(by_hand)))
        cells = f"{np.median(by_hand):.2f} | {ratio:.2f} | {apart:.0e}"
        lines.append(f"| {name}, {recipe} | `{case.slopes}` | {cells} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def write(text: str) -> None:
    """Put the table between its markers."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def run(rounds: int = ROUNDS) -> str:
    """Measure on one thread, without warnings of models that have learned little."""
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return table(rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--write", action="store_true", help="put the table into docs/performance.md")
    options = parser.parse_args()
    found = run(options.rounds)
    if options.write:
        write(found)
