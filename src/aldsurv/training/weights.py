"""Weights of all members in one block of memory, so that an optimiser's step is one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from aldsurv.networks.architecture import Architecture, Slot

__all__ = ["WeightBlock"]

# Half of the last of the 10 bits behind the point that are kept of a float64, which has 52.
_HALF = 2**41


class WeightBlock:
    """Arrays (members, ...) of a network as views of one tensor, their gradients as views of another.

    Parameters
    ----------
    network
        What the network looks like.
    initial
        Arrays of each member.
    device
        Where the tensors live.
    dtype
        Of the tensors.
    learned
        For each member by name of an array which of its weights are learned, bools of its shape; the others stay as
        they begin. An array that is not named is learned whole.
    pull, towards
        Strength of a penalty ``½·pull·Σ(weight - before)²``, and each member's arrays before, by name; those that are
        not named have none.
    """

    def __init__(
        self,
        network: Architecture,
        initial: Sequence[dict[str, NDArray[Any]]],
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        learned: Sequence[Mapping[str, NDArray[np.bool_]]] = (),
        pull: float = 0.0,
        towards: Sequence[Mapping[str, NDArray[Any]]] = (),
    ) -> None:
        self.members = len(initial)
        slots = network.slots()
        decaying = _padded(sum(self._length(slot) for slot in slots if slot.decays))
        steady = _padded(sum(self._length(slot) for slot in slots if not slot.decays))
        self.values = torch.zeros(decaying + steady, device=device, dtype=dtype)
        self._gradients = torch.zeros_like(self.values)
        self._bits = self._gradients.numpy().view(np.int64) if _can_be_rounded(self._gradients) else None
        self.arrays: dict[str, Tensor] = {}
        # What decays and what does not, each as one tensor to the optimiser.
        self.decaying, self.steady = self.values[:decaying], self.values[decaying:]
        self.values.grad = self._gradients
        self.decaying.grad, self.steady.grad = self._gradients[:decaying], self._gradients[decaying:]
        ends = {True: 0, False: decaying}
        self._places: dict[str, slice] = {}
        for slot in slots:
            start = ends[slot.decays]
            ends[slot.decays] = stop = start + self._length(slot)
            self._places[slot.name] = slice(start, stop)
            view = self.values[start:stop].view(self.members, *slot.shape).detach()
            view.copy_(torch.from_numpy(np.stack([arrays[slot.name] for arrays in initial])))
            view.requires_grad_().grad = self._gradients[start:stop].view_as(view)
            self.arrays[slot.name] = view
        # Gradients of each trained array, one row per member.
        self._member_gradients = [gradient.flatten(1) for gradient in self.gradients.values()]
        for slot in network.buffers():
            stacked = np.stack([arrays[slot.name] for arrays in initial])
            self.arrays[slot.name] = torch.from_numpy(stacked).to(device, dtype)
        self._best = {name: array.detach().clone() for name, array in self.arrays.items()}
        self._fixed = self._fixed_weights(learned)
        self._pull, names = pull, list(towards[0]) if towards and pull else []
        self._before = {
            name: torch.from_numpy(np.stack([member[name] for member in towards])).to(device, dtype) for name in names
        }

    def _fixed_weights(self, learned: Sequence[Mapping[str, NDArray[np.bool_]]]) -> list[tuple[Tensor, Tensor]]:
        """Gradients of the arrays that some members do not learn whole, and where they are 0."""
        found = []
        for name in sorted({name for member in learned for name in member}):
            gradient = self.arrays[name].grad
            whole = np.ones(self.arrays[name].shape[1:], np.bool_)
            fixed = ~np.stack([np.broadcast_to(member.get(name, whole), whole.shape) for member in learned])
            if gradient is not None and fixed.any():
                found.append((gradient, torch.from_numpy(fixed).to(gradient.device)))
        return found

    def pull_back(self) -> None:
        """Add the gradients of the penalty on differences from the weights before."""
        for name, before in self._before.items():
            array = self.arrays[name]
            if array.grad is not None:
                array.grad.add_(array.detach() - before, alpha=self._pull)

    def leave_fixed(self) -> None:
        """Set the gradients of weights that are not learned to 0."""
        for gradient, fixed in self._fixed:
            gradient.masked_fill_(fixed, 0.0)

    def _length(self, slot: Slot) -> int:
        return self.members * int(np.prod(slot.shape))

    @property
    def gradients(self) -> dict[str, Tensor]:
        """Where the gradient of each trained array is."""
        return {name: array.grad for name, array in self.arrays.items() if array.grad is not None}

    def zero_gradients(self) -> None:
        """Forget the last batch."""
        self._gradients.zero_()

    def gradient_norms_squared(self) -> Tensor:
        """Squared norm of each member's gradient (members,)."""
        parts = [gradient.square().sum(1) for gradient in self._member_gradients]
        return torch.stack(parts, dim=1).sum(1)

    def scale_gradients(self, factors: Tensor) -> None:
        """Multiply each member's gradient by its factor."""
        column = factors[:, None]
        for gradient in self._member_gradients:
            gradient.mul_(column)

    def laid_out(self, flat: Tensor) -> dict[str, Tensor]:
        """Another tensor of the size of `values` as one array for each that is trained, in the same places."""
        return {name: flat[place].view(self.arrays[name].shape) for name, place in self._places.items()}

    def set_gradients(self, parts: Sequence[Tensor]) -> None:
        """Set the gradients to the sum of some, each laid out as `values` and added in their order."""
        self._gradients.copy_(parts[0])
        for part in parts[1:]:
            self._gradients.add_(part)

    def round_gradients(self) -> None:
        """Round gradients in float64 to as many digits as half precision has, far more than a batch of rows determines.

        What another processor, or another order of the same sums, has in the last digits goes no further: steps by the
        size of the gradient would multiply it in every epoch until two runs have nothing in common but the seed.
        """
        if self._bits is not None:
            self._bits += _HALF
            self._bits &= -2 * _HALF

    def keep(self, chosen: Tensor, of: WeightBlock | None = None, where: Tensor | None = None) -> None:
        """Remember the present weights of the chosen members as their best.

        Parameters
        ----------
        chosen
            Their numbers, or a bool for each member.
        of, where
            The block that has these weights, and their places there, if not this one.
        """
        source, place = (self, chosen) if of is None or where is None else (of, where)
        for name, array in source.arrays.items():
            self._best[name][chosen] = array.detach()[place]

    @torch.no_grad()
    def take(self, mine: Tensor, other: WeightBlock, theirs: Tensor) -> None:
        """Take over the present weights of members of another block, by their numbers here and there."""
        for name, array in self.arrays.items():
            array.detach()[mine] = other.arrays[name].detach()[theirs]

    def take_flat(self, flat: Tensor, mine: Tensor, other: WeightBlock, others: Tensor, theirs: Tensor) -> None:
        """The same for tensors that are laid out as `values` of the two blocks, such as an optimiser's moments."""
        for name, place in self._places.items():
            shape = self.arrays[name].shape[1:]
            there = others[other._places[name]].view(other.members, *shape)
            flat[place].view(self.members, *shape)[mine] = there[theirs]

    def best_arrays(self) -> dict[str, NDArray[np.float32]]:
        """The weights that `keep` remembered, in float32 as files hold them."""
        return {name: array.cpu().numpy().astype(np.float32) for name, array in self._best.items()}

    def state(self) -> dict[str, Tensor]:
        """All tensors that a checkpoint has to hold."""
        now = {f"now.{name}": array.detach() for name, array in self.arrays.items()}
        return {**now, **{f"best.{name}": array for name, array in self._best.items()}}


def _can_be_rounded(gradients: Tensor) -> bool:
    return gradients.device.type == "cpu" and gradients.dtype == torch.float64


def _padded(size: int) -> int:
    """The next multiple of 64.

    torch's optimisers round the few numbers after the last full vector differently: with none of them, a member's
    weights do not depend on how many members there are.
    """
    return -(-size // 64) * 64
