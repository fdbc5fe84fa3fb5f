"""The networks of all members as the loop sees them: outputs, gradients, best weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from aldsurv.networks.architecture import Architecture
from aldsurv.networks.closed_form_passes import BY_HAND, HandPasses
from aldsurv.networks.torch_forward import forward_on_torch
from aldsurv.training.optimizers import Optimizer, ParameterGroup
from aldsurv.training.settings import TrainingSettings
from aldsurv.training.weights import WeightBlock

__all__ = ["MemberNetwork"]


@final
class MemberNetwork:
    """Members of one architecture, each with an encoder of its own before it if there are encoders.

    Parameters
    ----------
    architecture
        Layers after the encoder, or all of them.
    initial
        Starting arrays of each member.
    encoders
        A module per member, or none.
    device
        Where to train.
    dtype
        In which precision; encoders stay in their own.
    learned
        For each member which weights are learned, as in `WeightBlock`.
    pull, towards
        A penalty on differences from each member's weights before, as in `WeightBlock`.
    """

    def __init__(
        self,
        architecture: Architecture,
        initial: Sequence[dict[str, NDArray[Any]]],
        encoders: Sequence[nn.Module],
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        learned: Sequence[Mapping[str, NDArray[np.bool_]]] = (),
        *,
        pull: float = 0.0,
        towards: Sequence[Mapping[str, NDArray[Any]]] = (),
    ) -> None:
        self.architecture = architecture
        self.members = len(initial)
        self.encoders = [encoder.to(device) for encoder in encoders]
        self._learned, self._pull, self._towards = list(learned), pull, list(towards)
        self.block = WeightBlock(architecture, initial, device, dtype, self._learned, pull, self._towards)
        self.passes: HandPasses | None = None
        by_hand = architecture.activation in BY_HAND and not architecture.batch_norm and not architecture.level_units
        if by_hand and not encoders and device.type == "cpu":
            self.passes = HandPasses(architecture, self.block.arrays, self.block.gradients)
        self._best_encoders = [_copied_state(encoder) for encoder in self.encoders]

    @property
    def dtype(self) -> torch.dtype:
        """Precision of the weights and outputs."""
        return self.block.values.dtype

    def outputs(
        self,
        x: Tensor,
        *,
        keep: Tensor | None = None,
        training: bool = False,
        seeds: Sequence[int] = (),
        level: Tensor | None = None,
    ) -> Tensor:
        """Outputs (members, rows, outputs) for inputs (members, rows, ...), and for a level (members, rows) if given.

        `seeds`, one per member, seed what encoders draw from torch's own stream.
        """
        if self.encoders:
            encoded = []
            for k, encoder in enumerate(self.encoders):
                encoder.train(training)
                if seeds:
                    torch.manual_seed(seeds[k])
                encoded.append(encoder(x[k]))
            x = torch.stack(encoded)
        if level is not None:
            x = torch.cat([x, level.unsqueeze(-1)], -1)
        return forward_on_torch(self.architecture, self.block.arrays, x, keep=keep, training=training)

    def optimizer(self, settings: TrainingSettings, rows: int) -> Optimizer:
        """The optimiser of all members, each of which learns from `rows` rows."""
        decay = settings.decay(rows)
        encoding = [p for encoder in self.encoders for p in encoder.parameters() if p.requires_grad]
        if decay > 0:
            decaying = ParameterGroup([self.block.decaying, *encoding], decay)
            return Optimizer([decaying, ParameterGroup([self.block.steady], 0.0)], settings)
        return Optimizer([ParameterGroup([self.block.values, *encoding], 0.0)], settings)

    def zero_gradients(self) -> None:
        """Forget the last batch."""
        self.block.zero_gradients()
        for encoder in self.encoders:
            encoder.zero_grad(set_to_none=False)

    def clip_gradients(self, most: float) -> None:
        """Shorten each member's gradient to norm `most` where it is longer."""
        squared = self.block.gradient_norms_squared()
        if self.encoders:
            squared = squared + torch.stack([_gradient_norm_squared(encoder, squared) for encoder in self.encoders])
        factors = (most / squared.sqrt().clamp_min(1e-12)).clamp(max=1.0)
        # A norm that is no number is not 1 either: it goes on into the weights, where it is seen. On other devices
        # looking at the factors would take longer than to multiply by them.
        if factors.device.type == "cpu" and all(factor == 1.0 for factor in factors.tolist()):
            return
        self.block.scale_gradients(factors)
        for k, encoder in enumerate(self.encoders):
            for parameter in encoder.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(factors[k])

    def largest_weights(self) -> Tensor:
        """Largest absolute weight of each member (members,); not finite if any is not."""
        largest = torch.stack(
            [array.detach().flatten(1).abs().amax(1) for array in self.block.arrays.values() if array.numel()]
        )
        for k, encoder in enumerate(self.encoders):
            for parameter in encoder.parameters():
                largest[0, k] = torch.maximum(largest[0, k], parameter.detach().abs().max())
        return largest.amax(0)

    def keep(self, chosen: Tensor, of: MemberNetwork | None = None, where: Tensor | None = None) -> None:
        """Remember the present weights of the chosen members as their best.

        Parameters
        ----------
        chosen
            Their numbers.
        of, where
            The network that has these weights, made by `only`, and their places there, if not this one.
        """
        self.block.keep(chosen, None if of is None else of.block, where)
        for k in chosen.tolist() if self.encoders else ():
            self._best_encoders[k] = _copied_state(self.encoders[k])

    def only(self, chosen: Tensor) -> MemberNetwork:
        """A network of the chosen members, by their numbers, with their present weights; without encoders."""
        arrays = {name: array.detach()[chosen].cpu().numpy() for name, array in self.block.arrays.items()}
        initial = [{name: array[k] for name, array in arrays.items()} for k in range(len(chosen))]
        learned = [self._learned[k] for k in chosen.tolist()] if self._learned else ()
        values = self.block.values
        towards = [self._towards[k] for k in chosen.tolist()] if self._towards else ()
        return MemberNetwork(
            self.architecture, initial, (), values.device, values.dtype, learned, pull=self._pull, towards=towards
        )

    def best_arrays(self) -> dict[str, NDArray[np.float32]]:
        """The remembered weights of the layers, without the encoders'."""
        return self.block.best_arrays()

    def restore_encoders(self) -> list[nn.Module]:
        """The encoders with their remembered weights, on the CPU and ready to predict."""
        for encoder, state in zip(self.encoders, self._best_encoders, strict=True):
            encoder.load_state_dict(state)
            encoder.cpu().eval()
        return self.encoders

    def state(self) -> dict[str, Tensor]:
        """All tensors that a checkpoint has to hold, by name; to be copied into on resume."""
        found = self.block.state()
        for k, (encoder, best) in enumerate(zip(self.encoders, self._best_encoders, strict=True)):
            found.update({f"now.encoder{k}.{name}": value for name, value in encoder.state_dict().items()})
            found.update({f"best.encoder{k}.{name}": value for name, value in best.items()})
        return found


def _copied_state(encoder: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in encoder.state_dict().items()}


def _gradient_norm_squared(encoder: nn.Module, like: Tensor) -> Tensor:
    parts = [p.grad.square().sum() for p in encoder.parameters() if p.grad is not None]
    return torch.stack(parts).sum() if parts else like.new_zeros(())
