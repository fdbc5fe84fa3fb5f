"""Datasets by name."""

from __future__ import annotations

from typing import Any, cast

from aldsurv.checks import Choice, check
from aldsurv.datasets.catalogue import DATASETS
from aldsurv.datasets.dataset import Dataset
from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.synthetic import RELEASED
from aldsurv.errors import ParameterError

__all__ = ["describe", "load", "load_split", "names"]

_DEFINITION = Choice(("printed", "released"))


def names(*, paper: bool = False) -> list[str]:
    """Names of all datasets, those of the paper first, in the order of its table.

    Parameters
    ----------
    paper
        Only those of the paper.

    Examples
    --------
    >>> len(names(paper=True)), names()[-1]
    (21, 'rotterdam')
    """
    return [info.name for info in DATASETS.records() if info.censored_in_paper is not None or not paper]


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
    >>> describe("weibull", definition="released").purpose
    'event time Weibull(4x sin(2x - 2) + 10, 5), censoring time Weibull(20 - 3x, 5)'
    """
    check("definition", definition, _DEFINITION)
    info = DATASETS[name]
    return RELEASED.get(name, info) if definition == "released" else info


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
    options: dict[str, Any] = {}
    if info.kind == "synthetic":
        options = {"seed": seed, "n_train": n_train, "n_test": n_test}
    elif n_train is not None or n_test is not None:
        raise ParameterError(
            f"n_train and n_test are for synthetic datasets, but {name} is real.",
            argument="n_test" if n_train is None else "n_train",
            advice="Choose rows with [].",
        )
    return cast(Dataset, info.load()(info, **options))


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
