"""Whether groups differ: the log-rank test of survival and Gray's test of the incidence of a cause."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from aldsurv.checks import Number, check
from aldsurv.data.event_columns import cause_number
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import CensoringError, DataError, ParameterError

__all__ = ["GroupTest", "gray_test", "log_rank_test"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


class GroupTest(NamedTuple):
    """A chi-square statistic, its p-value and its degrees of freedom: the number of groups less one."""

    statistic: float
    p_value: float
    degrees_of_freedom: int


@overload
def gray_test(
    data: SurvivalData, groups: ArrayLike, *, cause: None = ..., rho: float = ..., strata: ArrayLike | None = ...
) -> dict[str, GroupTest]: ...
@overload
def gray_test(
    data: SurvivalData, groups: ArrayLike, *, cause: int | str, rho: float = ..., strata: ArrayLike | None = ...
) -> GroupTest: ...
def gray_test(
    data: SurvivalData,
    groups: ArrayLike,
    *,
    cause: int | str | None = None,
    rho: float = 0.0,
    strata: ArrayLike | None = None,
) -> GroupTest | dict[str, GroupTest]:
    """Gray's test (1988) that the incidence of a cause is the same in all groups.

    It compares the rates among those who have not had the event of the cause, those with another event included: a
    difference of incidences, which a log-rank test of the cause with other events as censorings is not.

    Parameters
    ----------
    data
        Exact and right-censored rows with causes, without delayed entry. A weight counts as that many rows.
    groups
        Label of each row (n,), of two groups or more.
    cause
        Number or name of the cause; None: a test for each cause, by name.
    rho
        Power of ``1 - F`` by which a time counts, F the common incidence: 0 all alike, above 0 early times more.
    strata
        Stratum of each row (n,): groups are compared within strata.

    Examples
    --------
    >>> data = SurvivalData.competing([1, 2, 3, 4, 6, 9, 2, 5, 7, 8, 9, 10], [1, 1, 2, 1, 0, 1, 2, 2, 1, 0, 2, 0])
    >>> gray_test(data, ["a"] * 6 + ["b"] * 6, cause=1)
    GroupTest(statistic=3.790, p_value=0.0516, degrees_of_freedom=1)
    """
    check("rho", rho, Number())
    rows = SurvivalData.of(data)
    if rows.cause is None or rows.causes is None:
        raise ParameterError(
            "gray_test compares incidences of causes, but data have events of one kind only",
            argument="data",
            advice="Make data with causes by SurvivalData.competing, or use log_rank_test.",
        )
    if rows.entry is not None and (rows.entry > 0).any():
        late = rows.entry > 0
        raise CensoringError(
            f"gray_test is not defined for delayed entry, but {late.sum()} of {len(rows)} rows enter after 0",
            argument="data",
            row=int(np.argmax(late)),
        )
    numbers = range(1, len(rows.causes) + 1) if cause is None else [cause_number(cause, rows.causes)]
    parts = _parts(rows, groups, strata)
    results = {}
    for k in numbers:
        scores = [_gray_score(_counts(part, group, size, k), rho) for part, group, size in parts]
        results[rows.causes[k - 1]] = _test(scores, f"event of cause {rows.causes[k - 1]!r}")
    return results if cause is None else results[rows.causes[numbers[0] - 1]]


def log_rank_test(
    data: SurvivalData, groups: ArrayLike, *, rho: float = 0.0, strata: ArrayLike | None = None
) -> GroupTest:
    """The log-rank test that survival is the same in all groups.

    With causes it is that of the first event of any cause; ``log_rank_test(data.of_cause(k), groups)`` compares the
    hazards of a cause.

    Parameters
    ----------
    data
        Exact and right-censored rows; delayed entry counts, and a weight as that many rows.
    groups, strata
        As in `gray_test`.
    rho
        Power of the common survival by which a time counts (Harrington & Fleming 1982): 0 the log-rank test,
        1 that of Peto & Peto.

    Examples
    --------
    >>> data = SurvivalData.right([6, 7, 10, 15, 19, 25], [1, 0, 1, 1, 0, 1])
    >>> log_rank_test(data, ["a", "b", "a", "a", "b", "b"])
    GroupTest(statistic=3.846, p_value=0.0499, degrees_of_freedom=1)
    """
    check("rho", rho, Number())
    parts = _parts(SurvivalData.of(data), groups, strata)
    return _test([_log_rank_score(_counts(part, group, size, None), rho) for part, group, size in parts], "event")


class _Counts(NamedTuple):
    """Numbers at each time with an event, by group: (groups, m) each."""

    at_risk: FloatArray
    events: FloatArray
    others: FloatArray


def _parts(rows: SurvivalData, groups: ArrayLike, strata: ArrayLike | None) -> list[tuple[SurvivalData, IntArray, int]]:
    """The rows of each stratum with the numbers of their groups, and how many groups there are."""
    _ = rows.time  # raises for rows that are neither exact nor right-censored
    counted = rows.weights > 0
    rows = rows[counted]
    group, names = _codes(groups, "groups", counted)
    if names.size < 2:
        raise DataError(
            f"groups must be two or more to be compared, but the rows have {names.size}.", argument="groups"
        )
    stratum = np.zeros(len(rows), np.intp) if strata is None else _codes(strata, "strata", counted)[0]
    return [(rows[stratum == s], group[stratum == s], names.size) for s in range(int(stratum.max()) + 1)]


def _codes(labels: ArrayLike, name: str, counted: NDArray[np.bool_]) -> tuple[IntArray, NDArray[Any]]:
    column = np.asarray(labels)
    if column.shape != counted.shape:
        raise ParameterError(
            f"{name} must have one label for each of {counted.size} rows, but has shape {column.shape}.", argument=name
        )
    try:
        levels, codes = np.unique(column[counted], return_inverse=True)
        missing = bool((levels != levels).any())
    except TypeError:
        missing = True
    if missing:
        raise ParameterError(
            f"{name} must be all numbers or all text, and none missing.",
            argument=name,
            advice="Give rows without a label a level of their own.",
        )
    return codes, levels


def _counts(rows: SurvivalData, group: IntArray, size: int, cause: int | None) -> _Counts:
    of_interest = rows.exact if cause is None or rows.cause is None else np.equal(rows.cause, cause)
    times = np.unique(rows.time[rows.exact])

    def table(chosen: NDArray[np.bool_], column: FloatArray, side: Literal["left", "right"]) -> FloatArray:
        """Weight of the chosen rows of each group whose number in `column` lies before, or at, each time."""
        found = np.zeros((size, times.size))
        for g in range(size):
            members = chosen & (group == g)
            order = np.argsort(column[members])
            running = np.concatenate([[0.0], np.cumsum(rows.weights[members][order])])
            found[g] = running[np.searchsorted(column[members][order], times, side=side)]
        return found

    everyone = np.ones(len(rows), np.bool_)
    left = table(everyone, rows.time, "left")
    entry = np.full(len(rows), -np.inf) if rows.entry is None else rows.entry
    at_risk = table(everyone, entry, "left") - left
    events, others = (
        np.diff(table(chosen, rows.time, "right"), axis=1, prepend=0.0)
        for chosen in (of_interest, rows.exact & ~of_interest)
    )
    return _Counts(at_risk, events, others)


def _gray_score(counts: _Counts, rho: float) -> tuple[FloatArray, FloatArray]:
    """Score (groups,) and its covariance, of Gray (1988), in the notation of his paper.

    The score of group i is a sum over the groups k of errors of their incidence, ``∫ (a_ik + c_ik(∞) - c_ik) dX_k``;
    X_k in turn is made of the independent errors of the two counts of events, whose variances add up.
    """
    at_risk, events, others = counts
    present = at_risk > 0
    size = np.where(present, at_risk, 1.0)
    factor = np.where(present, 1 - (events + others) / size, 1.0)
    survival = np.asarray(np.cumprod(factor, axis=1), dtype=np.float64)
    before = np.concatenate([np.ones((len(survival), 1)), survival[:, :-1]], axis=1)
    incidence = np.cumsum(np.where(present, before * events / size, 0.0), axis=1)
    free_before = 1 - np.concatenate([np.zeros((len(survival), 1)), incidence[:, :-1]], axis=1)
    # Those at risk if there were no censoring: of them none has left without the event.
    h = _quotient(at_risk, before)
    total, rise = h.sum(axis=0), events.sum(axis=0)
    common = np.cumsum(_quotient(rise, total))
    common_before = np.concatenate([[0.0], common[:-1]])
    importance = np.maximum(1 - common_before, 0.0) ** rho if rho else np.ones_like(common)
    importance = np.where(rise > 0, importance, 0.0)
    r = h * free_before
    score = (importance * (events - r * _quotient(rise, r.sum(axis=0)))).sum(axis=1)
    a = importance * h[:, None, :] * (np.eye(len(h))[:, :, None] - _quotient(h, total))
    c: FloatArray = np.cumsum(a * _quotient(rise, total * (1 - common_before)), axis=2)
    later = c[:, :, -1:] - c
    left = _quotient(1 - common, survival)
    # Ties: an event leaves fewer for the next at the same time.
    tied = 1 - _quotient(np.maximum(rise - 1, 0.0), total * before - 1)
    variance = np.where(present, tied * _quotient(before * rise, total * size), 0.0)
    own = a + later * np.where(survival > 0, 1 - left, 1.0)
    covariance = np.einsum("ikt,jkt,kt->ij", own, own, variance)
    tied = 1 - _quotient(np.maximum(others - 1, 0.0), at_risk - 1)
    variance = np.where(survival > 0, tied * before**2 * others / size**2, 0.0)
    other = later * left
    return score, covariance + np.einsum("ikt,jkt,kt->ij", other, other, variance)


def _log_rank_score(counts: _Counts, rho: float) -> tuple[FloatArray, FloatArray]:
    """Events less those expected (groups,), and the hypergeometric covariance."""
    at_risk, events, _ = counts
    total, rise = at_risk.sum(axis=0), events.sum(axis=0)
    survival = np.cumprod(1 - _quotient(rise, total))
    importance = np.concatenate([[1.0], survival[:-1]]) ** rho if rho else np.ones_like(survival)
    share = _quotient(at_risk, total)
    score = (importance * (events - share * rise)).sum(axis=1)
    spread = importance**2 * rise * _quotient(total - rise, total - 1)
    covariance = np.diag((share * spread).sum(axis=1)) - np.einsum("it,jt,t->ij", share, share, spread)
    return score, covariance


def _test(scores: list[tuple[FloatArray, FloatArray]], kind: str) -> GroupTest:
    from scipy.special import chdtrc

    score, covariance = (np.sum(part, axis=0) for part in zip(*scores, strict=True))
    if not np.diag(covariance).any():
        raise DataError(f"the rows have no {kind} while two groups are at risk, and so no test.", argument="data")
    # The scores of all groups add up to 0: one of them says nothing new.
    freedom = len(score) - 1
    statistic = float(score[:-1] @ np.linalg.pinv(covariance[:-1, :-1], hermitian=True) @ score[:-1])
    return GroupTest(statistic, float(chdtrc(freedom, statistic)), freedom)


def _quotient(value: FloatArray, by: FloatArray) -> FloatArray:
    """The quotient, 0 where the divisor is not positive."""
    value, by = np.broadcast_arrays(value, by)
    return np.divide(value, by, out=np.zeros(value.shape), where=by > 0)
