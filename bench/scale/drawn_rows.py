"""Large drawn tables of any number of rows, block by block, with the distribution that they are drawn from.

Rows are drawn in chunks of fixed size, each with a generator of its own, so that a row depends on the seed and its
number only: not on the size of the blocks, nor on how many rows are drawn. What the seed also decides are the effects
of the columns: each seed is another table.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import expit, log_ndtr, logsumexp, ndtri

from aldsurv import SurvivalData

__all__ = ["LAWS", "REGION", "Block", "Truth", "block_of", "blocks", "whole"]

FloatArray = NDArray[np.float64]
Columns = dict[str, NDArray[np.float32] | NDArray[np.object_]]

# What the logarithm of time has around its location: a normal, a smallest extreme value (times are Weibull), or a
# mixture of two normals with a share that depends on the columns.
LAWS = ("log-normal", "weibull", "two-groups")
REGION = "region"
# Rows of a generator.
_CHUNK = 2**16
_PILOT_ROWS = 20_000
_CENSORED = 0.4
_REGIONS = tuple(f"region {letter}" for letter in "ABCDEFGHIJKL")
_FACTORS, _MOST_ACTIVE, _TERMS = 3, 12, 14
# Centres and spreads of the late and of the early times of two groups.
_CENTRES, _SPREADS = np.array([[2.0], [-1.0]]), np.array([[0.7], [1.0]])
# Numbers of the generators beside those of the chunks.
_EFFECTS, _PILOT, _ROWS = range(3)


class Block(NamedTuple):
    """Some rows in order.

    Attributes
    ----------
    first_row
        Number of the first row in the whole table.
    x, y
        Columns by name, float32 and text, and times.
    true_log_likelihood
        Of each row (n,), under the distribution that its time was drawn from.
    """

    first_row: int
    x: Columns
    y: SurvivalData
    true_log_likelihood: FloatArray


@dataclass(frozen=True)
class _Law:
    """How columns are drawn, and what they do: all that the seed decides once for a table."""

    name: str
    loadings: FloatArray
    kinds: NDArray[np.int64]
    terms: tuple[tuple[int, int, int, float], ...]
    regions: FloatArray
    shares: FloatArray
    end: float
    censoring: float


class Truth(NamedTuple):
    """What the logarithm of time is drawn from: location, scale and share of late times (n,) each."""

    law: str
    location: FloatArray
    scale: FloatArray
    share: FloatArray

    def log_likelihood(self, time: FloatArray, event: NDArray[np.bool_]) -> FloatArray:
        """Of each row, whose time is that of an event or of the end of observation."""
        z = (np.log(time) - self.location) / self.scale
        if self.law == "weibull":
            density, survival = z - np.exp(z), -np.exp(z)
        elif self.law == "log-normal":
            density, survival = _log_normal_density(z), log_ndtr(-z)
        else:
            shares = np.stack([self.share, 1 - self.share])
            u, spread = (z - _CENTRES) / _SPREADS, np.log(_SPREADS)
            density = logsumexp(_log_normal_density(u) - spread, axis=0, b=shares)
            survival = logsumexp(log_ndtr(-u), axis=0, b=shares)
        return np.where(event, density - np.log(self.scale) - np.log(time), survival)

    def drawn_times(self, generator: np.random.Generator) -> FloatArray:
        """A time of each row."""
        uniform, other = generator.random((2, len(self.location)))
        if self.law == "weibull":
            noise = np.log(-np.log1p(-uniform))
        elif self.law == "log-normal":
            noise = ndtri(uniform)
        else:
            group = (other >= self.share).astype(np.intp)
            noise = _CENTRES[group, 0] + _SPREADS[group, 0] * ndtri(uniform)
        return np.exp(self.location + self.scale * noise)


def blocks(
    rows: int, columns: int, seed: int, block: int = 2**18, *, law: str = "log-normal", text: bool = False
) -> Iterator[Block]:
    """A table in blocks; the rows do not depend on the size of the blocks.

    Parameters
    ----------
    rows, columns
        Size of the table; with `text` one of the columns is `REGION`, of twelve levels.
    seed
        Which table.
    block
        Rows of a block; the last may have fewer.
    law
        One of `LAWS`.
    """
    for start in range(0, rows, block):
        yield block_of(start, min(start + block, rows), columns, seed, law=law, text=text)


def whole(rows: int, columns: int, seed: int, *, law: str = "log-normal", text: bool = False) -> Block:
    """The first rows of a table in one block."""
    return block_of(0, rows, columns, seed, law=law, text=text)


def block_of(start: int, stop: int, columns: int, seed: int, *, law: str = "log-normal", text: bool = False) -> Block:
    """The rows from `start` up to `stop` of a table."""
    if law not in LAWS or columns < 2 or not 0 <= start < stop:
        raise ValueError(f"a drawn table has a law of {LAWS}, two columns or more, and rows from start up to stop.")
    parts = [
        _chunk(number, columns, seed, law, text, max(start - number * _CHUNK, 0), min(stop - number * _CHUNK, _CHUNK))
        for number in range(start // _CHUNK, (stop - 1) // _CHUNK + 1)
    ]
    x = {name: np.concatenate([part[0][name] for part in parts]) for name in parts[0][0]}
    time, event, truth = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    return Block(start, x, SurvivalData.right(time, event), truth)


def _chunk(
    number: int, columns: int, seed: int, name: str, text: bool, start: int, stop: int
) -> tuple[Columns, FloatArray, NDArray[np.bool_], FloatArray]:
    law = _law(columns, seed, name, text)
    generator = np.random.default_rng([seed, _ROWS, number])
    x, truth = _drawn(law, text, generator, _CHUNK)
    event_time = truth.drawn_times(generator)
    lost = np.minimum(law.censoring * generator.exponential(size=_CHUNK), law.end)
    time, event = np.minimum(event_time, lost), event_time <= lost
    part = slice(start, stop)
    known = Truth(name, *(values[part] for values in truth[1:])).log_likelihood(time[part], event[part])
    return {key: values[part] for key, values in x.items()}, time[part], event[part], known


@lru_cache(maxsize=8)
def _law(columns: int, seed: int, name: str, text: bool) -> _Law:
    """The effects, and a censoring that leaves the wanted share of events, by rows drawn for that alone."""
    generator = np.random.default_rng([seed, _EFFECTS, LAWS.index(name)])
    numbers = columns - text
    loadings = generator.normal(size=(_FACTORS, numbers)) * (generator.random((_FACTORS, numbers)) < 0.5)
    # Of ten columns one is yes or no, two are counts or skewed, the others are bell-shaped.
    kinds = np.array([(0, 1, 0, 2, 0, 0, 3, 0, 0, 0)[k % 10] for k in range(numbers)])
    active = generator.permutation(numbers)[: min(numbers, _MOST_ACTIVE)]
    terms = tuple(
        (k % 6, int(generator.choice(active)), int(generator.choice(active)), float(generator.normal()))
        for k in range(_TERMS)
    )
    regions = generator.normal(size=len(_REGIONS)) * 0.3
    shares = np.arange(len(_REGIONS), 0, -1) ** 2.0
    law = _Law(name, loadings, kinds, terms, regions, shares / shares.sum(), np.inf, np.inf)
    pilot = np.random.default_rng([seed, _PILOT, LAWS.index(name)])
    time = _drawn(law, text, pilot, _PILOT_ROWS)[1].drawn_times(pilot)
    end = float(np.quantile(time, 0.9))
    late = time > end

    def too_many(log_scale: float) -> float:
        """Censored share less the wanted one, if times of loss have this mean on the logarithmic scale."""
        return float(np.where(late, 1.0, -np.expm1(-time / np.exp(log_scale))).mean()) - _CENSORED

    middle = float(np.log(np.median(time)))
    return _Law(
        name, loadings, kinds, terms, regions, law.shares, end, float(np.exp(brentq(too_many, middle - 5, middle + 15)))
    )


def _drawn(law: _Law, text: bool, generator: np.random.Generator, rows: int) -> tuple[Columns, Truth]:
    """Columns, and what the times of events are drawn from."""
    factors = generator.normal(size=(rows, _FACTORS))
    bell = generator.normal(size=(rows, len(law.kinds))) + factors @ law.loadings
    bell /= np.sqrt(1 + (law.loadings**2).sum(axis=0))
    z = np.empty_like(bell)
    x: Columns = {}
    for k, kind in enumerate(law.kinds):
        own = bell[:, k]
        column = (own, (own > 0.3) * 1.0, np.exp(own), np.floor(np.exp(1 + 0.5 * own)))[kind]
        x[f"x{k + 1}"] = column.astype(np.float32)
        z[:, k] = _evened(int(kind), x[f"x{k + 1}"].astype(np.float64))
    region = generator.choice(len(_REGIONS), size=rows, p=law.shares)
    if text:
        x[REGION] = np.array(_REGIONS, object)[region]
    location = 3 + _effect(law, z) + (law.regions[region] if text else 0.0)
    scale = 0.5 * np.exp(0.3 * np.tanh(z[:, -1]) + 0.2 * np.sin(z[:, 0]))
    share = expit(1.5 * z[:, 1 % z.shape[1]] - 0.5)
    return x, Truth(law.name, location, scale, share)


def _evened(kind: int, stored: FloatArray) -> FloatArray:
    """A column as it is stored, on the scale on which it has effects."""
    if kind == 0:
        return stored
    if kind == 1:
        return 2 * stored - 0.8
    return np.log(stored) if kind == 2 else np.log1p(stored) - 1.3


def _effect(law: _Law, z: FloatArray) -> FloatArray:
    """Bent, stepped and joint effects; their sum has a standard deviation of about 0.7."""
    total = np.zeros(len(z))
    for kind, i, j, size in law.terms:
        a, b = z[:, i], z[:, j]
        total += size * (a, np.sin(2 * a), np.abs(a) - 0.8, np.tanh(a * b), (a > 0.5) * 1.0, (a > 0) * b)[kind]
    return 0.7 * total / np.sqrt(sum(size**2 for *_, size in law.terms))


def _log_normal_density(z: FloatArray) -> FloatArray:
    return -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
