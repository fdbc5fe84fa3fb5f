"""The metrics by cause in plain loops, straight from their definitions: what the tests compare with."""

from __future__ import annotations

import numpy as np

from aldsurv.data.survival_data import SurvivalData
from aldsurv.distributions import CauseMixture, CompetingDistribution, Weibull


def drawn(
    seed: int, n: int, *, coarse: bool = False, weighted: bool = False
) -> tuple[CompetingDistribution, SurvivalData]:
    """The true distribution of two causes, and rows drawn from it, censored and on request with ties and weights."""
    rng = np.random.default_rng(seed)
    x, z = rng.integers(-2, 3, n) / 2, rng.normal(size=n)
    share = 1 / (1 + np.exp(-x - 0.2))
    times = [Weibull(6 * np.exp(-0.4 * x), 1.3), Weibull(7 * np.exp(0.4 * z), 0.9)]
    truth = CauseMixture(times, np.stack([share, 1 - share], axis=1), ["relapse", "death"])
    return truth, observed(truth, rng, coarse=coarse, weighted=weighted)


def observed(
    truth: CompetingDistribution, rng: np.random.Generator, *, coarse: bool = False, weighted: bool = False
) -> SurvivalData:
    n = len(truth)
    event, cause = truth.sample(random_state=rng)
    lost = rng.uniform(0, 18, n)
    time = np.minimum(event, lost)
    weight = rng.integers(0, 4, n).astype(float) if weighted else None
    cause = np.where(event <= lost, cause, 0)
    return SurvivalData.competing(np.ceil(time) if coarse else time, cause, names=list(truth.causes), weight=weight)


def uncensored(train: SurvivalData, t: float, *, before: bool) -> float:
    """Kaplan-Meier of the censoring time; at a tie events come first."""
    found = 1.0
    for s in np.unique(train.time[~train.event]):
        if s < t or (s == t and not before):
            at_risk = train.weights[(train.time > s) | ((train.time == s) & ~train.event)].sum()
            gone = train.weights[(train.time == s) & ~train.event].sum()
            found *= 1 - gone / at_risk if at_risk else 1.0
    return found


def brier(
    data: SurvivalData, cause: int, risk: np.ndarray, t: float, train: SurvivalData, *, before: bool = True
) -> float:
    total = 0.0
    for y, k, p, w in zip(data.time, data.cause, risk, data.weights, strict=True):
        if y > t:
            total += w * p**2 / uncensored(train, t, before=False)
        elif k > 0:
            total += w * (float(k == cause) - p) ** 2 / uncensored(train, y, before=before)
    return total / data.weights.sum()


def auc(
    data: SurvivalData, cause: int, risk: np.ndarray, t: float, train: SurvivalData, *, before: bool = True
) -> float:
    cases, controls = [], []
    for y, k, p, w in zip(data.time, data.cause, risk, data.weights, strict=True):
        if y > t:
            controls.append((p, w / uncensored(train, t, before=False)))
        elif k > 0:
            (cases if k == cause else controls).append((p, w / uncensored(train, y, before=before)))
    pairs = [(p, q, v * w) for p, v in cases for q, w in controls]
    return sum(w * ((p > q) + (p == q) / 2) for p, q, w in pairs) / sum(w for _, _, w in pairs)


def concordance(
    data: SurvivalData, cause: int, later: np.ndarray, train: SurvivalData | None = None, tau: float = np.inf
) -> float:
    """Wolbers' C of values that are larger for a later event; with training rows weighted for the censoring."""
    concordant = comparable = 0.0
    g = [1.0 if train is None else uncensored(train, t, before=False) for t in data.time]
    for i in range(len(data)):
        if data.cause[i] != cause or data.time[i] >= tau:
            continue
        for j in range(len(data)):
            t, s, k = data.time[i], data.time[j], data.cause[j]
            outlives = s > t or (s == t and k == 0)
            never = k not in (0, cause)
            if not (outlives or never):
                continue
            pair = data.weights[i] * data.weights[j]
            if pair and train is not None:
                pair /= g[i] * g[i if t < s else j]
            comparable += pair
            concordant += pair * ((later[j] > later[i]) + (later[j] == later[i]) / 2)
    return concordant / comparable


def antolini(data: SurvivalData, cause: int, predicted: CompetingDistribution) -> float:
    concordant = comparable = 0.0
    for i in np.flatnonzero(data.cause == cause):
        t = data.time[i]
        risk = predicted.incidence(float(t), cause)
        for j in range(len(data)):
            s, k = data.time[j], data.cause[j]
            if s > t or (s == t and k == 0) or k not in (0, cause):
                pair = data.weights[i] * data.weights[j]
                comparable += pair
                concordant += pair * ((risk[j] < risk[i]) + (risk[j] == risk[i]) / 2)
    return concordant / comparable


def counts(data: SurvivalData, cause: int, predicted: CompetingDistribution, bins: int) -> np.ndarray:
    """Mass of the levels of events of a cause among its times, in bins."""
    found, edges = np.zeros(bins), np.linspace(0, 1, bins + 1)
    for i in range(len(data)):
        ever, until = predicted[i].cause_probability(cause)[0], predicted[i].incidence(float(data.time[i]), cause)[0]
        level = until / ever
        if data.cause[i] == cause:
            found[min(int(np.ceil(level * bins)) - 1, bins - 1)] += data.weights[i]
        elif data.cause[i] == 0:
            yet = (ever - until) / predicted[i].survival(float(data.time[i]))[0]
            inside = np.diff(np.clip(edges, level, 1)) / (1 - level)
            found += data.weights[i] * yet * inside
    return found
