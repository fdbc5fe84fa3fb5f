from __future__ import annotations

import itertools
import math
import warnings

import numpy as np
import pandas as pd
import pytest
import torch
from lifelines import CoxPHFitter
from pycox.models.loss import cox_ph_loss

from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError
from aldsurv.losses.cox_loss import cox_losses, cox_objective
from aldsurv.losses.cox_slopes import cox_losses_and_slopes

BOTH = pytest.mark.parametrize("ties", ["efron", "breslow"])
OPTIONS = [
    {name for name, used in zip(("weight", "entry", "strata"), chosen, strict=True) if used}
    for chosen in itertools.product((False, True), repeat=3)
]


def simulated(seed: int = 0, members: int = 2, n: int = 40, *, ties: bool = True, used: set[str] = frozenset()) -> dict:
    """Arguments of `cox_losses` in float64."""
    rng = np.random.default_rng(seed)
    time = (
        rng.integers(1, 12, (members, n)) if ties else rng.permuted(np.arange(1, n + 1) * np.ones((members, 1)), axis=1)
    )
    found = {
        "log_risk": rng.normal(0, 1.5, (members, n)),
        "time": time.astype(float),
        "event": rng.random((members, n)) < 0.6,
    }
    if "weight" in used:
        found["weight"] = rng.choice([0.0, 0.4, 1.0, 2.0], (members, n))
    if "entry" in used:
        found["entry"] = np.where(rng.random((members, n)) < 0.6, np.floor(time * rng.random((members, n))), -np.inf)
    if "strata" in used:
        found["strata"] = rng.integers(0, 3, (members, n))
    return {name: torch.from_numpy(value) for name, value in found.items()}


def by_definition(member: int, ties: str, rows: dict) -> float:
    """The loss of one member from the textbook, event by event."""
    known = {name: value[member].tolist() for name, value in rows.items()}
    n = len(known["time"])
    weight, entry = known.get("weight", [1.0] * n), known.get("entry", [-math.inf] * n)
    strata = known.get("strata", [0] * n)
    total = weights = 0.0
    for stratum, t in sorted(set(zip(strata, known["time"], strict=True))):
        here = [i for i in range(n) if strata[i] == stratum and weight[i] > 0]
        tied = [i for i in here if known["time"][i] == t and known["event"][i]]
        risk = {i: weight[i] * math.exp(known["log_risk"][i]) for i in here}
        whole = sum(risk[i] for i in here if entry[i] < t <= known["time"][i])
        own = sum(risk[i] for i in tied)
        mean = sum(weight[i] for i in tied) / len(tied) if tied else 0.0
        for k, i in enumerate(tied):
            gone = k / len(tied) if ties == "efron" else 0.0
            total += mean * math.log(whole - gone * own) - weight[i] * known["log_risk"][i]
            weights += weight[i]
    return total / weights if weights else 0.0


@BOTH
@pytest.mark.parametrize("used", OPTIONS, ids=lambda used: "+".join(sorted(used)) or "plain")
def test_the_definition(ties: str, used: set[str]) -> None:
    rows = simulated(1, 4, used=used)
    found = cox_losses(**rows, ties=ties)
    np.testing.assert_allclose(found, [by_definition(k, ties, rows) for k in range(4)], rtol=1e-12)


@BOTH
@pytest.mark.parametrize("used", OPTIONS, ids=lambda used: "+".join(sorted(used)) or "plain")
def test_slopes_by_automatic_differentiation(ties: str, used: set[str]) -> None:
    rows = simulated(2, 2, 12, used=used)
    log_risk = rows.pop("log_risk").requires_grad_()
    assert torch.autograd.gradcheck(lambda risk: cox_losses(risk, **rows, ties=ties), log_risk)


@BOTH
@pytest.mark.parametrize(
    "used", [set(), {"weight"}, {"entry"}, {"weight", "entry"}], ids=lambda used: "+".join(sorted(used))
)
@pytest.mark.parametrize("tied", [False, True])
def test_the_closed_form_and_its_slopes(ties: str, used: set[str], tied: bool) -> None:
    rows = simulated(3, 3, 60, ties=tied, used=used)
    rows["time"] = rows["time"].int()
    if "entry" in used:
        rows["entry"] = rows["entry"].clamp_min(0.0).int()
    rows["log_risk"].requires_grad_()
    losses = cox_losses(**rows, ties=ties)
    (slopes,) = torch.autograd.grad(losses.sum(), rows["log_risk"])
    found = cox_losses_and_slopes(**{name: value.detach().numpy() for name, value in rows.items()}, ties=ties)
    np.testing.assert_allclose(found[0], losses.detach(), rtol=1e-12)
    np.testing.assert_allclose(found[1], slopes, rtol=1e-10, atol=1e-13)


