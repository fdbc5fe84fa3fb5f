"""With which columns a row is predicted to find the share of each, and how the shares follow from the predictions."""

from __future__ import annotations

from math import factorial
from typing import final

import numpy as np
from numpy.typing import NDArray

from aldsurv.inspection.background_rows import error_of_mean

__all__ = ["AllSubsets", "RandomOrders"]

FloatArray = NDArray[np.float64]


@final
class AllSubsets:
    """Shapley values by their definition.

    Parameters
    ----------
    rows, count
        How many background rows and columns there are.

    Attributes
    ----------
    present
        Columns (k, d) that are from the row, in each mixed row to predict.
    places
        The background row (k,) that the others are from.
    """

    def __init__(self, rows: int, count: int) -> None:
        numbers = np.arange(2**count)
        subsets = ((numbers[:, None] >> np.arange(count)) & 1).astype(bool)
        size = subsets.sum(axis=1)
        weight = np.array([factorial(k) * factorial(count - k - 1) / factorial(count) for k in range(count)])
        # Each subset counts for the columns in it with the weight of the subset without them, else with a minus.
        joining = weight[np.maximum(size - 1, 0)][:, None]
        leaving = weight[np.minimum(size, count - 1)][:, None]
        self._weights = np.where(subsets, joining, -leaving).T
        # No column and all columns are no mixed rows.
        self.present = np.repeat(subsets[1:-1], rows, axis=0)
        self.places = np.tile(np.arange(rows), len(subsets) - 2)

    def values(
        self, mixed: FloatArray, of_background: FloatArray, predicted: FloatArray, share: float
    ) -> tuple[FloatArray, FloatArray]:
        """Values and errors (d, m) of a row.

        Parameters
        ----------
        mixed
            Predictions (k, m) of the mixed rows.
        of_background, predicted
            Predictions (rows, m) of the background and (m,) of the row.
        share
            Of the background that its rows are; below 1 their choice has an error.
        """
        worth = np.empty((self._weights.shape[1], *of_background.shape))
        worth[0], worth[-1] = of_background, predicted
        if len(mixed):
            worth[1:-1] = mixed.reshape(-1, *of_background.shape)
        each = np.tensordot(self._weights, worth, axes=1).swapaxes(0, 1)
        return each.mean(axis=0), np.zeros(each.shape[1:]) if share == 1 else error_of_mean(each, share)


@final
class RandomOrders:
    """Values over random orders of the columns.

    Each background row has the same number of orders, so that values add up exactly; and each order comes with its
    reverse: what one gets too much of, the other gets too little.

    Parameters
    ----------
    generator
        Draws the orders.
    rows, count
        How many background rows and columns there are.
    repeats
        Orders per background row.

    Attributes
    ----------
    present, places
        As of `AllSubsets`.
    """

    def __init__(self, generator: np.random.Generator, rows: int, count: int, repeats: int) -> None:
        forward = np.argsort(generator.random((rows, repeats, count)), axis=2)
        self._shape = rows, repeats, 2, count
        # The place of each column in each order.
        self._rank = np.stack([forward, count - 1 - forward], axis=2).reshape(-1, count)
        self._start = np.repeat(np.arange(rows), 2 * repeats)
        # After each step but the last there is a mixed row; before the first the background row, after the last X's.
        steps = self._rank[:, None, :] <= np.arange(count - 1)[None, :, None]
        self.present = steps.reshape(-1, count)
        self.places = np.repeat(self._start, count - 1)

    def values(
        self, mixed: FloatArray, of_background: FloatArray, predicted: FloatArray, share: float
    ) -> tuple[FloatArray, FloatArray]:
        """Values and errors (d, m) of a row, as of `AllSubsets`."""
        rows, repeats, _, count = self._shape
        steps = np.empty((len(self._rank), count + 1, predicted.size))
        steps[:, 0], steps[:, -1] = of_background[self._start], predicted
        if len(mixed):
            steps[:, 1:-1] = mixed.reshape(len(self._rank), count - 1, -1)
        gains = np.take_along_axis(np.diff(steps, axis=1), self._rank[:, :, None], axis=1)
        pairs = gains.reshape(rows, repeats, 2, count, -1).mean(axis=2)
        each = pairs.mean(axis=1)
        if share < 1:
            # Orders differ from row to row: differences of rows have the error of both.
            return each.mean(axis=0), error_of_mean(each, share)
        # Between the repeats of one background row only the orders differ.
        spread = pairs.var(axis=1, ddof=1).mean(axis=0)
        return each.mean(axis=0), np.sqrt(spread / (rows * repeats))
