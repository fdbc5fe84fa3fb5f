"""Boosted trees as plain arrays, and the walk through them on numpy alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from aldsurv.models.file_entries import Arrays, require

__all__ = ["Trees"]

_KINDS = {
    "feature": np.int32,
    "threshold": np.float32,
    "left": np.int32,
    "right": np.int32,
    "default_left": np.bool_,
    "value": np.float32,
    "first": np.int64,
    "output": np.int32,
}
_OF_NODES = ("feature", "threshold", "left", "right", "default_left", "value")
# Rows times trees that are walked through at once: what a level of it needs stays in the processor's cache.
_AT_ONCE = 1 << 16
# A deeper tree of an untrusted file would only cost time.
_MOST_LEVELS = 64


@final
@dataclass(frozen=True, eq=False)
class Trees:
    """Binary trees, one after the other; the nodes of each are numbered from 0, a child after its parent.

    Attributes
    ----------
    feature
        At each node the column that is looked at; -1 at a leaf.
    threshold
        Below it a row goes left, from it on right; compared as float32.
    left, right
        Numbers of the children within the tree; -1 at a leaf.
    default_left
        Whether a row without that value goes left.
    value
        What a leaf adds; 0 elsewhere.
    first
        Where each tree begins among the nodes, and the number of all nodes (trees + 1,).
    output
        To which sum each tree adds (trees,).
    """

    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    default_left: NDArray[np.bool_]
    value: NDArray[np.float32]
    first: NDArray[np.int64]
    output: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.output)

    @staticmethod
    def none() -> Trees:
        """No trees."""
        empty: dict[str, Any] = {name: np.zeros(0, kind) for name, kind in _KINDS.items()}
        return Trees(**{**empty, "first": np.zeros(1, np.int64)})

    def with_outputs(self, places: NDArray[np.int64]) -> Trees:
        """The same trees, those that add to sum k adding to sum ``places[k]``."""
        return replace(self, output=places[self.output].astype(np.int32))

    def of_outputs(self, chosen: NDArray[np.int64]) -> Trees:
        """The trees that add to sums ``chosen[0]``, ``chosen[1]`` and so on, which are 0, 1 and so on from here on."""
        place = np.full(max(int(self.output.max(initial=-1)), int(chosen.max())) + 1, -1, np.int32)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.output] >= 0
        nodes = self._per_node(kept)
        arrays = {name: getattr(self, name)[nodes] for name in _OF_NODES}
        first = np.append(0, np.cumsum(np.diff(self.first)[kept]))
        return Trees(**arrays, first=first, output=place[self.output[kept]])

    @staticmethod
    def joined(parts: Sequence[Trees]) -> Trees:
        """The trees of several models, one after the other."""
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_OF_NODES, "output")}
        starts = np.cumsum([0, *(part.first[-1] for part in parts)])
        first = np.concatenate([part.first[:-1] + start for part, start in zip(parts, starts, strict=False)])
        return Trees(**arrays, first=np.append(first, starts[-1]).astype(np.int64))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @staticmethod
    def from_arrays(arrays: Arrays, *, columns: int, outputs: int) -> Trees:
        """Trees of a file: `ModelFileError` unless every walk through them ends at a leaf."""
        require(set(arrays) == set(_KINDS), "its trees are incomplete")
        for name, kind in _KINDS.items():
            require(arrays[name].dtype == kind and arrays[name].ndim == 1, f"{name} of its trees is damaged")
        trees = Trees(**dict(arrays))
        trees.check(columns, outputs)
        return trees

    def check(self, columns: int, outputs: int) -> None:
        """Raise `ModelFileError` unless every walk through the trees ends at a leaf."""
        nodes, first = len(self.feature), self.first
        lengths = {len(getattr(self, name)) for name in _OF_NODES}
        require(lengths == {nodes} and len(first) == len(self.output) + 1, "the arrays of its trees differ in length")
        require(
            bool(first[0] == 0 and first[-1] == nodes and (np.diff(first) > 0).all()),
            "where its trees begin is unclear",
        )
        require(
            bool(((self.output >= 0) & (self.output < outputs)).all()), "a tree adds to an output that is not there"
        )
        finite = np.isfinite(self.threshold).all() and np.isfinite(self.value).all()
        require(bool(finite), "thresholds and values of its trees must be finite")
        leaf = self.feature == -1
        require(
            bool((leaf | ((self.feature >= 0) & (self.feature < columns))).all()),
            "a tree splits on a column that is not there",
        )
        require(bool(((self.left == -1) == leaf).all() and ((self.right == -1) == leaf).all()), "a leaf has children")
        base, end = self._per_node(first[:-1]), self._per_node(first[1:])
        inner = np.flatnonzero(~leaf)
        children = np.concatenate([(base + side)[inner] for side in (self.left, self.right)])
        parents = np.concatenate([inner, inner])
        require(bool(((children > parents) & (children < end[parents])).all()), "a tree has children outside of it")
        # Each node except the root has one parent.
        wanted = np.setdiff1d(np.arange(nodes), first[:-1])
        require(np.array_equal(np.sort(children), wanted), "a node of its trees does not have one parent")
        require(self.levels <= _MOST_LEVELS, f"a tree is deeper than {_MOST_LEVELS} levels")

    def _per_node(self, per_tree: NDArray[Any]) -> NDArray[Any]:
        """One value per tree, repeated for each of its nodes."""
        return np.repeat(per_tree, np.diff(self.first))

    def _children(self) -> NDArray[np.intp]:
        """Left and right child (nodes, 2) among all nodes; a leaf leads to itself."""
        itself, leaf = np.arange(len(self.feature)), self.feature == -1
        base = self._per_node(self.first[:-1])
        sides = [np.where(leaf, itself, base + side) for side in (self.left, self.right)]
        return np.column_stack(sides).astype(np.intp)

    @property
    def levels(self) -> int:
        """How many steps the longest walk has."""
        children, at, count = self._children(), self.first[:-1].astype(np.intp), 0
        at = at[self.feature[at] >= 0]
        while at.size and count <= _MOST_LEVELS:
            at = np.unique(children[at])
            at = at[self.feature[at] >= 0]
            count += 1
        return count

    @cached_property
    def _walk(self) -> _Walk:
        return _Walk(self)

    def sums(self, x: NDArray[np.float32], outputs: int) -> NDArray[np.float64]:
        """Sums of the trees for each row (n, outputs); those of a row do not depend on the other rows."""
        n = len(x)
        if not len(self) or not n:
            return np.zeros((n, outputs))
        if n == 1:
            # numpy would add a single column in another order.
            return self.sums(np.repeat(x, 2, axis=0), outputs)[:1]
        size = max(2, _AT_ONCE // len(self))
        sums = np.empty((n, outputs))
        for start in range(0, n, size):
            # The last chunk must not be a single row, either.
            start = min(start, n - 2)
            sums[start : start + size] = self._walk.sums(x[start : start + size], outputs)
        return sums


class _Walk:
    """The trees in the form in which all rows go through all of them, level by level."""

    def __init__(self, trees: Trees) -> None:
        # A leaf looks at the first column and goes to itself either way.
        self._feature = np.maximum(trees.feature, 0).astype(np.intp)
        self._threshold, self._value = trees.threshold, trees.value.astype(np.float64)
        self._children, self._default_left = trees._children().ravel(), trees.default_left
        self._roots, self._levels = trees.first[:-1].astype(np.intp), trees.levels
        self._output = trees.output

    def sums(self, x: NDArray[np.float32], outputs: int) -> NDArray[np.float64]:
        flat, gaps = np.ascontiguousarray(x).ravel(), bool(np.isnan(x).any())
        row = np.arange(len(x), dtype=np.intp) * x.shape[1]
        node = np.repeat(self._roots[:, None], len(x), axis=1)
        for _ in range(self._levels):
            seen = flat.take(self._feature.take(node) + row)
            right = ~(seen < self._threshold.take(node))
            if gaps:
                right = np.where(np.isnan(seen), ~self._default_left.take(node), right)
            node = self._children.take(2 * node + right)
        leaves = self._value.take(node)
        return np.column_stack([leaves[self._output == k].sum(axis=0) for k in range(outputs)])