@BOTH
@pytest.mark.parametrize("spread", [0.3, 2.0, 30.0])
def test_the_closed_form_with_entry_is_good_enough_for_float32(ties: str, spread: float) -> None:
    rng = np.random.default_rng(13)
    time = rng.exponential(1.0, 500)
    data = SurvivalData.right(time, rng.random(500) < 0.7, entry=time * rng.random(500))
    objective = cox_objective(data, ties=ties)
    raw = torch.from_numpy(spread * rng.normal(size=(2, 500, 1))).requires_grad_()
    fields = tuple(torch.stack([field, field]) for field in objective.fields)
    found = objective.losses(raw, fields, None)
    exact = cox_losses(raw[..., 0], fields[0], fields[1], entry=fields[2], ties=ties)
    slopes = [torch.autograd.grad(losses.sum(), raw)[0] for losses in (found, exact)]
    torch.testing.assert_close(found, exact, rtol=1e-8, atol=0)
    torch.testing.assert_close(*slopes, rtol=1e-6, atol=1e-9)


def test_without_ties_as_pycox() -> None:
    rows = simulated(4, 3, 80, ties=False)
    for k, found in enumerate(cox_losses(**rows)):
        oracle = cox_ph_loss(rows["log_risk"][k], rows["time"][k], rows["event"][k].double())
        # pycox adds 1e-7 to what it takes the logarithm of.
        assert float(found) == pytest.approx(float(oracle), rel=1e-6)


@pytest.mark.parametrize("strata", [False, True])
@pytest.mark.parametrize("entry", [False, True])
def test_efron_as_the_log_likelihood_of_lifelines(strata: bool, entry: bool) -> None:
    used = {"weight"} | ({"strata"} if strata else set()) | ({"entry"} if entry else set())
    rows = simulated(5, 1, 150, used=used)
    rows["weight"] = rows["weight"].clamp_min(0.2)
    covariate = rows["log_risk"][0].numpy()
    frame = pd.DataFrame({name: value[0].numpy() for name, value in rows.items()})
    frame["weight"] = frame["weight"].astype(float)
    options = {"strata": ["strata"]} if strata else {}
    if entry:
        frame["entry"] = frame["entry"].clip(lower=0.0)
        options["entry_col"] = "entry"
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        oracle = CoxPHFitter().fit(frame, "time", "event", weights_col="weight", **options)
    rows["log_risk"] = torch.from_numpy(covariate * oracle.params_["log_risk"])[None]
    events = float((rows["weight"] * rows["event"]).sum())
    assert float(cox_losses(**rows)) * events == pytest.approx(-oracle.log_likelihood_, rel=1e-9)


@BOTH
def test_the_order_of_rows_and_a_common_shift_change_nothing(ties: str) -> None:
    rows = simulated(6, 1, 60, used={"weight", "entry", "strata"})
    order = torch.from_numpy(np.random.default_rng(0).permutation(60))
    other = {name: value[:, order] for name, value in rows.items()}
    other["log_risk"] = other["log_risk"] - 3000.0
    torch.testing.assert_close(cox_losses(**rows, ties=ties), cox_losses(**other, ties=ties), rtol=1e-9, atol=1e-9)


@BOTH
@pytest.mark.parametrize("entry", [False, True])
def test_rows_without_weight_are_absent(ties: str, entry: bool) -> None:
    rows = simulated(7, 2, 50, used={"weight", "entry"} if entry else {"weight"})
    # Whatever padding holds, it must not show: neither in the loss nor as a slope.
    rows["log_risk"] = torch.where(rows["weight"] > 0, rows["log_risk"], 50.0).requires_grad_()
    losses = cox_losses(**rows, ties=ties)
    (slopes,) = torch.autograd.grad(losses.sum(), rows["log_risk"])
    assert bool((slopes[rows["weight"] == 0] == 0).all())
    for k in range(2):
        kept = rows["weight"][k] > 0
        alone = {name: value[k : k + 1, kept] for name, value in rows.items()}
        torch.testing.assert_close(cox_losses(**alone, ties=ties)[0], losses[k])


@BOTH
@pytest.mark.parametrize("entry", [False, True])
def test_no_events_no_loss_and_no_slope(ties: str, entry: bool) -> None:
    rows = simulated(8, 3, 20, used={"weight", "entry"} if entry else {"weight"})
    rows["event"][0] = False
    rows["weight"][1] = 0.0
    rows["log_risk"].requires_grad_()
    losses = cox_losses(**rows, ties=ties)
    (slopes,) = torch.autograd.grad(losses.sum(), rows["log_risk"])
    assert losses[:2].tolist() == [0.0, 0.0]
    assert bool((slopes[:2] == 0).all())
    assert bool(torch.isfinite(slopes).all())
    if not entry:
        plain = {name: value.detach().numpy() for name, value in rows.items()}
        by_hand = cox_losses_and_slopes(**plain, ties=ties)
        assert by_hand[0][:2].tolist() == [0.0, 0.0]
        assert not by_hand[1][:2].any()


