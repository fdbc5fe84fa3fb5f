"""What each hand-written pass and slope buys over torch's automatic differentiation in the same training loop.

``python -m bench.closed_forms`` fits each model as it is, with the network differentiated by torch, with the loss
differentiated by torch, and with both; by turns in one process and on one thread. It prints seconds of the processor
and ratios to them, and stores them in docs/results/performance.json. What pays less than 1.5 should go.
"""

from __future__ import annotations

import argparse
import math
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import torch
from torch import Tensor

from aldsurv import models
from aldsurv.losses import cox_loss, deephit_loss, quantile_objective
from aldsurv.losses.likelihood import ald_slopes, family_likelihood, mixture_likelihood, mixture_slopes
from aldsurv.training import member_network
from bench.pages.results import PERFORMANCE, store_section, today

ROWS, COLUMNS, ROUNDS = 1000, 10, 5
SECTION = "closed_forms"
# Names of the models in the registry.
REGISTERED = {
    "ALDSurvival": "ald",
    "LogNormalSurvival": "lognormal",
    "CQRNN": "cqrnn",
    "DeepSurv": "deepsurv",
    "DeepHit": "deephit",
}


def _ald(raw: Tensor, time: Tensor, event: Tensor, since: Tensor | None = None, *, exp_theta: bool) -> Tensor:
    entry = () if since is None else (since,)
    rows: Tensor = ald_slopes.value_and_slopes(torch, raw, time, event, *entry, exp_theta, False)[0]
    return rows


class _Mixture:
    @staticmethod
    def apply(raw: Tensor, *arguments: Any) -> Tensor:
        rows: Tensor = mixture_slopes.value_and_slopes(torch, raw, *arguments, False)[0]
        return rows


def _log_normal(raw: Tensor, log_time: Tensor, event: Tensor, since: Tensor | None = None) -> Tensor:
    mu, eta = raw[..., 0].double(), torch.nn.functional.softplus(raw[..., 1].double())
    z = (log_time - mu) / eta
    log_density = -z * z / 2 - eta.log() - 0.5 * math.log(2 * math.pi)
    return torch.where(event, log_density, torch.special.log_ndtr(-z)).to(raw.dtype)


def _cox(self: Any, raw: Tensor, fields: tuple[Tensor, ...], weight: Tensor | None) -> Tensor:
    return cox_loss.cox_losses(raw[..., 0], fields[0], fields[1], weight, entry=None, ties=self._ties)


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
    loss: tuple[Any, str, Any] | None


CASES = {
    ("ALDSurvival", "large"): Case(
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
    CASES["LogNormalSurvival", _recipe] = Case(
        "log_normal_likelihood",
        models.LogNormalSurvival,
        family_likelihood._LogNormalLikelihood,
        (family_likelihood, "log_normal_log_likelihood", _log_normal),
    )
    CASES["CQRNN", _recipe] = Case("censored_quantile", models.CQRNN, quantile_objective.QuantileObjective, None)
    CASES["DeepSurv", _recipe] = Case("cox_slopes", models.DeepSurv, cox_loss._Cox, (cox_loss._Cox, "losses", _cox))
    CASES["DeepHit", _recipe] = Case(
        "deephit_slopes", models.DeepHit, deephit_loss._DeepHit, (deephit_loss, "deephit_loss", _deephit)
    )
WAYS = {"as it is": (), "network": ("network",), "loss": ("loss",), "both": ("network", "loss")}


@contextmanager
def left_to_torch(case: Case, parts: Sequence[str]) -> Iterator[None]:
    """The network, the loss or both without what was differentiated by hand."""
    with ExitStack() as stack:
        if "network" in parts:
            stack.enter_context(patch.object(member_network, "BY_HAND", {}))
        if "loss" in parts:
            stack.enter_context(patch.object(case.objective, "losses_and_slopes", _slopes_by_torch))
            if case.loss is not None:
                stack.enter_context(patch.object(*case.loss))
        yield


def rows() -> tuple[Any, Any]:
    """Covariates, and times with their events."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, COLUMNS))
    time = np.exp(x[:, 0] + 0.5 * x[:, 1] ** 2 + rng.normal(size=ROWS)).round(3) + 0.001
    censored = rng.exponential(np.quantile(time, 0.8), ROWS).round(3) + 0.001
    return x, (np.minimum(time, censored), time <= censored)


def seconds(case: Case, recipe: str, x: Any, y: Any, rounds: int) -> tuple[dict[str, list[float]], float]:
    """Seconds of the processor of each way, round by round, and how far the predictions are apart at most."""
    spent: dict[str, list[float]] = {way: [] for way in WAYS}
    predicted = {}
    for turn in range(rounds + 1):
        for way, parts in WAYS.items():
            model = case.model(recipe, progress=False, random_state=0)
            with left_to_torch(case, parts):
                start = time.process_time()
                model.fit(x, y)
                used = time.process_time() - start
            if turn:  # The first round warms up.
                spent[way].append(used)
            else:
                predicted[way] = model.predict_distribution(x[:200]).survival([0.5, 1.0, 2.0])
    apart = max(float(np.abs(other - predicted["as it is"]).max()) for other in predicted.values())
    return spent, apart


def measured(rounds: int) -> list[dict[str, Any]]:
    """Medians of the seconds, and of their ratios to the way it is, round by round."""
    x, y = rows()
    lines = []
    for (name, recipe), case in CASES.items():
        spent, apart = seconds(case, recipe, x, y, rounds)
        base = np.array(spent["as it is"])
        ratios = {way: round(float(np.median(np.array(spent[way]) / base)), 3) for way in WAYS if way != "as it is"}
        used = round(float(np.median(base)), 3)
        lines.append(
            {"model": name, "recipe": recipe, "slopes": case.slopes, "seconds": used, **ratios, "apart": apart}
        )
        print(lines[-1], flush=True)
    return lines


def run(rounds: int = ROUNDS) -> None:
    """Measure on one thread, without warnings of models that have learned little, and store it."""
    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        lines = measured(rounds)
    command = f"python -m bench.closed_forms --rounds {rounds}"
    origin = today(command, [f"{REGISTERED[name]}/{recipe}" for name, recipe in CASES])
    store_section(PERFORMANCE, SECTION, {"rounds": rounds, "fits": lines}, origin)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    run(parser.parse_args().rounds)
