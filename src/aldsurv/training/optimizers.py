"""One step of Adam, AdamW or SGD by torch's own fused kernels.

``torch.optim.Adam.step`` spends a tenth of a millisecond on hooks and checks around a kernel that takes a twentieth of
it here, and torch's functional form of the same optimisers half of that: the kernels are called as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, final

import torch
from torch import Tensor
from torch.optim.sgd import sgd

from aldsurv.training.settings import TrainingSettings

__all__ = ["Optimizer", "ParameterGroup"]

# The values torch has, too.
_BETAS, _EPSILON, _MOMENTUM = (0.9, 0.999), 1e-8, 0.9


class ParameterGroup(NamedTuple):
    """Tensors with gradients, and the weight decay of all of them."""

    tensors: list[Tensor]
    weight_decay: float


@final
class Optimizer:
    """An optimiser with the moments it remembers.

    Parameters
    ----------
    groups
        What to optimise.
    settings
        Which optimiser.
    """

    def __init__(self, groups: Sequence[ParameterGroup], settings: TrainingSettings) -> None:
        self._groups = [
            ParameterGroup(alike, group.weight_decay) for group in groups for alike in _of_one_kind(group.tensors)
        ]
        self._kind = settings.optimizer
        tensors = [tensor for group in groups for tensor in group.tensors]
        self._first = {id(tensor): torch.zeros_like(tensor, requires_grad=False) for tensor in tensors}
        self._second = {id(tensor): torch.zeros_like(tensor, requires_grad=False) for tensor in tensors}
        self._steps = {id(tensor): torch.zeros((), device=tensor.device) for tensor in tensors}
        self._tensors = tensors

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Move all tensors by their gradients at learning rate `rate`."""
        for group in self._groups:
            tensors = [tensor for tensor in group.tensors if tensor.grad is not None]
            gradients = [tensor.grad for tensor in tensors if tensor.grad is not None]
            first = [self._first[id(tensor)] for tensor in tensors]
            if not tensors:
                continue
            if self._kind == "sgd":
                sgd(
                    tensors, gradients, list(first), fused=True, weight_decay=group.weight_decay, momentum=_MOMENTUM,
                    lr=rate, dampening=0.0, nesterov=False, maximize=False,
                )  # fmt: skip
                continue
            steps = [self._steps[id(tensor)] for tensor in tensors]
            for step in steps:
                step += 1
            (torch._fused_adamw_ if self._kind == "adamw" else torch._fused_adam_)(
                tensors, gradients, first, [self._second[id(tensor)] for tensor in tensors], [], steps, lr=rate,
                beta1=_BETAS[0], beta2=_BETAS[1], weight_decay=group.weight_decay, eps=_EPSILON, amsgrad=False,
                maximize=False,
            )  # fmt: skip

    def take(self, other: Optimizer, move: Callable[[Tensor, Tensor], None]) -> None:
        """Take over what another one remembers.

        Parameters
        ----------
        other
            An optimiser of the same kind, of tensors in the same order.
        move
            Copies what is wanted of one remembered tensor, all of them as one, to the other: called with the own and
            with the other's.
        """
        for mine, theirs in ((self._first, other._first), (self._second, other._second)):
            own = [mine[id(tensor)] for tensor in self._tensors]
            flat = torch.cat(own)
            move(flat, torch.cat([theirs[id(tensor)] for tensor in other._tensors]))
            stop = 0
            for part in own:
                start, stop = stop, stop + len(part)
                part.copy_(flat[start:stop])
        for tensor, there in zip(self._tensors, other._tensors, strict=True):
            self._steps[id(tensor)].copy_(other._steps[id(there)])

    def state(self) -> dict[str, Tensor]:
        """The moments by name; to be copied into on resume."""
        found = {}
        for number, tensor in enumerate(self._tensors):
            key = id(tensor)
            found[f"{number}.first"], found[f"{number}.steps"] = self._first[key], self._steps[key]
            if self._kind != "sgd":
                found[f"{number}.second"] = self._second[key]
        return found


def _of_one_kind(tensors: Sequence[Tensor]) -> list[list[Tensor]]:
    """The tensors in groups of one device and precision, as the kernels need them."""
    kinds: dict[tuple[torch.device, torch.dtype], list[Tensor]] = {}
    for tensor in tensors:
        kinds.setdefault((tensor.device, tensor.dtype), []).append(tensor)
    return list(kinds.values())
