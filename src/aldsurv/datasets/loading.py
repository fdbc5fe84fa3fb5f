"""Datasets by name."""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches
from typing import Literal, cast

from aldsurv.datasets.catalogue import CATALOGUE, RELEASED
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.errors import ParameterError, UnknownNameError
from aldsurv.quoting import quoted

__all__ = ["describe", "load", "load_split", "names"]


def names() -> list[str]:
    """Names of all datasets, in the order of the paper's table.

    Examples
    --------
    >>> len(names())
    21
    """
    return list(CATALOGUE)


def describe(name: str, *, definition: str = "printed") -> DatasetInfo:
    """Size, unit of time, source, licence and citation of a dataset, without loading it.

    Parameters
    ----------
    name
        One of `names`.
    definition
        Of a synthetic dataset: the distributions ``"printed"`` in the paper, or those of the code ``"released"``
        with it, which made the paper's numbers. Real datasets have one definition.

    Examples
    --------
    >>> describe("weibull", definition="released").title
    'event time Weibull(4x sin(2x - 2) + 10, 5), censoring time Weibull(20 - 3x, 5)'
    """
    if definition not in ("printed", "released"):
        raise ParameterError(f"definition must be 'printed' or 'released', but is {quoted(definition)}.")
    if not isinstance(name, str) or name not in CATALOGUE:
        near = get_close_matches(str(name), CATALOGUE, n=3)
        hint = f"Did you mean {' or '.join(map(quoted, near))}?" if near else f"Known: {', '.join(CATALOGUE)}."
        raise UnknownNameError(f"unknown dataset {quoted(name)}. {hint}")
    info = CATALOGUE[name]
    if info.kind == "synthetic" and definition == "released":
        info = RELEASED.get(name, info)
        info = replace(info, definition=cast(Literal["released"], definition))
    return info


def load(
    name: str,
    *,
    seed: int = 0,
    definition: str = "printed",
    n_train: int | None = None,
    n_test: int | None = None,
) -> Dataset:
    """A dataset: drawn if it is synthetic, read if it is real.

    Parameters
    ----------
    name
        One of `names`.
    seed
        Of the draws of a synthetic dataset; real data are what they are.
    definition
        As in `describe`.
    n_train, n_test
        Rows of a synthetic dataset, for the two parts that ``split`` makes; None for those of the paper.

    Examples
    --------
    >>> data = load("norm_linear", seed=3)
    >>> data.x.shape, data.truth
    ((1500, 1), Normal(n=1500, mu=10…14, sigma=1…2.999))
    """
    info = describe(name, definition=definition)
    if info.kind == "synthetic":
        from aldsurv.datasets.synthetic import draw

        return draw(info, seed=seed, n_train=n_train, n_test=n_test)
    if n_train is not None or n_test is not None:
        raise ParameterError(f"n_train and n_test are for synthetic datasets, but {name} is real. Choose rows with [].")
    from aldsurv.datasets.clinical import read_clinical

    return read_clinical(info)


def load_split(name: str, *, seed: int = 0, definition: str = "printed", by: str = "row") -> tuple[Dataset, Dataset]:
    """Training and test part of one run of the paper: seeds 0 to 9 are its ten runs.

    Each run of a synthetic dataset has new rows, each run of a real one a new split of the same rows.

    Parameters
    ----------
    name, definition
        As in `load`.
    seed
        Number of the run.
    by
        As in `Dataset.split`.
    """
    return load(name, seed=seed, definition=definition).split(seed, by=by)