def test_a_censored_row_touches_only_the_risk_sets_it_is_in() -> None:
    rows = simulated(9, 1, 30, ties=False)
    number = {name: value[0].numpy().copy() for name, value in rows.items()}
    row = int(np.flatnonzero(~number["event"])[5])
    rows["log_risk"].requires_grad_()
    (before,) = torch.autograd.grad(cox_losses(**rows).sum() * number["event"].sum(), rows["log_risk"])
    rows["event"][0, row] = True
    (after,) = torch.autograd.grad(cox_losses(**rows).sum() * (number["event"].sum() + 1), rows["log_risk"])
    change = (after - before)[0].numpy()
    # The new event's risk set is who is still there; its slopes are what each would have contributed.
    there = number["time"] >= number["time"][row]
    risk = np.where(there, np.exp(number["log_risk"]), 0.0)
    expected = risk / risk.sum() - (np.arange(30) == row)
    np.testing.assert_allclose(change, expected, atol=1e-13)


@BOTH
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("used", [set(), {"entry"}, {"weight", "strata"}], ids=["plain", "entry", "both"])
def test_huge_risks_are_no_danger(ties: str, dtype: torch.dtype, used: set[str]) -> None:
    rows = simulated(10, 2, 50, used=used)
    rows["log_risk"] = (1e4 * rows["log_risk"]).to(dtype).requires_grad_()
    losses = cox_losses(**rows, ties=ties)
    (slopes,) = torch.autograd.grad(losses.sum(), rows["log_risk"])
    assert bool(torch.isfinite(losses).all())
    assert bool(torch.isfinite(slopes).all())


def test_a_wide_range_of_risks_against_logarithms_by_hand() -> None:
    rows = simulated(11, 1, 40, ties=False)
    rows["log_risk"] = 1e3 * rows["log_risk"]
    risk, time, event = (rows[name][0].numpy() for name in ("log_risk", "time", "event"))
    expected = np.mean([np.logaddexp.reduce(risk[time >= time[i]]) - risk[i] for i in np.flatnonzero(event)])
    np.testing.assert_allclose(cox_losses(**rows), [expected], rtol=1e-12)
    objective = cox_objective(SurvivalData.right(time, event))
    raw = risk[None, :, None].astype(np.float32)
    losses, slopes = objective.losses_and_slopes(raw, [field.numpy()[None] for field in objective.fields], None)
    np.testing.assert_allclose(losses, [expected], rtol=1e-5)
    assert np.isfinite(slopes).all()


@BOTH
@pytest.mark.parametrize("entry", [False, True])
@pytest.mark.parametrize("strata", [False, True])
def test_the_objective_has_the_loss_of_its_data(ties: str, entry: bool, strata: bool) -> None:
    rng = np.random.default_rng(12)
    n = 200
    # Times that float32 cannot tell apart are no ties.
    time = 1e6 + rng.integers(0, 150, n) * 1e-3
    data = SurvivalData.right(time, rng.random(n) < 0.7, entry=time - rng.random(n) * 0.1 if entry else None)
    stratum = rng.integers(0, 4, n) if strata else None
    objective = cox_objective(data, ties=ties, strata=stratum)
    assert len(objective.fields) == (3 if entry or strata else 2)
    batch = np.stack([rng.permutation(n)[:60] for _ in range(3)])
    fields = tuple(field[torch.from_numpy(batch)] for field in objective.fields)
    raw = rng.normal(size=(3, 60, 1))
    weight = rng.choice([0.0, 1.0, 3.0], (3, 60))
    found = objective.losses(torch.from_numpy(raw), fields, torch.from_numpy(weight))
    for k, rows in enumerate(batch):
        columns = {"log_risk": raw[k, :, 0], "time": data.time[rows], "event": data.event[rows], "weight": weight[k]}
        if entry:
            columns["entry"] = data.entry[rows]
        if strata:
            columns["strata"] = stratum[rows]
        expected = by_definition(0, ties, {name: np.asarray(value)[None] for name, value in columns.items()})
        assert float(found[k]) == pytest.approx(expected, rel=1e-10)
    single = [array.astype(np.float32) for array in (raw, weight)]
    by_hand = objective.losses_and_slopes(single[0], [field.numpy() for field in fields], single[1])
    np.testing.assert_allclose(by_hand[0], found, rtol=1e-5)
    assert by_hand[1].shape == raw.shape
    assert by_hand[1].dtype == np.float32


def test_an_entry_before_all_times_is_none() -> None:
    data = SurvivalData.right([3, 4, 5], [1, 0, 1], entry=[-np.inf, 1, 2])
    assert len(cox_objective(data).fields) == 2


def test_other_censoring_has_no_partial_likelihood() -> None:
    with pytest.raises(CensoringError, match="1 of 2 rows"):
        cox_objective(SurvivalData.interval([1, 2], [1, 3]))
